"""Settings of the webhook that wake events go out to."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from pydantic import SecretStr, field_validator

from cortex_runtime.settings_part import SettingsPart, setting

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - how a secret begins, not one
LEAST_SECRET_BYTES: Final = 24
"""Standard Webhooks 1.0, "Signature scheme": a secret has 24 to 64 bytes; longer ones are taken as well."""


class WakeSettings(SettingsPart):
    """Where wake events go besides the bus, and what they are signed with."""

    wake_webhook_url: SecretStr = setting("WAKE_WEBHOOK_URL", default=SecretStr(""))
    """Without one they stay on the bus. It may hold a token of the receiver, so it is never shown."""
    wake_webhook_secrets: SecretStr = setting("WAKE_WEBHOOK_SECRETS", default=SecretStr(""))
    """Separated by commas, the current one first: during a rotation a receiver may know either. `whsec_` and base64, or
    any text."""

    @field_validator("wake_webhook_url")
    @classmethod
    def _trimmed(cls, value: SecretStr) -> SecretStr:
        return SecretStr(value.get_secret_value().strip())

    @field_validator("wake_webhook_secrets")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        if any(len(key) < LEAST_SECRET_BYTES for key in _keys(value)):
            raise ValueError(f"expected at least {LEAST_SECRET_BYTES} bytes of each secret")
        return value

    @property
    def wake_webhook_keys(self) -> tuple[bytes, ...]:
        """The secrets as the bytes that sign."""
        return _keys(self.wake_webhook_secrets)


def _keys(value: SecretStr) -> tuple[bytes, ...]:
    return tuple(_key(part) for piece in value.get_secret_value().split(",") if (part := piece.strip()))


def _key(secret: str) -> bytes:
    if not secret.startswith(SECRET_PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error:
        raise ValueError(f"expected base64 behind {SECRET_PREFIX}") from None

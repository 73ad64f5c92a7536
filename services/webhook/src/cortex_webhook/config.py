"""Settings of the webhook service."""

from __future__ import annotations

from typing import ClassVar

from pydantic import SecretStr, field_validator

from cortex_runtime.settings import ServiceSettings
from cortex_runtime.settings_part import setting
from cortex_runtime.settings_vaults import VaultsSettings


class WebhookSettings(ServiceSettings, VaultsSettings):
    """What the webhook service reads."""

    service: ClassVar[str] = "webhook"

    webhook_host: str = setting("WEBHOOK_HOST", default="127.0.0.1")
    webhook_port: int = setting("WEBHOOK_PORT", default=9892)
    webhook_secrets: SecretStr = setting("WEBHOOK_SECRETS")
    """The secrets that GitHub may sign with, separated by commas: the old and the new one during a rotation."""

    @field_validator("webhook_secrets")
    @classmethod
    def _at_least_one(cls, value: SecretStr) -> SecretStr:
        if not _parts(value):
            raise ValueError("expected at least one secret, got none")
        return value

    @property
    def secrets(self) -> tuple[bytes, ...]:
        """Each secret as the bytes GitHub signs with; never empty."""
        return tuple(part.encode() for part in _parts(self.webhook_secrets))


def _parts(value: SecretStr) -> list[str]:
    return [part for piece in value.get_secret_value().split(",") if (part := piece.strip())]

"""Settings of the vaults."""

from __future__ import annotations

from pathlib import Path

from pydantic import ConfigDict, Field, SecretStr, field_validator

from cortex_contracts.messages.base import Message, Token
from cortex_runtime.settings_part import SettingsPart, setting


class VaultSource(Message):
    """A git repository of markdown that is kept in sync. `github` is its `owner/name` in push deliveries.

    A private one is read with a `token` over HTTPS, or with `ssh_key`, the file of a private key, over SSH;
    `known_hosts` is the file of the servers that ssh may talk to (none: a server is trusted when it is first seen).
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    name: Token
    repository: str = Field(min_length=1)
    branch: str = "main"
    github: str | None = None
    token: SecretStr = SecretStr("")
    ssh_key: Path | None = None
    known_hosts: Path | None = None

    @field_validator("token")
    @classmethod
    def _token_of_one_line(cls, value: SecretStr) -> SecretStr:
        token = value.get_secret_value().strip()
        if not token.isascii() or not token.isprintable():
            raise ValueError("expected printable ASCII characters")
        return SecretStr(token)


class VaultsSettings(SettingsPart):
    """The vaults to keep in sync."""

    vaults: tuple[VaultSource, ...] = setting("VAULTS", default=())

    @property
    def default_vault(self) -> str:
        """Where a page is looked for first and a new one goes when no vault is named."""
        return self.vaults[0].name if self.vaults else "main"

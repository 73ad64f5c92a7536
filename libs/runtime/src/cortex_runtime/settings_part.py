"""What settings are made of: a field with its names, and a part that is read from the environment over the file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, Field
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)

PREFIX = "CORTEX_"


def setting(name: str, *aliases: str, default: Any = ...) -> Any:
    """A field read from `CORTEX_<name>`, from an alias, or from the key `<name>` in lower case of `cortex.yaml`."""
    return Field(default, validation_alias=AliasChoices(PREFIX + name, *aliases, name.lower()))


def upper(value: object) -> object:
    """A text in upper case; anything else as it is."""
    return value.upper() if isinstance(value, str) else value


def parts(value: object) -> object:
    """The parts of a text that are separated by commas; anything else as it is."""
    return [part for piece in value.split(",") if (part := piece.strip())] if isinstance(value, str) else value


def config_file(environment: Mapping[str, str]) -> Path | None:
    """`cortex.yaml`: where `CORTEX_CONFIG` says, else in `CORTEX_HOME`, else none."""
    if named := environment.get("CORTEX_CONFIG"):
        return Path(named)
    path = Path(environment.get("CORTEX_HOME") or Path.home() / ".cortex") / "cortex.yaml"
    return path if path.is_file() else None


class SettingsPart(BaseSettings):
    """A part of the settings: read from the environment over the file, and from nothing else."""

    model_config = SettingsConfigDict(frozen=True, case_sensitive=True, extra="ignore", hide_input_in_errors=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Environment over file."""
        path = config_file(os.environ)
        return (env_settings, *([YamlConfigSettingsSource(settings_cls, path)] if path else ()))

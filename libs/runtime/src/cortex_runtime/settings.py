"""Settings: `CORTEX_*` variables over `cortex.yaml`, read once at start, frozen, and complete or refused.

A variable that nobody knows, or one with a wrong value, stops the start with a sentence that names it and never shows
the value. The names that the source documents use (`TEI_EMBEDDINGS_URL`, …) are accepted as aliases.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, ClassVar, Literal, TypeVar

from pydantic import AliasChoices, BeforeValidator, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings
from pydantic_settings import SettingsError as PydanticSettingsError

from cortex_contracts.messages.base import Token
from cortex_runtime.settings_access import RateSettings, TokenSettings
from cortex_runtime.settings_cold_store import ColdStoreSettings
from cortex_runtime.settings_models import (
    ChatSettings,
    EmbeddingsSettings,
    EngineSettings,
    LanguageModelSettings,
    RerankerSettings,
    SynthesisSettings,
)
from cortex_runtime.settings_part import PREFIX, SettingsPart, config_file, setting, upper
from cortex_runtime.settings_vaults import VaultsSettings
from cortex_runtime.settings_wake import WakeSettings

SettingsT = TypeVar("SettingsT", bound=SettingsPart)

# Variables of other processes on the same machine: each is checked by the process that reads it.
FOREIGN_PREFIXES = tuple(
    f"{PREFIX}{owner}_" for owner in ("WEBHOOK", "INGEST", "RECALL", "SLEEP", "GATEWAY", "ENGINES", "EMBEDDER", "TEST")
)


WRONG_SETTINGS = 2
"""Exit code of a service that cannot run with its settings: starting it again is no use."""


class SettingsError(Exception):
    """The settings cannot be used; the message names the variable."""


class CommonSettings(SettingsPart):
    """What belongs to the whole installation and has a default."""

    org: Token = setting("ORG", default="local")
    instance: str = setting("INSTANCE", default="")
    """Which installation the service belongs to, for whoever started it; told by its health."""
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(upper)] = setting(
        "LOG_LEVEL", default="INFO"
    )
    log_format: Literal["json", "console"] = setting("LOG_FORMAT", default="json")


class ServiceSettings(CommonSettings):
    """What every service reads. Subclasses add parts and the service's own fields."""

    service: ClassVar[str]

    nats_url: SecretStr = setting("NATS_URL")

    @property
    def host(self) -> str:
        """Address the service's HTTP port binds to."""
        return str(getattr(self, f"{self.service}_host"))

    @property
    def port(self) -> int:
        """The service's HTTP port."""
        return int(getattr(self, f"{self.service}_port"))


class DatabaseSettings(SettingsPart):
    """Where the hot tier is, as the runtime role."""

    database_url: SecretStr = setting("DATABASE_URL", "CABRAIN_DATABASE_URL")


class CacheSettings(SettingsPart):
    """Where the L1 cache is; it may be dead, that costs time and nothing else."""

    cache_url: SecretStr = setting("CACHE_URL")


class ForeignSettings(SettingsPart):
    """Names that only other processes read, so that no service takes them for a mistake."""

    home: str = setting("HOME", default="")
    config: str = setting("CONFIG", default="")
    http_token: SecretStr = setting("HTTP_TOKEN", default=SecretStr(""))
    sleep_database_url: SecretStr = setting("SLEEP_DATABASE_URL", default=SecretStr(""))
    migration_database_url: SecretStr = setting("MIGRATION_DATABASE_URL", default=SecretStr(""))
    superuser_database_url: SecretStr = setting("SUPERUSER_DATABASE_URL", default=SecretStr(""))
    rag_url: str = setting("RAG_URL", default="")
    cbm_url: str = setting("CBM_URL", default="")
    serena_url: str = setting("SERENA_URL", default="")
    memgraph_url: str = setting("MEMGRAPH_URL", default="")
    inbox_url: str = setting("INBOX_URL", default="")
    inbox_token: SecretStr = setting("INBOX_TOKEN", default=SecretStr(""))
    engines: object = setting("ENGINES", default=())


SHARED = (
    CommonSettings,
    ServiceSettings,
    DatabaseSettings,
    EmbeddingsSettings,
    RerankerSettings,
    EngineSettings,
    LanguageModelSettings,
    CacheSettings,
    ChatSettings,
    SynthesisSettings,
    TokenSettings,
    RateSettings,
    VaultsSettings,
    WakeSettings,
    ColdStoreSettings,
    ForeignSettings,
)


def read(cls: type[SettingsT]) -> SettingsT:
    """Read the settings of one service, or a part of them.

    Raises:
        SettingsError: a variable is unknown, missing or invalid.
    """
    known = {name for model in (cls, *SHARED) for field in model.model_fields.values() for name in _names(field)}
    service = getattr(cls, "service", "")
    own = f"{PREFIX}{service.upper()}_"
    for name in _given():
        if name in known or (name.startswith(FOREIGN_PREFIXES) and not (service and name.startswith(own))):
            continue
        close = difflib.get_close_matches(name, known, 1, cutoff=0.8)
        raise SettingsError(f"{name} is not a setting" + (f"; did you mean {close[0]}?" if close else ""))
    try:
        return cls()
    except ValidationError as error:
        problems = sorted({f"{_variable(cls, e['loc'])}: {_sentence(e['msg'])}" for e in error.errors()})
        raise SettingsError("; ".join(problems)) from None
    except PydanticSettingsError as error:
        # A value that should be JSON and is not; the message names the field.
        field = re.search(r'field "(\w+)"', str(error))
        raise SettingsError(f"{_variable(cls, (field[1] if field else '',))}: expected JSON") from None
    except (ValueError, OSError) as error:
        raise SettingsError(f"the settings cannot be read: {type(error).__name__}") from None


ServiceSettingsT = TypeVar("ServiceSettingsT", bound=ServiceSettings)


def load(cls: type[ServiceSettingsT]) -> ServiceSettingsT:
    """Read the settings of one service, or end the process with exit code 2 and a sentence that names the variable."""
    try:
        return read(cls)
    except SettingsError as error:
        print(f"cortex {cls.service}: {error}", file=sys.stderr)
        raise SystemExit(WRONG_SETTINGS) from None


def _sentence(message: str) -> str:
    """pydantic's message as the end of a sentence; names in it keep their case."""
    text = message.removeprefix("Value error, ")
    return text[:1].lower() + text[1:]


def _given() -> Iterator[str]:
    yield from (name for name in os.environ if name.startswith(PREFIX))
    path = config_file(os.environ)
    if path:
        import yaml

        try:
            keys = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        except (yaml.YAMLError, ValueError, OSError) as error:
            # What the parser says shows the line, and a credential may stand in it.
            mark = getattr(error, "problem_mark", None)
            place = f" in line {mark.line + 1}" if mark is not None else ""
            raise SettingsError(f"{path.name} cannot be read: {type(error).__name__}{place}") from None
        if not isinstance(keys, dict):
            raise SettingsError(f"{path.name} must be a mapping of settings, got {type(keys).__name__}")
        yield from (PREFIX + str(key).upper() for key in keys)


def _names(field: FieldInfo) -> Iterable[str]:
    alias = field.validation_alias
    return [str(choice) for choice in alias.choices] if isinstance(alias, AliasChoices) else []


def _variable(cls: type[BaseSettings], location: tuple[int | str, ...]) -> str:
    head = str(location[0]) if location else ""
    for name, field in cls.model_fields.items():
        names = list(_names(field))
        if head == name or head in names:
            return names[0] if names else name
    return head

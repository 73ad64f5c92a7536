"""Settings: `CORTEX_*` variables over `cortex.yaml`, read once at start, frozen, and complete or refused.

A variable that nobody knows, or one with a wrong value, stops the start with a sentence that names it and never shows
the value. The names that the source documents use (`TEI_EMBEDDINGS_URL`, …) are accepted as aliases.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)
from pydantic_settings import SettingsError as PydanticSettingsError

from cortex_contracts.messages.base import Message, Token

SettingsT = TypeVar("SettingsT", bound="SettingsPart")

PREFIX = "CORTEX_"
# Variables of other processes on the same machine: each is checked by the process that reads it.
FOREIGN_PREFIXES = tuple(
    f"{PREFIX}{owner}_" for owner in ("WEBHOOK", "INGEST", "RECALL", "SLEEP", "GATEWAY", "EMBEDDER", "TEST")
)


WRONG_SETTINGS = 2
"""Exit code of a service that cannot run with its settings: starting it again is no use."""


class SettingsError(Exception):
    """The settings cannot be used; the message names the variable."""


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _parts(value: object) -> object:
    return [part for piece in value.split(",") if (part := piece.strip())] if isinstance(value, str) else value


def setting(name: str, *aliases: str, default: Any = ...) -> Any:
    """A field read from `CORTEX_<name>`, from an alias, or from the key `<name>` in lower case of `cortex.yaml`."""
    return Field(default, validation_alias=AliasChoices(PREFIX + name, *aliases, name.lower()))


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


class VaultsSettings(SettingsPart):
    """The vaults to keep in sync."""

    vaults: tuple[VaultSource, ...] = setting("VAULTS", default=())

    @property
    def default_vault(self) -> str:
        """Where a page is looked for first and a new one goes when no vault is named."""
        return self.vaults[0].name if self.vaults else "main"


class CommonSettings(SettingsPart):
    """What belongs to the whole installation and has a default."""

    org: Token = setting("ORG", default="local")
    instance: str = setting("INSTANCE", default="")
    """Which installation the service belongs to, for whoever started it; told by its health."""
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)] = setting(
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


class EmbeddingsSettings(SettingsPart):
    """Which embedder to call; `embeddings_driver` is an entry point of the group `cortex.embedder`."""

    embeddings_driver: str = setting("EMBEDDINGS_DRIVER", default="openai")
    embeddings_url: str = setting("EMBEDDINGS_URL", "TEI_EMBEDDINGS_URL")
    embeddings_model: str = setting("EMBEDDINGS_MODEL", "TEI_EMBEDDINGS_MODEL")
    embeddings_api_key: SecretStr = setting("EMBEDDINGS_API_KEY", default=SecretStr(""))
    embeddings_dimension: int = setting("EMBEDDINGS_DIMENSION", default=384)


class RerankerSettings(SettingsPart):
    """Which reranker to call; `reranker_driver` is an entry point of the group `cortex.reranker`.

    Without a driver an address means `tei`, which is what the source documents set it for, and no address means `none`.
    """

    reranker_driver: str = setting("RERANKER_DRIVER", default="")
    reranker_url: str = setting("RERANKER_URL", "TEI_RERANKER_URL", default="")
    reranker_model: str = setting("RERANKER_MODEL", "TEI_RERANKER_MODEL", default="")
    reranker_api_key: SecretStr = setting("RERANKER_API_KEY", default=SecretStr(""))

    @property
    def chosen_reranker(self) -> str:
        """Name of the driver."""
        return self.reranker_driver or ("tei" if self.reranker_url else "none")


class EngineSettings(SettingsPart):
    """What reads names and relations out of texts; `engine_driver` is an entry point of the group `cortex.engine`.

    An address of Cognee alone turns nothing on: it can be set for other uses of that server.
    """

    engine_driver: str = setting("ENGINE_DRIVER", default="builtin")
    cognee_api_url: str = setting("COGNEE_API_URL", "COGNEE_API_URL", default="")
    cognee_api_token: SecretStr = setting("COGNEE_API_TOKEN", "COGNEE_API_TOKEN", default=SecretStr(""))


class LanguageModelPurpose(StrEnum):
    """What a language model may be asked to do."""

    CLASSIFY = "classify"
    SUMMARISE = "summarise"


class LanguageModelSettings(SettingsPart):
    """Which language model there is, and what it may be asked to do: without a purpose nothing at all (ADR 0015).

    The provider is a driver of the groups `cortex.classifier` and `cortex.summariser`.
    """

    extraction_llm_provider: str = setting("EXTRACTION_LLM_PROVIDER", "EXTRACTION_LLM_PROVIDER", default="")
    extraction_llm_url: str = setting("EXTRACTION_LLM_URL", "EXTRACTION_LLM_URL", default="")
    extraction_llm_model: str = setting("EXTRACTION_LLM_MODEL", "EXTRACTION_LLM_MODEL", default="")
    extraction_llm_api_key: SecretStr = setting(
        "EXTRACTION_LLM_API_KEY", "EXTRACTION_LLM_API_KEY", default=SecretStr("")
    )
    llm_purposes: Annotated[frozenset[LanguageModelPurpose], NoDecode, BeforeValidator(_parts)] = setting(
        "LLM_PURPOSES", default=frozenset()
    )
    """`classify`, `summarise`: separated by commas, or a list in the file."""

    def chosen(self, purpose: LanguageModelPurpose) -> str:
        """Name of the driver for a purpose; empty when a model may be asked and none is named."""
        return self.extraction_llm_provider if purpose in self.llm_purposes else "builtin"


class ChatSettings(SettingsPart):
    """Which language model `[brain]` chats go to, and what they may take; without address and model there are none.

    Times are in seconds, prices in any one currency for a million tokens.
    """

    chat_upstream_url: str = setting("CHAT_UPSTREAM_URL", default="")
    chat_upstream_model: str = setting("CHAT_UPSTREAM_MODEL", default="")
    chat_upstream_api_key: SecretStr = setting("CHAT_UPSTREAM_API_KEY", default=SecretStr(""))
    chat_models: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_parts)] = setting("CHAT_MODELS", default=())
    """Models of the same upstream that callers may name themselves: separated by commas, or a list in the file."""
    chat_timeout_s: float = setting("CHAT_TIMEOUT_S", default=120.0)
    chat_query_limit_s: float = setting("CHAT_QUERY_LIMIT_S", default=2.0)
    chat_min_score: float = setting("CHAT_MIN_SCORE", default=0.4)
    chat_daily_tokens: int = setting("CHAT_DAILY_TOKENS", default=0)
    """Of one principal; 0: no limit."""
    chat_price_per_mtok_input: float | None = setting("CHAT_PRICE_PER_MTOK_INPUT", default=None)
    chat_price_per_mtok_output: float | None = setting("CHAT_PRICE_PER_MTOK_OUTPUT", default=None)

    @field_validator("chat_upstream_api_key")
    @classmethod
    def _key_of_one_line(cls, value: SecretStr) -> SecretStr:
        key = value.get_secret_value().strip()
        if not key.isascii() or not key.isprintable():
            raise ValueError("expected printable ASCII characters")
        return SecretStr(key)

    @field_validator("chat_timeout_s", "chat_query_limit_s")
    @classmethod
    def _seconds(cls, value: float) -> float:
        if not 0.001 <= value <= 3600:
            raise ValueError("expected between 0.001 and 3600 seconds")
        return value

    @field_validator("chat_min_score")
    @classmethod
    def _score(cls, value: float) -> float:
        if not 0 <= value <= 1:
            raise ValueError("expected between 0 and 1")
        return value

    @field_validator("chat_daily_tokens", "chat_price_per_mtok_input", "chat_price_per_mtok_output")
    @classmethod
    def _amount(cls, value: float | None) -> float | None:
        if value is not None and not 0 <= value < float("inf"):
            raise ValueError("expected 0 or more")
        return value


class TokenSettings(SettingsPart):
    """Signed tokens (JWT) that the gateway takes: with a shared secret (HS256), by the keys of an issuer, or both."""

    jwt_secret: SecretStr = setting("JWT_SECRET", default=SecretStr(""))
    jwt_jwks_url: str = setting("JWT_JWKS_URL", default="")
    jwt_audience: str = setting("JWT_AUDIENCE", default="")
    """Without one, a token that names an audience is refused: it is for somebody else (RFC 7519 section 4.1.3)."""
    jwt_issuer: str = setting("JWT_ISSUER", default="")
    jwt_leeway_s: float = setting("JWT_LEEWAY_S", default=30.0)
    jwt_org_claim: str = setting("JWT_ORG_CLAIM", default="org")

    @field_validator("jwt_secret")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        secret = value.get_secret_value().strip()
        if secret and len(secret.encode()) < 32:
            raise ValueError("expected at least 32 bytes (RFC 7518 section 3.2)")
        return SecretStr(secret)

    @field_validator("jwt_jwks_url", "jwt_audience", "jwt_issuer", "jwt_org_claim")
    @classmethod
    def _trimmed(cls, value: str) -> str:
        return value.strip()

    @field_validator("jwt_leeway_s")
    @classmethod
    def _leeway(cls, value: float) -> float:
        if not 0 <= value <= 300:
            raise ValueError("expected between 0 and 300 seconds")
        return value

    @field_validator("jwt_org_claim")
    @classmethod
    def _own_claim(cls, value: str) -> str:
        if not value or value in ("sub", "exp", "aud", "iss", "role", "readable", "writable"):
            raise ValueError("expected the name of a claim that says nothing else")
        return value


class RateSettings(SettingsPart):
    """How many requests a principal may make in a minute, by class; 0: any number. The last one is wrong credentials of
    one client address."""

    rate_requests: int = setting("RATE_REQUESTS", default=1_200)
    """Twice the load that the gateway is made to sustain, 10 requests a second, from one principal alone."""
    rate_bulk: int = setting("RATE_BULK", default=12_000)
    rate_chat: int = setting("RATE_CHAT", default=120)
    rate_failures: int = setting("RATE_FAILURES", default=30)

    @field_validator("rate_requests", "rate_bulk", "rate_chat", "rate_failures")
    @classmethod
    def _count(cls, value: int) -> int:
        if not 0 <= value <= 1_000_000:
            raise ValueError("expected between 0 and 1000000 a minute")
        return value


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
    cold_store_endpoint: str = setting("COLD_STORE_ENDPOINT", "COLD_STORE_ENDPOINT", default="")
    cold_store_bucket: str = setting("COLD_STORE_BUCKET", "COLD_STORE_BUCKET", default="")
    cold_store_region: str = setting("COLD_STORE_REGION", "COLD_STORE_REGION", default="")
    cold_store_access_key: SecretStr = setting("COLD_STORE_ACCESS_KEY", "COLD_STORE_ACCESS_KEY", default=SecretStr(""))
    cold_store_secret_key: SecretStr = setting("COLD_STORE_SECRET_KEY", "COLD_STORE_SECRET_KEY", default=SecretStr(""))


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
    TokenSettings,
    RateSettings,
    VaultsSettings,
    ForeignSettings,
)


def config_file(environment: Mapping[str, str]) -> Path | None:
    """`cortex.yaml`: where `CORTEX_CONFIG` says, else in `CORTEX_HOME`, else none."""
    if named := environment.get("CORTEX_CONFIG"):
        return Path(named)
    path = Path(environment.get("CORTEX_HOME") or Path.home() / ".cortex") / "cortex.yaml"
    return path if path.is_file() else None


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

        keys = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
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

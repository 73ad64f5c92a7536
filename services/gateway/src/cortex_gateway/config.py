"""Settings of the gateway."""

from __future__ import annotations

import ipaddress
from typing import Annotated, ClassVar

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from cortex_contracts.messages.base import Token
from cortex_contracts.rpc.engine import BUILT_IN_ENGINES, SourceClass
from cortex_gateway.adapters.settings import AdapterSettings
from cortex_gateway.scoring import AUTHORITY, HALF_LIFE_DAYS
from cortex_gateway.turns import HITS_AT_ONCE
from cortex_runtime.settings import ServiceSettings
from cortex_runtime.settings_access import RateSettings, TokenSettings
from cortex_runtime.settings_models import ChatSettings, SynthesisSettings
from cortex_runtime.settings_part import setting

Weight = Annotated[float, Field(ge=0.0, le=1.0)]


class GatewaySettings(ServiceSettings, AdapterSettings, ChatSettings, TokenSettings, RateSettings, SynthesisSettings):
    """What the gateway reads."""

    service: ClassVar[str] = "gateway"

    # Before the host: whether a bind is allowed depends on it.
    http_token: SecretStr = setting("HTTP_TOKEN", default=SecretStr(""))
    gateway_host: str = setting("GATEWAY_HOST", default="127.0.0.1")
    gateway_port: int = setting("GATEWAY_PORT", default=9890)
    gateway_sse_port: int = setting("GATEWAY_SSE_PORT", default=9891)
    gateway_allowed_hosts: tuple[str, ...] = setting("GATEWAY_ALLOWED_HOSTS", default=())
    """Names, beside loopback, under which MCP clients may reach the gateway."""

    gateway_engines: tuple[Token, ...] | None = setting("GATEWAY_ENGINES", default=None)
    """The engines that are asked; none: see `engine_keys`."""
    gateway_adapters: bool = setting("GATEWAY_ADAPTERS", default=True)
    """Whether the gateway answers for the external engines itself; false: another process does."""
    gateway_authority: dict[SourceClass, Weight] = setting("GATEWAY_AUTHORITY", default={})
    """Weights that differ from `scoring.AUTHORITY`."""
    gateway_half_life_days: float = setting("GATEWAY_HALF_LIFE_DAYS", default=HALF_LIFE_DAYS)
    gateway_floor: Weight = setting("GATEWAY_FLOOR", default=0.2)
    """Least relevance times confidence of a hit that the answer may use."""
    gateway_hits_at_once: int = setting("GATEWAY_HITS_AT_ONCE", default=HITS_AT_ONCE)
    """How many hits engines may be asked for at once; questions beyond wait."""

    @property
    def engine_keys(self) -> tuple[str, ...]:
        """The engines that are asked: those that are named, or the built-in and all that are configured."""
        if self.gateway_engines is not None:
            return self.gateway_engines
        return (*BUILT_IN_ENGINES, *(source.key for source in self.engine_sources))

    @property
    def authority(self) -> dict[SourceClass, float]:
        """Weight of every source class."""
        return {**AUTHORITY, **self.gateway_authority}

    @field_validator("http_token")
    @classmethod
    def _without_spaces(cls, value: SecretStr) -> SecretStr:
        return SecretStr(value.get_secret_value().strip())

    @field_validator("gateway_host")
    @classmethod
    def _guarded(cls, value: str, info: ValidationInfo) -> str:
        # A setting that was refused is missing here; its own sentence is told as well.
        secrets = (info.data.get(name) for name in ("http_token", "jwt_secret"))
        proved = any(secret and secret.get_secret_value() for secret in secrets) or info.data.get("jwt_jwks_url")
        if not is_loopback(value) and not proved:
            raise ValueError("a bind beyond loopback needs credentials: set CORTEX_HTTP_TOKEN or CORTEX_JWT_*")
        return value

    @field_validator("gateway_half_life_days")
    @classmethod
    def _half_life(cls, value: float) -> float:
        if not 0 < value < float("inf"):
            raise ValueError("expected a number of days above 0")
        return value

    @field_validator("gateway_hits_at_once")
    @classmethod
    def _some_hits(cls, value: int) -> int:
        if not 1 <= value <= 1_000_000:
            raise ValueError("expected a number of hits between 1 and 1000000")
        return value

    @field_validator("gateway_engines")
    @classmethod
    def _some_engines(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value is not None and not value:
            raise ValueError("expected at least one engine key")
        return None if value is None else tuple(dict.fromkeys(value))


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a port bound to `host`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"

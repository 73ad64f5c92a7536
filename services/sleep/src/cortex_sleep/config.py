"""Settings of the sleep service: its own database role, on its own connections."""

from __future__ import annotations

from datetime import UTC, time, tzinfo
from typing import Annotated, ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BeforeValidator, Field, InstanceOf, SecretStr, field_validator
from pydantic_settings import NoDecode

from cortex_contracts.subjects import SleepPhase
from cortex_ranking.settings import RecipeSettings
from cortex_runtime.settings import CacheSettings, ServiceSettings
from cortex_runtime.settings_cold_store import ColdStoreSettings
from cortex_runtime.settings_models import LanguageModelSettings
from cortex_runtime.settings_part import parts, setting
from cortex_runtime.settings_wake import WakeSettings

NEVER = "never"


def _time_of_day(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.strip().lower() == NEVER:
        return None
    try:
        at = time.fromisoformat(value.strip())
    except ValueError:
        at = None
    if at is None or at.tzinfo is not None:
        raise ValueError(f"expected a time of day such as 03:30, or {NEVER}")
    return at


def _zone(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        # A machine need not know the zones of the world for the one that needs no rules.
        return UTC if value.strip() == "UTC" else ZoneInfo(value.strip())
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("expected a time zone such as Europe/Berlin") from None


class SleepSettings(
    ServiceSettings, CacheSettings, LanguageModelSettings, WakeSettings, ColdStoreSettings, RecipeSettings
):
    """What sleep reads."""

    service: ClassVar[str] = "sleep"

    sleep_database_url: SecretStr = setting("SLEEP_DATABASE_URL")
    sleep_host: str = setting("SLEEP_HOST", default="127.0.0.1")
    sleep_port: int = setting("SLEEP_PORT", default=9895)

    embeddings_url: str = setting("EMBEDDINGS_URL", "TEI_EMBEDDINGS_URL", default="")
    """Of the questions to the archive; none: they go by their words."""
    embeddings_model: str = setting("EMBEDDINGS_MODEL", "TEI_EMBEDDINGS_MODEL", default="")

    sleep_at: Annotated[time | None, BeforeValidator(_time_of_day)] = setting("SLEEP_AT", default=time(3, 30))
    """When every namespace is worked on, each day; none: `never`."""
    sleep_timezone: Annotated[InstanceOf[tzinfo], BeforeValidator(_zone)] = setting("SLEEP_TIMEZONE", default=UTC)
    sleep_pressure: Annotated[int, Field(ge=0)] = setting("SLEEP_PRESSURE", default=1000)
    """Memory events after which a namespace is worked on before its time; 0: never."""
    sleep_phases: Annotated[tuple[SleepPhase, ...], NoDecode, BeforeValidator(parts)] = setting(
        "SLEEP_PHASES", default=()
    )
    """What is done by itself; none: everything."""
    sleep_workers: Annotated[int, Field(ge=1, le=16)] = setting("SLEEP_WORKERS", default=1)
    """Namespaces that this process works on at a time."""

    sleep_demote_invalid_days: Annotated[float, Field(ge=0, le=36500)] = setting(
        "SLEEP_DEMOTE_INVALID_DAYS", default=30.0
    )
    """How long a memory that is not true any more stays in the hot tier."""
    sleep_demote_learned_days: Annotated[float, Field(ge=0, le=36500)] = setting(
        "SLEEP_DEMOTE_LEARNED_DAYS", default=30.0
    )
    """How long one that is true stays there at least."""
    sleep_demote_retention: Annotated[float, Field(ge=0, le=1)] = setting("SLEEP_DEMOTE_RETENTION", default=0.2)
    """What it must be worth to stay longer (docs/decay.md)."""

    @field_validator("sleep_phases")
    @classmethod
    def _can_be_run(cls, phases: tuple[SleepPhase, ...]) -> tuple[SleepPhase, ...]:
        if SleepPhase.OBSERVE in phases:
            raise ValueError("observe goes on all the time and is no phase of a run")
        return phases

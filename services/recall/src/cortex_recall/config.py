"""Settings of the recall service."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from cortex_ranking.settings import RecipeSettings
from cortex_runtime.settings import CacheSettings, DatabaseSettings, ServiceSettings
from cortex_runtime.settings_models import RerankerSettings
from cortex_runtime.settings_part import setting
from cortex_runtime.settings_vaults import VaultsSettings


class RecallSettings(
    ServiceSettings, DatabaseSettings, RecipeSettings, RerankerSettings, CacheSettings, VaultsSettings
):
    """What recall reads."""

    service: ClassVar[str] = "recall"

    recall_host: str = setting("RECALL_HOST", default="127.0.0.1")
    recall_port: int = setting("RECALL_PORT", default=9894)
    recall_cache_ttl_s: Annotated[float, Field(gt=0, le=3600)] = setting("RECALL_CACHE_TTL_S", default=10.0)
    """How old a cached answer may be, in seconds, that no writer could call old because the cache was away."""

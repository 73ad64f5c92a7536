"""Settings of the recall service."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field, ValidationInfo, field_validator

from cortex_recall import calibration
from cortex_recall.fusion import Recipe
from cortex_runtime.settings import CacheSettings, DatabaseSettings, ServiceSettings
from cortex_runtime.settings_models import EmbeddingsSettings, RerankerSettings
from cortex_runtime.settings_part import setting
from cortex_runtime.settings_vaults import VaultsSettings


class RecallSettings(
    ServiceSettings, DatabaseSettings, EmbeddingsSettings, RerankerSettings, CacheSettings, VaultsSettings
):
    """What recall reads."""

    service: ClassVar[str] = "recall"

    recall_host: str = setting("RECALL_HOST", default="127.0.0.1")
    recall_port: int = setting("RECALL_PORT", default=9894)
    recall_recipe: Annotated[Recipe, Field(validate_default=True)] = setting("RECALL_RECIPE", default={})
    """How evidence becomes a score; JSON with the fields that differ from those measured with the embedding model."""
    recall_cache_ttl_s: Annotated[float, Field(gt=0, le=3600)] = setting("RECALL_CACHE_TTL_S", default=10.0)
    """How old a cached answer may be, in seconds, that no writer could call old because the cache was away."""

    @field_validator("recall_recipe", mode="before")
    @classmethod
    def _of_the_model(cls, given: Any, info: ValidationInfo) -> Any:
        measured = calibration.of(info.data.get("embeddings_model", "")).numbers()
        return {**measured, **given} if isinstance(given, dict) else given

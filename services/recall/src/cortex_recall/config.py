"""Settings of the recall service."""

from __future__ import annotations

from typing import ClassVar

from cortex_recall.fusion import Recipe
from cortex_runtime.settings import (
    CacheSettings,
    DatabaseSettings,
    EmbeddingsSettings,
    RerankerSettings,
    ServiceSettings,
    setting,
)


class RecallSettings(ServiceSettings, DatabaseSettings, EmbeddingsSettings, RerankerSettings, CacheSettings):
    """What recall reads."""

    service: ClassVar[str] = "recall"

    recall_host: str = setting("RECALL_HOST", default="127.0.0.1")
    recall_port: int = setting("RECALL_PORT", default=9894)
    recall_recipe: Recipe = setting("RECALL_RECIPE", default=Recipe())
    """How evidence becomes a score; JSON with the fields that differ from the measured default."""

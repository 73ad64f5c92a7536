"""Settings of ranking: how evidence becomes a score, the same in recall and in the archive."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from cortex_ranking import calibration
from cortex_ranking.fusion import Recipe
from cortex_runtime.settings_models import EmbeddingsSettings
from cortex_runtime.settings_part import setting


class RecipeSettings(EmbeddingsSettings):
    """Which embedder to call, and what its cosines mean."""

    recall_recipe: Annotated[Recipe, Field(validate_default=True)] = setting("RECALL_RECIPE", default={})
    """How evidence becomes a score; JSON with the fields that differ from those measured with the embedding model."""

    @field_validator("recall_recipe", mode="before")
    @classmethod
    def _of_the_model(cls, given: Any, info: ValidationInfo) -> Any:
        measured = calibration.of(info.data.get("embeddings_model", "")).numbers()
        return {**measured, **given} if isinstance(given, dict) else given

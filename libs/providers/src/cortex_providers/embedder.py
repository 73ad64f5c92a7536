"""The embedder port: text in, vectors out.

Drivers register under the entry-point group `cortex.embedder`; `open_embedder` finds one by name. A driver's factory
takes an `EmbedderConfig` and returns an `Embedder`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from cortex_contracts.errors import Permanent, Unavailable
from cortex_providers import drivers
from cortex_runtime.settings_models import EmbeddingsSettings

GROUP: Final = "cortex.embedder"

Vectors = NDArray[np.float32]


class ModelMismatch(Permanent):
    """The server has another model than configured, or a model of another dimension."""


class TextKind(StrEnum):
    """What a text is for: models of the E5 family embed questions and passages differently."""

    QUERY = "query"
    PASSAGE = "passage"


class Embedder(Protocol):
    """Turns texts into vectors of one model and dimension."""

    @property
    def model(self) -> str:
        """Name of the model, as recorded in the database."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Embed `texts` in order: (len(texts), dimension) float32, L2-normalised.

        Raises:
            Unavailable: the model cannot be reached or is overloaded.
            ModelMismatch: it answered with another dimension than configured.
            Permanent: it refused the texts.
        """
        ...

    async def open(self) -> None:
        """Make it usable; an `embed` that comes earlier does it too.

        Raises:
            ModelMismatch: the server has another model than configured, or one of another dimension.
            Unavailable: it does not answer.
        """
        ...

    async def check(self) -> None:
        """Is it usable? Raises Unavailable when not."""
        ...

    async def close(self) -> None:
        """Let its connections go."""
        ...


@dataclass(frozen=True, slots=True)
class EmbedderConfig:
    """Where the model is. The key is never shown."""

    url: str
    model: str
    dimension: int
    api_key: str = field(default="", repr=False)
    timeout_s: float = 30.0
    """Sixteen long passages take the bundled model about ten seconds of a busy core."""


def configured(settings: EmbeddingsSettings) -> Embedder:
    """The embedder that the settings name.

    Raises:
        Permanent: its driver is not installed.
    """
    return open_embedder(
        settings.embeddings_driver,
        EmbedderConfig(
            settings.embeddings_url,
            settings.embeddings_model,
            settings.embeddings_dimension,
            settings.embeddings_api_key.get_secret_value(),
        ),
    )


def open_embedder(driver: str, config: EmbedderConfig) -> Embedder:
    """The embedder of one driver.

    Raises:
        Permanent: no such driver is installed; the message lists those that are.
    """
    factory = cast(
        "Callable[[EmbedderConfig], Embedder]",
        drivers.load(GROUP, driver, what="embedder", setting="CORTEX_EMBEDDINGS_DRIVER"),
    )
    return factory(config)


def unit_vectors(rows: Any, expected: int, config: EmbedderConfig) -> Vectors:
    """A server's rows of numbers as (expected, dimension) float32, L2-normalised.

    Raises:
        ModelMismatch: they have another length than configured.
        Unavailable: they are no rows of numbers, or not as many as were asked for.
    """
    try:
        vectors = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError):
        vectors = np.empty(0, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != expected or not np.isfinite(vectors).all():
        raise Unavailable("the embedder's answer is not one vector of numbers for every text")
    if vectors.shape[1] != config.dimension:
        raise ModelMismatch(
            f"the embedder makes vectors of {vectors.shape[1]} dimensions, expected {config.dimension}: set "
            "CORTEX_EMBEDDINGS_MODEL and CORTEX_EMBEDDINGS_DIMENSION to what the database was made with, "
            "or run `cortex reindex`"
        )
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    normalised: Vectors = (vectors / np.where(norms == 0.0, 1.0, norms)).astype(np.float32)
    return normalised

"""The embedder port: text in, vectors out.

Drivers register under the entry-point group `cortex.embedder`; `open_embedder` finds one by name. A driver's factory
takes an `EmbedderConfig` and returns an `Embedder`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import entry_points
from typing import Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_runtime.settings import EmbeddingsSettings

GROUP: Final = "cortex.embedder"

Vectors = NDArray[np.float32]


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
            Permanent: it refused the texts, or answered with another dimension than configured.
        """
        ...

    async def open(self) -> None:
        """Make it usable."""
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
    found = {point.name: point for point in entry_points(group=GROUP)}
    if driver not in found:
        raise Permanent(
            f"no embedder driver {driver!r} is installed (there are: {', '.join(sorted(found)) or 'none'}); "
            "set CORTEX_EMBEDDINGS_DRIVER to one of them or install the package that brings it",
            code=ErrorCode.NOT_FOUND,
        )
    factory = cast("Callable[[EmbedderConfig], Embedder]", found[driver].load())
    return factory(config)

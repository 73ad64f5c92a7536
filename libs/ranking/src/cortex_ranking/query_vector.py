"""The vector of a question, or the reason why there is none: recall then answers by words and says so."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, Protocol

from cortex_contracts.errors import CortexError
from cortex_providers.embedder import Embedder, TextKind, Vectors
from cortex_runtime import logs

LIMIT_S: Final = 1.0
"""A question waits this long for its vector. Measured: 8 ms for a short one on an idle machine."""
DEGRADED: Final = "vectors"

log = logs.get(__name__)


@dataclass(frozen=True, slots=True)
class QueryVector:
    """`vector` has shape (dimension,) and comes from `model`; none when the embedder is away, and `degraded` then names
    what is missing."""

    vector: Vectors | None
    model: str

    @property
    def degraded(self) -> tuple[str, ...]:
        """What did not take part in an answer with this vector."""
        return () if self.vector is not None else (DEGRADED,)


class VectorSource(Protocol):
    """What recall needs of an embedder."""

    async def of(self, query: str) -> QueryVector:
        """The vector of one question."""
        ...


class Model(Protocol):
    """What recall needs to know of the recorded model."""

    async def fits(self) -> bool:
        """Is it still the one that questions are embedded with?"""
        ...


class NoVectors:
    """Where there is no embedder: questions go by their words."""

    def __init__(self, model: str = "") -> None:
        self._model = model

    async def of(self, query: str) -> QueryVector:  # noqa: ARG002 - it is a `VectorSource`
        """No vector."""
        return QueryVector(None, self._model)


class QueryVectors:
    """Embeds questions within a time limit."""

    def __init__(self, embedder: Embedder, model: Model) -> None:
        self._embedder = embedder
        self._recorded = model

    async def of(self, query: str) -> QueryVector:
        """The vector of one question; a failing embedder is logged and costs the vector, not the answer, and so does a
        database that `cortex reindex` has moved to another model."""
        if not await self._recorded.fits():
            return QueryVector(None, self._embedder.model)
        try:
            async with asyncio.timeout(LIMIT_S):
                return QueryVector((await self._embedder.embed([query], TextKind.QUERY))[0], self._embedder.model)
        except (CortexError, TimeoutError) as error:
            log.warning("question has no vector", reason=str(error) or type(error).__name__)
            return QueryVector(None, self._embedder.model)

    async def open(self) -> None:
        """Nothing to wait for: recall can answer without the embedder."""

    async def check(self) -> None:
        """Is the embedder there?"""
        await self._embedder.check()

    async def close(self) -> None:
        """Let its connections go."""
        await self._embedder.close()

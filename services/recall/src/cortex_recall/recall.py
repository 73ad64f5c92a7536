"""Recall: the memories that answer a query, best first."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from cortex_contracts.messages.base import Principal
from cortex_recall.fusion import content_terms, fused, relevance
from cortex_recall.ports import Candidates
from cortex_recall.query_vector import VectorSource
from cortex_store.memories import Memory


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that answers: `score` ranks it, `relevance` says how well it answers; both in [0, 1]."""

    memory: Memory
    score: float
    relevance: float


@dataclass(frozen=True, slots=True)
class Result:
    """What was found, best first, and what could not take part."""

    memories: tuple[Recalled, ...]
    degraded: tuple[str, ...]
    took_ms: int


class Recall:
    """The use case."""

    def __init__(self, candidates: Candidates, vectors: VectorSource) -> None:
        self._candidates = candidates
        self._vectors = vectors

    async def recall(self, principal: Principal, query: str, namespaces: Sequence[str] | None, k: int) -> Result:
        """The best `k` memories for `query` among those that the principal may read.

        Raises:
            Unavailable: the hot tier cannot be read.
        """
        started = time.perf_counter()
        vector = await self._vectors.of(query)
        found = await self._candidates.memories(principal, query, vector.vector, namespaces)
        words = content_terms(query)
        ranked = sorted(
            (
                Recalled(
                    candidate.memory,
                    fused((candidate.by_vector, candidate.by_words), candidate.memory.importance),
                    relevance(words, candidate.memory.content, candidate.by_vector),
                )
                for candidate in found
            ),
            key=lambda one: (-one.score, one.memory.id),
        )
        return Result(tuple(ranked[:k]), vector.degraded, int((time.perf_counter() - started) * 1000))

"""Memories of the cold tier as retain would have indexed them, and a reader that compares every one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from cortex_extraction import entities
from cortex_providers.cold_memory import ColdEntity, ColdMemory
from cortex_store import lexical, terms
from cortex_store.lexical_index import DIMENSIONS
from cortex_testkit.cold_memories import cold_memory

MODEL: Final = "test-model"
DIMENSION: Final = 64


def vector_of(text: str, dimension: int = DIMENSION) -> NDArray[np.float32]:
    """A vector that texts share as far as they share words: the mean of one random vector per word, normalised."""
    words = terms.analyse(text) or [text]
    total = np.zeros(dimension, dtype=np.float64)
    for word in words:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
        total += np.random.default_rng(seed).normal(size=dimension)
    vector: NDArray[np.float32] = (total / np.linalg.norm(total)).astype(np.float32)
    return vector


def archived(
    number: int,
    content: str,
    *,
    at: datetime = datetime(2024, 3, 5, 12, tzinfo=UTC),
    speaker: str | None = None,
    model: str | None = MODEL,
    **changes: Any,
) -> ColdMemory:
    """Memory `number` of `local/work`, which says `content` and is indexed by it: readable by the namespace, true."""
    impacts: dict[int, float] = {}
    for term, impact in lexical.impacts(terms.analyse(f"{speaker or ''} {content}")).items():
        impacts[term % DIMENSIONS] = impacts.get(term % DIMENSIONS, 0.0) + impact
    ordered = sorted(impacts)
    named = [ColdEntity(one.key, one.name, one.kind.value, "mention") for one in entities.extract(content)]
    if speaker:
        named.append(ColdEntity(speaker.lower(), speaker, "person", "speaker"))
    plain: dict[str, Any] = {
        "content": content,
        "speaker": speaker,
        "visibility": "team",
        "owner": "agent-1",
        "session": None,
        "turn": None,
        "valid_at": at,
        "created_at": at,
        "invalid_at": None,
        "superseded_by": None,
        "importance": 0.5,
        "entities": tuple(sorted(set(named), key=lambda one: (one.role, one.key))),
        "relations": (),
        "embedding": None if model is None else vector_of(content).astype("<f2").tobytes(),
        "embedding_model": model,
        "script": terms.script(content),
        "terms": np.array(ordered, "<i4").tobytes(),
        "impacts": np.array([impacts[term] for term in ordered], "<f4").tobytes(),
    }
    return replace(cold_memory(number), **{**plain, **changes})


class EveryOne:
    """Compares every memory that somebody may see: what a search must find."""

    def __init__(self, memories: Iterable[ColdMemory]) -> None:
        self._memories = list(memories)

    def by_words(self, question: str, limit: int) -> list[tuple[UUID, float]]:
        """The best by BM25 over these memories, best first, equal ones by id."""
        asked = {lexical.term_hash(term) % DIMENSIONS for term in terms.content_terms(question)}
        held = [_words(memory) for memory in self._memories]
        count = max(len(self._memories), lexical.SMALLEST_STORE)
        idfs = {term: lexical.idf(sum(term in words for words in held), count) for term in asked}
        scored = [
            (memory.id, sum(idfs[term] * words[term] for term in asked if term in words))
            for memory, words in zip(self._memories, held, strict=True)
        ]
        return sorted((one for one in scored if one[1] > 0), key=lambda one: (-one[1], one[0]))[:limit]

    def by_meaning(self, vector: NDArray[np.float32], limit: int) -> list[tuple[UUID, float]]:
        """The nearest, nearest first, equal ones by id."""
        scored = [
            (memory.id, float(np.frombuffer(memory.embedding, "<f2").astype(np.float32) @ vector))
            for memory in self._memories
            if memory.embedding is not None
        ]
        return sorted(scored, key=lambda one: (-one[1], one[0]))[:limit]


def overlap(found: Sequence[UUID], wanted: Sequence[tuple[UUID, float]]) -> float:
    """Which share of the wanted was found."""
    return len({one for one, _ in wanted} & set(found)) / max(1, len(wanted))


def _words(memory: ColdMemory) -> dict[int, float]:
    dimensions = np.frombuffer(memory.terms, "<i4").tolist()
    return dict(zip(dimensions, np.frombuffer(memory.impacts, "<f4").tolist(), strict=True))

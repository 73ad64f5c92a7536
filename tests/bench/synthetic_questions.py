"""Questions about seeded memories: words of a memory of the namespace among words that everybody uses, and a vector
near that memory's. The vectors are put where recall looks before it asks its embedder, so that this one takes no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import synthetic_memories as synthetic
from numpy.typing import NDArray
from seeding import Seeded

from cortex_providers.cache import Cache, CachedEmbedder
from cortex_providers.embedder import TextKind, Vectors

FROM_MEMORY = 0.6
NAMING = 0.2
"""Share of the questions that name a speaker."""
DISTANCE = 0.45


@dataclass(frozen=True)
class Question:
    """A question to a namespace; `scope` none: to all of them."""

    scope: int | None
    text: str
    vector: NDArray[np.float32]

    @property
    def namespaces(self) -> tuple[str, ...] | None:
        """What recall is told."""
        return None if self.scope is None else (synthetic.NAMESPACES[self.scope],)


def questions(seeded: Seeded, scope: int | None, count: int, rng: np.random.Generator) -> list[Question]:
    """Different questions of 3 to 12 words."""
    rows = np.arange(len(seeded.scopes)) if scope is None else np.flatnonzero(seeded.scopes == scope)
    return [_question(seeded, scope, int(row), rng) for row in rng.choice(rows, count)]


def mixed(seeded: Seeded, count: int, rng: np.random.Generator) -> list[Question]:
    """Questions to namespaces as they are sized: two in five go to the largest."""
    rows = rng.integers(len(seeded.scopes), size=count)
    return [_question(seeded, int(seeded.scopes[row]), int(row), rng) for row in rows]


def _question(seeded: Seeded, scope: int | None, row: int, rng: np.random.Generator) -> Question:
    words = synthetic.vocabulary()
    own = seeded.terms[seeded.starts[row] : seeded.starts[row + 1]]
    own = own[own < synthetic.WORDS]
    length = int(rng.integers(3, 13))
    from_memory = rng.choice(own, min(len(own), max(1, round(FROM_MEMORY * length))), replace=False)
    everyday = np.searchsorted(words.by_rank, rng.random(length - len(from_memory)))
    said = [str(words.words[number]) for number in (*from_memory, *np.minimum(everyday, synthetic.WORDS - 1))]
    if rng.random() < NAMING:
        said.insert(len(said) // 2, synthetic.speakers()[rng.integers(synthetic.SPEAKERS)])
    vector = seeded.vectors[row].astype(np.float32) + DISTANCE * synthetic.unit(rng, 1)[0]
    return Question(scope, " ".join(said), vector / np.linalg.norm(vector))


class _Prepared:
    """An embedder that knows its few texts."""

    dimension = synthetic.DIMENSION

    def __init__(self, model: str, asked: Sequence[Question]) -> None:
        self.model = model
        self._vectors = {one.text: one.vector for one in asked}

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        return np.stack([self._vectors[text] for text in texts])

    async def open(self) -> None:
        """Nothing to open."""

    async def check(self) -> None:
        """Always there."""

    async def close(self) -> None:
        """Nothing is held."""


async def prepare(cache_url: str, model: str, asked: Sequence[Question]) -> None:
    """Put the vectors of the questions into the embedding cache."""
    cache = Cache(cache_url)
    await cache.open()
    embedder = CachedEmbedder(_Prepared(model, asked), cache)
    for first in range(0, len(asked), 200):
        await embedder.embed([one.text for one in asked[first : first + 200]], TextKind.QUERY)
    await cache.close()

"""One hop from the memories that answer best to those that go with them: over a name that both share, or over a
relation between a name of one and a name of the other. Pure functions; the paths come from the store.

What is reached so shares neither enough words nor enough meaning with the question to be a candidate. It has a part of
the relevance of the hit that it goes with, the smaller the more memories share the name: a name that all share leads
nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from cortex_ranking.fusion import Scored
from cortex_store.entity_relations import Path
from cortex_store.lexical import SMALLEST_STORE, idf

HITS: Final = 5
"""From so many of the best one goes on."""
FACTOR: Final = 0.6
"""Of the relevance of a hit, when a request asks for the hop and the recipe has none. The largest that left every
answer among the first 50 in its place on the development conversations; from 0.7 on evidence is pushed out of ten."""


@dataclass(frozen=True, slots=True)
class Hopped:
    """A memory that was reached, and the path that gave it its relevance."""

    scored: Scored
    path: Path


def factor(asked: bool | None, recipe: float) -> float:
    """What part of a hit's relevance the hop hands on; 0: there is none. A request decides before the recipe."""
    if asked is None:
        return recipe
    return (recipe or FACTOR) if asked else 0.0


def score(paths: Sequence[Path], hits: Sequence[Scored], part: float) -> list[Hopped]:
    """What was reached over `paths` from `hits`, best first, equal ones by id: each memory by its best path.

    The relevance is `part` × the hit's relevance × the rarity of the shared name, and over a relation × the rarity of
    its far end as well; it never exceeds that of the hit.
    """
    relevance = {one.id: one.relevance for one in hits}
    best: dict[UUID, tuple[float, Path]] = {}
    for path in paths:
        value = min(part, 1.0) * relevance.get(path.hit, 0.0) * rarity(path.shared, path.memories)
        if path.other_shared is not None:
            value *= rarity(path.other_shared, path.memories)
        if path.memory not in best or value > best[path.memory][0]:
            best[path.memory] = (value, path)
    ordered = sorted(best.items(), key=lambda item: (-item[1][0], item[0]))
    return [Hopped(Scored(memory, value, ("hop",), (value,)), path) for memory, (value, path) in ordered]


def rarity(shared: int, memories: int) -> float:
    """How telling it is that two of `memories` share a name that `shared` of them are about, in [0, 1]: its BM25 idf
    against that of a name which only these two share."""
    known = max(memories, SMALLEST_STORE)
    return min(1.0, idf(shared, known) / idf(2, known))

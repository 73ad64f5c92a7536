"""Topics: which statements of one speaker are about one thing. No I/O.

A statement joins the topic that it is most like and shares a word with, or begins one. It is as like a topic as the
mean of its likeness to the statement of it that is nearest and to all of them: nearest alone drifts from camping to
cars in three steps, all alone keeps a course of events apart. Likeness is half words, half meaning, since either alone
is wrong in another way: vectors of short turns are near for their tone, words for their commonest noun. Statements come
in a fixed order and a topic never loses or changes its statements by a later one, so a run over more statements goes on
where the last ended.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

LIKE: Final = 0.40
"""Likeness from which a statement belongs to a topic. Read on four conversations (tests/bench/consolidation.py): from
0.45 on courses of events fall apart, below 0.38 topics mix."""
LARGEST: Final = 12
"""Statements of one topic; what comes later begins another, so that a fact can be read at a glance."""
WINDOW: Final = 5_000
"""Statements of one speaker that a new one is compared with, the latest: bounds memory (2 kB each) and time."""

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """What one memory claims: `words`: its terms (hashes) with their idfs; `vector`: L2-normalised, none while it has
    none."""

    memory: UUID
    words: Mapping[int, float]
    vector: Vector | None


class Topics:
    """The topics of one speaker, so far as their statements are compared with new ones."""

    def __init__(self, cosine_floor: float, cosine_span: float) -> None:
        """Between which cosines of the embedding model unrelated texts become one (`cortex_ranking.calibration`)."""
        self._floor, self._span = cosine_floor, cosine_span
        self._numbers: dict[UUID, int] = {}  # of topics, in the order in which they came
        self._topics: list[UUID] = []
        self._of: list[int] = []  # statement to number of its topic
        self._vectors: Vector | None = None
        self._holding: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._of)

    def add(self, topic: UUID, statement: Statement) -> None:
        """A topic has one more statement."""
        if topic not in self._numbers:
            self._numbers[topic] = len(self._topics)
            self._topics.append(topic)
        at = len(self._of)
        self._of.append(self._numbers[topic])
        for term, weight in _normalised(statement.words).items():
            self._holding[term].append((at, weight))
        if statement.vector is not None:
            if self._vectors is None:
                self._vectors = np.zeros((64, len(statement.vector)), dtype=np.float32)
            while at >= len(self._vectors):
                self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
            self._vectors[at] = statement.vector

    def nearest(self, statement: Statement) -> UUID | None:
        """The topic that a statement belongs to, of equals the first; none: it begins one."""
        if not self._of:
            return None
        shared, like = self._likeness(statement)
        of = np.array(self._of)
        sizes = np.bincount(of)
        best = np.zeros(len(sizes))
        np.maximum.at(best, of, like)
        value = (best + np.bincount(of, like) / sizes) / 2
        value[(sizes >= LARGEST) | (np.bincount(of, shared) == 0.0)] = 0.0
        chosen = int(np.argmax(value))
        return self._topics[chosen] if value[chosen] >= LIKE else None

    def _likeness(self, statement: Statement) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How like each statement is by its words, and by all: half the cosine of words, half that of meaning above
        what unrelated texts have; of words alone where a vector is missing. In [0, 1]."""
        words = np.zeros(len(self._of))
        for term, weight in _normalised(statement.words).items():
            for at, other in self._holding.get(term, ()):
                words[at] += weight * other
        if statement.vector is None or self._vectors is None:
            return words, words
        known = self._vectors[: len(self._of)]
        meaning = np.clip((known @ statement.vector - self._floor) / self._span, 0.0, 1.0)
        return words, np.where(known.any(axis=1), 0.5 * words + 0.5 * meaning, words)


def _normalised(words: Mapping[int, float]) -> dict[int, float]:
    length = math.sqrt(sum(weight * weight for weight in words.values()))
    return {term: weight / length for term, weight in words.items()} if length else {}

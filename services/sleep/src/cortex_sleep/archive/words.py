"""The rows that hold words of a question: counted exactly, kept within a bound, scored when all are counted.

What a word is worth (its idf) is known when every row has been seen; until then a row keeps its impacts. When too many
are kept, the worst go, by what the words are worth among the rows seen so far: an estimate from tens of thousands of
rows, and only rows far behind the best are dropped by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cortex_sleep.archive.places import Places
from cortex_store import lexical
from cortex_store.lexical import Plan, Segment

Impacts: TypeAlias = NDArray[np.float32]
Counts: TypeAlias = NDArray[np.int64]

KEPT_BYTES: Final = 24 * 1024 * 1024
"""Of rows that may be among the best: of a question of eight words half a million."""
_EDGES: Final = np.array(lexical.EDGES, dtype=np.float32)
_BUCKETS: Final = len(lexical.TOPS)


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """The rows of one piece that hold words of the question: `rows` rising, `impacts` of shape (rows, words), 0 where
    a row has not the word."""

    rows: NDArray[np.int64]
    impacts: Impacts


class Words:
    """The distinct words of a question as dimensions, in any order."""

    def __init__(self, terms: Sequence[int]) -> None:
        self.terms = np.unique(np.array(terms, dtype=np.int32))

    def match(
        self, values: NDArray[np.int32], offsets: NDArray[np.integer], visible: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the words are in the flat terms of many rows, and in which rows; `offsets` of shape (rows + 1,) begin
        at 0. Rows that are not `visible` have none (none: all are)."""
        at = np.flatnonzero(np.isin(values, self.terms))
        rows = np.searchsorted(offsets, at, side="right") - 1
        if visible is not None:
            kept = visible[rows]
            at, rows = at[kept], rows[kept]
        return at, rows

    def matched(self, terms: NDArray[np.int32], impacts: NDArray[np.float32], rows: NDArray[np.int64]) -> Matched:
        """Words with their impacts and rows, one per occurrence, as rows with all their words."""
        distinct, inverse = np.unique(rows, return_inverse=True)
        table = np.zeros((len(distinct), len(self.terms)), dtype=np.float32)
        table[inverse, np.searchsorted(self.terms, terms)] = impacts
        return Matched(distinct, table)


class WordMatches:
    """What has been found in all pieces so far."""

    def __init__(self, words: Words, kept_bytes: int = KEPT_BYTES) -> None:
        self._words = words
        self._most = max(1_000, kept_bytes // (8 + 4 * max(1, len(words.terms))))
        self._counts: Counts = np.zeros((len(words.terms), _BUCKETS), dtype=np.int64)
        self._places: list[Places] = []
        self._impacts: list[Impacts] = []
        self._held = 0
        self.memories = 0

    def add(self, places: Places, impacts: Impacts, memories: int) -> None:
        """The matched rows of a piece that has `memories` rows in scope."""
        self.memories += memories
        if not len(places):
            return
        row, word = np.nonzero(impacts)
        bucket = np.searchsorted(_EDGES, impacts[row, word], side="right")
        np.add.at(self._counts, (word, bucket), 1)
        self._places.append(places)
        self._impacts.append(impacts)
        self._held += len(places)
        if self._held > self._most:
            self._keep(self._most // 4)

    def plan(self) -> Plan:
        """What the words are worth, and the best score that there could be."""
        segments = [
            Segment(term=int(term), bucket=bucket, key=0, df=int(df))
            for term, buckets in zip(self._words.terms, self._counts, strict=True)
            for bucket, df in enumerate(buckets)
        ]
        return lexical.plan([int(term) for term in self._words.terms], segments, self.memories)

    def best(self, limit: int) -> Places:
        """The `limit` best rows, best first, equal ones by place."""
        self._keep(limit)
        return self._places[0] if self._places else np.zeros(0, dtype=np.int64)

    def _keep(self, count: int) -> None:
        if not self._places:
            return
        places, impacts = np.concatenate(self._places), np.concatenate(self._impacts)
        memories = max(self.memories, lexical.SMALLEST_STORE)
        idfs = np.array([lexical.idf(int(df), memories) for df in self._counts.sum(axis=1)], dtype=np.float32)
        scores = impacts @ idfs
        if count < len(scores):
            least = np.partition(scores, len(scores) - count)[len(scores) - count]
            # All that are as good as the last one: which of them stays must not depend on the order they came in.
            kept = np.flatnonzero(scores >= least)
        else:
            kept = np.arange(len(scores))
        kept = kept[np.lexsort((places[kept], -scores[kept]))][:count]
        self._places, self._impacts, self._held = [places[kept]], [impacts[kept]], len(kept)

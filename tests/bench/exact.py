"""The exact answers of one namespace of seeded memories, by numpy over the same impacts and vectors."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final, TypeAlias
from uuid import UUID

import numpy as np
import synthetic_memories as synthetic
from numpy.typing import NDArray
from seeding import Seeded

from cortex_store import lexical, terms

K: Final = 40
TOLERANCE: Final = 2e-4
"""Scores that differ by less are equal: stored as 32-bit and 16-bit floats."""

Scores: TypeAlias = NDArray[np.float32]


@cache
def _by_hash() -> dict[int, int]:
    return {int(value): at for at, value in enumerate(synthetic.vocabulary().hashes)}


class Reference:
    """One namespace."""

    def __init__(self, seeded: Seeded, scope: int) -> None:
        rows = np.flatnonzero(seeded.scopes == scope)
        starts, ends = seeded.starts[rows], seeded.starts[rows + 1]
        counts = ends - starts
        self._starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        at = np.repeat(starts - self._starts, counts) + np.arange(counts.sum())
        self._terms, self._impacts = seeded.terms[at], seeded.impacts[at]
        self._vectors = seeded.vectors[rows].astype(np.float32)
        self._vectors /= np.linalg.norm(self._vectors, axis=1, keepdims=True)
        self._rows = {id_.tobytes(): row for row, id_ in enumerate(seeded.ids[rows])}
        self.size = len(rows)

    def words(self, text: str) -> Scores:
        """The BM25 score of every memory, the idf over this namespace."""
        weights = np.zeros(len(_by_hash()), dtype=np.float32)
        for term in terms.content_terms(text):
            number = _by_hash().get(lexical.term_hash(term))
            if number is not None:
                weights[number] = lexical.idf(int((self._terms == number).sum()), self.size)
        scores: Scores = np.add.reduceat(weights[self._terms] * self._impacts, self._starts)
        return scores

    def meaning(self, vector: NDArray[np.float32]) -> Scores:
        """The cosine of every memory."""
        rounded = vector.astype(np.float16).astype(np.float32)
        scores: Scores = self._vectors @ (rounded / np.linalg.norm(rounded))
        return scores

    def overlap(self, scores: Scores, found: Iterable[UUID]) -> float:
        """Share of the `K` best with a positive score that are among `found`; equal scores can stand for each other."""
        best = min(K, int((scores > 0).sum()))
        if not best:
            return 1.0
        last = np.partition(scores, -best)[-best]
        known = [self._rows[id_.bytes] for id_ in found if id_.bytes in self._rows]
        return min(1.0, int((scores[known] >= last - TOLERANCE).sum()) / best)

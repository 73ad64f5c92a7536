"""BM25 over impacts: what a term weighs in a memory, what it is worth to a question, which part of the index to read.

BM25 (Robertson and Zaragoza, 2009) is Σ idf(term) · impact(term, memory). The impact is stored with the memory, the idf
comes with the question from the document frequencies of the searched scopes. The index keeps one segment per scope,
term and impact bucket; a question reads the most promising segments within a budget, and everything in them is scored
exactly (an anytime algorithm after JASS, Lin and Trotman, 2015). They are read in steps, and a step is left out when no
memory that only it could bring would be among the best (the bound of MaxScore, Turtle and Flood, 1995). Pure functions.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

K1: Final = 0.9
B: Final = 0.25
AVERAGE_LENGTH: Final = 100
"""Terms of an average memory, a constant: stored impacts cannot follow a moving average. Measured on dialogue turns (30
terms) and paragraphs (120): a small b with a length between the two is best for both, alone and in one namespace."""

EDGES: Final = (0.95, 1.15, 1.43)
"""Impacts at which the next bucket begins: a term occurs once in a long memory, once in a short one, twice, more."""
TOPS: Final = (0.95, 1.15, 1.43, K1 + 1)
"""The largest impact of each bucket."""
TYPICAL: Final = (0.90, 1.08, 1.32, 1.6)
"""A typical impact of each bucket: what a segment promises before it is read."""

BUDGET: Final = 5000
"""Memories that a question may read, whatever the size of the store: overlap@40 with exact BM25 was 0.98 or more at a
million memories."""
STEPS: Final = (0.1, 0.25, 0.5)
"""Shares of the budget after which another step begins."""
SMALLEST_STEP: Final = 100
"""Memories that the first step has at least: fewer are not enough to leave the others out."""
SMALLEST_STORE: Final = 100
"""A smaller store is taken for one of this size: of three memories a word in one of them tells as much as in a hundred,
and what a score means does not change while a store fills."""
DOUBT: Final = 0.5
"""Every question is taken to ask for half a rare word more than it says, which no memory has: sharing the one common
word of a short question is little evidence. Costs no ranking, and keeps questions about nothing below the floor."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The memories of one scope that hold a term with an impact of one bucket. `df`: how many; `key`: in the index."""

    term: int
    bucket: int
    key: int
    df: int


@dataclass(frozen=True, slots=True)
class Step:
    """Segments that are read together. `bound`: what a memory can score at most that is in no step before."""

    keys: tuple[int, ...]
    bound: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question reads the index. `idfs`: term hash to idf, of the terms that no memory has too; `steps`: what to
    read, the most promising first; `best`: the BM25 score that an ideal answer could reach, positive.

    `best` is the sum of each term's idf times the largest impact that it has anywhere. A term that no memory has counts
    once with the largest idf, so a nonsense word pulls the score of all others down.
    """

    idfs: dict[int, float]
    steps: tuple[Step, ...]
    best: float

    @property
    def keys(self) -> tuple[int, ...]:
        """Every segment to read, in order."""
        return tuple(key for step in self.steps for key in step.keys)


@lru_cache(maxsize=65_536)
def term_hash(term: str) -> int:
    """A stable hash of a term, unsigned 32 bits: the first four bytes of its BLAKE2b, big-endian.

    A vocabulary of 200,000 terms has about five pairs that share a hash; they are then one term.
    """
    return int.from_bytes(hashlib.blake2b(term.encode(errors="replace"), digest_size=4).digest())


def impacts(terms: Sequence[str]) -> dict[int, float]:
    """Term hash to impact of the terms of one memory (as `terms.analyse` gives them, repeated as they occur).

    tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average length)); more than 0, less than k1 + 1.
    """
    saturation = K1 * (1 - B + B * len(terms) / AVERAGE_LENGTH)
    return {
        term: frequency * (K1 + 1) / (frequency + saturation)
        for term, frequency in Counter(map(term_hash, terms)).items()
    }


def bucket(impact: float) -> int:
    """The bucket of an impact, 0 (low) to 3."""
    return sum(impact >= edge for edge in EDGES)


def idf(df: int, memories: int) -> float:
    """What a term is worth that `df` of `memories` hold: ln(1 + (N − df + ½) / (df + ½)), always positive.

    The statistics may lag behind: a term is in at most all memories.
    """
    df = min(max(df, 0), memories)
    return math.log(1 + (memories - df + 0.5) / (df + 0.5))


def plan(terms: Sequence[int], segments: Sequence[Segment], memories: int, budget: int = BUDGET) -> Plan:
    """How to read the index for the distinct `terms` (hashes) of a question, given what `memories` memories hold."""
    memories = max(memories, SMALLEST_STORE)
    found: Counter[int] = Counter()
    highest: dict[int, int] = {}
    for segment in segments:
        if segment.df > 0:
            found[segment.term] += segment.df
            highest[segment.term] = max(highest.get(segment.term, 0), segment.bucket)
    idfs = {term: idf(found[term], memories) for term in terms}
    best = DOUBT * idf(1, memories) + sum(
        worth * (TOPS[highest[term]] if term in highest else 1.0) for term, worth in idfs.items()
    )
    promises = [
        (idfs[segment.term] * TYPICAL[segment.bucket], segment)
        for segment in segments
        if segment.df > 0 and segment.term in idfs
    ]
    # What is not counted yet is always read, or one would not find what one has just written.
    uncounted = tuple(segment.key for segment in segments if segment.df <= 0 and segment.term in idfs)
    return Plan(idfs, _steps(uncounted, _choose(promises, budget), segments, idfs, best, budget), best)


def _steps(
    uncounted: tuple[int, ...],
    chosen: Sequence[Segment],
    segments: Sequence[Segment],
    idfs: Mapping[int, float],
    best: float,
    budget: int,
) -> tuple[Step, ...]:
    """What is read first, and further steps with the chosen segments in their order."""
    steps: list[Step] = []
    keys, bound, read = list(uncounted), best, 0
    for segment in chosen:
        if read >= SMALLEST_STEP and len(steps) < len(STEPS) and read + segment.df > STEPS[len(steps)] * budget:
            steps.append(Step(tuple(keys), bound))
            before = {key for step in steps for key in step.keys}
            left = {one.term: 0.0 for one in segments}
            for one in segments:
                if one.key not in before and one.term in idfs:
                    left[one.term] = max(left[one.term], idfs[one.term] * TOPS[one.bucket])
            keys, bound = [], sum(left.values())
        keys.append(segment.key)
        read += segment.df
    return (*steps, Step(tuple(keys), bound)) if keys else tuple(steps)


def _choose(promises: Sequence[tuple[float, Segment]], budget: int) -> list[Segment]:
    """The most promising segments that fit into `budget` memories together.

    A question of common words alone must read something: until a quarter of the budget is used, a segment that does not
    fit is read if the sum stays below three budgets, and passed over otherwise.
    """
    chosen: list[Segment] = []
    read = 0
    for _, segment in sorted(promises, key=lambda one: (-one[0], one[1].df, one[1].key)):
        fits = read + segment.df <= budget
        if not fits and read >= budget / 4:
            break
        if fits or read + segment.df <= 3 * budget:
            chosen.append(segment)
            read += segment.df
    return chosen

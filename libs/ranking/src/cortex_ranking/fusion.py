"""Fusion: from candidates with their exact scores to one relevance that means something. Pure functions.

The base of a candidate is absolute: the share of the best possible BM25 score that it reaches, and how far its cosine
rises above what unrelated texts have (between two scripts: the unrelated texts nearest to the question). Turns of a
session then support each other: the base is averaged with that of the turns beside it, and with the best of its
session. That a named person speaks is evidence of its own. All steps are weighted means over what is there, so a
relevance is in [0, 1] and compares between questions, namespaces, conversations and isolated facts. Every number in
`Recipe` was measured on real conversations and paragraphs in two languages (tests/bench/quality.py, with one row per
stage); round values on a plateau were preferred to the best ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]

RRF_K: Final = 60
"""Cormack, Clarke and Büttcher, SIGIR 2009."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a memory. `lexical`: BM25 score; `cosine`: none if memory and question do not both have a vector;
    `thread` and `turn`: its place in a session; `named`: 2 when the question names its speaker, 1 when it names an
    entity that it mentions, else 0; `in_time`: it became true in the time that the question speaks of; `foreign`: its
    script is another than the question's."""

    id: UUID
    lexical: float
    cosine: float | None
    thread: int | None = None
    turn: int | None = None
    named: int = 0
    in_time: bool = False
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Recipe:
    """The numbers of fusion; setting a weight to 0 switches its stage off.

    `cosine_floor` and `cosine_span` belong to the embedding model: its unrelated texts have cosines about the floor.
    The defaults are those of E5 small; `calibration` has those of other models.
    """

    lexical: float = 0.5
    cosine_floor: float = 0.80
    cosine_span: float = 0.15
    cosine_softness: float = 0.02
    """Below the floor order is kept: the other language's answers are there."""
    foreign_cosine: float = 0.02
    """Added to the cosine between two scripts when the question's background is not known."""
    foreign_floor: float = -0.02
    foreign_span: float = 0.25
    """Of the cosine between two scripts less the question's background (`calibration`), which take the place of
    `cosine_floor` and `cosine_span` there. Of the development paragraphs that answer, 55 % (Arabic asks) and 71 %
    (English asks) are above `floor`, without a background 21 % and 15 %; 99.7 % of 1,165 off-topic questions across
    scripts find nothing. 0.005 lower keeps five points more, and 98.7 % find nothing. With a smaller span the other
    script's answers go before those of the question's own."""
    beside: tuple[float, float] = (0.2, 0.1)
    """Weights of the turns at distance one and two, against 1 for the turn itself."""
    session: float = 0.4
    session_best: int = 2
    speaker: float = 0.1
    in_time: float = 0.05
    """A preference: neutral on the development data (the date is indexed with the words), worse from 0.1 on."""
    hop: float = 0.0
    """What memories that share a rare name with the best have of their relevance (`entity_hop`). Off: on the
    development conversations nothing is found better with it; a request may ask for it."""
    floor: float = 0.2
    """Relevance below which nothing is an answer: 99.8 % of the evidence that the development conversations find is
    above it, and 99.9 % of 1,832 off-topic questions to them find nothing."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory's `relevance`, in [0, 1], and what each of the `stages` `added` to it. The sum is the relevance, so long
    as that stays below 1; a mean with weaker turns takes away."""

    id: UUID
    relevance: float
    stages: tuple[str, ...]
    added: tuple[float, ...]

    @property
    def contributions(self) -> Mapping[str, float]:
        """Stage to what it added."""
        return dict(zip(self.stages, self.added, strict=True))


DEFAULT: Final = Recipe()
SALIENCE: Final = 0.15
"""Of the source specification."""


def fuse(
    evidence: Sequence[Evidence], best_possible: float, recipe: Recipe = DEFAULT, background: float | None = None
) -> list[Scored]:
    """Memories by relevance, best first, equal ones by id.

    Args:
        evidence: each memory once, in any order.
        best_possible: the BM25 score of an ideal answer (`lexical.Plan.best`), positive.
        recipe: the numbers.
        background: cosine of the question and unrelated texts of the other script (`calibration.Backgrounds`), none
            when it is not known.
    """
    if not evidence:
        return []
    words, meaning = _base(evidence, best_possible, recipe, background)
    base = words + meaning
    threads, turns = _places(evidence)
    smoothed = _averaged_with_neighbours(base, threads, turns, recipe.beside)
    supported = _averaged_with_session(smoothed, threads, recipe)
    speaker = recipe.speaker * np.array([one.named == 2 for one in evidence], dtype=np.float64)
    in_time = recipe.in_time * np.array([one.in_time for one in evidence], dtype=np.float64)
    total = supported + speaker + in_time
    parts = {
        "lexical": words,
        "semantic": meaning,
        "neighbours": smoothed - base,
        "session": supported - smoothed,
        "speaker": speaker,
        "time": in_time,
    }
    return _ranked(evidence, total, parts)


def rrf(evidence: Sequence[Evidence], depth: int = 100) -> list[Scored]:
    """Memories by reciprocal rank fusion with k = 60 of the `depth` best each way; being first both ways is 1.

    A rank says nothing about how good a hit is: a floor over these values means nothing.
    """
    parts: dict[str, Values] = {}
    for way, values in (
        ("lexical", [one.lexical if one.lexical > 0 else None for one in evidence]),
        ("semantic", [one.cosine for one in evidence]),
    ):
        parts[way] = np.zeros(len(evidence))
        found = sorted((-value, evidence[at].id, at) for at, value in enumerate(values) if value is not None)
        for rank, (_, _, at) in enumerate(found[:depth], start=1):
            parts[way][at] = (RRF_K + 1) / 2 / (RRF_K + rank)
    return _ranked(evidence, parts["lexical"] + parts["semantic"], parts)


def salient(relevance: float, importance: float) -> float:
    """The score that ranks: `relevance` with 0.15 × importance on top, in [0, 1]; 1 is a perfect match that matters."""
    return relevance * (1 + SALIENCE * importance) / (1 + SALIENCE)


def _base(
    evidence: Sequence[Evidence], best_possible: float, recipe: Recipe, background: float | None
) -> tuple[Values, Values]:
    """What words and what meaning contribute, each in [0, 1] and together at most 1.

    What cannot be compared one way is compared the other way alone: by words while there is no vector, by meaning
    between two scripts, which share no words (and by words all the same where they share names and numbers).
    """
    share = np.clip(np.array([one.lexical for one in evidence]) / best_possible, 0.0, 1.0)
    unknown = np.array([one.cosine is None for one in evidence], dtype=bool)
    cosines = np.array([-1.0 if one.cosine is None else one.cosine for one in evidence], dtype=np.float64)
    foreign = np.array([one.foreign for one in evidence], dtype=bool)
    floor, span = recipe.cosine_floor - recipe.foreign_cosine, recipe.cosine_span
    if background is not None:
        floor, span = background + recipe.foreign_floor, recipe.foreign_span
    above = cosines - np.where(foreign, floor, recipe.cosine_floor)
    risen = recipe.cosine_softness * np.logaddexp(0.0, above / recipe.cosine_softness)
    meaning = np.clip(risen / np.where(foreign, span, recipe.cosine_span), 0.0, 1.0)
    weight = np.where(unknown, 1.0, np.where(foreign & (meaning > share), 0.0, recipe.lexical))
    return weight * share, (1 - weight) * meaning


def _places(evidence: Sequence[Evidence]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Thread and turn of each candidate, threads numbered from 0; -1: none."""
    numbers: dict[int, int] = {}
    threads = [-1 if one.thread is None else numbers.setdefault(one.thread, len(numbers)) for one in evidence]
    turns = [-1 if one.thread is None or one.turn is None else one.turn for one in evidence]
    return np.array(threads, dtype=np.int64), np.array(turns, dtype=np.int64)


def _averaged_with_neighbours(
    base: Values, threads: NDArray[np.int64], turns: NDArray[np.int64], beside: tuple[float, float]
) -> Values:
    """The mean of each base with the bases of the turns beside it, so far as they are there."""
    placed = turns >= 0
    if not any(beside) or not placed.any():
        return base
    # One number per place; the gap keeps the last turns of a thread apart from the first of the next.
    places = np.where(placed, (threads << 34) + turns, -1)
    known, at = np.unique(places, return_inverse=True)
    best = np.zeros(len(known))
    np.maximum.at(best, at, base)
    total, weights = base.copy(), np.ones(len(base))
    for distance, weight in enumerate(beside, start=1):
        for place in (places - distance, places + distance):
            there = np.minimum(np.searchsorted(known, place), len(known) - 1)
            present = weight * (placed & (place >= 0) & (known[there] == place))
            total += present * best[there]
            weights += present
    averaged: Values = total / weights
    return averaged


def _averaged_with_session(values: Values, threads: NDArray[np.int64], recipe: Recipe) -> Values:
    """The mean of each value with the mean of the best of its thread, itself among them."""
    inside = np.flatnonzero(threads >= 0)
    if not recipe.session or not len(inside):
        return values
    ordered = inside[np.lexsort((-values[inside], threads[inside]))]
    number = threads[ordered]
    rank = np.arange(len(ordered)) - np.searchsorted(number, number)
    best = ordered[rank < recipe.session_best]
    support = np.bincount(threads[best], values[best]) / np.maximum(np.bincount(threads[best]), 1)
    supported = values.copy()
    supported[inside] = (values[inside] + recipe.session * support[threads[inside]]) / (1 + recipe.session)
    return supported


def _ranked(evidence: Sequence[Evidence], total: Values, parts: Mapping[str, Values]) -> list[Scored]:
    # By the sum before it is cut at 1, so that the best of the best stay in order.
    stages = tuple(parts)
    added = zip(*(part.tolist() for part in parts.values()), strict=True)
    ordered = sorted(
        zip(total.tolist(), evidence, added, strict=True),
        key=lambda row: (-row[0], row[1].id.int),
    )
    return [Scored(one.id, min(1.0, max(0.0, value)), stages, each) for value, one, each in ordered]

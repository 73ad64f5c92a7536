"""The rows that may be among the best are kept within a bound, and what is kept is right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sleep.archive.nearest import Nearest
from cortex_sleep.archive.places import parts, places
from cortex_sleep.archive.words import WordMatches, Words
from cortex_store import lexical

TERMS = (11, 22, 33)


def rows(seed: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Flat terms, their impacts, and where each row begins, with the end."""
    rng = np.random.default_rng(seed)
    each = [np.sort(rng.choice([11, 22, 33, 44, 55, 66], size=rng.integers(0, 5), replace=False)) for _ in range(count)]
    values = np.concatenate([*each, np.zeros(0, dtype=np.int64)]).astype(np.int32)
    impacts = rng.uniform(0.3, 1.85, size=len(values)).astype(np.float32)
    return values, impacts, np.concatenate([[0], np.cumsum([len(one) for one in each])])


def exact(values: np.ndarray, impacts: np.ndarray, offsets: np.ndarray, visible: np.ndarray) -> np.ndarray:
    memories = max(int(visible.sum()), lexical.SMALLEST_STORE)
    of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    scores = np.zeros(len(offsets) - 1)
    for term in TERMS:
        hit = (values == term) & visible[of]
        np.add.at(scores, of[hit], lexical.idf(int(hit.sum()), memories) * impacts[hit])
    return scores


def fed(seed: int, count: int, pieces: int, kept_bytes: int, visible: np.ndarray) -> tuple[WordMatches, tuple]:
    words = Words(TERMS)
    matches = WordMatches(words, kept_bytes)
    values, impacts, offsets = rows(seed, count)
    for piece in np.array_split(np.arange(count), pieces):
        if not len(piece):
            continue
        first, last = offsets[piece[0]], offsets[piece[-1] + 1]
        inside = offsets[piece[0] : piece[-1] + 2] - first
        shown = visible[piece]
        at, found = words.match(values[first:last], inside, shown)
        matched = words.matched(values[first:last][at], impacts[first:last][at], found)
        matches.add(places(0, 0, matched.rows + piece[0]), matched.impacts, int(shown.sum()))
    return matches, (values, impacts, offsets)


@given(st.integers(0, 10_000), st.integers(1, 400), st.integers(1, 9))
@settings(deadline=None, max_examples=60)
def test_the_best_rows_are_those_of_exhaustive_bm25(seed: int, count: int, pieces: int) -> None:
    visible = np.random.default_rng(seed + 1).random(count) < 0.8
    matches, held = fed(seed, count, pieces, 1 << 20, visible)
    scores = exact(*held, visible)
    best = [parts(int(place))[2] for place in matches.best(10)]
    wanted = np.lexsort((np.arange(count), -scores.astype(np.float32)))[:10]
    assert scores[best] == pytest.approx([score for score in scores[wanted] if score > 0], rel=1e-5)
    assert matches.memories == visible.sum()


def test_what_is_kept_is_bounded_and_the_best_stay() -> None:
    count = 60_000
    visible = np.ones(count, dtype=bool)
    matches, held = fed(7, count, 40, 40_000, visible)
    assert matches._held <= 40_000 // (8 + 4 * 3) + count // 40
    scores = exact(*held, visible)
    best = [parts(int(place))[2] for place in matches.best(50)]
    assert scores[best] == pytest.approx(np.sort(scores)[::-1][:50], rel=1e-5)


def test_the_plan_is_that_of_the_hot_tier() -> None:
    visible = np.ones(300, dtype=bool)
    matches, (values, impacts, _) = fed(3, 300, 5, 1 << 20, visible)
    segments = [
        lexical.Segment(term, bucket, 0, int(np.sum((values == term) & (_buckets(impacts) == bucket))))
        for term in TERMS
        for bucket in range(4)
    ]
    wanted = lexical.plan(TERMS, segments, 300)
    found = matches.plan()
    assert found.idfs == pytest.approx(wanted.idfs)
    assert found.best == pytest.approx(wanted.best)


def _buckets(impacts: np.ndarray) -> np.ndarray:
    return np.array([lexical.bucket(float(impact)) for impact in impacts])


def test_a_question_without_words_has_a_plan() -> None:
    matches = WordMatches(Words(()))
    matches.add(np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.float32), 10)
    assert len(matches.best(5)) == 0
    assert matches.plan().best > 0


@given(st.lists(st.floats(-1, 1, width=32), max_size=200), st.integers(1, 20), st.integers(1, 7))
@settings(deadline=None, max_examples=60)
def test_the_nearest_are_the_largest_whatever_the_pieces(values: list[float], limit: int, pieces: int) -> None:
    numbers = np.array(values, dtype=np.float32)
    nearest = Nearest(limit)
    for piece in np.array_split(np.arange(len(numbers)), pieces):
        nearest.add(piece.astype(np.int64), numbers[piece])
    wanted = np.lexsort((np.arange(len(numbers)), -numbers))[:limit]
    assert nearest.places.tolist() == wanted.tolist()


@given(st.integers(0, (1 << 20) - 1), st.integers(0, (1 << 17) - 1), st.integers(0, (1 << 26) - 1))
@settings(deadline=None, max_examples=60)
def test_a_place_is_its_parts(file: int, group: int, row: int) -> None:
    (place,) = places(file, group, np.array([row])).tolist()
    assert parts(place) == (file, group, row)
    assert place >= 0

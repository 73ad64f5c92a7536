"""Relevance: comparable, monotone, and below the floor where nothing is shared."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters import relevance
from cortex_gateway.adapters.relevance import RANKED, WORDED, Measure, Scale, coverages, recognised, relevances

FLOOR = 0.2
share = st.floats(0, 1)
pairs = st.tuples(share, share).map(sorted)
SENTENCES = ["the harbour crane", "crane number 7", "رافعة الميناء", "nobody", "", "the the the", "harbour"]


@given(covered=pairs, meaning=share, rank=st.integers(1, 100))
@settings(deadline=None, max_examples=200)
def test_more_words_never_make_a_hit_less_relevant(covered: list[float], meaning: float, rank: int):
    fewer, more = covered
    assert relevance.by_words(fewer) <= relevance.by_words(more) <= 1
    assert relevance.by_rank(fewer, rank) <= relevance.by_rank(more, rank) <= 1
    assert relevance.by_share(fewer, meaning) <= relevance.by_share(more, meaning) <= 1
    assert relevance.by_meaning(fewer, meaning) <= relevance.by_meaning(more, meaning) <= 1
    assert 0 <= relevance.by_measured_meaning(fewer, meaning) <= relevance.by_measured_meaning(more, meaning) <= 1


@given(coverage=share, meanings=pairs, rank=st.integers(1, 99), foreign=st.booleans())
@settings(deadline=None, max_examples=200)
def test_a_better_score_or_rank_never_makes_a_hit_less_relevant(
    coverage: float, meanings: list[float], rank: int, foreign: bool
):
    worse, better = meanings
    assert relevance.by_meaning(coverage, worse) <= relevance.by_meaning(coverage, better)
    assert relevance.by_share(coverage, worse) <= relevance.by_share(coverage, better)
    assert relevance.by_rank(coverage, rank + 1) <= relevance.by_rank(coverage, rank)
    assert relevance.by_measured_meaning(coverage, worse, foreign=foreign) <= relevance.by_measured_meaning(
        coverage, better, foreign=foreign
    )


@given(meaning=share, rank=st.integers(1, 100))
@settings(deadline=None, max_examples=100)
def test_what_shares_nothing_with_the_question_stays_below_the_floor_whatever_an_unmeasured_score_says(
    meaning: float, rank: int
):
    assert relevance.by_words(0) == relevance.by_rank(0, rank) == relevance.by_share(0, meaning) == 0
    assert relevance.by_meaning(0, meaning) < FLOOR / 2


@given(
    question=st.sampled_from(["Where is the harbour crane?", "أين رافعة الميناء؟", "?", "the", "crane 7"]),
    texts=st.lists(st.sampled_from(SENTENCES), max_size=6),
    scale=st.sampled_from(list(Scale)),
    data=st.data(),
)
@settings(deadline=None, max_examples=300)
def test_every_relevance_is_between_nothing_and_one(question: str, texts: list[str], scale: Scale, data: st.DataObject):
    scores = data.draw(
        st.lists(st.none() | st.floats(allow_nan=True), min_size=len(texts), max_size=len(texts)), label="scores"
    )
    found = relevances(question, texts, scores, Measure(scale))
    assert len(found) == len(texts)
    assert all(0 <= value <= 1 for value in found)


@given(similarity=st.floats(-1, 1))
@settings(deadline=None, max_examples=200)
def test_a_distance_of_unknown_kind_is_not_read_as_nearer_than_it_is(similarity: float):
    true = Measure(Scale.SIMILARITY).meaning(similarity)
    distances = (1 - similarity, math.sqrt(2 * (1 - similarity)), 2 * (1 - similarity))
    assert all(Measure(Scale.DISTANCE).meaning(distance) <= true + 1e-9 for distance in distances)
    assert Measure(Scale.DISTANCE).meaning(distances[0]) == pytest.approx(true)


def test_scores_whose_ends_are_known_count_by_themselves_and_between_scripts_alone():
    measure = Measure(Scale.SIMILARITY, ends=(0.8, 0.95))
    same, other, foreign = relevances(
        "harbour crane", ["a hoist on the quay", "a hoist on the quay", "رافعة على الرصيف"], [0.95, 0.8, 0.95], measure
    )
    assert (same, other, foreign) == (pytest.approx(0.5), 0.0, pytest.approx(1.0))
    [unmeasured] = relevances("harbour crane", ["a hoist on the quay"], [0.95], Measure(Scale.SIMILARITY))
    assert unmeasured < FLOOR


def test_what_every_hit_has_tells_less_than_what_one_of_them_has():
    status, both = coverages("status of zanzibar", ["atlas status: active", "zanzibar status: unknown"])
    assert both == 1
    assert status < 0.5
    [alone] = relevances("What is the status of Zanzibar?", ["status: active"], [None], RANKED)
    assert alone < FLOOR


def test_a_name_counts_more_than_a_word():
    named, worded = coverages("Who repairs Hermes?", ["Hermes arrived", "somebody repairs nets"])
    assert named > worded


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which policies apply?", "A policy that applies to everyone"),
        ("أين تعمل الخدمات؟", "تعمل خدمة الرافعة هنا"),
        ("Where is getUserById?", "the function get_user_by_id"),
        ("خدمة احمد", "الخدمة التي كتبها أحمد"),
    ],
)
def test_forms_of_a_word_are_one_word_in_both_languages(question: str, text: str):
    assert coverages(question, [text])[0] > 0.6


def test_a_question_of_stop_words_alone_shares_next_to_nothing():
    assert relevances("what is it", ["what it is"], [0.99], Measure(Scale.SIMILARITY))[0] < FLOOR
    assert coverages("🔥?!", ["🔥"]) == [0]


def test_hits_without_a_score_are_judged_by_their_place():
    assert relevances("crane", ["crane", "crane"], [None, None], RANKED) == [0.8, 0.8 * 60 / 61]
    assert relevances("crane", ["crane", "crane"], [None, None], WORDED) == [0.8, 0.8]


def test_scores_without_a_scale_are_shares_of_the_best_also_when_some_are_negative():
    unbounded = Measure(Scale.UNBOUNDED)
    best, middle, last = relevances("crane", ["crane"] * 3, [12.0, 6.0, 0.0], unbounded)
    assert best == 0.8 > middle > last == pytest.approx(0.56)
    logits = relevances("crane", ["crane"] * 3, [4.0, -2.0, -8.0], unbounded)
    assert logits == sorted(logits, reverse=True)
    assert logits[0] == 0.8
    assert relevances("crane", ["crane"], [0.0], unbounded) == [0.8]


@pytest.mark.parametrize(
    ("scores", "distance", "scale"),
    [
        ([0.83, 0.79], False, Scale.SIMILARITY),
        ([0.3, -0.1], False, Scale.SIMILARITY),
        ([0.0164, 0.0161], False, Scale.UNBOUNDED),
        ([14.2, 3.0], False, Scale.UNBOUNDED),
        ([-3.2, -9.9], False, Scale.UNBOUNDED),
        ([0.2, 1.7], True, Scale.DISTANCE),
        ([None, math.nan], False, Scale.RANK),
        ([], True, Scale.RANK),
    ],
)
def test_scores_are_recognised_by_their_look(scores: list[float | None], distance: bool, scale: Scale):
    assert recognised(scores, distance=distance).scale is scale

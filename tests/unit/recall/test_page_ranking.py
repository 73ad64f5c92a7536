"""Fusion ranks, relevance measures; both stay in [0, 1]."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_recall.page_ranking import COSINE_OF_NOTHING, COSINE_OF_SAME, content_terms, fused, relevance
from cortex_store.page_search import Match

ranks = st.integers(1, 1000)
matches = st.none() | st.builds(Match, rank=ranks, score=st.floats(-1, 1))


@given(matches, matches, st.floats(0, 1))
def test_a_score_is_between_nothing_and_one(by_vector: Match | None, by_words: Match | None, importance: float):
    assert 0 <= fused((by_vector, by_words), importance) <= 1


@given(ranks, ranks, st.floats(0, 1))
def test_a_better_rank_never_scores_less(rank: int, other: int, importance: float):
    better, worse = sorted((rank, other))
    first = fused((Match(better, 0.5), None), importance)
    assert first >= fused((Match(worse, 0.5), None), importance)


@given(ranks, st.floats(0, 1))
def test_being_found_both_ways_scores_more_than_one(rank: int, importance: float):
    match = Match(rank, 0.5)
    assert fused((match, match), importance) > fused((match, None), importance)


@given(ranks, st.floats(0, 0.9))
def test_what_matters_more_wins_at_the_same_rank(rank: int, importance: float):
    match = Match(rank, 0.5)
    assert fused((match, None), importance + 0.1) > fused((match, None), importance)


def test_the_best_everywhere_and_salient_is_one():
    assert fused((Match(1, 0.9), Match(1, 0.1)), 1.0) == pytest.approx(1.0)


def test_reciprocal_rank_fusion_is_the_published_formula():
    one, other = fused((Match(3, 0.5), Match(7, 0.5)), 0.0), fused((Match(2, 0.5), None), 0.0)
    assert one / other == pytest.approx((1 / 63 + 1 / 67) / (1 / 62))


@given(st.lists(st.text(max_size=12), max_size=8), st.text(max_size=200), matches)
def test_relevance_is_between_nothing_and_one(question: list[str], text: str, by_vector: Match | None):
    assert 0 <= relevance(question, text, by_vector) <= 1


@pytest.mark.parametrize(
    ("cosine", "expected"), [(0.5, 0.0), (COSINE_OF_NOTHING, 0.0), (COSINE_OF_SAME, 1.0), (0.99, 1.0), (0.86, 0.5)]
)
def test_closeness_of_meaning_counts_from_where_texts_begin_to_be_about_the_same(cosine: float, expected: float):
    assert relevance(("x",), "y", Match(1, cosine)) == pytest.approx(expected)


def test_words_count_when_the_meaning_is_not_measured():
    words = content_terms("Who owns the Billing API?")
    assert words == ("owns", "billing", "api")
    assert relevance(words, "Inês owns the Billing API.", None) == pytest.approx(0.8)
    assert relevance(words, "The API was billed.", None) == pytest.approx(0.8 / 3)
    assert relevance(words, "Bananas are yellow.", None) == 0


def test_arabic_function_words_do_not_count_and_spelling_variants_do():
    words = content_terms("من يقود مشروع النيل؟")
    assert "من" not in words
    assert relevance(words, "يَقودُ مشروعَ النيل فريقٌ صغير", None) > 0.5


def test_a_question_of_function_words_alone_is_about_nothing():
    assert relevance(content_terms("What is it?"), "It is what it is.", None) == 0

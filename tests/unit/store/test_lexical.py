"""BM25 in impacts is BM25, and the plan reads what promises most within its budget."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_store import lexical
from cortex_store.lexical import Segment

words = st.lists(st.text(alphabet="abcde", min_size=1, max_size=3), max_size=60)
segments = st.lists(
    st.builds(
        Segment, term=st.integers(1, 5), bucket=st.integers(0, 3), key=st.integers(1, 10**6), df=st.integers(0, 900)
    ),
    max_size=30,
    unique_by=lambda one: one.key,
)


def test_a_hash_is_stable_and_fits_32_bits() -> None:
    # Stored with every memory: a change of these numbers makes all of them unfindable.
    assert lexical.term_hash("memory") == 0xEF01A119
    assert lexical.term_hash("ذاكر") == 0x76C38A0E
    assert 0 <= lexical.term_hash("\ud800") < 2**32


def test_terms_hardly_ever_share_a_hash() -> None:
    assert len({lexical.term_hash(f"term{number}") for number in range(50_000)}) >= 50_000 - 5


def test_the_impact_is_the_published_formula() -> None:
    impacts = lexical.impacts(["a", "b", "a"])
    saturation = 0.9 * (1 - 0.25 + 0.25 * 3 / 100)
    assert impacts == pytest.approx(
        {lexical.term_hash("a"): 2 * 1.9 / (2 + saturation), lexical.term_hash("b"): 1.9 / (1 + saturation)}
    )
    assert lexical.impacts([]) == {}


@given(words)
def test_an_impact_is_positive_and_bounded(document: list[str]) -> None:
    impacts = lexical.impacts(document)
    assert set(impacts) == {lexical.term_hash(word) for word in document}
    assert all(0 < impact < lexical.K1 + 1 for impact in impacts.values())
    assert all(lexical.impacts([*document, word])[lexical.term_hash(word)] > 0 for word in document[:1])


@given(st.floats(0.001, 1.899))
def test_an_impact_lies_in_its_bucket(impact: float) -> None:
    bucket = lexical.bucket(impact)
    assert impact <= lexical.TOPS[bucket]
    assert bucket == 0 or impact >= lexical.EDGES[bucket - 1]


def test_buckets_tell_how_often_a_short_memory_holds_a_term() -> None:
    rest = ["x"] * 25
    assert [lexical.bucket(lexical.impacts(["a"] * n + rest)[lexical.term_hash("a")]) for n in (1, 2, 3)] == [1, 2, 3]


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_rarer_term_is_worth_more_and_every_one_something(df: int, memories: int) -> None:
    assert lexical.idf(df, memories) > 0
    assert lexical.idf(df, memories) >= lexical.idf(df + 1, memories)


def test_the_idf_is_the_published_formula() -> None:
    assert lexical.idf(3, 100) == pytest.approx(math.log(1 + 97.5 / 3.5))
    assert lexical.idf(5, 3) == lexical.idf(3, 3)


def test_a_term_in_several_scopes_counts_once() -> None:
    plan = lexical.plan([1], [Segment(1, 0, 11, 30), Segment(1, 0, 12, 10)], 1000)
    assert plan.idfs == {1: lexical.idf(40, 1000)}
    assert set(plan.keys) == {11, 12}


def test_the_best_possible_score_knows_the_largest_impact_and_doubts() -> None:
    doubt = lexical.DOUBT * lexical.idf(1, 1000)
    one = lexical.plan([1], [Segment(1, 0, 11, 30), Segment(1, 2, 12, 10), Segment(1, 3, 13, 0)], 1000)
    assert one.best == pytest.approx(doubt + lexical.idf(40, 1000) * 1.43)
    with_nonsense = lexical.plan([1, 2], [Segment(1, 0, 11, 30), Segment(1, 2, 12, 10)], 1000)
    assert with_nonsense.best == pytest.approx(one.best + lexical.idf(0, 1000))
    assert with_nonsense.idfs[2] == lexical.idf(0, 1000)


def test_an_empty_store_and_an_empty_question_have_a_plan() -> None:
    assert lexical.plan([1], [], 0).keys == ()
    assert lexical.plan([1], [], 0).best > 0
    assert lexical.plan([], [], 0).best > 0


@settings(deadline=None)
@given(st.lists(words.filter(bool), min_size=1, max_size=12), words)
def test_no_memory_scores_above_the_best_possible(documents: list[list[str]], question: list[str]) -> None:
    stored = [lexical.impacts(document) for document in documents]
    counted: dict[tuple[int, int], int] = {}
    for impacts in stored:
        for term, impact in impacts.items():
            counted[term, lexical.bucket(impact)] = counted.get((term, lexical.bucket(impact)), 0) + 1
    known = [Segment(term, bucket, index, df) for index, ((term, bucket), df) in enumerate(counted.items())]
    plan = lexical.plan(list(dict.fromkeys(map(lexical.term_hash, question))), known, len(stored))
    for impacts in stored:
        assert sum(plan.idfs.get(term, 0.0) * impact for term, impact in impacts.items()) <= plan.best


def test_the_rare_and_the_repeated_are_read_first() -> None:
    rare, repeated, common = Segment(1, 1, 11, 4), Segment(2, 3, 12, 300), Segment(2, 0, 13, 600)
    assert lexical.plan([1, 2], [common, repeated, rare], 1000).keys == (11, 12, 13)


def test_reading_stops_at_the_first_segment_that_does_not_fit() -> None:
    known = [Segment(1, 1, 11, 40), Segment(2, 1, 12, 80), Segment(3, 1, 13, 90)]
    assert lexical.plan([1, 2, 3], known, 1000, budget=100).keys == (11,)


def test_common_words_alone_read_something_and_too_large_segments_are_passed_over() -> None:
    known = [Segment(1, 1, 11, 500), Segment(2, 1, 12, 250), Segment(3, 1, 13, 240)]
    assert lexical.plan([1], known[:1], 1000, budget=100).keys == ()
    assert lexical.plan([2, 3], known[1:], 1000, budget=100).keys == (13,)


@given(segments, st.integers(1, 2000))
def test_a_plan_reads_at_most_three_budgets(known: list[Segment], budget: int) -> None:
    plan = lexical.plan([1, 2, 3], known, 5000, budget=budget)
    df = {segment.key: segment.df for segment in known}
    assert sum(df[key] for key in plan.keys) <= 3 * budget
    assert len(set(plan.keys)) == len(plan.keys)
    reversed_ = lexical.plan([1, 2, 3], known[::-1], 5000, budget=budget)
    assert (plan.idfs, plan.best, set(plan.keys)) == (reversed_.idfs, reversed_.best, set(reversed_.keys))


def test_what_is_not_counted_yet_is_always_read() -> None:
    known = [Segment(1, 1, 11, 90), Segment(1, 2, 12, 0), Segment(2, 1, 13, 0)]
    assert lexical.plan([1, 2], known, 1000, budget=1).keys == (12, 13)


@settings(deadline=None)
@given(st.lists(words.filter(bool), min_size=1, max_size=30), words.filter(bool), st.integers(1, 60), st.integers(1, 5))
def test_no_memory_of_a_later_step_alone_scores_above_its_bound(
    documents: list[list[str]], question: list[str], budget: int, copies: int
) -> None:
    stored = [lexical.impacts(document) for document in documents]
    holders: dict[tuple[int, int], list[int]] = {}
    for number, impacts in enumerate(stored):
        for term, impact in impacts.items():
            holders.setdefault((term, lexical.bucket(impact)), []).append(number)
    known = [
        Segment(term, bucket, key, copies * len(numbers))
        for key, ((term, bucket), numbers) in enumerate(holders.items())
    ]
    read = dict(enumerate(holders.values()))
    asked = list(dict.fromkeys(map(lexical.term_hash, question)))
    plan = lexical.plan(asked, known, copies * len(stored), budget=budget)
    assert all(step.keys for step in plan.steps)
    found: set[int] = set()
    for step in plan.steps:
        for number, impacts in enumerate(stored):
            if number not in found:
                assert sum(plan.idfs.get(term, 0.0) * impact for term, impact in impacts.items()) <= step.bound + 1e-9
        found |= {number for key in step.keys for number in read[key]}

"""Relevance is absolute, in [0, 1], and independent of the order of its input; each stage does what it says."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_ranking.fusion import RRF_K, Evidence, Recipe, fuse, rrf, salient

BEST = 10.0
ids = st.integers(1, 10**6).map(lambda number: UUID(int=number))
pieces = st.builds(
    Evidence,
    id=ids,
    lexical=st.floats(0, 20),
    cosine=st.none() | st.floats(-1, 1),
    thread=st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(0, 2),
    turn=st.none() | st.integers(0, 2**31 - 1) | st.integers(0, 5),
    named=st.integers(0, 2),
    in_time=st.booleans(),
    foreign=st.booleans(),
)
evidence = st.lists(pieces, max_size=25, unique_by=lambda one: one.id)


def one(number: int, lexical: float = 0.0, cosine: float | None = 0.5, **place: int | bool | None) -> Evidence:
    return Evidence(UUID(int=number), lexical, cosine, **place)  # type: ignore[arg-type]


def relevances(evidence: list[Evidence], recipe: Recipe | None = None) -> dict[int, float]:
    return {scored.id.int: scored.relevance for scored in fuse(evidence, BEST, recipe or Recipe())}


@settings(deadline=None, max_examples=100)
@given(evidence, st.floats(0.01, 100))
def test_a_relevance_is_between_nothing_and_one_and_falls(found: list[Evidence], best: float) -> None:
    scored = fuse(found, best)
    assert {each.id for each in scored} == {each.id for each in found}
    assert all(0 <= each.relevance <= 1 for each in scored)
    assert [each.relevance for each in scored] == sorted((each.relevance for each in scored), reverse=True)


@settings(deadline=None, max_examples=100)
@given(evidence, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(found: list[Evidence], shuffler: random.Random) -> None:
    shuffled = list(found)
    shuffler.shuffle(shuffled)
    before, after = fuse(found, BEST), fuse(shuffled, BEST)
    assert {each.id: pytest.approx(each.relevance) for each in before} == {each.id: each.relevance for each in after}
    assert rrf(found) == rrf(shuffled)


@settings(deadline=None, max_examples=100)
@given(evidence)
def test_the_stages_add_up(found: list[Evidence]) -> None:
    for scored in (*fuse(found, BEST), *rrf(found)):
        total = sum(scored.contributions.values())
        assert scored.relevance == pytest.approx(min(1.0, max(0.0, total)), abs=1e-9)


@settings(deadline=None, max_examples=100)
@given(evidence, st.integers(0, 24), st.floats(0, 5))
def test_a_better_match_never_scores_less(found: list[Evidence], at: int, more: float) -> None:
    if at >= len(found) or found[at].foreign:
        return
    better = list(found)
    better[at] = replace(found[at], lexical=found[at].lexical + more)
    number = found[at].id.int
    assert relevances(better)[number] >= relevances(found)[number] - 1e-9


def test_equal_ones_are_in_the_order_of_their_ids() -> None:
    assert [scored.id.int for scored in fuse([one(3, 5), one(1, 5), one(2, 5)], BEST)] == [1, 2, 3]


def test_nothing_found_is_nothing() -> None:
    assert fuse([], BEST) == []
    assert rrf([]) == []


def test_the_base_is_absolute() -> None:
    assert relevances([one(1, 5, 0.5)])[1] == pytest.approx(0.25)
    assert relevances([one(1, 5, 0.5), one(2, 9, 0.9)])[1] == pytest.approx(0.25)
    assert relevances([one(1, 10, 0.99)])[1] == pytest.approx(1.0)
    assert relevances([one(1, 0, 0.5)])[1] == pytest.approx(0, abs=1e-6)


def test_below_the_cosine_of_nothing_the_order_is_kept() -> None:
    ordered = relevances([one(number, 0, 0.6 + number / 50) for number in range(1, 15)])
    assert [ordered[number] for number in range(1, 15)] == sorted(ordered.values())
    assert len(set(ordered.values())) == 14


def test_without_a_vector_the_words_decide_alone() -> None:
    assert relevances([one(1, 5, None)])[1] == pytest.approx(0.5)


def test_words_that_another_script_cannot_share_are_no_evidence_against_it() -> None:
    alone = relevances([one(1, 0, 0.9, foreign=True)])[1]
    assert alone > 1.9 * relevances([one(1, 0, 0.9)])[1]
    # A name or a number that both scripts share still counts.
    assert relevances([one(1, 9, 0.5, foreign=True)])[1] >= relevances([one(1, 9, 0.5)])[1]


def test_the_turns_beside_a_match_rise_with_it_and_others_do_not() -> None:
    found = [one(turn, 8 if turn == 3 else 1, thread=7, turn=turn) for turn in range(7)]
    found = [replace(each, id=UUID(int=each.id.int + 1)) for each in found]
    recipe = Recipe(session=0)
    by_turn = relevances(found, recipe)
    assert by_turn[4] > by_turn[3] == pytest.approx(by_turn[5])
    assert by_turn[3] > by_turn[2] > by_turn[1]


def test_the_last_turn_of_a_session_is_no_neighbour_of_the_next() -> None:
    recipe = Recipe(session=0)
    found = [one(1, 9, thread=1, turn=2**31 - 1), one(2, 1, thread=2, turn=0), one(3, 1)]
    assert relevances(found, recipe) == pytest.approx({1: 0.45, 2: 0.05, 3: 0.05})


def test_a_memory_alone_in_its_session_scores_as_an_isolated_one() -> None:
    assert relevances([one(1, 6, thread=5, turn=4)]) == pytest.approx(relevances([one(1, 6)]))


def test_two_memories_of_one_turn_lend_their_neighbour_the_better_of_them() -> None:
    recipe = Recipe(session=0, beside=(0.5, 0.0))
    found = [one(1, 8, thread=1, turn=1), one(2, 2, thread=1, turn=1), one(3, 0, thread=1, turn=2)]
    assert relevances(found, recipe)[3] == pytest.approx(0.4 * 0.5 / 1.5)


def test_a_session_supports_its_members() -> None:
    recipe = Recipe(beside=(0.0, 0.0), session=0.5, session_best=2)
    found = [one(1, 8, thread=1), one(2, 6, thread=1), one(3, 2, thread=1), one(4, 2)]
    by_id = relevances(found, recipe)
    assert by_id[3] == pytest.approx((0.1 + 0.5 * 0.35) / 1.5)
    assert by_id[4] == pytest.approx(0.1)


def test_a_speaker_that_the_question_names_is_evidence_and_a_mention_is_not_yet() -> None:
    by_id = relevances([one(1, 4, named=2), one(2, 4, named=1), one(3, 4)])
    assert by_id[1] == pytest.approx(by_id[3] + Recipe().speaker)
    assert by_id[2] == by_id[3]


def test_a_stage_without_weight_is_off() -> None:
    found = [one(1, 4, 0.85, thread=1, turn=1, named=2, in_time=True), one(2, 8, 0.9, thread=1, turn=2)]
    off = Recipe(beside=(0.0, 0.0), session=0, speaker=0, in_time=0)
    for scored in fuse(found, BEST, off):
        assert {k for k, v in scored.contributions.items() if v} == {"lexical", "semantic"}


def test_reciprocal_rank_fusion_is_the_published_formula() -> None:
    found = [one(1, 3, 0.7), one(2, 5, 0.6), one(3, 0, 0.9)]
    by_id = {scored.id.int: scored.relevance for scored in rrf(found)}
    best = 2 / (RRF_K + 1)
    assert by_id[1] == pytest.approx((1 / 62 + 1 / 62) / best)
    assert by_id[2] == pytest.approx((1 / 61 + 1 / 63) / best)
    assert by_id[3] == pytest.approx((1 / 61) / best)
    assert rrf([one(1, 1, 0.5)])[0].relevance == pytest.approx(1.0)
    assert {s.id.int: s.relevance for s in rrf(found, depth=1)}[1] == 0


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_importance_raises_the_score_and_never_above_one(relevance: float, low: float, high: float) -> None:
    low, high = sorted((low, high))
    assert 0 <= salient(relevance, low) <= salient(relevance, high) <= 1
    assert salient(1.0, 1.0) == pytest.approx(1.0)


def test_five_hundred_candidates_are_fused_at_once() -> None:
    drawn = random.Random(5)
    found = [
        one(number, drawn.uniform(0, 9), drawn.uniform(0.7, 0.9), thread=drawn.randrange(60), turn=drawn.randrange(30))
        for number in range(500)
    ]
    fuse(found, BEST)
    spent = []
    for _ in range(20):
        started = time.process_time()
        fuse(found, BEST)
        spent.append(time.process_time() - started)
    # Two milliseconds on a quiet core; the limit leaves room for a slow one and still catches anything quadratic.
    assert min(spent) < 0.02

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.scoring import AUTHORITY, OLDEST_READING_DAYS, RECENT_FILE_DAYS, Scoring

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
classes = st.sampled_from(SourceClass)
shares = st.floats(0.0, 1.0)
ages = st.floats(-400.0, 4_000.0)


def hit(source_class: SourceClass, age_days: float | None, relevance: float = 1.0, confidence: float = 1.0) -> Hit:
    return Hit(
        engine="memory",
        title="t",
        path="p",
        snippet="s",
        native_score=1.0,
        relevance=relevance,
        last_seen=None if age_days is None else NOW - timedelta(days=age_days),
        confidence=confidence,
        source_class=source_class,
    )


def score(*args: object, scoring: Scoring | None = None) -> float:
    return (scoring or Scoring()).score(hit(*args), NOW).score  # type: ignore[arg-type]


def test_score_is_the_product_of_the_contract() -> None:
    expected = 0.6 * math.exp(-40 / 30) * 0.5 * 0.8
    assert score(SourceClass.AGENT_MEMORY, 40.0, 0.8, 0.5) == pytest.approx(expected)


def test_default_weights_are_those_of_the_contract() -> None:
    assert [AUTHORITY[c] for c in SourceClass] == [1.0, 0.8, 0.6, 0.4]


@given(classes, st.none() | ages, shares, shares)
def test_score_is_a_share(source_class: SourceClass, age: float | None, relevance: float, confidence: float) -> None:
    assert 0.0 <= score(source_class, age, relevance, confidence) <= 1.0


@given(classes, ages, ages, shares)
def test_an_older_hit_never_scores_higher(source_class: SourceClass, one: float, other: float, share: float) -> None:
    young, old = sorted((one, other))
    assert score(source_class, old, share) <= score(source_class, young, share)


@given(classes, ages, shares, shares, shares)
def test_more_relevance_or_confidence_never_scores_lower(
    source_class: SourceClass, age: float, low: float, high: float, other: float
) -> None:
    low, high = sorted((low, high))
    assert score(source_class, age, low, other) <= score(source_class, age, high, other)
    assert score(source_class, age, other, low) <= score(source_class, age, other, high)


@given(st.floats(0.0, RECENT_FILE_DAYS), shares)
def test_at_the_same_age_the_stronger_class_never_scores_lower(age: float, share: float) -> None:
    scores = [score(source_class, age, share) for source_class in SourceClass]
    assert scores == sorted(scores, reverse=True)


@given(classes, st.floats(0.0, 10_000.0))
def test_a_date_in_the_future_is_read_as_now(source_class: SourceClass, ahead: float) -> None:
    assert score(source_class, -ahead) == score(source_class, 0.0)


@given(classes, st.floats(0.0, 1.0))
def test_leaving_the_date_out_never_helps(source_class: SourceClass, part: float) -> None:
    within_its_class = OLDEST_READING_DAYS[source_class] * part
    assert score(source_class, None) <= score(source_class, within_its_class)


def test_a_file_is_an_older_note_once_it_is_older_than_thirty_days() -> None:
    scoring = Scoring()
    assert scoring.score(hit(SourceClass.RECENT_FILE, RECENT_FILE_DAYS), NOW).source_class is SourceClass.RECENT_FILE
    old = scoring.score(hit(SourceClass.RECENT_FILE, RECENT_FILE_DAYS + 0.01), NOW)
    assert old.source_class is SourceClass.OLDER_NOTE
    assert old.authority == AUTHORITY[SourceClass.OLDER_NOTE]


def test_weights_and_half_life_are_configuration() -> None:
    scoring = Scoring({**AUTHORITY, SourceClass.LIVE_INFRA: 0.5}, half_life_days=10.0)
    assert score(SourceClass.LIVE_INFRA, 10.0, scoring=scoring) == pytest.approx(0.5 * math.exp(-1))


def test_a_very_old_date_scores_zero_instead_of_failing() -> None:
    ancient = hit(SourceClass.OLDER_NOTE, 0.0).model_copy(update={"last_seen": datetime(1, 1, 1, tzinfo=UTC)})
    assert Scoring(half_life_days=1.0).score(ancient, NOW).score == 0.0


def test_a_hit_that_an_engine_gives_twice_is_ranked_once_with_what_both_assert(make_hit: Callable[..., Hit]) -> None:
    weak = make_hit(relevance=0.2, says=(("Hermes", "status", "stopped"),))
    strong = make_hit(relevance=0.9, snippet="Hermes  is\nstopped.", says=(("Hermes", "host", "ct215"),))
    (ranked,) = Scoring().rank([weak, strong], NOW)
    assert ranked.hit.relevance == 0.9
    assert {a.attribute for a in ranked.hit.assertions} == {"status", "host"}


def test_the_same_text_from_another_place_stays(make_hit: Callable[..., Hit]) -> None:
    assert len(Scoring().rank([make_hit(), make_hit(path="memory:2"), make_hit(engine="rag", path="")], NOW)) == 3


def test_of_hits_of_one_thing_the_stronger_stays_and_the_other_engine_is_named(make_hit: Callable[..., Hit]) -> None:
    path = "memory:8d0c1f9e-3b7a-4c55-9a3e-1d2f3a4b5c6d"
    strong = make_hit(path=path, confidence=0.8, says=(("Hermes", "status", "stopped"),))
    weak = make_hit(
        "stopped", engine="cognee", path=path, confidence=0.5, relevance=0.2, says=(("Hermes", "host", "a"),)
    )
    (ranked,) = Scoring().rank([weak, strong], NOW)
    assert (ranked.hit.engine, ranked.hit.snippet, ranked.corroborated_by) == ("memory", strong.snippet, ("cognee",))
    assert ranked.hit.confidence == pytest.approx(1 - 0.2 * 0.5)
    assert ranked.score == pytest.approx(0.6 * ranked.hit.confidence * 0.9)
    assert {one.attribute for one in ranked.hit.assertions} == {"status", "host"}


@given(st.permutations(range(6)))
def test_the_order_does_not_depend_on_who_answered_first(places: list[int]) -> None:
    hits = [
        hit(SourceClass.AGENT_MEMORY, 1.0).model_copy(update={"path": f"p{place}", "relevance": 0.5 + place % 2 / 4})
        for place in places
    ]
    assert [scored.hit.path for scored in Scoring().rank(hits, NOW)] == ["p1", "p3", "p5", "p0", "p2", "p4"]

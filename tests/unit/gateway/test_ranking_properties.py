"""The whole ranking, duplicates and corroboration included: what gets better never has a lower place."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.messages.base import Assertion
from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.duplicates import confidence
from cortex_gateway.scoring import ScoredHit, Scoring

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
# Most hits are of one thing; those without a path have their places between its own.
PATHS = ("page:main/nile", "nile.md", "nile.md", "")
TEXTS = (
    "Nile runs on PostgreSQL.",
    "Nile runs on PostgreSQL.",
    "The Nile project runs on PostgreSQL 16 in the cellar.",
)
# Few values, so that ties are as frequent as anything else.
shares = st.sampled_from([0.0, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
ages = st.none() | st.sampled_from([0.0, 1.0, 29.0, 30.0, 31.0, 90.0, 40_000.0])


@st.composite
def hit_lists(draw: st.DrawFn) -> list[Hit]:
    """Hits of three engines, each marked by an assertion of its own, which it keeps when it is merged."""
    return [
        Hit(
            engine=draw(st.sampled_from("abc")),
            title="Nile",
            path=draw(st.sampled_from(PATHS)),
            snippet=draw(st.sampled_from(TEXTS)),
            native_score=0.0,
            relevance=draw(shares),
            last_seen=None if (age := draw(ages)) is None else NOW - timedelta(days=age),
            confidence=draw(shares),
            source_class=draw(st.sampled_from(SourceClass)),
            assertions=(Assertion(subject="hit", attribute=str(number), value="is here"),),
        )
        for number in range(draw(st.integers(1, 6)))
    ]


def standing(hits: Sequence[Hit], number: int) -> tuple[int, float]:
    """The place and the score of the thing that the hit with this number is of."""
    ranked = Scoring().rank(hits, NOW)
    (found,) = [(at, scored.score) for at, scored in enumerate(ranked) if str(number) in numbers(scored)]
    return found


def never_lower(before: Sequence[Hit], after: Sequence[Hit], number: int) -> None:
    (place_before, score_before), (place_after, score_after) = standing(before, number), standing(after, number)
    assert place_after <= place_before
    assert score_after >= score_before


def numbers(scored: ScoredHit) -> set[str]:
    return {one.attribute for one in scored.hit.assertions}


def changed(hits: Sequence[Hit], number: int, **changes: object) -> list[Hit]:
    return [hit.model_copy(update=changes) if at == number else hit for at, hit in enumerate(hits)]


def some(data: st.DataObject, hits: Sequence[Hit]) -> int:
    return data.draw(st.integers(0, len(hits) - 1))


@settings(deadline=None, max_examples=100)
@given(hit_lists(), shares, st.data())
def test_more_relevance_never_has_a_lower_place(hits: list[Hit], more: float, data: st.DataObject) -> None:
    number = some(data, hits)
    never_lower(hits, changed(hits, number, relevance=max(more, hits[number].relevance)), number)


@settings(deadline=None, max_examples=100)
@given(hit_lists(), shares, st.data())
def test_more_confidence_never_has_a_lower_place(hits: list[Hit], more: float, data: st.DataObject) -> None:
    number = some(data, hits)
    never_lower(hits, changed(hits, number, confidence=max(more, hits[number].confidence)), number)


@settings(deadline=None, max_examples=100)
@given(hit_lists(), st.sampled_from([0.0, 1.0, 29.0, 30.0, 31.0, 90.0]), st.data())
def test_a_later_date_never_has_a_lower_place(hits: list[Hit], age: float, data: st.DataObject) -> None:
    number = some(data, hits)
    if seen := hits[number].last_seen:
        never_lower(hits, changed(hits, number, last_seen=max(seen, NOW - timedelta(days=age))), number)


@settings(deadline=None, max_examples=100)
@given(hit_lists(), st.sampled_from(SourceClass), st.data())
def test_more_authority_never_has_a_lower_place(
    hits: list[Hit], source_class: SourceClass, data: st.DataObject
) -> None:
    number = some(data, hits)
    (better,) = changed([hits[number]], 0, source_class=source_class)
    if Scoring().score(better, NOW).authority >= Scoring().score(hits[number], NOW).authority:
        never_lower(hits, changed(hits, number, source_class=source_class), number)


@settings(deadline=None, max_examples=100)
@given(hit_lists(), st.data())
def test_one_more_engine_that_finds_a_thing_never_takes_it_down(hits: list[Hit], data: st.DataObject) -> None:
    number = some(data, hits)
    before = next(scored for scored in Scoring().rank(hits, NOW) if str(number) in numbers(scored))
    more = hits[number].model_copy(update={"engine": "d", "assertions": (), "relevance": data.draw(shares)})
    after = next(scored for scored in Scoring().rank([*hits, more], NOW) if str(number) in numbers(scored))
    assert after.score >= before.score
    assert after.hit.confidence >= before.hit.confidence


@settings(deadline=None, max_examples=100)
@given(hit_lists(), st.randoms())
def test_places_scores_and_merges_do_not_depend_on_the_order_of_arrival(hits: list[Hit], random: object) -> None:
    shuffled = list(hits)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    def told(given: Sequence[Hit]) -> list[tuple[object, ...]]:
        return [
            (scored.score, scored.corroborated_by, scored.hit.engine, scored.hit.path, frozenset(numbers(scored)))
            for scored in Scoring().rank(given, NOW)
        ]

    assert sorted(told(shuffled), key=repr) == sorted(told(hits), key=repr)
    assert [one[0] for one in told(shuffled)] == [one[0] for one in told(hits)]


@settings(deadline=None, max_examples=100)
@given(hit_lists())
def test_every_hit_is_in_one_thing_and_a_score_is_what_its_fields_say(hits: list[Hit]) -> None:
    ranked = Scoring().rank(hits, NOW)
    assert sorted(number for scored in ranked for number in numbers(scored)) == [str(n) for n in range(len(hits))]
    for scored in ranked:
        expected = scored.authority * scored.recency * scored.hit.relevance * scored.hit.confidence
        assert abs(scored.score - expected) < 1e-12
        assert 0.0 <= scored.score <= 1.0
    assert [scored.score for scored in ranked] == sorted((scored.score for scored in ranked), reverse=True)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.sampled_from("abc"), shares), min_size=1, max_size=6), shares, st.data())
def test_confidence_together_is_bounded_and_grows_with_every_part(
    told: list[tuple[str, float]], more: float, data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(told) - 1))
    hits = [_hit(engine, share) for engine, share in told]
    together = confidence(hits)
    assert max(share for _, share in told) <= together <= 1.0
    better = changed(hits, number, confidence=max(more, told[number][1]))
    assert confidence(better) >= together


def _hit(engine: str, share: float) -> Hit:
    return Hit(
        engine=engine,
        title="t",
        path="p",
        snippet="s",
        native_score=0.0,
        relevance=1.0,
        last_seen=NOW,
        confidence=share,
        source_class=SourceClass.AGENT_MEMORY,
    )

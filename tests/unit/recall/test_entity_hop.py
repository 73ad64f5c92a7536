"""What goes with a hit has a part of its relevance, the smaller the commoner the name that leads there."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_ranking.fusion import Scored
from cortex_recall.entity_hop import FACTOR, factor, rarity, score
from cortex_store.entity_relations import Path


def hit(number: int, relevance: float) -> Scored:
    return Scored(UUID(int=number), relevance, (), ())


def path(memory: int, from_hit: int = 1, shared: int = 2, over: int | None = None, memories: int = 1_000) -> Path:
    relation = (None, None) if over is None else ("works_at", "helio")
    return Path(UUID(int=memory), UUID(int=from_hit), "omar", shared, *relation, over, memories)


@pytest.mark.parametrize(
    ("asked", "recipe", "expected"),
    [(None, 0.0, 0.0), (None, 0.4, 0.4), (True, 0.0, FACTOR), (True, 0.4, 0.4), (False, 0.4, 0.0)],
)
def test_a_request_decides_before_the_recipe(asked: bool | None, recipe: float, expected: float) -> None:
    assert factor(asked, recipe) == expected


def test_a_name_of_two_memories_hands_the_whole_part_on() -> None:
    (one,) = score([path(7)], [hit(1, 0.8)], 0.5)
    assert one.scored.relevance == pytest.approx(0.4)
    assert one.scored.contributions == {"hop": one.scored.relevance}
    assert one.path == path(7)


def test_a_name_that_all_share_leads_nowhere() -> None:
    assert rarity(1_000, 1_000) < 0.001
    assert rarity(2, 1_000) == 1.0
    assert [rarity(n, 1_000) for n in range(2, 1_000)] == sorted(
        (rarity(n, 1_000) for n in range(2, 1_000)), reverse=True
    )


def test_a_store_that_fills_changes_nothing() -> None:
    assert rarity(3, 3) == rarity(3, 100)


def test_a_relation_is_worth_what_both_its_ends_are() -> None:
    (over,) = score([path(7, shared=3, over=4)], [hit(1, 0.8)], 0.5)
    assert over.scored.relevance == pytest.approx(0.4 * rarity(3, 1_000) * rarity(4, 1_000))


def test_the_best_path_counts_and_the_order_is_that_of_the_relevance() -> None:
    found = score(
        [path(7, shared=9), path(7, from_hit=2), path(8, from_hit=2, shared=5), path(6, from_hit=2)],
        [hit(1, 0.9), hit(2, 0.8)],
        0.5,
    )
    assert [one.scored.id.int for one in found] == [6, 7, 8]
    assert found[1].path == path(7, from_hit=2)


paths = st.lists(
    st.builds(path, st.integers(10, 20), st.integers(1, 4), st.integers(0, 2_000), st.none() | st.integers(0, 50)),
    max_size=20,
)


@settings(deadline=None, max_examples=100)
@given(paths, st.lists(st.floats(0, 1), min_size=1, max_size=4), st.floats(0, 2), st.randoms(use_true_random=False))
def test_nothing_goes_above_the_hit_it_goes_with(
    ways: list[Path], values: list[float], part: float, dice: object
) -> None:
    hits = [hit(number, value) for number, value in enumerate(values, 1)]
    found = score(ways, hits, part)
    assert {one.scored.id for one in found} == {way.memory for way in ways}
    relevance = {one.id: one.relevance for one in hits}
    for one in found:
        assert 0.0 <= one.scored.relevance <= relevance.get(one.path.hit, 0.0)
    shuffled = [*ways]
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    assert [(one.scored.id, one.scored.relevance) for one in score(shuffled, hits, part)] == [
        (one.scored.id, one.scored.relevance) for one in found
    ]

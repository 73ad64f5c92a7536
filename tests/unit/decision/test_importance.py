"""Importance of a new memory."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_decision import importance

unit = st.floats(0, 1)
ages = st.one_of(st.none(), st.floats(0, 10_000))
kinds = st.sampled_from(["manual", "live_infra", "chat", "nobody_knows"])


@settings(max_examples=200, deadline=None)
@given(st.floats(), st.booleans(), kinds, st.one_of(st.none(), st.floats(allow_nan=False)))
def test_importance_stays_in_the_unit_interval(novelty: float, explicit: bool, kind: str, age: float | None) -> None:
    assert 0 <= importance(novelty, explicit=explicit, source_kind=kind, reference_age_days=age) <= 1


@settings(max_examples=200, deadline=None)
@given(unit, unit, st.booleans(), kinds, ages)
def test_more_novelty_is_never_less_important(
    one: float, two: float, explicit: bool, kind: str, age: float | None
) -> None:
    low, high = (
        importance(value, explicit=explicit, source_kind=kind, reference_age_days=age) for value in sorted((one, two))
    )
    assert low <= high


@settings(max_examples=200, deadline=None)
@given(unit, kinds, st.floats(0, 1000), st.floats(0, 1000))
def test_a_fresher_reference_is_never_less_important(novelty: float, kind: str, one: float, two: float) -> None:
    fresh, stale = (
        importance(novelty, explicit=False, source_kind=kind, reference_age_days=age) for age in sorted((one, two))
    )
    never = importance(novelty, explicit=False, source_kind=kind, reference_age_days=None)
    assert fresh >= stale >= never


def test_what_was_asked_to_be_remembered_matters_more_than_any_other_of_its_kind() -> None:
    asked = importance(0.0, explicit=True, source_kind="chat", reference_age_days=None)
    assert asked > importance(1.0, explicit=False, source_kind="manual", reference_age_days=0.0)


def test_the_weight_of_a_source_is_its_importance_at_middling_novelty() -> None:
    assert math.isclose(importance(0.5, explicit=False, source_kind="slack", reference_age_days=None), 0.4)

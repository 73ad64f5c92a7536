from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sleep.decay import KEPT, decayed, half_life, retention, whole_days

UNIT = st.floats(0.0, 1.0)
DAYS = st.floats(0.0, 20_000.0)
USES = st.integers(0, 10_000)


@pytest.mark.parametrize(
    ("importance", "accesses", "days"),
    [(0.0, 0, 30), (0.4, 0, 120), (0.5, 0, 170), (0.9, 0, 679), (1.0, 0, 960), (0.4, 1, 240), (0.4, 7, 480)],
)
def test_half_lives_are_those_of_the_documentation(importance: float, accesses: int, days: int) -> None:
    assert round(half_life(importance, accesses)) == days
    assert retention(importance, age_days=half_life(importance, accesses), accesses=accesses) == pytest.approx(
        importance / 2
    )


def test_what_is_new_is_worth_what_it_was_written_with() -> None:
    assert retention(0.7, age_days=0) == decayed(0.7, age_days=0) == 0.7


def test_a_use_makes_an_old_memory_as_strong_as_new_and_a_memory_is_never_idle_longer_than_it_is_old() -> None:
    assert decayed(0.6, age_days=900, idle_days=0, accesses=1) == 0.6
    assert retention(0.6, age_days=10, idle_days=500) == retention(0.6, age_days=10)


def test_noise_goes_before_chat_before_what_was_asked_for_before_what_is_used() -> None:
    noise, chat, asked = (retention(each, age_days=365) for each in (0.2, 0.4, 0.9))
    used = retention(0.9, age_days=365, idle_days=30, accesses=12)
    assert noise < chat < asked < used


@settings(deadline=None, max_examples=200)
@given(UNIT, UNIT, DAYS, DAYS, DAYS, USES, USES)
def test_importance_and_use_keep_a_memory_and_time_takes_it(
    one: float, other: float, age: float, idle: float, more: float, uses: int, further: int
) -> None:
    low, high = sorted((one, other))
    for worth in (retention, decayed):
        held = worth(low, age_days=age, idle_days=idle, accesses=uses)
        assert worth(high, age_days=age, idle_days=idle, accesses=uses) >= held
        assert worth(low, age_days=age, idle_days=idle, accesses=uses + further) >= held
        assert worth(low, age_days=age + more, idle_days=idle, accesses=uses) <= held
        assert worth(low, age_days=age, idle_days=idle + more, accesses=uses) <= held
        assert worth(low, age_days=age, accesses=uses) <= held


@settings(deadline=None, max_examples=200)
@given(UNIT, DAYS, st.none() | DAYS, USES)
def test_decay_takes_at_most_half_and_never_the_order_of_what_differs_by_half(
    importance: float, age: float, idle: float | None, uses: int
) -> None:
    left = decayed(importance, age_days=age, idle_days=idle, accesses=uses)
    assert importance * KEPT <= left <= importance
    assert 0.0 <= retention(importance, age_days=age, idle_days=idle, accesses=uses) <= left


@pytest.mark.parametrize("wrong", [float("nan"), -1.0, -float("inf")])
def test_an_importance_that_is_none_counts_as_nothing(wrong: float) -> None:
    assert decayed(wrong, age_days=5) == retention(wrong, age_days=5) == 0.0
    assert decayed(7.0, age_days=0) == 1.0


def test_days_end_at_midnight_in_utc_and_are_never_negative() -> None:
    evening = datetime(2026, 5, 4, 23, 59, tzinfo=UTC)
    assert whole_days(evening, evening + timedelta(minutes=1)) == 1
    assert whole_days(evening.replace(hour=0, minute=0), evening) == 0
    assert whole_days(evening + timedelta(days=9), evening) == 0

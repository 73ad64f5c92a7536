"""The circuit breaker as a pure state machine."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters.breaker import (
    CHANCE,
    FIRST_TRIAL_S,
    LAST_START_S,
    LAST_TRIAL_S,
    Breaker,
    Standing,
    delay_s,
)

times = st.floats(0, 1e9)
chances = st.floats(0, 1, exclude_max=True)
steps = st.lists(st.sampled_from(["answered", "reached", "failed"]), max_size=40)


def walked(names: list[str]) -> Breaker:
    breaker = Breaker()
    for number, name in enumerate(names):
        match name:
            case "answered":
                breaker = breaker.answered()
            case "reached":
                breaker = breaker.reached()
            case _:
                breaker = breaker.failed(float(number), "gone", 1.0)
    return breaker


def test_an_engine_that_nobody_knows_yet_is_asked_and_tried_at_once() -> None:
    breaker = Breaker()
    assert breaker.asked
    assert breaker.standing is Standing.UNKNOWN
    assert breaker.trial_at == 0


@settings(deadline=None, max_examples=100)
@given(steps, times, st.floats(0, 60))
def test_the_first_failure_opens_it_from_wherever_it_stands(names: list[str], now: float, wait_s: float) -> None:
    breaker = walked(names).failed(now, "no answer", wait_s)
    assert not breaker.asked
    assert breaker.reason == "no answer"
    assert breaker.trial_at == now + wait_s


@settings(deadline=None, max_examples=100)
@given(steps)
def test_it_is_asked_exactly_when_the_last_thing_that_happened_was_no_failure(names: list[str]) -> None:
    assert walked(names).asked is (not names or names[-1] != "failed")


@settings(deadline=None, max_examples=100)
@given(steps)
def test_failures_count_from_the_last_answer_whatever_trials_said(names: list[str]) -> None:
    since = names[len(names) - names[::-1].index("answered") :] if "answered" in names else names
    assert walked(names).failures == since.count("failed")


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 10_000), chances)
def test_a_delay_is_within_its_bounds(failures: int, chance: float) -> None:
    assert FIRST_TRIAL_S * (1 - CHANCE) <= delay_s(failures, chance) <= LAST_TRIAL_S


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 10_000), chances, chances)
def test_delays_grow_until_the_longest_whatever_chance_does(failures: int, one: float, other: float) -> None:
    longer = delay_s(failures + 1, other)
    assert longer > delay_s(failures, one) or delay_s(failures, 0) == LAST_TRIAL_S or longer >= 0.75 * LAST_TRIAL_S


def test_the_delays_are_those_that_are_documented() -> None:
    assert [delay_s(failures, 0) for failures in range(1, 9)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert [delay_s(failures, 0, LAST_START_S) for failures in range(7, 13)] == [32, 64, 128, 256, 300, 300]

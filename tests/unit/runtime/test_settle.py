"""The settle rule, case by case (ADR 0002)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cortex_contracts.errors import InvalidMessage, Permanent, Retryable, Unavailable
from cortex_contracts.messages.commands import Capture
from cortex_runtime.settle import FIRST_DELAY_S, LONGEST_DELAY_S, Action, retry_delay, settle


def invalid() -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        Capture.model_validate({"namespace": "Not A Token", "content": "secret text"})
    return caught.value


def test_a_message_that_was_handled_is_acknowledged():
    assert settle(None, 7, 5).action is Action.ACKNOWLEDGE


@pytest.mark.parametrize("error", [Retryable("away"), Unavailable("away")])
@pytest.mark.parametrize("deliveries", [1, 5, 100_000])
def test_an_outage_never_makes_a_dead_letter(error: Exception, deliveries: int):
    assert settle(error, deliveries, max_deliver=5).action is Action.RETRY


def test_an_error_may_know_when_to_try_again():
    assert settle(Retryable("too many", delay_s=300.0), 1, 5).delay_s == 300.0
    assert settle(Unavailable("away", delay_s=0.0), 9, 5).delay_s == 0.0


@pytest.mark.parametrize("error", [Permanent("no"), InvalidMessage("no")])
def test_a_permanent_failure_is_a_dead_letter_at_once(error: Exception):
    decision = settle(error, 1, max_deliver=5)
    assert decision.action is Action.DEAD_LETTER
    assert decision.reason == "invalid_request: no"


def test_a_body_that_is_no_message_is_a_dead_letter_whose_reason_does_not_quote_it():
    decision = settle(invalid(), 1, max_deliver=5)
    assert decision.action is Action.DEAD_LETTER
    assert "namespace" in decision.reason
    assert "secret text" not in decision.reason
    assert "Not A Token" not in decision.reason


@pytest.mark.parametrize("name", ["<private>the key</private>", "k" * 41, "ghp_1a2b3c", "a.b"])
def test_a_reason_names_fields_but_not_the_keys_of_a_mapping(name: str):
    with pytest.raises(ValidationError) as caught:
        Capture.model_validate({"namespace": "work", "content": "text", "metadata": {name: 1, "short_key": 2}})
    reason = settle(caught.value, 1, max_deliver=5).reason
    assert "metadata.…: " in reason
    assert "metadata.short_key: " in reason
    assert name not in reason


@pytest.mark.parametrize(("deliveries", "action"), [(1, Action.RETRY), (4, Action.RETRY), (5, Action.DEAD_LETTER)])
def test_an_unknown_failure_is_retried_until_the_limit(deliveries: int, action: Action):
    decision = settle(KeyError("secret text"), deliveries, max_deliver=5)
    assert decision.action is action
    assert "KeyError" in decision.reason
    assert "secret text" not in decision.reason


@given(st.integers(1, 10**9), st.floats(0, 1))
def test_the_delay_grows_but_never_beyond_its_limit(deliveries: int, jitter: float):
    assert FIRST_DELAY_S / 2 < retry_delay(deliveries, jitter) <= LONGEST_DELAY_S
    assert retry_delay(deliveries, jitter) <= retry_delay(deliveries + 1, jitter)


@given(st.integers(1, 100))
def test_the_delay_is_spread_so_that_consumers_do_not_retry_together(deliveries: int):
    assert retry_delay(deliveries, 0.0) * 2 == retry_delay(deliveries, 1.0)

"""Messages of the outgoing webhook: Standard Webhooks 1.0."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.messages.events import WakeEvent, WakeKind
from cortex_sleep.webhook_message import LONGEST_DELAY_S, Verdict, body, delay, signed, verdict

AT = datetime(2026, 11, 30, 10, tzinfo=UTC)
KEY = bytes(range(32))
EVENT = WakeEvent(
    event_id=UUID(int=7),
    org="local",
    namespace="work",
    reason="what was known is not true any more: a newer memory says otherwise",
    occurred_at=AT,
    kind=WakeKind.CONTRADICTION,
    memory_id=UUID(int=1),
    preview="المنفذ 8471",
)


def test_a_message_says_what_it_is_when_it_happened_and_holds_the_event():
    said = json.loads(body(EVENT))
    assert (said["type"], said["timestamp"]) == ("cortex.wake.contradiction", "2026-11-30T10:00:00Z")
    assert WakeEvent.model_validate(said["data"]) == EVENT
    assert json.loads(body(EVENT.model_copy(update={"kind": None})))["type"] == "cortex.wake"
    assert body(EVENT) == body(WakeEvent.model_validate_json(EVENT.model_dump_json()))


def test_a_signature_is_what_the_library_of_the_standard_makes():
    """Made and verified with the Python package standardwebhooks 1.1.0."""
    content = b'{"type":"cortex.wake.stale"}'
    assert signed(EVENT, content, [KEY], datetime.fromtimestamp(1796032860, UTC)) == {
        "webhook-id": "00000000-0000-0000-0000-000000000007",
        "webhook-timestamp": "1796032860",
        "webhook-signature": "v1,RoPL8/baZEgJA+MZWOktOftdeg4JS4FrT3hX6tBv+CE=",
    }


def test_during_a_rotation_either_key_verifies():
    keys = [KEY, b"the one before, 24 bytes"]
    headers = signed(EVENT, body(EVENT), keys, AT)
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body(EVENT)
    made = [base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode() for key in keys]
    assert headers["webhook-signature"].split(" ") == [f"v1,{one}" for one in made]


@pytest.mark.parametrize(
    ("status", "meant"),
    [
        (200, Verdict.TAKEN),
        (204, Verdict.TAKEN),
        (299, Verdict.TAKEN),
        (304, Verdict.LATER),
        (400, Verdict.REFUSED),
        (401, Verdict.REFUSED),
        (404, Verdict.REFUSED),
        (408, Verdict.LATER),
        (410, Verdict.REFUSED),
        (425, Verdict.LATER),
        (429, Verdict.LATER),
        (500, Verdict.LATER),
        (503, Verdict.LATER),
    ],
)
def test_an_answer_means_taken_refused_or_later(status: int, meant: Verdict):
    assert verdict(status) is meant


@given(st.integers(-1, 10**6), st.floats(0, 1))
@settings(deadline=None, max_examples=80)
def test_tries_become_rarer_down_to_one_in_a_quarter_of_an_hour(deliveries: int, jitter: float):
    assert 0.5 <= delay(deliveries, {}, jitter) <= delay(deliveries + 1, {}, jitter) <= LONGEST_DELAY_S


@pytest.mark.parametrize(
    ("asked", "waits"),
    [("30", 30.0), ("0", 1.0), ("86400", LONGEST_DELAY_S), ("soon", 1.0), ("-5", 1.0), ("٣٠", 1.0), ("9" * 400, 1.0)],
)
def test_a_receiver_may_ask_for_more_time_within_limits(asked: str, waits: float):
    assert delay(1, {"retry-after": asked}, 1.0) == waits

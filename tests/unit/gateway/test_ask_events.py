"""Events of an answer as bytes."""

from __future__ import annotations

import json

import pytest

from cortex_contracts.errors import ErrorCode, Unavailable
from cortex_contracts.rpc.ask import EngineState
from cortex_contracts.rpc.engine import EngineStatus
from cortex_gateway import ask_events
from cortex_gateway.ask_events import AskEvent, Asking, EngineHeard, SentenceSaid

STATE = EngineState(engine="rag", status=EngineStatus.DOWN, ms=3, error="no\nanswer")


@pytest.mark.parametrize(
    ("happened", "name", "data"),
    [
        (
            EngineHeard(STATE, 0),
            "engine",
            {"engine": "rag", "status": "down", "ms": 3, "error": "no\nanswer", "hits": 0},
        ),
        (Asking(("memory", "rag")), "asking", {"engines": ["memory", "rag"]}),
        (SentenceSaid("Hermes\r\nis stopped [r1] ثم"), "sentence", {"text": "Hermes\r\nis stopped [r1] ثم"}),
    ],
)
def test_an_event_is_its_name_and_one_line_of_json(happened: AskEvent, name: str, data: object) -> None:
    first, second, rest = ask_events.event(happened).decode().split("\n", 2)
    assert (first, rest) == (f"event: {name}", "\n")
    assert json.loads(second.removeprefix("data: ")) == data


def test_a_failure_is_told_as_a_refusal_tells_it() -> None:
    event = ask_events.error(Unavailable("late", code=ErrorCode.DEADLINE_EXCEEDED).body())
    assert event == b'event: error\ndata: {"error":"deadline_exceeded","message":"late"}\n\n'


def test_a_comment_is_no_event() -> None:
    assert ask_events.ALIVE.startswith(b":")
    assert ask_events.ALIVE.endswith(b"\n\n")

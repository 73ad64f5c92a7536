"""What happens on the way to an answer, and how it is written as server-sent events (WHATWG HTML, 9.2).

    event: asking     `engines`: the keys of those that are asked; the first event
    event: engine     an engine has answered, or is down: its state, and `hits`, how many it gave
    event: sentence   a model that writes the answer has finished a sentence: `text`
    event: answer     the reply, the same bytes as the JSON reply; the last event
    event: error      there is no reply: the same object as the body of a refusal; the last event

A `sentence` is a first look: the answer may do without it. Data is one line of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from cortex_contracts.errors import ErrorBody
from cortex_contracts.rpc.ask import EngineState

EVENT_STREAM: Final = "text/event-stream"
ALIVE: Final = b": one moment\n\n"
"""A comment, so that nobody on the way takes a silent stream for a dead one."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The question goes to these engines, by their keys."""

    engines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EngineHeard:
    """An engine has answered with so many hits, or is down."""

    state: EngineState
    hits: int


@dataclass(frozen=True, slots=True)
class SentenceSaid:
    """The model that writes the answer has finished a sentence."""

    text: str


AskEvent: TypeAlias = Asking | EngineHeard | SentenceSaid
Heard: TypeAlias = Callable[[AskEvent], None]


def event(happened: AskEvent) -> bytes:
    """What happened, as an event of the stream."""
    if isinstance(happened, Asking):
        return _event("asking", _json({"engines": happened.engines}))
    if isinstance(happened, SentenceSaid):
        return _event("sentence", _json({"text": happened.text}))
    return _event("engine", _json({**happened.state.model_dump(mode="json"), "hits": happened.hits}))


def answer(reply: bytes) -> bytes:
    """The last event of a stream that has a reply; `reply` as JSON without line ends."""
    return _event("answer", reply)


def error(body: ErrorBody) -> bytes:
    """The last event of a stream that has none."""
    return _event("error", _json({"error": body.code.value, "message": body.message}))


def _event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

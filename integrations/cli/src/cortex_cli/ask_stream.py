"""`POST /ask` as the gateway answers it on the way: events that are read as they come, and at last the reply."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError

from cortex_cli.failure import NotRunning
from cortex_cli.gateway import refusal
from cortex_contracts.errors import ErrorCode, InvalidMessage, Permanent, Unavailable
from cortex_contracts.rpc.ask import AskReply, EngineState, Question

CONNECT_S: Final = 5.0
SILENCE_S: Final = 35.0
"""A gateway that streams says something every two seconds; one that cannot is silent until it has the answer."""
EVENT_LIMIT_BYTES: Final = 1 << 26
"""The reply is one event."""
ACCEPT: Final = "text/event-stream, application/json;q=0.5"
"""A gateway that is older than the stream answers with JSON, whatever is accepted."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The keys of the engines that the question goes to. The first event, of a gateway that knows it."""

    engines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EngineHeard:
    """An engine has answered with so many hits, or is down."""

    state: EngineState
    hits: int


@dataclass(frozen=True, slots=True)
class SentenceSaid:
    """A model that writes the answer has finished a sentence; the answer may do without it."""

    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The reply, and the JSON that it came as. Always the last event."""

    reply: AskReply
    json: str


AskEvent = Asking | EngineHeard | SentenceSaid | Answered


def asked(url: str, token: str, question: Question) -> Generator[AskEvent, None, None]:
    """Put a question; the events of its answer as they come. Closing the iterator ends the work on the answer.

    Raises:
        NotRunning: the gateway does not answer.
        Permanent: it refuses the question, or could not answer it; the sentence and the code are its own.
        Unavailable: it breaks off before the answer.
        InvalidMessage: what it says is not understood.
    """
    url = url.rstrip("/")
    try:
        with (
            httpx2.Client(
                headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
                timeout=httpx2.Timeout(SILENCE_S, connect=CONNECT_S),
                # No proxy from the environment: the token goes to the gateway and nowhere else.
                trust_env=False,
            ) as client,
            client.sse(
                f"{url}/ask",
                method="POST",
                content=question.model_dump_json(exclude_defaults=True),
                headers={"Accept": ACCEPT},
                max_event_size=EVENT_LIMIT_BYTES,
            ) as stream,
        ):
            response = stream.response
            if response.status_code != 200:
                raise refusal(response.status_code, response.reason_phrase, response.read())
            if response.headers.get("content-type", "").startswith("application/json"):
                yield _answered(response.read().decode())
                return
            for event in stream:
                told = _event(event.event, event.data)
                if told is not None:
                    yield told
                if isinstance(told, Answered):
                    return
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise NotRunning(f"the gateway does not answer at {url} ({type(error).__name__}); run `cortex start`") from None
    except httpx2.ReadTimeout:
        raise Unavailable(f"the gateway at {url} said nothing for {SILENCE_S:g} s; ask again") from None
    except httpx2.SSEError:
        raise InvalidMessage(f"what answers at {url} is no Cortex gateway") from None
    except httpx2.HTTPError:
        raise Unavailable(f"the gateway at {url} broke off before its answer; ask again") from None
    raise Unavailable(f"the gateway at {url} broke off before its answer; ask again")


class _Asking(BaseModel):
    engines: tuple[str, ...]


class _Engine(EngineState):
    hits: int = 0


class _Sentence(BaseModel):
    text: str


_PROBLEM: Final = TypeAdapter(dict[str, Any])


def _event(name: str, data: str) -> AskEvent | None:
    """The event; none for a kind that a newer gateway may send."""
    try:
        if name == "asking":
            return Asking(_Asking.model_validate_json(data).engines)
        if name == "engine":
            engine = _Engine.model_validate_json(data)
            return EngineHeard(engine, engine.hits)
        if name == "sentence":
            return SentenceSaid(_Sentence.model_validate_json(data).text)
        if name == "answer":
            return _answered(data)
        problem = _PROBLEM.validate_json(data) if name == "error" else None
    except ValidationError:
        raise InvalidMessage(f"the gateway's event {name} is not what this version expects") from None
    if problem is None:
        return None
    code = problem.get("error")
    known = ErrorCode(code) if code in list(ErrorCode) else None
    raise Permanent(f"the gateway could not answer: {problem.get('message') or code}", code=known)


def _answered(text: str) -> Answered:
    try:
        return Answered(AskReply.model_validate_json(text), text)
    except ValidationError:
        raise InvalidMessage("the gateway's answer is not what this version expects") from None

"""REST: `POST /ask`, answered as JSON or as a stream of what happens on the way to the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Request, Response
from starlette.types import Receive, Scope, Send

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ask import AskReply, Question
from cortex_gateway import ask_events
from cortex_gateway.ask import Asker
from cortex_gateway.ask_events import EVENT_STREAM, AskEvent
from cortex_gateway.memory_rest import Caller
from cortex_gateway.negotiation import negotiate
from cortex_gateway.openapi import CREDENTIALS, RESPONSES, TOO_LARGE, refusal, wrong_fields
from cortex_gateway.problems import problem
from cortex_runtime.rpc import error_body

PATH: Final = "/ask"
JSON: Final = "application/json"
ALIVE_S: Final = 2.0
"""A stream is never silent for longer: less than any proxy's patience, more than most answers take."""
STREAM_HEADERS: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
"""Nothing on the way keeps or gathers events."""
VARY: Final = {"Vary": "Accept"}
NOT_ACCEPTABLE: Final = f"expected Accept to allow {JSON} or {EVENT_STREAM}"

QUESTION_EXAMPLES: Final[dict[str, Any]] = {
    "everything": {"summary": "Ask every engine", "value": {"query": "Which database does the Nile project use?"}},
    "search": {
        "summary": "Only ranked hits of some engines",
        "value": {"query": "idempotency keys", "mode": "search", "scope": ["pages"], "k": 5},
    },
}
REPLY_EXAMPLE: Final[dict[str, Any]] = {
    "answer": "Sources disagree on Hermes status: live infra says stopped (memory stale 40d) [r1]",
    "receipts": [
        {
            "id": "r1",
            "source": "rag",
            "title": "Hermes",
            "path": "infra/hermes",
            "last_seen": "2026-06-24T00:04:00Z",
            "confidence": 0.92,
            "snippet": "Hermes is stopped.",
            "corroborated_by": [],
        }
    ],
    "hits": [
        {
            "engine": "rag",
            "title": "Hermes",
            "path": "infra/hermes",
            "snippet": "Hermes is stopped.",
            "score": 0.81,
            "last_seen": "2026-06-24T00:04:00Z",
            "confidence": 0.92,
            "source_class": "live-infra",
            "relevance": 0.88,
            "corroborated_by": [],
        }
    ],
    "conflicts": [
        {
            "claim": "Hermes status",
            "winner": "live-infra",
            "losers": ["agent-memory"],
            "reason": "memory stale 40d",
            "value": "stopped",
            "losing_values": ["active"],
            "paths": ["infra/hermes", "memory:8d0c"],
        }
    ],
    "engines": [
        {"engine": "rag", "status": "up", "ms": 312, "error": None},
        {"engine": "cbm", "status": "down", "ms": 4000, "error": "no answer within 4000 ms"},
    ],
    "took_ms": 4002,
}
STREAM_EXAMPLE: Final = (
    'event: asking\ndata: {"engines":["rag"]}\n\n'
    'event: engine\ndata: {"engine":"rag","status":"up","ms":312,"error":null,"hits":1}\n\n'
    'event: answer\ndata: {"answer":"Hermes is stopped [r1]", …}\n\n'
)


def ask_router(asker: Asker) -> APIRouter:
    """The route; who calls it has been authenticated before."""
    routes = APIRouter(dependencies=CREDENTIALS)

    @routes.post(
        PATH,
        summary="Ask every engine one question",
        response_model=AskReply,
        responses=RESPONSES
        | TOO_LARGE
        | {
            200: {
                "description": "The answer. With `Accept: text/event-stream` events: `asking` with the engines, "
                "`engine` when one has answered, `sentence` while a model writes, and last `answer` with the reply, "
                "or `error`",
                "content": {
                    JSON: {"example": REPLY_EXAMPLE},
                    EVENT_STREAM: {"schema": {"type": "string"}, "example": STREAM_EXAMPLE},
                },
            },
            406: refusal("`Accept` allows none of the forms of the answer", "not_acceptable", NOT_ACCEPTABLE),
            422: wrong_fields("scope", "unknown engine mail", "A field is wrong, or the scope names an unknown engine"),
        },
    )
    async def ask(
        question: Annotated[Question, Body(openapi_examples=QUESTION_EXAMPLES)], principal: Caller, request: Request
    ) -> Response:
        """Fan out to the engines in scope, reconcile what they say, and answer with receipts and conflicts."""
        form = negotiate(request.headers.getlist("accept"), (JSON, EVENT_STREAM))
        if form is None:
            return problem(406, "not_acceptable", NOT_ACCEPTABLE, headers=VARY)
        asker.check(question)
        return (_Streamed if form == EVENT_STREAM else _Whole)(asker, principal, question)

    return routes


class _Whole(Response):
    """The reply as JSON. When the client leaves, nobody works for it any longer."""

    def __init__(self, asker: Asker, principal: Principal, question: Question) -> None:
        super().__init__()
        self._asker = asker
        self._principal = principal
        self._question = question

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Answer, for as long as somebody listens."""
        work = asyncio.create_task(self._answer(send))
        left = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
            work.cancel()
            await asyncio.gather(work, left, return_exceptions=True)
        if not work.cancelled():
            return work.result()
        # A client that has left does not hear this; one that has not learns why there is no answer (`Drain`).
        await self._broken_off(Unavailable("the gateway stops: ask again"), send)

    async def _answer(self, send: Send) -> None:
        reply = _json(await self._asker.ask(self._principal, self._question))
        await _start(send, {"Content-Type": JSON, "Content-Length": str(len(reply)), **VARY})
        await _send(send, reply, more=False)

    async def _broken_off(self, error: Unavailable, _: Send) -> None:
        raise error


class _Streamed(_Whole):
    """What happens on the way to the reply, and the reply, as server-sent events."""

    async def _answer(self, send: Send) -> None:
        happened: asyncio.Queue[AskEvent | None] = asyncio.Queue()
        asking = asyncio.create_task(self._asker.ask(self._principal, self._question, heard=happened.put_nowait))
        asking.add_done_callback(lambda _: happened.put_nowait(None))
        try:
            await _start(send, {"Content-Type": EVENT_STREAM, **STREAM_HEADERS, **VARY})
            # Who waits sees that there is somebody, and a proxy sends the head on.
            await _send(send, ask_events.ALIVE)
            while (event := await _next(happened)) is not None:
                await _send(send, event)
            await _send(send, _last(asking), more=False)
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def _broken_off(self, error: Unavailable, send: Send) -> None:
        await _send(send, ask_events.error(error.body()), more=False)


async def _next(happened: asyncio.Queue[AskEvent | None]) -> bytes | None:
    """The next event, or a comment when there is none for a while; none: the last one comes next."""
    try:
        async with asyncio.timeout(ALIVE_S):
            event = await happened.get()
    except TimeoutError:
        return ask_events.ALIVE
    return None if event is None else ask_events.event(event)


def _last(asking: asyncio.Task[AskReply]) -> bytes:
    try:
        return ask_events.answer(_json(asking.result()))
    except Exception as error:  # edge: the response has begun, so that a failure is told in it
        return ask_events.error(error_body(error, PATH))


async def _start(send: Send, headers: Mapping[str, str]) -> None:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": raw})


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


def _json(reply: AskReply) -> bytes:
    return reply.model_dump_json().encode()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

"""A server with OpenAI's chat completions, which says what the test wants and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from cortex_testkit.tei_server import served

MODEL = "acme/fast"


class CutOff(Exception):
    """The server closes the connection in the middle of an answer."""


@dataclass(frozen=True)
class ChatAsked:
    """One request as it arrived."""

    headers: Mapping[str, str]
    body: Any


@dataclass
class ChatServer:
    """One server; change its fields while it runs."""

    words: Sequence[str] = ("Inês ", "owns ", "it.")
    """What is answered; streamed, each is an event."""
    message: Mapping[str, Any] | None = None
    """A whole message to answer instead, for example with tool calls."""
    usage: Mapping[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49}
    )
    api_key: str = ""
    refusals: list[Response] = field(default_factory=list)
    """Answers to the next requests, before it works again."""
    cut_after: int | None = None
    """Close the connection after so many events, and half of another."""
    hold_after: int | None = None
    """Say nothing more after so many events, until `go_on`."""
    asked: list[ChatAsked] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a caller leaves in the middle."""
    sent: list[bytes] = field(default_factory=list)
    """The pieces of the last stream."""
    url: str = ""

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(routes=[Route("/v1/chat/completions", self._complete, methods=["POST"])])

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append(ChatAsked(dict(request.headers), body))
        if self.api_key and request.headers.get("authorization") != f"Bearer {self.api_key}":
            return error("Incorrect API key provided: sk-…", 401, "invalid_api_key")
        if self.refusals:
            return self.refusals.pop(0)
        if body.get("stream"):
            self.sent = []
            return StreamingResponse(self._events(body), media_type="text/event-stream")
        if self.hold_after is not None:
            await self._hold(request)
        message = self.message or {"role": "assistant", "content": "".join(self.words), "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if self.message else "stop"}
        return JSONResponse(self._completion("chat.completion", [choice]) | {"usage": self.usage})

    async def _hold(self, request: Request) -> None:
        self.held.set()
        left, go_on = asyncio.ensure_future(request.receive()), asyncio.ensure_future(self.go_on.wait())
        await asyncio.wait({left, go_on}, return_when=asyncio.FIRST_COMPLETED)
        if left.done():
            self.left.set()
        for one in (left, go_on):
            one.cancel()

    def _completion(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": kind, "created": 1796040000, "model": MODEL, "choices": choices}

    async def _events(self, body: Any) -> AsyncIterator[bytes]:
        deltas = [self.message] if self.message else [{"role": "assistant", "content": word} for word in self.words]
        said = [
            self._completion("chat.completion.chunk", [{"index": 0, "delta": delta, "finish_reason": None}])
            for delta in deltas
        ]
        said.append(self._completion("chat.completion.chunk", [{"index": 0, "delta": {}, "finish_reason": "stop"}]))
        if (body.get("stream_options") or {}).get("include_usage"):
            said.append(self._completion("chat.completion.chunk", []) | {"usage": self.usage})
        try:
            for number, one in enumerate(said):
                event = b"data: " + json.dumps(one, ensure_ascii=False).encode() + b"\n\n"
                if number == self.cut_after:
                    yield event[: len(event) // 2]
                    raise CutOff
                if number == self.hold_after:
                    self.held.set()
                    await self.go_on.wait()
                self.sent.append(event)
                yield event
            self.sent.append(b"data: [DONE]\n\n")
            yield self.sent[-1]
        except asyncio.CancelledError:
            self.left.set()
            raise


def error(message: str, status: int, code: str, headers: Mapping[str, str] | None = None) -> Response:
    """A refusal in OpenAI's form."""
    body = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}
    return JSONResponse(body, status, headers=headers)


@asynccontextmanager
async def running(server: ChatServer, port: int = 0) -> AsyncIterator[ChatServer]:
    """Serve, on a free port or on `port`; `server.url` says where."""
    async with served(server.app(), port) as server.url:
        yield server

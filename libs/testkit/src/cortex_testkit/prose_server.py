"""A server that streams prose as Ollama and Claude do, each in its own shape, and with the bad manners that both have.

It has no model: `write` is a function from what was asked to the answer. Change its fields while it runs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from cortex_testkit.tei_server import served

MODEL = "acme/writer"


class CutOff(Exception):
    """The server closes the connection in the middle of an answer."""


@dataclass(frozen=True)
class ProseAsked:
    """One question as it arrived."""

    api: str
    system: str
    user: str
    body: dict[str, Any]

    @property
    def material(self) -> Any:
        """The material, parsed."""
        return json.loads(self.user)


def nothing(_: ProseAsked) -> str:
    """A model that never knows anything."""
    return "NOTHING"


@dataclass
class ProseServer:
    """One server."""

    write: Callable[[ProseAsked], str] = nothing
    models: tuple[str, ...] = (MODEL,)
    api_key: str = ""
    failures: list[Response] = field(default_factory=list)
    """Answers to the next questions, before it works again."""
    lines: Callable[[str], list[bytes]] | None = None
    """The raw lines of the stream, made of the answer, instead of those of the API."""
    error_after: int | None = None
    """Tell an error in the middle, after so many pieces, in the API's form."""
    cut_after: int | None = None
    """Close the connection after so many pieces."""
    hold_after: int | None = None
    """Say nothing more after so many pieces, until `go_on`."""
    ended: str | None = None
    """Why the answer ended, instead of by itself."""
    usage: tuple[int, int] | None = (120, 30)
    """Input and output tokens; none: they are not told."""
    tags: Response | None = None
    """What is answered instead of the list of models."""
    asked: list[ProseAsked] = field(default_factory=list)
    loaded: int = 0
    """How often a model was got ready."""
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a caller leaves in the middle."""
    url: str = ""

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/v1/models", self._listed),
                Route("/api/tags", self._listed),
                Route("/api/chat", self._ollama, methods=["POST"]),
                Route("/v1/messages", self._claude, methods=["POST"]),
            ]
        )

    async def _listed(self, request: Request) -> Response:
        names = [{"name": name, "id": name} for name in self.models]
        return self._locked(request) or self.tags or JSONResponse({"models": names, "data": names})

    def _locked(self, request: Request) -> Response | None:
        if not self.api_key or request.headers.get("x-api-key") == self.api_key:
            return None
        return JSONResponse({"type": "error", "error": {"type": "authentication_error", "message": "no"}}, 401)

    def _heard(self, request: Request, asked: ProseAsked) -> Response | None:
        if locked := self._locked(request):
            return locked
        self.asked.append(asked)
        return self.failures.pop(0) if self.failures else None

    async def _ollama(self, request: Request) -> Response:
        body = await request.json()
        if not body["messages"]:
            self.loaded += 1
            return self.failures.pop(0) if self.failures else JSONResponse({"done": True, "done_reason": "load"})
        system, user = body["messages"]
        asked = ProseAsked("ollama", system["content"], user["content"], body)
        if failed := self._heard(request, asked):
            return failed
        assert body["stream"] is True
        assert body["think"] is False
        return StreamingResponse(self._streamed(asked, self._ollama_lines), media_type="application/x-ndjson")

    async def _claude(self, request: Request) -> Response:
        body = await request.json()
        asked = ProseAsked("claude", body["system"], body["messages"][0]["content"], body)
        assert request.headers["anthropic-version"] == "2023-06-01"
        if failed := self._heard(request, asked):
            return failed
        assert body["stream"] is True
        return StreamingResponse(self._streamed(asked, self._claude_lines), media_type="text/event-stream")

    async def _streamed(
        self, asked: ProseAsked, shaped: Callable[[list[str]], tuple[list[bytes], list[bytes], bytes]]
    ) -> AsyncIterator[bytes]:
        text = self.write(asked)
        if self.lines is not None:
            for line in self.lines(text):
                yield line
            return
        pieces, last, failed = shaped([text[at : at + 7] for at in range(0, len(text), 7)])
        try:
            for number, piece in enumerate([*pieces, b""]):
                if number == self.error_after:
                    yield failed
                    return
                if number == self.cut_after:
                    yield piece[: len(piece) // 2]
                    raise CutOff
                if number == self.hold_after:
                    self.held.set()
                    await self.go_on.wait()
                if piece:
                    yield piece
                    await asyncio.sleep(0)
            for piece in last:
                yield piece
        except asyncio.CancelledError:
            self.left.set()
            raise

    def _ollama_lines(self, pieces: list[str]) -> tuple[list[bytes], list[bytes], bytes]:
        def line(**fields: Any) -> bytes:
            said = {"model": MODEL, "created_at": "2026-11-30T08:52:19.385406455-07:00", **fields}
            return json.dumps(said, ensure_ascii=False).encode() + b"\n"

        told = {"prompt_eval_count": self.usage[0], "eval_count": self.usage[1]} if self.usage else {}
        end = {"done": True, "done_reason": self.ended or "stop", "total_duration": 4883583458, **told}
        return (
            [line(message={"role": "assistant", "content": piece, "images": None}, done=False) for piece in pieces],
            [line(message={"role": "assistant", "content": ""}, **end)],
            b'{"error":"an error was encountered while running the model: CUDA error"}\n',
        )

    def _claude_lines(self, pieces: list[str]) -> tuple[list[bytes], list[bytes], bytes]:
        def event(kind: str, **fields: Any) -> bytes:
            data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
            return f"event: {kind}\ndata: {data}\n\n".encode()

        read, written = self.usage or (0, 0)
        message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": MODEL}
        begun = {"input_tokens": read, "output_tokens": 1} if self.usage else None
        begin = [
            event("message_start", message=message | {"stop_reason": None, "usage": begun}),
            event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
            event("ping"),
        ]
        deltas = [
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece}) for piece in pieces
        ]
        ended = {"stop_reason": self.ended or "end_turn", "stop_sequence": None}
        return (
            [b"".join(begin) + deltas[0], *deltas[1:]] if deltas else [b"".join(begin)],
            [
                event("content_block_stop", index=0),
                event("message_delta", delta=ended, usage={"output_tokens": written} if self.usage else None),
                event("something_new", data=1),
                event("message_stop"),
            ],
            event("error", error={"type": "overloaded_error", "message": "Overloaded"}),
        )


@asynccontextmanager
async def running(server: ProseServer, port: int = 0) -> AsyncIterator[ProseServer]:
    """Serve, on a free port or on `port`; `server.url` says where."""
    async with served(server.app(), port) as server.url:
        yield server

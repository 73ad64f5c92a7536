"""The stream of `POST /ask` where an engine cannot be made to do it: silence, failures, a client that leaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.types import Message

from cortex_contracts.errors import ErrorCode, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ask import AskReply, Question
from cortex_gateway import ask_rest, problems
from cortex_gateway.ask_events import ALIVE, Heard, SentenceSaid
from cortex_gateway.ask_rest import ask_router
from cortex_gateway.auth import _STATE
from cortex_gateway.errors import Busy

REPLY = AskReply(answer="Hermes rests [r1]", receipts=(), hits=(), conflicts=(), engines=(), took_ms=1)
Work = Callable[[Heard], Awaitable[AskReply]]


class PlayedAsker:
    def __init__(self, work: Work) -> None:
        self._work = work

    def check(self, question: Question) -> tuple[str, ...]:
        return ()

    async def ask(self, principal: Principal, question: Question, *, heard: Heard = lambda _: None) -> AskReply:
        return await self._work(heard)


class Client:
    """Asks, and sees what comes; it stays until it leaves."""

    def __init__(self, work: Work, accept: str = "text/event-stream") -> None:
        self.app = FastAPI()
        problems.install(self.app)
        self.app.include_router(ask_router(PlayedAsker(work)))  # type: ignore[arg-type]
        self.accept = accept
        self.left = asyncio.Event()
        self.status = 0
        self.body = b""
        self.sent: Callable[[], None] = lambda: None
        self._asked = False

    async def _receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b'{"query": "Hermes?"}', "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self.status = message.get("status", self.status)
        self.body += message.get("body", b"")
        self.sent()

    async def ask(self) -> str:
        headers = [(b"accept", self.accept.encode()), (b"content-type", b"application/json")]
        state = {_STATE: Principal(org="local", subject="tester")}
        scope: dict[str, Any] = {
            "type": "http", "method": "POST", "path": "/ask", "raw_path": b"/ask", "query_string": b"",
            "headers": headers, "state": state, "http_version": "1.1", "scheme": "http", "root_path": "",
            "server": ("test", 80), "client": ("test", 1),
        }  # fmt: skip
        async with asyncio.timeout(20):
            await self.app(scope, self._receive, self._send)
        return self.body.decode()


async def test_a_silent_stream_has_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask_rest, "ALIVE_S", 0.01)
    enough = asyncio.Event()

    async def work(_: Heard) -> AskReply:
        await enough.wait()
        return REPLY

    client = Client(work)
    client.sent = lambda: enough.set() if client.body.count(ALIVE) == 3 else None
    body = await client.ask()
    assert body.startswith(ALIVE.decode() * 3)
    assert body.endswith(f"event: answer\ndata: {REPLY.model_dump_json()}\n\n")


async def test_sentences_come_before_the_answer() -> None:
    async def work(heard: Heard) -> AskReply:
        heard(SentenceSaid("Hermes rests [r1]"))
        return REPLY

    body = await Client(work).ask()
    names = [line.removeprefix("event: ") for line in body.splitlines() if line.startswith("event: ")]
    assert names == ["sentence", "answer"]
    assert json.loads(body.rsplit("data: ", 1)[1]) == json.loads(REPLY.model_dump_json())


@pytest.mark.parametrize(
    ("failure", "code", "status"),
    [
        (Unavailable("late", code=ErrorCode.DEADLINE_EXCEEDED), "deadline_exceeded", 504),
        (Busy(), "unavailable", 503),
        (RuntimeError("secret"), "internal", 500),
    ],
)
async def test_a_failure_is_the_last_event_of_a_stream_and_the_status_of_a_plain_reply(
    failure: Exception, code: str, status: int
) -> None:
    async def work(_: Heard) -> AskReply:
        raise failure

    body = await Client(work).ask()
    assert body.rsplit("\n\n", 2)[1].startswith(f'event: error\ndata: {{"error":"{code}"')
    plain = Client(work, "application/json")
    assert json.loads(await plain.ask())["error"] == code
    assert plain.status == status
    assert "secret" not in body + plain.body.decode()


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_nobody_works_for_a_client_that_has_left(accept: str) -> None:
    cancelled = asyncio.Event()

    async def work(_: Heard) -> AskReply:
        client.left.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError

    client = Client(work, accept)
    body = await client.ask()
    assert cancelled.is_set()
    assert "the gateway stops" in body  # what a client hears that has not left: the service did

"""How many large bodies are held at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from fastapi import FastAPI

from cortex_contracts.messages.base import Message
from cortex_runtime.publishing import Published
from cortex_webhook import rest
from cortex_webhook.commands import SyncCommands
from cortex_webhook.rest import LARGE_BODIES, LARGE_BODY_BYTES
from cortex_webhook.signature import sign

SECRET = b"secret"
LARGE = b'{"zen": "' + b"x" * LARGE_BODY_BYTES, b'"}'
SMALL = (b"{}",)


class NoBus:
    async def check(self) -> None:
        pass

    async def publish(self, subject: str, message: Message, *, message_id: str) -> Published:
        raise AssertionError("nothing is published")


class Ping:
    """A request that sends its body piece by piece; the last one when it is told to."""

    def __init__(self, pieces: Sequence[bytes], *, told: bool = False) -> None:
        self._pieces = pieces
        self._sent = 0
        self.last_asked_for = asyncio.Event()
        self.told = asyncio.Event()
        self.breaks_off = False
        if told:
            self.told.set()

    async def send_to(self, app: FastAPI) -> int:
        """The status of the answer."""
        headers = {
            "content-type": "application/json",
            "x-github-event": "ping",
            "x-github-delivery": "d-1",
            "x-hub-signature-256": sign(b"".join(self._pieces), SECRET),
        }
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "path": rest.PATH,
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        answers: list[dict[str, Any]] = []

        async def answer(message: Any) -> None:
            answers.append(message)

        await app(scope, self._receive, answer)
        return int(answers[0]["status"])

    async def _receive(self) -> dict[str, Any]:
        piece, self._sent = self._pieces[self._sent], self._sent + 1
        is_last = self._sent == len(self._pieces)
        if is_last:
            self.last_asked_for.set()
            await self.told.wait()
            if self.breaks_off:
                return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": not is_last}


@pytest.mark.parametrize("breaks_off", [False, True])
async def test_a_large_body_waits_until_another_one_is_done_with(breaks_off: bool) -> None:
    app = rest.build(SyncCommands(NoBus(), "local"), [SECRET], [])
    held = [Ping(LARGE) for _ in range(LARGE_BODIES)]
    waiting = Ping(LARGE, told=True)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        answers = [group.create_task(ping.send_to(app)) for ping in held]
        for ping in held:
            await ping.last_asked_for.wait()
        last = group.create_task(waiting.send_to(app))
        # Small ones go on meanwhile.
        assert [await Ping(SMALL, told=True).send_to(app) for _ in range(20)] == [200] * 20
        assert not waiting.last_asked_for.is_set()
        held[0].breaks_off = breaks_off
        held[0].told.set()
        assert await last == 200
        for ping in held[1:]:
            ping.told.set()
    assert [answer.result() for answer in answers] == [408 if breaks_off else 200] + [200] * (LARGE_BODIES - 1)

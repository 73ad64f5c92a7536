"""Callers of `POST /ask`, timed, that cost next to nothing themselves: HTTP/1.1 by hand over one connection each."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from played_engines import question

TIMEOUT_S: Final = 60.0
DOWN: Final = b'"status":"down"'


class Asked(NamedTuple):
    """One question: when it was sent, when its whole answer was there, and how many engines were down."""

    round: int
    sent: float
    received: float
    down: int


async def ask(url: str, token: str, scope: Sequence[str], rounds: Iterable[int], callers: int) -> list[Asked]:
    """Ask every round's question; each caller waits for one answer at a time.

    Raises:
        RuntimeError: an answer is no success.
    """
    asked: list[Asked] = []
    waiting = iter(rounds)

    async def caller() -> None:
        address = urlsplit(url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        for number in waiting:
            message = _request(address.netloc, token, scope, number)
            sent = time.perf_counter()
            writer.write(message)
            async with asyncio.timeout(TIMEOUT_S):
                body = await _answer(reader)
            asked.append(Asked(number, sent, time.perf_counter(), body.count(DOWN)))
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(caller() for _ in range(callers)))
    return asked


def _request(host: str, token: str, scope: Sequence[str], number: int) -> bytes:
    body = json.dumps({"query": question(number), "scope": list(scope)}).encode()
    head = (
        f"POST /ask HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nAccept: application/json\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def _answer(reader: asyncio.StreamReader) -> bytes:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    names = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
    body = await reader.readexactly(int(names["content-length"]))
    if " 200 " not in head.split("\r\n", 1)[0]:
        raise RuntimeError(f"not answered: {head.splitlines()[0]}: {body[:300]!r}")
    return body

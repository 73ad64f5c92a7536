"""A request to the upstream is repeated only where nothing of an answer can have come, and only once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from cortex_gateway.chat_errors import ChatRefused
from cortex_gateway.chat_upstream import Given, Upstream, taken

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
HALF = b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{"a'
BUSY = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@asynccontextmanager
async def saying(answers: Sequence[bytes], timeout_s: float = 10.0) -> AsyncIterator[tuple[Upstream, list[bytes]]]:
    """An upstream that answers each connection with the next bytes and closes it; and the heads that it got."""
    heads: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answers[len(heads) - 1])
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    upstream = Upstream(f"http://127.0.0.1:{port}/openai/v1", "acme/fast", "sk-secret", timeout_s)
    try:
        yield upstream, heads
    finally:
        await upstream.close()
        server.close()


async def ask(upstream: Upstream) -> Given:
    async with asyncio.timeout(30), upstream.ask(b"{}", stream=False) as answer:
        return await taken(answer)


async def test_a_connection_that_ends_before_an_answer_is_tried_once_more() -> None:
    async with saying([b"", OK]) as (upstream, heads):
        assert (await ask(upstream)).body == b"{}"
    assert len(heads) == 2
    assert heads[0].startswith(b"POST /openai/v1/chat/completions HTTP/1.1\r\n")
    assert b"\r\nAuthorization: Bearer sk-secret\r\n" in heads[0]
    assert heads[0] == heads[1]


@pytest.mark.parametrize(
    ("answers", "asked", "sentence"),
    [([b"", b"", OK], 2, "does not answer"), ([HALF, OK], 1, "broke off its answer")],
)
async def test_it_is_not_tried_for_ever_and_not_after_the_first_byte(
    answers: list[bytes], asked: int, sentence: str
) -> None:
    async with saying(answers) as (upstream, heads):
        with pytest.raises(ChatRefused, match=sentence) as caught:
            await ask(upstream)
    assert (caught.value.status, len(heads)) == (502, asked)


async def test_a_refusal_is_not_repeated_for_the_caller() -> None:
    async with saying([BUSY, OK]) as (upstream, heads):
        assert (await ask(upstream)).status == 503
    assert len(heads) == 1

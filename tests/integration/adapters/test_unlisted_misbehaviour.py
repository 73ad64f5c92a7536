"""Bad manners of servers over HTTP that no list names: what can be read is read, the rest is told in a sentence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from cortex_contracts.rpc.engine import EngineStatus
from cortex_gateway.adapters import mcp_http
from cortex_gateway.adapters.breaker import Standing
from cortex_testkit.eventually import eventually
from cortex_testkit.misbehaving_engine import EVENTS, FOUND, JSON, Exchange, MisbehavingEngine, running, said


def answer(exchange: Exchange, result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": exchange.message["id"], "result": result}).encode()


async def questions_first(exchange: Exchange) -> None:
    asked = [
        {"jsonrpc": "2.0", "id": "e", "method": "elicitation/create", "params": {"message": "password?"}},
        {"jsonrpc": "2.0", "id": "r", "method": "roots/list"},
        {"jsonrpc": "2.0", "id": "x", "method": "no/such/method"},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "?", "progress": "NaN"}},
    ]
    events = b"".join(b"data: %b\n\n" % json.dumps(one).encode() for one in asked)
    await exchange.whole(200, EVENTS, events + b"data: %b\n\n" % answer(exchange, said(FOUND)))


async def two_answers(exchange: Exchange) -> None:
    first, second = (answer(exchange, said(data)) for data in (FOUND, []))
    await exchange.whole(200, EVENTS, b"data: %b\n\ndata: %b\n\n" % (first, second))


async def fields_of_events(exchange: Exchange) -> None:
    head = b"\xef\xbb\xbfretry: 1\r\nid: 7\r\nevent: message\r\n: hm\r\n"
    lines = json.dumps(json.loads(answer(exchange, said(FOUND))), indent=1).encode().splitlines()
    await exchange.whole(200, EVENTS, head + b"".join(b"data: %b\r\n" % line for line in lines) + b"\r\n")


async def keys_twice(exchange: Exchange) -> None:
    body = answer(exchange, said(FOUND))
    await exchange.whole(200, JSON, b'{"id": 999, "result": {}, ' + body[1:])


async def cookies_and_encodings(exchange: Exchange) -> None:
    kind = "Application/JSON; Charset=UTF-8"
    more = {"set_cookie": "a=b; Path=/", "content_encoding": "Identity", "retry_after": "86400", "x_long": "a" * 60_000}
    await exchange.whole(200, kind, answer(exchange, said(FOUND)), **more)


@pytest.mark.parametrize(
    "behaviour", [questions_first, two_answers, fields_of_events, keys_twice, cookies_and_encodings]
)
async def test_an_answer_is_read_in_spite_of_what_is_around_it(
    guarded: Any, behaviour: Callable[[Exchange], Any]
) -> None:
    engine = MisbehavingEngine(on={"tools/call": behaviour})
    async with running(engine), guarded(url=engine.url) as notes:
        for _ in range(2):
            assert [hit.path for hit in (await notes.ask()).hits] == ["yard/crane.md"]
        assert engine.heard.count("initialize") == 1


async def batch(exchange: Exchange) -> None:
    await exchange.whole(200, JSON, b"[" + answer(exchange, said(FOUND)) + b"]")


async def no_content(exchange: Exchange) -> None:
    await exchange.whole(204, "", b"")


async def utf_16(exchange: Exchange) -> None:
    await exchange.whole(200, f"{JSON}; charset=utf-16", answer(exchange, said(FOUND)).decode().encode("utf-16"))


async def redirected_to_a_file(exchange: Exchange) -> None:
    await exchange.whole(308, JSON, b"", location="file:///etc/passwd")


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        (batch, "answers with something that is no message of MCP"),
        (utf_16, "answers with something that is no message of MCP"),
        (no_content, "answers with something without a type where JSON was expected"),
        (redirected_to_a_file, "answers with a redirect, which is not followed: configure where it leads"),
    ],
)
async def test_what_is_no_answer_is_told_and_passes(
    guarded: Any, behaviour: Callable[[Exchange], Any], sentence: str
) -> None:
    engine = MisbehavingEngine(on={"tools/call": behaviour})
    async with running(engine), guarded(url=engine.url) as notes:
        await notes.stands(Standing.CLOSED)
        assert (await notes.ask()).error == f"the engine notes {sentence}"
        engine.on.clear()
        await notes.stands(Standing.CLOSED)
        assert (await notes.ask()).hits


async def test_an_error_that_stands_in_structured_content_alone_is_told(guarded: Any) -> None:
    async def fails(exchange: Exchange) -> None:
        await exchange.result({"content": [], "structuredContent": {"error": "index closed"}, "isError": True})

    engine = MisbehavingEngine(on={"tools/call": fails})
    async with running(engine), guarded(url=engine.url) as notes:
        assert (await notes.ask()).error == "search_notes of the engine notes failed: index closed"
        assert notes.guard.breaker.standing is Standing.CLOSED


async def test_a_session_that_no_header_can_name_is_told(guarded: Any) -> None:
    async def greets(exchange: Exchange) -> None:
        info = {"serverInfo": {"name": "n", "version": "1"}, "capabilities": {}, "protocolVersion": "2025-06-18"}
        await exchange.head(200, JSON, mcp_session_id="séance")
        await exchange.piece(answer(exchange, info), last=True)

    engine = MisbehavingEngine(on={"initialize": greets})
    async with running(engine), guarded(url=engine.url) as notes:
        reply = await notes.ask()
        sentence = "the engine notes names its session in characters that no header may have"
        assert (reply.status, str(reply.error).partition(";")[0]) == (EngineStatus.DOWN, sentence)


async def test_a_stream_of_what_nobody_asked_for_may_be_refused_by_a_redirect_that_is_not_followed(
    guarded: Any,
) -> None:
    async def login(exchange: Exchange) -> None:
        await exchange.whole(302, "text/html", b"", location="/login")

    engine = MisbehavingEngine(on={"GET": login})
    async with running(engine), guarded(url=engine.url) as notes:
        await eventually(lambda: asyncio.sleep(0, "GET" in engine.heard), bool)
        assert (await notes.ask()).hits
        assert engine.heard.count("GET") <= 2  # the library tries once more
        assert engine.heard.count("initialize") == 1


async def test_a_stream_that_ends_again_and_again_is_not_connected_to_without_a_pause(
    guarded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ends(exchange: Exchange) -> None:
        await exchange.whole(200, EVENTS, b"id: 1\nretry: 0\ndata:\n\n")

    monkeypatch.setattr(mcp_http, "UNASKED_BYTES", 2 * mcp_http.RECONNECTED_BYTES)
    monkeypatch.setattr(mcp_http, "UNASKED_BYTES_S", 1)
    engine = MisbehavingEngine(on={"GET": ends})
    async with running(engine), guarded(url=engine.url) as notes:
        await eventually(lambda: asyncio.sleep(0, engine.heard.count("GET")), lambda count: count > 0)
        for _ in range(20):
            assert (await notes.ask()).hits
        assert engine.heard.count("GET") <= 2


async def test_what_nobody_asked_for_is_read_no_faster_than_its_pace(
    guarded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = 0

    async def floods(exchange: Exchange) -> None:
        nonlocal sent
        await exchange.head(200, EVENTS)
        gone = asyncio.create_task(exchange.gone())
        while not gone.done():
            await exchange.piece(b": " + b"x" * 65_534 + b"\n\n")
            sent += 1
            await asyncio.sleep(0)

    async def stalled() -> bool:
        before = sent
        for _ in range(5):
            assert (await notes.ask()).hits
        return sent == before > 0

    monkeypatch.setattr(mcp_http, "UNASKED_BYTES_S", 1)
    engine = MisbehavingEngine(on={"GET": floods})
    async with running(engine), guarded(url=engine.url) as notes:
        # At first it fills the buffers of two sockets.
        await eventually(stalled, bool)

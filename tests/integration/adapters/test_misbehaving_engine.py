"""Whatever a server over HTTP does: a reply within the limit, `down` with a sentence, and a way back."""

from __future__ import annotations

import asyncio
import gc
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from cortex_contracts.rpc.engine import EngineStatus
from cortex_gateway.adapters.breaker import Standing
from cortex_gateway.adapters.mcp_http import MAX_ANSWER_BYTES
from cortex_testkit import misbehaving_engine
from cortex_testkit.eventually import eventually
from cortex_testkit.misbehaving_engine import EVENTS, JSON, TOOL, Exchange, MisbehavingEngine, running, said

LIMIT_S = 0.2
"""Of an engine that never answers; the others answer at once and have more."""


async def silent(exchange: Exchange) -> None:
    await exchange.gone()


async def half_a_stream(exchange: Exchange) -> None:
    await exchange.head(200, EVENTS)
    await exchange.piece(b'event: message\ndata: {"jsonrpc": "2.0", "id": ')
    await exchange.gone()


async def half_a_body(exchange: Exchange) -> None:
    await exchange.head(200, JSON)
    await exchange.piece(b'{"jsonrpc": "2.0", "id": ')
    await exchange.gone()


async def comments_for_ever(exchange: Exchange) -> None:
    await exchange.head(200, EVENTS)
    gone = asyncio.create_task(exchange.gone())
    while not gone.done():
        await exchange.piece(b": still here\n\n")
        await asyncio.sleep(0.01)


async def endless_body(exchange: Exchange) -> None:
    await exchange.head(200, JSON)
    await endless(exchange, b'"' + b"x" * 65_536)


async def endless_event(exchange: Exchange) -> None:
    await exchange.head(200, EVENTS)
    await exchange.piece(b"data: ")
    await endless(exchange, b"x" * 65_536)


async def endless(exchange: Exchange, piece: bytes) -> None:
    gone = asyncio.create_task(exchange.gone())
    while not gone.done():
        await exchange.piece(piece)
        await asyncio.sleep(0)


async def endless_headers(exchange: Exchange) -> None:
    await exchange.whole(200, JSON, b"{}", **{f"x_{number}": "y" * 1000 for number in range(1000)})


async def wrong_json(exchange: Exchange) -> None:
    await exchange.whole(200, JSON, b'{"jsonrpc": "2.0", "id": 1, "result": ')


async def wrong_json_in_an_event(exchange: Exchange) -> None:
    await exchange.whole(200, EVENTS, b"event: message\ndata: {not json}\n\n")


async def stream_that_ends_early(exchange: Exchange) -> None:
    await exchange.whole(200, EVENTS, b": goodbye\n\n")


async def nested_json(exchange: Exchange) -> None:
    identity = str(exchange.message["id"]).encode()
    deep = b"[" * 100_000 + b"]" * 100_000
    await exchange.whole(200, JSON, b'{"jsonrpc": "2.0", "id": ' + identity + b', "result": ' + deep + b"}")


async def html(exchange: Exchange) -> None:
    await exchange.whole(200, "text/html", b"<html><body>Please log in</body></html>")


async def no_type(exchange: Exchange) -> None:
    await exchange.whole(200, "", b"hello")


async def accepted(exchange: Exchange) -> None:
    await exchange.whole(202, JSON, b"")


async def redirect(exchange: Exchange) -> None:
    await exchange.whole(307, JSON, b"", location="/elsewhere?token=s3cret-of-theirs")


async def packed(exchange: Exchange) -> None:
    await exchange.whole(200, JSON, b"\x1f\x8b" + b"\0" * 100, content_encoding="gzip")


async def unauthorised(exchange: Exchange) -> None:
    await exchange.whole(401, JSON, b'{"error": "invalid_token"}')


async def overloaded(exchange: Exchange) -> None:
    await exchange.whole(503, "text/plain", b"upstream is away")


async def too_often(exchange: Exchange) -> None:
    await exchange.whole(429, JSON, b"{}")


async def another_id(exchange: Exchange) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 999_999, "result": said([])}).encode()
    await exchange.whole(200, JSON, body)


async def asks_back_for_ever(exchange: Exchange) -> None:
    await exchange.head(200, EVENTS)
    gone = asyncio.create_task(exchange.gone())
    number = 0
    while not gone.done():
        number += 1
        question = {"jsonrpc": "2.0", "id": f"s{number}", "method": "sampling/createMessage", "params": {}}
        await exchange.piece(f"data: {json.dumps(question)}\n\n".encode())
        await asyncio.sleep(0.02)


async def listed(exchange: Exchange) -> None:
    await exchange.result([])


TEXT = {"type": "text", "text": "disk full"}

HANGING: dict[str, Callable[[Exchange], Any]] = {
    "silent": silent,
    "half a stream": half_a_stream,
    "half a body": half_a_body,
    "comments for ever": comments_for_ever,
    "the answer to another question": another_id,
    "questions back": asks_back_for_ever,
}
BROKEN: dict[str, tuple[Callable[[Exchange], Any], str]] = {
    "endless body": (endless_body, f"answers with more than {MAX_ANSWER_BYTES} bytes"),
    "endless event": (endless_event, f"answers with more than {MAX_ANSWER_BYTES} bytes"),
    "endless headers": (endless_headers, "broke off its answer, or does not speak HTTP"),
    "wrong JSON": (wrong_json, "answers with something that is no message of MCP"),
    "wrong JSON in an event": (wrong_json_in_an_event, "answers with something that is no message of MCP"),
    "a list for a result": (listed, "answers with something that is no message of MCP"),
    "nested JSON": (nested_json, "answers with something that is no message of MCP"),
    "stream that ends early": (stream_that_ends_early, "closed the connection"),
    "200 with HTML": (html, "answers with text/html where JSON was expected"),
    "no type": (no_type, "answers with something without a type where JSON was expected"),
    "redirect": (redirect, "answers with a redirect, which is not followed: configure where it leads"),
    "compressed": (packed, "answers with a compressed body, which was not asked for"),
    "401": (unauthorised, "refuses the credentials (status 401)"),
    "503": (overloaded, "answers with status 503"),
    "429": (too_often, "answers with status 429"),
}


@pytest.mark.parametrize("behaviour", HANGING.values(), ids=list(HANGING))
async def test_a_server_that_does_not_answer_costs_its_limit_once(
    guarded: Any, behaviour: Callable[[Exchange], Any]
) -> None:
    engine = MisbehavingEngine()
    async with (
        running(engine),
        guarded(url=engine.url, limit_s=LIMIT_S, trial_s=0.6) as notes,
        guarded(url=engine.url) as other,
    ):
        await notes.stands(Standing.CLOSED)
        await other.stands(Standing.CLOSED)
        engine.on["tools/call"] = behaviour
        reply = await notes.ask()
        assert (reply.status, reply.hits) == (EngineStatus.DOWN, ())
        assert reply.error == "no answer within 200 ms"
        called = engine.heard.count("tools/call")
        again = await notes.ask()
        assert str(again.error).startswith("no answer within 200 ms; ")
        assert engine.heard.count("tools/call") == called
        del engine.on["tools/call"]
        assert (await other.ask()).hits  # nobody else is disturbed
        await eventually(notes.ask, lambda reply: bool(reply.hits))


@pytest.mark.parametrize(("behaviour", "sentence"), BROKEN.values(), ids=list(BROKEN))
async def test_an_answer_that_is_none_is_told_in_a_sentence(
    guarded: Any, behaviour: Callable[[Exchange], Any], sentence: str
) -> None:
    engine = MisbehavingEngine()
    async with running(engine), guarded(url=engine.url) as notes:
        assert (await notes.ask()).hits
        engine.on["tools/call"] = behaviour
        reply = await notes.ask()
        assert (reply.status, reply.error) == (EngineStatus.DOWN, f"the engine notes {sentence}")
        assert notes.guard.breaker.standing is Standing.OPEN
        del engine.on["tools/call"]
        await notes.stands(Standing.CLOSED)
        assert (await notes.ask()).hits


@pytest.mark.parametrize(("behaviour", "sentence"), BROKEN.values(), ids=list(BROKEN))
async def test_a_handshake_that_is_none_is_told_in_a_sentence(
    guarded: Any, behaviour: Callable[[Exchange], Any], sentence: str
) -> None:
    engine = MisbehavingEngine(on={"initialize": behaviour})
    async with running(engine), guarded(url=engine.url) as notes:
        reply = await notes.ask()
        assert reply.status is EngineStatus.DOWN
        assert str(reply.error).startswith(f"the engine notes {sentence}")
        engine.on.clear()
        await notes.stands(Standing.CLOSED)
        assert (await notes.ask()).hits


@pytest.mark.parametrize("behaviour", [silent, half_a_stream, half_a_body, another_id])
@pytest.mark.parametrize("method", ["initialize", "notifications/initialized", "tools/list"])
async def test_a_connection_that_never_comes_about_costs_the_limit_once(
    guarded: Any, method: str, behaviour: Callable[[Exchange], Any]
) -> None:
    engine = MisbehavingEngine(on={method: behaviour})
    async with running(engine), guarded(url=engine.url, limit_s=LIMIT_S) as notes:
        if method == "notifications/initialized":
            # The SDK answers for that itself: nothing is waited for.
            await notes.ask()
        else:
            reply = await notes.ask()
            assert reply.error == "no answer within 200 ms: it is still being connected to"
            assert "; tried again in" in str((await notes.ask()).error) or "; being tried" in str(reply.error)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00", None),
        (b"220 mail.example ESMTP ready\r\n", None),
        (b"", None),
    ],
)
async def test_a_port_that_speaks_something_else(
    guarded: Any, answer: bytes, sentence: str | None, secure: bool
) -> None:
    async with misbehaving_engine.saying(answer) as place:
        async with guarded(url=f"{'https' if secure else 'http'}://{place}/mcp") as notes:
            reply = await notes.ask()
            assert reply.status is EngineStatus.DOWN
            assert str(reply.error).startswith("the engine notes ")
            assert place not in str(reply.error)


async def test_a_port_that_accepts_and_never_answers(guarded: Any) -> None:
    async with misbehaving_engine.saying(None) as place:
        async with guarded(url=f"http://{place}/mcp", limit_s=LIMIT_S) as plain:
            async with guarded(url=f"https://{place}/mcp", limit_s=LIMIT_S) as secure:
                for notes in (plain, secure):
                    assert str((await notes.ask()).error).startswith("no answer within 200 ms")
                    assert not notes.guard.breaker.asked


@pytest.mark.parametrize("path", ["/mcp", "/sse"])
async def test_a_port_that_refuses(guarded: Any, path: str) -> None:
    async with guarded(url=f"http://127.0.0.1:9{path}") as notes:
        assert str((await notes.ask()).error).startswith("the engine notes cannot be reached")


async def test_an_address_without_a_server_of_mcp_behind_it(guarded: Any) -> None:
    async def nothing(exchange: Exchange) -> None:
        await exchange.whole(404, "text/html", b"not found")

    engine = MisbehavingEngine(on={"initialize": nothing, "GET": nothing})
    async with running(engine), guarded(url=engine.url) as http, guarded(url=engine.url, transport="sse") as sse:
        for notes in (http, sse):
            sentence = "the engine notes has no MCP endpoint at this address (status 404)"
            assert str((await notes.ask()).error).startswith(sentence)


@pytest.mark.parametrize("status", [404, 410])
async def test_a_session_that_the_server_forgot_is_opened_again(guarded: Any, status: int) -> None:
    engine = MisbehavingEngine()
    async with running(engine), guarded(url=engine.url) as notes:
        assert (await notes.ask()).hits
        engine.sessions.clear()
        assert (await notes.ask()).hits
        assert engine.heard.count("initialize") == 2
        assert notes.guard.breaker.failures == 0


async def test_a_session_that_was_forgotten_in_words_is_opened_again(guarded: Any) -> None:
    engine = MisbehavingEngine()

    async def forgotten(exchange: Exchange) -> None:
        del engine.on["tools/call"]
        await exchange.error(-32000, "Bad Request: No valid session ID provided", 400)

    async with running(engine), guarded(url=engine.url) as notes:
        assert (await notes.ask()).hits
        engine.on["tools/call"] = forgotten
        assert (await notes.ask()).hits
        assert engine.heard.count("initialize") == 2


async def test_sessions_that_are_lost_again_and_again_are_down(guarded: Any) -> None:
    engine = MisbehavingEngine()

    async def lost(exchange: Exchange) -> None:
        await exchange.whole(404, JSON, b"{}")

    async with running(engine), guarded(url=engine.url) as notes:
        engine.on["tools/call"] = lost
        reply = await notes.ask()
        assert reply.error == "the engine notes has lost the session"
        assert engine.heard.count("tools/call") == 2


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ({"content": [TEXT], "isError": True}, "search_notes of the engine notes failed: disk full"),
        ({"content": [], "isError": True}, "search_notes of the engine notes failed: without a word"),
        (said({"error": "no index"}), "no index"),
        (said([{"error": "Write operations are not allowed"}]), "Write operations are not allowed"),
        ({"content": "nope"}, "the engine notes answered in a shape that MCP does not have"),
    ],
)
async def test_a_failure_of_one_question_leaves_the_engine_up(guarded: Any, result: Any, sentence: str) -> None:
    engine = MisbehavingEngine()

    async def failed(exchange: Exchange) -> None:
        await exchange.result(result)

    async with running(engine), guarded(url=engine.url) as notes:
        engine.on["tools/call"] = failed
        reply = await notes.ask()
        assert (reply.status, reply.error) == (EngineStatus.DOWN, sentence)
        del engine.on["tools/call"]
        assert (await notes.ask()).hits
        assert engine.heard.count("initialize") == 1


async def test_an_error_of_the_protocol_leaves_the_engine_up(guarded: Any) -> None:
    engine = MisbehavingEngine()

    async def refused(exchange: Exchange) -> None:
        await exchange.error(-32603, "boom at password=hunter2hunter2 \x1b[31m")

    async with running(engine), guarded(url=engine.url) as notes:
        engine.on["tools/call"] = refused
        reply = await notes.ask()
        assert str(reply.error).startswith("the engine notes refuses the request: boom at")
        assert "hunter2" not in str(reply.error)
        assert "\x1b" not in str(reply.error)
        assert notes.guard.breaker.standing is Standing.CLOSED


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
        [{"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk="}}],
        [{"type": "text", "text": "The answer is too long (119 characters)."}],
        [],
    ],
)
async def test_an_answer_without_data_has_no_hits(guarded: Any, content: list[Any]) -> None:
    engine = MisbehavingEngine()

    async def shown(exchange: Exchange) -> None:
        await exchange.result({"content": content, "isError": False})

    async with running(engine), guarded(url=engine.url) as notes:
        engine.on["tools/call"] = shown
        reply = await notes.ask()
        assert (reply.status, reply.hits) == (EngineStatus.UP, ())


async def test_tools_on_later_pages_are_found_and_cursors_that_turn_in_circles_end(guarded: Any) -> None:
    engine = MisbehavingEngine()
    pages = {None: "a", "a": "b", "b": "a"}

    async def listed(exchange: Exchange) -> None:
        cursor = (exchange.message.get("params") or {}).get("cursor")
        tools = [TOOL] if cursor == "b" else [{**TOOL, "name": f"other_{cursor}"}]
        await exchange.result({"tools": tools, "nextCursor": pages[cursor]})

    engine.on["tools/list"] = listed
    async with running(engine), guarded(url=engine.url) as notes:
        assert (await notes.ask()).hits
        assert engine.heard.count("tools/list") == 3


async def test_a_cursor_that_never_ends_is_not_followed_for_ever(guarded: Any) -> None:
    engine = MisbehavingEngine()
    asked: list[int] = []

    async def listed(exchange: Exchange) -> None:
        asked.append(len(asked))
        await exchange.result({"tools": [TOOL] if len(asked) == 1 else [], "nextCursor": f"page {len(asked)}"})

    engine.on["tools/list"] = listed
    async with running(engine), guarded(url=engine.url, limit_s=20) as notes:
        assert (await notes.ask()).hits
        assert len(asked) == 100


async def test_a_huge_list_of_tools_is_read_up_to_the_bound(guarded: Any) -> None:
    engine = MisbehavingEngine(tools=[*({**TOOL, "name": f"tool_{n}"} for n in range(4_000)), TOOL])
    async with running(engine), guarded(url=engine.url, limit_s=20) as notes:
        assert (await notes.ask()).hits
        engine.tools = [{**TOOL, "description": "x" * 1000, "name": f"tool_{n}"} for n in range(8_000)]
        await notes.engine.close()
        reply = await notes.ask()
        assert reply.error == f"the engine notes answers with more than {MAX_ANSWER_BYTES} bytes"


async def test_a_server_without_the_tools_says_which_it_has(guarded: Any) -> None:
    engine = MisbehavingEngine(tools=[{**TOOL, "name": "delete_everything\x1b[0m"}])
    async with running(engine), guarded(url=engine.url) as notes:
        error = str((await notes.ask()).error)
        assert error.startswith("the engine notes has none of the tools search_notes, find_notes; it lists delete_")
        assert "\x1b" not in error
        engine.tools = [TOOL]
        await notes.stands(Standing.CLOSED)
        assert (await notes.ask()).hits


@pytest.mark.parametrize("behaviour", [endless_body, endless_event])
async def test_an_endless_answer_takes_no_endless_memory(guarded: Any, behaviour: Callable[[Exchange], Any]) -> None:
    engine = MisbehavingEngine()
    async with running(engine), guarded(url=engine.url) as notes:
        assert (await notes.ask()).hits
        engine.on["tools/call"] = behaviour
        gc.collect()
        tracemalloc.start()
        try:
            assert (await notes.ask()).status is EngineStatus.DOWN
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        # Asked twice (the second time over a new session), each read up to the bound, with a copy or two of it.
        assert peak < 16 * MAX_ANSWER_BYTES


async def test_what_a_hit_may_hold_is_bounded(guarded: Any) -> None:
    engine = MisbehavingEngine()
    note = {"title": "t" * 1_000, "path": "p\x00\x1b\u202e" * 200, "text": "s" * 20_000, "score": 0.5}

    async def long(exchange: Exchange) -> None:
        await exchange.result(said([note] * 30))

    async with running(engine), guarded(url=engine.url) as notes:
        engine.on["tools/call"] = long
        hits = (await notes.ask()).hits
        assert len(hits) == 12
        assert max(len(hit.snippet) for hit in hits) == 2_000
        assert max(len(hit.title) for hit in hits) == 300
        assert not {"\x00", "\x1b", "\u202e"} & set(hits[0].path)


async def stream_without_an_endpoint(exchange: Exchange) -> None:
    await exchange.head(200, EVENTS)
    await exchange.gone()


async def endpoint_elsewhere(exchange: Exchange) -> None:
    await exchange.head(200, EVENTS)
    await exchange.piece(b"event: endpoint\ndata: http://169.254.169.254/latest/meta-data\n\n")
    await exchange.gone()


async def endpoint_and_end(exchange: Exchange) -> None:
    await exchange.whole(200, EVENTS, b"event: endpoint\ndata: /messages\n\n")


async def endpoint_and_garbage(exchange: Exchange) -> None:
    await exchange.head(200, EVENTS)
    await exchange.piece(b"event: endpoint\ndata: /messages\n\nevent: message\ndata: {nonsense\n\n")
    await exchange.gone()


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        (endpoint_and_end, "closed the stream of events"),
        (endpoint_and_garbage, "answers with something that is no message of MCP"),
        (endless_event, f"answers with more than {MAX_ANSWER_BYTES} bytes"),
        (html, "has no stream of events there, but text/html"),
        (endless_body, "has no stream of events there, but application/json"),
        (redirect, "answers with a redirect, which is not followed"),
        (packed, "answers with a compressed body"),
        (unauthorised, "refuses the credentials (status 401)"),
        (overloaded, "answers with status 503"),
    ],
)
async def test_a_stream_of_events_that_is_none_is_told_in_a_sentence(
    guarded: Any, behaviour: Callable[[Exchange], Any], sentence: str
) -> None:
    engine = MisbehavingEngine(on={"GET": behaviour})
    async with running(engine), guarded(url=engine.url, transport="sse", limit_s=20) as notes:
        reply = await notes.ask(deadline_ms=30_000)
        assert reply.status is EngineStatus.DOWN
        assert str(reply.error).startswith(f"the engine notes {sentence}")


@pytest.mark.parametrize("behaviour", [silent, stream_without_an_endpoint, endpoint_elsewhere])
async def test_a_stream_of_events_that_never_begins_costs_the_limit_once(
    guarded: Any, behaviour: Callable[[Exchange], Any]
) -> None:
    engine = MisbehavingEngine(on={"GET": behaviour})
    async with running(engine), guarded(url=engine.url, transport="sse", limit_s=LIMIT_S, trial_s=5) as notes:
        assert (await notes.ask()).error == "no answer within 200 ms: it is still being connected to"
        assert not notes.guard.breaker.asked


async def test_a_redirect_that_only_adds_a_slash_is_told_as_such(guarded: Any) -> None:
    async def slash(exchange: Exchange) -> None:
        await exchange.whole(307, JSON, b"", location=f"http://127.0.0.1:{engine.port}/mcp/")

    engine = MisbehavingEngine(on={"initialize": slash})
    async with running(engine), guarded(url=engine.url) as notes:
        assert "configure the address with a / at its end" in str((await notes.ask()).error)


HALF = json.dumps({"path": "yard/crane.md", "title": "Crane", "score": 0.5, "text": "cut in an emoji \ud83d"})


@pytest.mark.parametrize("kind", [JSON, EVENTS])
@pytest.mark.parametrize("ending", [b"\n\n", b"\r\n\r\n", b"\r\r"])
async def test_a_text_that_was_cut_in_the_middle_of_a_character_is_read(guarded: Any, kind: str, ending: bytes) -> None:
    engine = MisbehavingEngine()

    async def cut(exchange: Exchange) -> None:
        result = {
            "content": [{"type": "text", "text": f"[{HALF}]"}],
            "structuredContent": {"result": [json.loads(HALF)]},
        }
        body = json.dumps({"jsonrpc": "2.0", "id": exchange.message["id"], "result": result}).encode()
        await exchange.head(200, kind)
        for part in (body[:50], body[50:]) if kind == JSON else (b"data: " + body[:50], body[50:] + ending):
            await exchange.piece(part)
        await exchange.piece(b"", last=True)

    async with running(engine), guarded(url=engine.url) as notes:
        engine.on["tools/call"] = cut
        [hit] = (await notes.ask()).hits
        assert hit.snippet == "cut in an emoji \ufffd"
        assert engine.heard.count("initialize") == 1


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ({"protocolVersion": "1999-12-31"}, "cannot be spoken to: Unsupported protocol version from the server: 1999-"),
        ({"protocolVersion": 5}, "answered the handshake in a shape that MCP does not have"),
        ({}, "cannot be spoken to: Unsupported protocol version"),
        ({"capabilities": None}, "answered the handshake in a shape that MCP does not have"),
    ],
)
async def test_a_handshake_of_another_kind_is_told(guarded: Any, result: Any, sentence: str) -> None:
    async def greets(exchange: Exchange) -> None:
        info = {"serverInfo": {"name": "n", "version": "1"}, "capabilities": {}, "protocolVersion": ""}
        await exchange.result({**info, **result})

    engine = MisbehavingEngine(on={"initialize": greets})
    async with running(engine), guarded(url=engine.url) as notes:
        assert str((await notes.ask()).error).startswith(f"the engine notes {sentence}")


@pytest.mark.parametrize("tools", [None, [{"name": "search_notes"}], [{"inputSchema": {}}], {"a": 1}, ["search_notes"]])
async def test_a_list_of_tools_that_is_none_is_told(guarded: Any, tools: Any) -> None:
    async def lists(exchange: Exchange) -> None:
        await exchange.result({"tools": tools})

    engine = MisbehavingEngine(on={"tools/list": lists})
    async with running(engine), guarded(url=engine.url) as notes:
        reply = await notes.ask()
        assert str(reply.error).startswith("the engine notes answered in a shape that MCP does not have")
        engine.on.clear()
        await notes.stands(Standing.CLOSED)
        assert (await notes.ask()).hits

"""`darwin_ask` through real MCP clients: streamable HTTP, SSE, and stdio by way of the command line's proxy."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx
import pytest
from mcp import Client

from cortex_contracts.rpc.ask import AskReply
from cortex_contracts.rpc.engine import Hit

MakeHit = Callable[..., Hit]
Start = Callable[..., AbstractAsyncContextManager[Any]]
Connect = Callable[..., AbstractAsyncContextManager[Client]]
ERAS = ("auto", "legacy")
TRANSPORTS = ("http", "sse", "stdio")
WAYS = (("http", "auto"), ("http", "legacy"), ("sse", "auto"), ("stdio", "auto"))
"""Over streamable HTTP an era has its own way to cancel, and to tell progress."""


def without_times(reply: str) -> str:
    """A reply without what differs between two runs of one question."""
    return re.sub(r'"(ms|took_ms)":\d+', r'"\1":0', reply)


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_darwin_ask_answers_what_rest_answers(
    gateway: Any, played: Any, make_hit: MakeHit, transport: str, mode: str, connect: Connect
) -> None:
    # Without a date: what a dated hit is worth falls from one question to the next, in its last digits.
    played["memory"].hits = (make_hit("Hermes is stopped. هرمس", last_seen=None),)
    async with gateway.http() as http:
        rest = await http.post("/ask", json={"query": "Hermes?", "scope": ["memory"]})
    async with connect(gateway, transport, mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        tool = tools["darwin_ask"]
        result = await client.call_tool("darwin_ask", {"query": "Hermes?", "scope": ["memory"]})
    # An agent can name in `scope` only what it was told of.
    assert (tool.description or "").endswith("Engines: memory, pages, rag.")
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint
    assert set(tool.input_schema["properties"]) == {"query", "mode", "scope"}
    assert tool.input_schema["required"] == ["query"]
    assert tool.output_schema is not None
    assert not result.is_error
    assert result.structured_content is not None
    (text,) = result.content
    assert text.type == "text"
    assert without_times(text.text).encode() == without_times(rest.text).encode()
    assert json.loads(text.text) == result.structured_content
    assert AskReply.model_validate(result.structured_content).answer == "Hermes is stopped [r1]"


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_wrong_argument_is_told_to_the_model(gateway: Any, transport: str, connect: Connect) -> None:
    async with connect(gateway, transport, "auto") as client:
        for arguments, told in (
            ({"query": "q", "scope": ["nowhere"]}, "unknown engine nowhere; expected some of memory, pages, rag"),
            ({"query": "q", "mode": "loud"}, "mode"),
            ({}, "query"),
        ):
            result = await client.call_tool("darwin_ask", arguments)
            assert result.is_error
            assert told in result.content[0].text  # type: ignore[union-attr]


async def test_mode_and_scope_reach_the_engines(gateway: Any, played: Any, make_hit: MakeHit, connect: Connect) -> None:
    played["pages"].hits = (make_hit(),)
    async with connect(gateway, "http", "auto") as client:
        result = await client.call_tool("darwin_ask", {"query": "Hermes?", "mode": "search", "scope": ["pages"]})
    assert result.structured_content is not None
    assert result.structured_content["answer"] is None
    assert len(result.structured_content["hits"]) == 1
    assert (len(played["pages"].asked), len(played["memory"].asked)) == (1, 0)
    assert played["pages"].asked[0].principal.subject == "owner"


@pytest.mark.parametrize(("transport", "mode"), WAYS)
async def test_engines_are_reported_as_they_answer(
    gateway: Any, played: Any, make_hit: MakeHit, transport: str, mode: str, connect: Connect
) -> None:
    played["memory"].hits = (make_hit(),)
    played["pages"].go = asyncio.Event()
    heard: list[tuple[float, float | None, str | None]] = []
    both = asyncio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))
        if len(heard) == 2:
            both.set()

    async with connect(gateway, transport, mode) as client:
        call = asyncio.create_task(
            client.call_tool("darwin_ask", {"query": "Hermes?"}, progress_callback=hear), name="call"
        )
        # Two engines are told about while the third one still works.
        async with asyncio.timeout(20):
            await both.wait()
        assert not call.done()
        played["pages"].go.set()
        assert not (await call).is_error
    assert [(progress, total) for progress, total, _ in heard] == [(1, 4), (2, 4), (3, 4)]
    assert sorted(message or "" for _, _, message in heard[:2])[0] == "memory: 1 hit"
    assert sorted(message or "" for _, _, message in heard[:2])[1].startswith("rag is down: ")
    assert heard[2][2] == "pages: 0 hits"


@pytest.mark.parametrize(("transport", "mode"), WAYS)
async def test_a_cancelled_call_ends_the_work_of_the_engines(
    gateway: Any, played: Any, transport: str, mode: str, connect: Connect
) -> None:
    memory = played["memory"]
    memory.go = asyncio.Event()
    async with connect(gateway, transport, mode) as client:
        call = asyncio.create_task(client.call_tool("darwin_ask", {"query": "Hermes?", "scope": ["memory"]}))
        await memory.called.wait()
        call.cancel()
        # Before the client leaves.
        async with asyncio.timeout(5):
            await memory.cancelled.wait()
        assert {tool.name for tool in (await client.list_tools()).tools} >= {"darwin_ask"}


async def test_an_unknown_session_is_not_found_on_both_ports(gateway: Any) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    unknown = {"Mcp-Session-Id": "0123456789abcdef0123456789abcdef", "Accept": "application/json, text/event-stream"}
    async with gateway.http() as http:
        assert (await http.post("/mcp", json=ping, headers=unknown)).status_code == 404
        assert (await http.get("/mcp", headers=unknown)).status_code == 404
        assert (await http.delete("/mcp", headers=unknown)).status_code == 404
        messages = gateway.sse_url.replace("/sse", "/messages/")
        for session in ("0123456789abcdef0123456789abcdef", "no-session", ""):
            response = await http.post(messages, params={"session_id": session}, json=ping)
            assert response.status_code in (400, 404), response.text
            assert response.status_code == 404 or len(session) != 32


@pytest.mark.parametrize("token", [None, "wrong"])
async def test_both_ports_want_credentials(gateway: Any, token: str | None) -> None:
    async with gateway.http(token) as http:
        for response in (
            await http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            await http.get("/mcp"),
            await http.get(gateway.sse_url),
            await http.post(gateway.sse_url.replace("/sse", "/messages/?session_id=00"), json={}),
        ):
            assert (response.status_code, response.json()["error"]) == (401, "unauthorized")


@pytest.mark.parametrize(
    ("name", "value", "status"), [("Host", "evil.example", 421), ("Origin", "http://evil.example", 403)]
)
async def test_a_foreign_host_or_origin_is_refused_on_both_ports(
    gateway: Any, name: str, value: str, status: int
) -> None:
    async with gateway.http() as http:
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        messages = gateway.sse_url.replace("/sse", "/messages/?session_id=0123456789abcdef0123456789abcdef")
        for url in ("/mcp", messages):
            assert (await http.post(url, json=body, headers={name: value})).status_code == status
        for url in ("/mcp", gateway.sse_url):
            assert (await http.get(url, headers={name: value})).status_code == status
        assert (await http.delete("/mcp", headers={name: value})).status_code == status


@pytest.mark.parametrize("origin", ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:8080"])
async def test_an_origin_of_this_machine_is_accepted_on_both_ports(gateway: Any, origin: str) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    headers = {"Origin": origin, "Accept": "application/json, text/event-stream"}
    async with gateway.http() as http:
        assert (await http.post("/mcp", json=body, headers=headers)).status_code == 200
        async with http.stream("GET", gateway.sse_url, headers=headers) as stream:
            assert stream.status_code == 200


async def test_a_configured_host_and_a_loopback_origin_are_accepted(start_gateway: Start, played: Any) -> None:
    async with start_gateway(CORTEX_GATEWAY_ALLOWED_HOSTS='["cortex.example"]') as gateway:
        async with gateway.http() as http:
            response = await http.post(
                "/mcp",
                json={"jsonrpc": "2.0", "id": 1, "method": "ping"},
                headers={"Host": "cortex.example", "Origin": "http://localhost:3000"},
            )
    assert response.status_code not in (401, 403, 421)


async def test_a_stop_ends_open_streams_at_once_and_cleanly(start_gateway: Any, played: Any, connect: Connect) -> None:
    async with (
        start_gateway() as gateway,
        httpx.AsyncClient(headers=gateway.headers, timeout=20, trust_env=False) as http,
        connect(gateway, "http", "legacy"),
        http.stream("GET", gateway.sse_url) as stream,
    ):
        lines = stream.aiter_lines()
        assert await anext(lines) == "event: endpoint"
        async with asyncio.timeout(20):
            stopping = asyncio.create_task(asyncio.to_thread(gateway.stop))
            assert [line async for line in lines]
            assert await stopping == 0
    # A stream that does not end by itself is cut off by uvicorn after 3 s, which it logs as an error.
    assert '"level": "error"' not in start_gateway.log
    assert "Traceback" not in start_gateway.log

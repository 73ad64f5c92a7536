"""`darwin_ask` through real MCP clients: streamable HTTP, SSE, and stdio by way of the command line's proxy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from cortex_contracts.rpc.ask import AskReply
from cortex_contracts.rpc.engine import Hit
from cortex_infra import ports

MakeHit = Callable[..., Hit]
Start = Callable[..., AbstractAsyncContextManager[Any]]
Connect = Callable[..., AbstractAsyncContextManager[Client]]
ERAS = ("auto", "legacy")
TRANSPORTS = ("http", "sse", "stdio")


def without_times(reply: dict[str, Any]) -> dict[str, Any]:
    """A reply without what differs between two runs of one question (the score by the age, in its last digits)."""
    return {
        **reply,
        "took_ms": 0,
        "engines": [{**state, "ms": 0} for state in reply["engines"]],
        "hits": [{**hit, "score": round(hit["score"], 3)} for hit in reply["hits"]],
    }


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_darwin_ask_answers_what_rest_answers(
    gateway: Any, played: Any, make_hit: MakeHit, transport: str, mode: str, connect: Connect
) -> None:
    played["memory"].hits = (make_hit(),)
    async with gateway.http() as http:
        rest = (await http.post("/ask", json={"query": "Hermes?", "scope": ["memory"]})).json()
    async with connect(gateway, transport, mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        tool = tools["darwin_ask"]
        result = await client.call_tool("darwin_ask", {"query": "Hermes?", "scope": ["memory"]})
    assert tool.description
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint
    assert set(tool.input_schema["properties"]) == {"query", "mode", "scope"}
    assert tool.input_schema["required"] == ["query"]
    assert tool.output_schema is not None
    assert not result.is_error
    assert result.structured_content is not None
    assert without_times(result.structured_content) == without_times(rest)
    assert AskReply.model_validate(result.structured_content).answer == "Hermes is stopped [r1]"


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query": "q", "scope": ["nowhere"]}, "unknown engine nowhere; expected some of memory, pages, rag"),
        ({"query": "q", "mode": "loud"}, "mode"),
        ({}, "query"),
    ],
)
async def test_a_wrong_argument_is_told_to_the_model(
    gateway: Any, transport: str, arguments: dict[str, Any], told: str, connect: Connect
) -> None:
    async with connect(gateway, transport, "auto") as client:
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
        assert (await http.post("/mcp", json=body, headers={name: value})).status_code == status
        assert (await http.get(gateway.sse_url, headers={name: value})).status_code == status


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


@pytest.mark.parametrize("mode", ERAS)
async def test_the_proxy_says_that_the_gateway_is_down_and_finds_it_again(
    start_gateway: Start, played: Any, make_hit: MakeHit, mode: str, stdio_proxy: Any
) -> None:
    played["memory"].hits = (make_hit(),)
    port = ports.choose()
    async with Client(stdio_proxy(f"http://127.0.0.1:{port}", "the-token-of-the-test"), mode=mode) as client:
        down = await client.call_tool("darwin_ask", {"query": "Hermes?"})
        assert down.is_error
        assert f"gateway at http://127.0.0.1:{port}/mcp does not answer" in down.content[0].text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="does not answer"):
            await client.list_tools()
        async with start_gateway(port=port):
            answer = await client.call_tool("darwin_ask", {"query": "Hermes?"})
            assert answer.structured_content is not None
            assert answer.structured_content["answer"] == "Hermes is stopped [r1]"
            assert "darwin_ask" in {tool.name for tool in (await client.list_tools()).tools}
        assert (await client.call_tool("darwin_ask", {"query": "Hermes?"})).is_error


async def test_the_proxy_says_that_its_token_is_refused(gateway: Any, stdio_proxy: Any) -> None:
    async with Client(stdio_proxy(gateway.url, "wrong")) as client:
        refused = await client.call_tool("darwin_ask", {"query": "Hermes?"})
    assert refused.is_error
    assert "refuses the token" in refused.content[0].text  # type: ignore[union-attr]
    assert "wrong" not in refused.content[0].text  # type: ignore[union-attr]

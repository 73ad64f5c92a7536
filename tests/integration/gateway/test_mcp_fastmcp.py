"""`darwin_ask` through the client of fastmcp, which many agents are built on."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport
from fastmcp.exceptions import ToolError

from cortex_contracts.rpc.engine import Hit

MakeHit = Callable[..., Hit]
TRANSPORTS = ("http", "sse", "stdio")


@pytest.fixture
def client(gateway: Any, transport: str) -> Client[Any]:
    if transport == "http":
        return Client(StreamableHttpTransport(f"{gateway.url}/mcp", headers=gateway.headers))
    if transport == "sse":
        return Client(SSETransport(gateway.sse_url, headers=gateway.headers))
    environment = {"CORTEX_URL": gateway.url, "CORTEX_HTTP_TOKEN": gateway.token}
    return Client(StdioTransport(sys.executable, ["-m", "cortex_cli", "mcp"], env=environment, keep_alive=False))


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_fastmcp_asks_hears_progress_reads_errors_and_cancels(
    client: Client[Any], gateway: Any, played: Any, make_hit: MakeHit
) -> None:
    memory = played["memory"]
    memory.hits = (make_hit(),)
    heard: asyncio.Queue[tuple[float, float | None]] = asyncio.Queue()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.put_nowait((progress, total))

    async with client:
        tools = {tool.name: tool for tool in await client.list_tools()}
        assert tools["darwin_ask"].annotations.read_only_hint
        question = {"query": "Hermes?", "scope": ["memory", "pages"]}
        result = await client.call_tool("darwin_ask", question, progress_handler=hear)
        assert result.structured_content is not None
        assert result.structured_content["answer"] == "Hermes is stopped [r1]"
        # fastmcp makes an object of the answer by the tool's own schema.
        assert result.data.receipts[0].path == "memory:1"
        # fastmcp hands progress on by tasks of its own, which may come after the answer.
        async with asyncio.timeout(30):
            assert [await heard.get(), await heard.get()] == [(1, 3), (2, 3)]
        with pytest.raises(ToolError, match="unknown engine nowhere"):
            await client.call_tool("darwin_ask", {"query": "q", "scope": ["nowhere"]})
        memory.go = asyncio.Event()
        memory.called.clear()
        call = asyncio.create_task(client.call_tool("darwin_ask", question))
        await memory.called.wait()
        call.cancel()
        async with asyncio.timeout(30):
            await memory.cancelled.wait()

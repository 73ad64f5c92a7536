"""An MCP server of the SDK on a port of its own, over streamable HTTP or SSE."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Literal

from mcp.server import MCPServer

from cortex_testkit.tei_server import served


@asynccontextmanager
async def serving(server: MCPServer, transport: Literal["http", "sse"] = "http") -> AsyncIterator[str]:
    """Serve on a free port of this machine; yields the address that clients are given."""
    async with AsyncExitStack() as stack:
        if transport == "http":
            app = server.streamable_http_app()
            await stack.enter_async_context(server.session_manager.run())
        else:
            app = server.sse_app()
        base = await stack.enter_async_context(served(app))
        yield f"{base}/{'mcp' if transport == 'http' else 'sse'}"

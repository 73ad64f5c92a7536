"""A real MCP server with notes to search, over streamable HTTP, SSE or stdio: what an external engine is at its best.

In a test it runs on a port of its own (`running`), where it can be stopped as by a power cut; over stdio it is a
process: `python -m cortex_testkit.mcp_engine_server`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import uvicorn
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import METHOD_NOT_FOUND
from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_infra.ports import LOOPBACK
from cortex_testkit.eventually import eventually

Note = dict[str, Any]

NOTES: tuple[Note, ...] = (
    {"title": "Harbour crane", "path": "yard/crane.md", "text": "The harbour crane is out of service.", "score": 0.9},
    {"title": "Night shift", "path": "yard/night.md", "text": "The night shift begins at ten.", "score": 0.4},
)


@dataclass
class McpEngineServer:
    """One server; change its fields while it runs."""

    notes: Sequence[Note] = NOTES
    search_tool: str = "search_notes"
    hold: bool = False
    """Whether a search waits until it is cancelled."""
    bearer: str = ""
    """What requests must prove; empty: nothing."""
    forgetful: bool = False
    """Whether the next message of a session is answered as if there were none."""
    modern: bool = False
    """Whether it refuses the handshake of 2025, as a server that knows only the protocol of 2026 does."""
    asked: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    """What was written, by a tool that nobody may call."""
    headers: list[dict[str, str]] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""
    port: int = 0
    _tools: MCPServer | None = None
    _session: Any = None
    _http: uvicorn.Server | None = None

    def mcp(self) -> MCPServer:
        """The server with its tools."""
        server = MCPServer("notes")
        if self.modern:
            server.middleware.append(_refusing_handshakes)
        server.add_tool(self._search, name=self.search_tool, description="Search the notes.")
        server.add_tool(self._last_change, name="last_change", description="When a note last changed.")
        server.add_tool(self._write, name="write_note", description="Write a note.")
        self._tools = server
        return server

    async def _search(self, query: str, context: Context[Any, Any], limit: int = 10) -> list[dict[str, Any]]:
        self.asked.append(query)
        self._session = context.session
        self.begun.set()
        if self.hold:
            try:
                await asyncio.Event().wait()
            except BaseException:
                self.cancelled.set()
                raise
        words = query.lower().split()
        return [note for note in self.notes if any(word in str(note["text"]).lower() for word in words)][:limit]

    async def _last_change(self) -> str:
        return "2026-11-01T12:00:00Z"

    async def _write(self, text: str) -> str:
        self.written.append(text)
        return "written"

    def rename_search(self, name: str) -> None:
        """Give the search tool another name while clients are connected, and say nothing."""
        assert self._tools is not None
        self._tools.remove_tool(self.search_tool)
        self.search_tool = name
        self._tools.add_tool(self._search, name=name, description="Search the notes.")

    async def announce(self) -> None:
        """Tell the client that searched last that the tools are others."""
        await self._session.send_tool_list_changed()

    def listeners(self) -> Sequence[asyncio.AbstractServer]:
        """What takes new connections."""
        assert self._http is not None
        return self._http.servers

    def cut(self) -> None:
        """End all connections at once, as when the power fails; the port is refused from then on."""
        assert self._http is not None
        for server in self.listeners():
            server.close()
        for connection in list(self._http.server_state.connections):
            connection.transport.abort()
        self._http.force_exit = self._http.should_exit = True

    def guarded(self, app: ASGIApp) -> ASGIApp:
        """`app` behind a bearer token."""

        async def check(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                headers = {name.decode(): value.decode() for name, value in scope["headers"]}
                self.headers.append(headers)
                if self.bearer and headers.get("authorization") != f"Bearer {self.bearer}":
                    await send({"type": "http.response.start", "status": 401, "headers": []})
                    await send({"type": "http.response.body", "body": b"who are you?"})
                    return
                if self.forgetful and scope["method"] == "POST":
                    self.forgetful = False
                    await send({"type": "http.response.start", "status": 404, "headers": []})
                    await send({"type": "http.response.body", "body": b"which session?"})
                    return
            await app(scope, receive, send)

        return check


async def _refusing_handshakes(ctx: Any, call_next: Any) -> Any:
    """Middleware: answers `initialize` as a server of the newer protocol alone may."""
    if ctx.method == "initialize":
        raise MCPError(METHOD_NOT_FOUND, "Method not found")
    return await call_next(ctx)


class UnsignalledServer(uvicorn.Server):
    """A server that leaves the signals alone: several in one process would end each other's streams of events."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield


@asynccontextmanager
async def running(
    server: McpEngineServer, transport: Literal["http", "sse"] = "http", port: int = 0
) -> AsyncIterator[McpEngineServer]:
    """Serve on a free port of this machine, or on `port`; `server.url` says where."""
    mcp = server.mcp()
    async with AsyncExitStack() as stack:
        if transport == "http":
            app: ASGIApp = mcp.streamable_http_app()
            await stack.enter_async_context(mcp.session_manager.run())
        else:
            app = mcp.sse_app()
        config = uvicorn.Config(
            server.guarded(app),
            host=LOOPBACK,
            port=port,
            log_config=None,
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        server._http = http = UnsignalledServer(config)
        task = asyncio.create_task(http.serve())
        await eventually(lambda: asyncio.sleep(0, http.started or task.done()), bool)
        server.port = http.servers[0].sockets[0].getsockname()[1]
        server.url = f"http://{LOOPBACK}:{server.port}/{'mcp' if transport == 'http' else 'sse'}"
        try:
            yield server
        finally:
            server.cut()
            with suppress(asyncio.CancelledError):
                await task


if __name__ == "__main__":
    McpEngineServer().mcp().run("stdio")

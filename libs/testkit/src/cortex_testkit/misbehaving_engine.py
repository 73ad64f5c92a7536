"""An MCP server over HTTP that does to its clients whatever a test wants, one method of the protocol at a time.

By itself it is a healthy server with one tool, `search_notes`. `on[method]` is what it does instead, for a method of
JSON-RPC or for `GET`; change it while the server runs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import uvicorn
from starlette.types import Receive, Scope, Send

from cortex_infra.ports import LOOPBACK
from cortex_testkit.eventually import eventually
from cortex_testkit.mcp_engine_server import UnsignalledServer

JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"
TOOL: Final = {
    "name": "search_notes",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}},
}
FOUND: Final = [
    {"title": "Harbour crane", "path": "yard/crane.md", "text": "The crane is out of service.", "score": 0.9}
]


@dataclass
class Exchange:
    """One request and the way to answer it."""

    message: dict[str, Any]
    receive: Receive
    send: Send

    async def head(self, status: int, kind: str, **headers: str) -> None:
        """Begin the response."""
        sent = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
        pairs = [(name.encode(), value.encode()) for name, value in sent.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": pairs})

    async def piece(self, body: bytes, *, last: bool = False) -> None:
        """Send a piece of the body."""
        await self.send({"type": "http.response.body", "body": body, "more_body": not last})

    async def whole(self, status: int, kind: str, body: bytes, **headers: str) -> None:
        """Send all of a response."""
        await self.head(status, kind, **headers)
        await self.piece(body, last=True)

    async def result(self, result: Any, **headers: str) -> None:
        """Answer the request of JSON-RPC."""
        body = json.dumps({"jsonrpc": "2.0", "id": self.message.get("id"), "result": result})
        await self.whole(200, JSON, body.encode(), **headers)

    async def error(self, code: int, text: str, status: int = 200) -> None:
        """Refuse the request of JSON-RPC."""
        said = {"jsonrpc": "2.0", "id": self.message.get("id"), "error": {"code": code, "message": text}}
        await self.whole(status, JSON, json.dumps(said).encode())

    async def gone(self) -> None:
        """Wait until the client has gone."""
        while (await self.receive())["type"] != "http.disconnect":
            pass


Behaviour = Callable[[Exchange], Awaitable[None]]


@dataclass
class MisbehavingEngine:
    """One server; change its fields while it runs."""

    on: dict[str, Behaviour] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)
    """The methods of everything that came."""
    sessions: set[str] = field(default_factory=set)
    tools: list[dict[str, Any]] = field(default_factory=lambda: [TOOL])
    url: str = ""
    port: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        body, more = b"", scope["method"] == "POST"
        while more:
            event = await receive()
            body += event.get("body", b"")
            more = event.get("more_body", False)
        exchange = Exchange(json.loads(body) if body else {}, receive, send)
        method = str(exchange.message.get("method", scope["method"]))
        self.heard.append(method)
        if method in self.on:
            return await self.on[method](exchange)
        session = dict(scope["headers"]).get(b"mcp-session-id", b"").decode()
        if method != "initialize" and scope["method"] == "POST" and session not in self.sessions:
            return await exchange.whole(404, JSON, b'{"error": "session not found"}')
        await self._well(method, exchange)

    async def _well(self, method: str, exchange: Exchange) -> None:
        match method:
            case "initialize":
                self.sessions.add(session := uuid4().hex)
                result = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "misbehaving", "version": "1"},
                }
                await exchange.result(result, mcp_session_id=session)
            case "tools/list":
                await exchange.result({"tools": self.tools})
            case "tools/call":
                await exchange.result(said(FOUND))
            case "GET":
                await exchange.whole(405, JSON, b"{}")
            case "DELETE":
                await exchange.whole(200, JSON, b"{}")
            case _:
                await exchange.whole(202, JSON, b"")


def said(data: Any) -> dict[str, Any]:
    """A result of a tool that says `data` as JSON in text."""
    return {"content": [{"type": "text", "text": json.dumps(data)}], "isError": False}


@asynccontextmanager
async def running(engine: MisbehavingEngine, port: int = 0) -> AsyncIterator[MisbehavingEngine]:
    """Serve on a free port of this machine, or on `port`; leaving cuts all connections."""
    config = uvicorn.Config(engine, host=LOOPBACK, port=port, log_config=None, lifespan="off")
    server = UnsignalledServer(config)
    task = asyncio.create_task(server.serve())
    await eventually(lambda: asyncio.sleep(0, server.started or task.done()), bool)
    engine.port = server.servers[0].sockets[0].getsockname()[1]
    engine.url = f"http://{LOOPBACK}:{engine.port}/mcp"
    try:
        yield engine
    finally:
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        server.should_exit = server.force_exit = True
        await task


@asynccontextmanager
async def saying(answer: bytes | None) -> AsyncIterator[str]:
    """A port that says `answer` to whatever comes and closes, or (none) accepts and is silent; yields its address."""
    writers: set[asyncio.StreamWriter] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        await reader.read(1)
        if answer is not None:
            writer.write(answer)
            writer.close()

    server = await asyncio.start_server(handle, LOOPBACK, 0)
    try:
        yield f"{LOOPBACK}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)

"""What requests are for, by route or by MCP tool, and the count of them for each principal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cortex_gateway import mcp_server
from cortex_gateway.auth import principal_of
from cortex_gateway.errors import Unauthorized
from cortex_gateway.usage import Purpose, Usage

_ROUTES: Final = tuple(
    (method, re.compile(path), purpose)
    for method, path, purpose in (
        ("POST", r"/v1/chat/completions", Purpose.CHAT),
        ("POST", r"/ask", Purpose.ASK),
        ("GET", r"/api/v1/brain/query", Purpose.QUERY),
        ("GET", r"/api/v1/brain/search", Purpose.SEARCH),
        ("GET", r"/api/v1/brain/(pages/.+|graph/.+|timeline)", Purpose.PAGE_READ),
        ("PUT|POST|DELETE", r"/api/v1/brain/pages/.+", Purpose.PAGE_WRITE),
        ("POST", r"/api/v1/brain/sync", Purpose.SYNC),
        ("POST", r"/api/v1/memory/(recall|context|archive/recall)", Purpose.MEMORY_READ),
        ("GET", r"/api/v1/memory/.+", Purpose.MEMORY_READ),
        ("PUT|POST|DELETE", r"/api/v1/memory(/.+)?", Purpose.MEMORY_WRITE),
    )
)
"""Method, path and purpose; the first that fits. Other routes are not counted."""
_TOOLS: Final = {
    "darwin_ask": Purpose.ASK,
    "memory_recall": Purpose.MEMORY_READ,
    "memory_recall_archive": Purpose.MEMORY_READ,
    "memory_get": Purpose.MEMORY_READ,
    "memory_retain": Purpose.MEMORY_WRITE,
    "memory_forget": Purpose.MEMORY_WRITE,
    "memory_restore": Purpose.MEMORY_WRITE,
    "memory_share": Purpose.MEMORY_WRITE,
}


def of_route(method: str, path: str) -> Purpose | None:
    """What a request is for; none: nothing that is counted."""
    for methods, pattern, purpose in _ROUTES:
        if method in methods.split("|") and pattern.fullmatch(path):
            return purpose
    return None


def of_messages(body: bytes) -> Iterator[Purpose]:
    """What the tool calls in a body of MCP are for: one JSON-RPC message, or a list of them."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return
    for message in said if isinstance(said, list) else [said]:
        if (tool := _called(message)) in _TOOLS:
            yield _TOOLS[tool]


def _called(message: Any) -> str:
    params = message.get("params") if isinstance(message, dict) and message.get("method") == "tools/call" else None
    name = params.get("name") if isinstance(params, dict) else None
    return name if isinstance(name, str) else ""


class CountRequests:
    """ASGI middleware: counts each request by its principal and purpose. Behind what authenticates and takes the body
    in at once: then the first message is all of it."""

    def __init__(self, app: ASGIApp, usage: Usage) -> None:
        self._app = app
        self._usage = usage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count, and run the app."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if scope["method"] == "POST" and scope["path"] in (mcp_server.MCP_PATH, mcp_server.MESSAGES_PATH):

            async def counted() -> Message:
                message = await receive()
                for purpose in of_messages(message.get("body", b"")):
                    self._count(scope, purpose)
                return message

            return await self._app(scope, counted, send)
        if purpose := of_route(scope["method"], scope["path"]):
            self._count(scope, purpose)
        await self._app(scope, receive, send)

    def _count(self, scope: Scope, purpose: Purpose) -> None:
        try:
            self._usage.count(principal_of(Request(scope)), purpose)
        except Unauthorized:  # of an open path
            return

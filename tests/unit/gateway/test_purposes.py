"""What requests are counted as."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from cortex_contracts.messages.base import Principal
from cortex_gateway.memory_tools import memory_tools
from cortex_gateway.purposes import CountRequests, of_messages, of_route
from cortex_gateway.usage import Purpose

MILLY = Principal(org="acme", subject="milly")


@pytest.mark.parametrize(
    ("request_line", "purpose"),
    [
        ("GET /api/v1/brain/query", Purpose.QUERY),
        ("GET /api/v1/brain/search", Purpose.SEARCH),
        ("GET /api/v1/brain/pages/a/b", Purpose.PAGE_READ),
        ("GET /api/v1/brain/graph/a", Purpose.PAGE_READ),
        ("GET /api/v1/brain/timeline", Purpose.PAGE_READ),
        ("PUT /api/v1/brain/pages/a", Purpose.PAGE_WRITE),
        ("DELETE /api/v1/brain/pages/a", Purpose.PAGE_WRITE),
        ("POST /api/v1/brain/pages/a/import", Purpose.PAGE_WRITE),
        ("POST /api/v1/brain/sync", Purpose.SYNC),
        ("GET /api/v1/brain/sync/status", None),
        ("GET /api/v1/brain/health", None),
        ("POST /ask", Purpose.ASK),
        ("POST /api/v1/memory", Purpose.MEMORY_WRITE),
        ("POST /api/v1/memory/batch", Purpose.MEMORY_WRITE),
        ("POST /api/v1/memory/recall", Purpose.MEMORY_READ),
        ("POST /api/v1/memory/archive/recall", Purpose.MEMORY_READ),
        ("GET /api/v1/memory/0198", Purpose.MEMORY_READ),
        ("PUT /api/v1/memory/documents/a", Purpose.MEMORY_WRITE),
        ("POST /v1/chat/completions", Purpose.CHAT),
        ("GET /v1/models", None),
        ("GET /", None),
        ("GET /health", None),
    ],
)
def test_a_route_has_its_purpose(request_line: str, purpose: Purpose | None) -> None:
    assert of_route(*request_line.split()) == purpose


def called(tool: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool}}


@pytest.mark.parametrize(
    ("said", "purposes"),
    [
        (called("darwin_ask"), [Purpose.ASK]),
        ([called("memory_recall"), called("memory_retain")], [Purpose.MEMORY_READ, Purpose.MEMORY_WRITE]),
        (called("other"), []),
        (called(["memory_get"]), []),
        ({"method": "tools/list"}, []),
        ({"method": "tools/call", "params": 3}, []),
        ([3, None], []),
        ("text", []),
    ],
)
def test_a_tool_call_has_its_purpose(said: object, purposes: list[Purpose]) -> None:
    assert list(of_messages(json.dumps(said).encode())) == purposes
    assert list(of_messages(b"{")) == []


def test_every_tool_is_counted() -> None:
    tools = [tool.name for tool in memory_tools(None)]  # type: ignore[arg-type]
    assert tools
    assert all(list(of_messages(json.dumps(called(name)).encode())) for name in tools)


class Counted:
    """What was counted."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    def count(self, principal: Principal, what: str) -> None:
        self.seen.append((principal.subject, what))


@pytest.fixture
def face() -> Callable[[Principal | None], tuple[Counted, TestClient]]:
    def make(principal: Principal | None) -> tuple[Counted, TestClient]:
        counted = Counted()

        async def echo(scope: Scope, receive: Receive, send: Send) -> None:
            body = await Request(scope, receive).body()
            await PlainTextResponse(body)(scope, receive, send)

        counting = CountRequests(echo, counted)  # type: ignore[arg-type]

        async def authenticated(scope: Scope, receive: Receive, send: Send) -> None:
            scope["state"] = {"principal": principal}
            await counting(scope, receive, send)

        return counted, TestClient(authenticated)

    return make


def test_requests_are_counted_for_their_principal_and_pass_unchanged(face: Any) -> None:
    counted, client = face(MILLY)
    body = json.dumps(called("memory_get"))
    assert client.post("/mcp", content=body).text == body
    assert client.post("/messages/?session_id=1", content=body).text == body
    client.post("/ask", content=b"{}")
    client.get("/health")
    assert counted.seen == [("milly", "memory_read"), ("milly", "memory_read"), ("milly", "ask")]


def test_nobody_is_counted_for_nothing(face: Any) -> None:
    counted, client = face(None)
    assert client.post("/ask", content=b"{}").status_code == 200
    assert counted.seen == []

"""Who did what to which id, and nothing of what was said."""

from __future__ import annotations

import json
import logging
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from structlog.testing import capture_logs

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.base import Principal
from cortex_gateway import audit, problems
from cortex_gateway.audit import Audit
from cortex_gateway.auth import Authenticate, Credential
from cortex_gateway.tool_call import called

SECRET = "a-text-that-nobody-may-see"
ID = "01a22a77-34f3-7137-a93d-ab686d822c60"


class Anybody:
    async def verify(self, credential: Credential) -> Principal | None:
        return Principal(org="acme", subject="mona", role="member", authenticated_by="key:0123456789ab")


def routes() -> FastAPI:
    app = FastAPI()
    problems.install(app)
    router = APIRouter(prefix="/api/v1/memory")

    @router.post("/{memory_id}/forget")
    async def forget(memory_id: UUID, body: dict[str, str]) -> dict[str, str]:
        return {"said": SECRET}

    @router.put("/documents/{document_id:path}")
    async def put(document_id: str) -> dict[str, str]:
        raise Permanent(SECRET, code=ErrorCode.FORBIDDEN)

    @router.delete("/{memory_id}")
    async def broken(memory_id: UUID) -> None:
        raise RuntimeError(SECRET)

    @router.post("/recall")
    async def recall() -> dict[str, str]:
        return {}

    inner = APIRouter()

    @inner.post("/pages/{slug}/import")
    async def imported(slug: str) -> dict[str, str]:
        return {}

    outer = APIRouter(prefix="/api/v1/brain")
    outer.include_router(inner)
    app.include_router(outer)
    app.include_router(router)
    return app


@pytest.fixture
def client() -> httpx.AsyncClient:
    app: Any = Authenticate(Audit(routes()), [Anybody()])
    headers = {"X-Brain-Key": f"key-{SECRET}"}
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test", headers=headers)


async def test_a_write_is_one_event_with_route_ids_principal_and_status(client: httpx.AsyncClient) -> None:
    with capture_logs() as logged:
        await client.post(f"/api/v1/memory/{ID}/forget?q={SECRET}", json={"text": SECRET})
    (event,) = [one for one in logged if one["event"] == "audit"]
    event.pop("trace")
    assert event == {
        "event": "audit",
        "log_level": "info",
        "action": "POST /api/v1/memory/{memory_id}/forget",
        "ids": {"memory_id": ID},
        "org": "acme",
        "subject": "mona",
        "role": "member",
        "authenticated_by": "key:0123456789ab",
        "status": 200,
    }


async def test_a_write_that_is_refused_or_fails_is_recorded_with_its_status(client: httpx.AsyncClient) -> None:
    with capture_logs() as logged:
        await client.put("/api/v1/memory/documents/notes/a.md", json=SECRET)
        await client.delete(f"/api/v1/memory/{ID}")
        await client.post("/api/v1/memory/no-id/forget", json={"text": SECRET})
    events = [one for one in logged if one["event"] == "audit"]
    assert [(one["action"].split()[0], one["status"]) for one in events] == [
        ("PUT", 403),
        ("DELETE", 500),
        ("POST", 422),
    ]
    assert events[0]["action"] == "PUT /api/v1/memory/documents/{document_id}"
    assert events[0]["ids"] == {"document_id": "notes/a.md"}


@pytest.mark.parametrize("slug", ["lighthouse", "import", "pages"])
async def test_a_route_of_a_router_in_a_router_is_named_in_full(client: httpx.AsyncClient, slug: str) -> None:
    with capture_logs() as logged:
        await client.post(f"/api/v1/brain/pages/{slug}/import")
    (event,) = [one for one in logged if one["event"] == "audit"]
    assert (event["action"], event["ids"]) == ("POST /api/v1/brain/pages/{slug}/import", {"slug": slug})


async def test_reads_and_what_no_route_answers_are_not_recorded(client: httpx.AsyncClient) -> None:
    with capture_logs() as logged:
        await client.get(f"/api/v1/memory/{ID}")
        await client.post("/api/v1/memory/recall", json={"query": SECRET})
        await client.post(f"/nowhere/{SECRET}")
    assert [one for one in logged if one["event"] == "audit"] == []


async def test_nothing_that_was_said_or_shown_is_in_any_line(client: httpx.AsyncClient) -> None:
    with capture_logs() as logged:
        await client.post(f"/api/v1/memory/{ID}/forget?q={SECRET}", json={"text": SECRET})
        await client.put(f"/api/v1/memory/documents/a?q={SECRET}", json={"text": SECRET})
        await client.delete(f"/api/v1/memory/{ID}")
    assert [one for one in logged if one["event"] == "audit"]
    # A failure is logged with its exception, of which the renderer keeps class and place: see the runtime's tests.
    kept = [{name: value for name, value in one.items() if name != "exc_info"} for one in logged]
    assert SECRET not in json.dumps(kept, default=str)


async def test_a_credential_in_an_id_is_cut_out_and_a_long_id_is_cut(client: httpx.AsyncClient) -> None:
    key = "ct" + "x_0123456789ab_" + "A1b2" * 10 + "C3d"
    with capture_logs() as logged:
        await client.put(f"/api/v1/memory/documents/{key}")
        await client.put(f"/api/v1/memory/documents/{'x' * 2000}")
    events = [one for one in logged if one["event"] == "audit"]
    assert events[0]["ids"] == {"document_id": "[redacted:cortex-key]"}
    assert len(events[1]["ids"]["document_id"]) == audit.MAX_ID_CHARS


async def test_a_service_that_logs_warnings_only_still_audits(client: httpx.AsyncClient) -> None:
    assert logging.getLogger(audit.LOGGER).isEnabledFor(logging.INFO)


class Call:
    """What the SDK gives a tool, as far as `called` reads it."""

    def __init__(self) -> None:
        from starlette.requests import Request

        state = {"principal": Principal(org="acme", subject="mona"), "trace": {}}
        self.request_context = self
        self.request = Request({"type": "http", "headers": [], "state": state})


def test_a_tool_that_changes_something_is_recorded_and_one_that_reads_is_not() -> None:
    call: Any = Call()
    with capture_logs() as logged:
        with called(call, "memory_forget", {"memory_id": ID, "other": None}):
            pass
        with called(call, "memory_recall"):
            pass
        with pytest.raises(Exception, match="no access"), called(call, "memory_retain", {}):
            raise Permanent("no access", code=ErrorCode.FORBIDDEN)
        with pytest.raises(Exception, match="unexpected"), called(call, "memory_share", {}):
            raise RuntimeError(SECRET)
    events = [one for one in logged if one["event"] == "audit"]
    assert [(one["action"], one["ids"], one["status"]) for one in events] == [
        ("mcp memory_forget", {"memory_id": ID}, "ok"),
        ("mcp memory_retain", {}, "forbidden"),
        ("mcp memory_share", {}, "internal"),
    ]

"""Every route of REST and every endpoint of MCP, without credentials, with wrong ones, and with those of another org.

The routes are those of the gateway's own OpenAPI document: one that is added is tried here without a line of its own.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

import httpx
import jwt
import nats as nats_client
import pytest
from mcp import Client
from nats.aio.client import Client as NatsClient

from cortex_contracts import subjects
from cortex_contracts.permissions import OPERATOR, inbox_prefix
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer

SECRET: Final = "a-secret-of-the-test-with-32-bytes-or-more"
MARK: Final = "Vadkerti"
"""Is in everything that the local org knows, and in no request of anybody else."""
NAMESPACE: Final = "harbour"
OPEN: Final = {("GET", "/health"), ("GET", "/api/v1/brain/health")}
MCP_ENDPOINTS: Final = (("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"))
SSE_ENDPOINTS: Final = (("GET", "/sse"), ("POST", "/messages/?session_id=00000000000000000000000000000000"))
HIDDEN: Final = (("GET", "/openapi.json"), ("GET", "/docs"), ("POST", "/"), ("GET", "/nowhere"), ("PUT", "/health"))
"""Not in the document; what is not there is not told to strangers either."""

QUERIES: Final = {"q": "lighthouse", "namespace": NAMESPACE}
BODIES: Final[dict[tuple[str, str], Any]] = {
    ("POST", "/ask"): {"query": "Who keeps the lighthouse?"},
    ("POST", "/api/v1/memory/recall"): {"query": "lighthouse keeper", "namespaces": [NAMESPACE]},
    ("POST", "/api/v1/memory/context"): {"namespaces": [NAMESPACE]},
    ("POST", "/api/v1/memory/batch"): {"memories": [{"namespace": NAMESPACE, "content": "A boat has come in."}]},
    ("POST", "/api/v1/memory/improve"): {"namespace": NAMESPACE, "background": True},
    ("POST", "/api/v1/memory/share"): {"namespace": NAMESPACE, "agent": "spy", "access": "write"},
    ("POST", "/v1/chat/completions"): {
        "model": "[brain]",
        "messages": [{"role": "user", "content": "Who keeps the lighthouse?"}],
    },
}
"""Of routes whose OpenAPI example would not reach for what the local org has."""
NOTHING: Final[dict[tuple[str, str], dict[str, object]]] = {
    ("POST", "/api/v1/memory/recall"): {"memories": []},
    ("GET", "/api/v1/memory/grants"): {"grants": []},
    ("GET", "/api/v1/memory/documents"): {"documents": []},
    ("GET", "/api/v1/memory/operations"): {"operations": []},
    ("GET", "/api/v1/brain/query"): {"results": []},
    ("GET", "/api/v1/brain/search"): {"results": []},
    ("GET", "/api/v1/brain/timeline"): {"entries": []},
    ("GET", "/api/v1/brain/stats"): {"pages": 0, "links": 0},
}
"""What an org that knows nothing is answered; asked before it writes something of its own."""
GONE: Final = {
    ("GET", "/api/v1/memory/{memory_id}"),
    ("POST", "/api/v1/memory/{memory_id}/forget"),
    ("POST", "/api/v1/memory/{memory_id}/restore"),
    ("GET", "/api/v1/memory/documents/{document_id}"),
    ("DELETE", "/api/v1/memory/documents/{document_id}"),
    ("GET", "/api/v1/memory/operations/{operation_id}"),
    ("POST", "/api/v1/memory/operations/{operation_id}/cancel"),
    ("POST", "/api/v1/memory/operations/{operation_id}/retry"),
    ("GET", "/api/v1/brain/pages/{slug}"),
    ("DELETE", "/api/v1/brain/pages/{slug}"),
    ("GET", "/api/v1/brain/graph/{slug}"),
    ("DELETE", "/api/v1/keys/{key_id}"),
}
"""Where an id of another org is an id of nothing."""


@dataclass
class Upstream:
    """A language model that keeps what it is told."""

    url: str
    told: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            made.told.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            choice = {"index": 0, "message": {"role": "assistant", "content": "Nobody."}, "finish_reason": "stop"}
            body = json.dumps(
                {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Upstream(f"http://127.0.0.1:{server.server_port}/v1")
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def installation_services(installation_services: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The archive is sleep's."""
    return {**installation_services, "sleep": {}}


@pytest.fixture(scope="module")
def installation_settings(upstream: Upstream) -> dict[str, str]:
    return {
        "CORTEX_JWT_SECRET": SECRET,
        "CORTEX_RATE_FAILURES": "0",
        "CORTEX_CHAT_UPSTREAM_URL": upstream.url,
        "CORTEX_CHAT_UPSTREAM_MODEL": "m",
    }


def signed(algorithm: str = "HS256", **claims: object) -> str:
    usual = {"org": "local", "sub": "owner", "role": "owner", "exp": datetime.now(UTC) + timedelta(minutes=5)}
    return jwt.encode({**usual, **claims}, SECRET if algorithm != "none" else None, algorithm)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@dataclass
class Harbour:
    """What the local org knows, by the names that paths have for it."""

    ids: dict[str, str]
    key: str
    revoked: str


async def seed(installation: Any) -> Harbour:
    text = f"The keeper of the lighthouse is {MARK}."
    memory = {"namespace": NAMESPACE, "content": text}
    async with installation.owner as http:
        made = await http.post("/api/v1/memory", json=memory)
        shared = await http.post(
            "/api/v1/memory", json={**memory, "content": f"{text} Always.", "visibility": "global"}
        )
        document = await http.put("/api/v1/memory/documents/notes.md", json={"namespace": NAMESPACE, "content": text})
        batch = await http.post("/api/v1/memory/batch", json={"memories": [memory], "background": True})
        grant = {"namespace": NAMESPACE, "agent": MARK, "access": "read"}
        granted = await http.post("/api/v1/memory/share", json=grant)
        page = {"type": "note", "title": f"Lighthouse of {MARK}", "body_markdown": text, "tags": [MARK.lower()]}
        written = await http.put("/api/v1/brain/pages/lighthouse", json=page)
        for answer in (made, shared, document, batch, granted, written):
            assert answer.status_code in (200, 202), answer.text
        key, revoked = await installation.key(MARK), await installation.key("former")
        await http.delete(f"/api/v1/keys/{revoked['key_id']}")
    ids = {
        "memory_id": made.json()["memory_id"],
        "operation_id": batch.json()["operation_id"],
        "document_id": "notes.md",
        "slug": "lighthouse",
        "key_id": key["key_id"],
    }
    return Harbour(ids, key["key"], revoked["key"])


@pytest.fixture(scope="module")
def harbour(installation: Any) -> Harbour:
    return asyncio.run(seed(installation))


@pytest.fixture(scope="module")
def routes(installation: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, template and description of every route; those that another org can make nothing with come first."""
    answer = httpx.get(
        f"{installation.gateway.url}/openapi.json",
        headers=installation.gateway.headers,
        timeout=20,
        trust_env=False,
    )
    found = [
        (method.upper(), path, operation)
        for path, operations in answer.json()["paths"].items()
        for method, operation in operations.items()
    ]
    assert len(found) > 30
    return sorted(found, key=lambda one: (one[0] != "GET", (one[0], one[1]) not in GONE | NOTHING.keys()))


def request_of(
    method: str, template: str, operation: dict[str, Any], ids: dict[str, str]
) -> tuple[str, dict[str, Any]]:
    """The address and the rest of a request that means what the local org has."""
    parameters = [one for one in operation.get("parameters", []) if one["in"] == "query" and one["name"] in QUERIES]
    sent: dict[str, Any] = {"params": {one["name"]: QUERIES[one["name"]] for one in parameters}}
    bodies = operation.get("requestBody", {}).get("content", {})
    if bodies:
        media, described = next(iter(bodies.items()))
        examples = [one["value"] for one in described.get("examples", {}).values()]
        body = BODIES.get((method, template), examples[0] if examples else described.get("example"))
        assert body is not None, f"{method} {template} needs an example in OpenAPI, or a body in BODIES"
        sent["content"] = body if isinstance(body, str) else json.dumps(body)
        sent["headers"] = {"Content-Type": media}
    return template.format_map(ids), sent


WRONG: Final[dict[str, Callable[[Harbour], dict[str, str]]]] = {
    "none": lambda _: {},
    "wrong static": lambda _: bearer("a-wrong-token-of-the-test"),
    "unknown key": lambda _: {"X-Brain-Key": f"ctx_0123456789ab_{secrets.token_urlsafe(32)}"},
    "unknown key as a bearer": lambda _: bearer(f"ctx_0123456789ab_{secrets.token_urlsafe(32)}"),
    "revoked key": lambda harbour: {"X-Brain-Key": harbour.revoked},
    "another secret of a key": lambda harbour: {
        "X-Brain-Key": harbour.key[:-1] + ("A" if harbour.key[-1] != "A" else "B")
    },
    "expired token": lambda _: bearer(signed(exp=datetime.now(UTC) - timedelta(minutes=5))),
    "unsigned token": lambda _: bearer(signed("none")),
    "key beside a wrong token": lambda harbour: {"X-Brain-Key": harbour.key, **bearer("wrong")},
}


@pytest.mark.parametrize("kind", WRONG)
async def test_wrong_credentials_open_no_route(
    installation: Any, harbour: Harbour, routes: list[tuple[str, str, dict[str, Any]]], kind: str
) -> None:
    headers = WRONG[kind](harbour)
    tried = 0
    async with httpx.AsyncClient(headers=headers, timeout=20, trust_env=False) as http:
        listed = [
            (method, *request_of(method, path, operation, harbour.ids), path) for method, path, operation in routes
        ]
        listed += [(method, path, {}, path) for method, path in (*HIDDEN, *MCP_ENDPOINTS)]
        for method, path, sent, template in listed:
            if (method, template) in OPEN:
                continue
            own = sent.get("headers", {})
            answer = await http.request(method, installation.gateway.url + path, **{**sent, "headers": own})
            assert answer.status_code == 401, f"{method} {template}: {answer.status_code} {answer.text[:200]}"
            assert answer.headers["www-authenticate"].startswith("Bearer ")
            assert MARK not in answer.text
            tried += 1
        for method, path in SSE_ENDPOINTS:
            answer = await http.request(method, installation.gateway.sse_url.removesuffix("/sse") + path)
            assert answer.status_code == 401, path
    assert tried >= len(routes)


async def test_what_is_open_is_open_and_tells_nothing_but_counts(installation: Any, harbour: Harbour) -> None:
    async with installation.http() as http:
        for method, path in OPEN:
            answer = await http.request(method, path)
            assert answer.status_code == 200
            assert MARK not in answer.text


@asynccontextmanager
async def syncs_heard(nats: NatsServer) -> AsyncIterator[list[str]]:
    """The subjects of every sync that is asked for meanwhile."""
    heard: list[str] = []
    operator: NatsClient = await nats_client.connect(nats.url(OPERATOR), inbox_prefix=inbox_prefix(OPERATOR))

    async def hear(message: Any) -> None:
        heard.append(message.subject)

    try:
        await operator.subscribe(subjects.SYNC_PATTERN, cb=hear)
        await operator.flush()
        yield heard
        await operator.flush()
    finally:
        await operator.close()


async def foreign(installation: Any, kind: str) -> dict[str, str]:
    """Valid credentials of an owner of another org that has nothing yet."""
    org = f"theirs-{secrets.token_hex(4)}"
    token = bearer(signed(org=org))
    if kind == "token":
        return token
    async with installation.http(**token) as http:
        made = await http.post("/api/v1/keys", json={"subject": "owner", "role": "owner"})
    assert made.status_code == 201
    return {"X-Brain-Key": made.json()["key"]}


async def known(installation: Any, harbour: Harbour) -> list[Any]:
    """What the local org sees of its own."""
    ids = harbour.ids
    paths = [
        f"/api/v1/memory/{ids['memory_id']}",
        f"/api/v1/memory/documents/{ids['document_id']}?namespace={NAMESPACE}",
        f"/api/v1/memory/operations/{ids['operation_id']}",
        "/api/v1/memory/grants",
        f"/api/v1/brain/pages/{ids['slug']}",
        "/api/v1/keys",
    ]
    async with installation.owner as http:
        answers = [await http.get(path) for path in paths]
    assert [answer.status_code for answer in answers] == [200] * len(paths)
    found = [answer.json() for answer in answers]
    for key in found[-1]["keys"]:
        key.pop("last_used_at")
    for one in ("access_count", "last_accessed_at"):
        found[0].pop(one, None)
        found[0]["memory"].pop(one, None)
    return found


@pytest.mark.parametrize("kind", ["token", "key"])
async def test_another_org_sees_its_own_emptiness_and_changes_nothing(
    installation: Any,
    harbour: Harbour,
    routes: list[tuple[str, str, dict[str, Any]]],
    nats_server: NatsServer,
    upstream: Upstream,
    kind: str,
) -> None:
    async def finished() -> Any:
        async with installation.owner as http:
            return (await http.get(f"/api/v1/memory/operations/{harbour.ids['operation_id']}")).json()

    await eventually(finished, lambda one: one["operation"]["status"] == "succeeded", ignoring=(KeyError,))
    before = await known(installation, harbour)
    assert MARK in json.dumps(before)
    headers = await foreign(installation, kind)
    upstream.told.clear()
    async with (
        syncs_heard(nats_server) as syncs,
        httpx.AsyncClient(headers=headers, timeout=30, trust_env=False) as http,
    ):
        for method, template, operation in routes:
            path, sent = request_of(method, template, operation, harbour.ids)
            own = sent.pop("headers", {})
            answer = await http.request(method, installation.gateway.url + path, headers=own, **sent)
            told = f"{method} {template}: {answer.status_code} {answer.text[:300]}"
            if (method, template) in OPEN:
                continue
            assert answer.status_code < 500, told
            assert answer.status_code not in (401, 429), told
            assert MARK not in answer.text, told
            if (method, template) in GONE:
                assert answer.status_code == 404, told
            for name, value in NOTHING.get((method, template), {}).items():
                assert answer.json()[name] == value, told
    assert [subject for subject in syncs if ".local." in subject] == []
    assert upstream.told, "the chat has reached the model"
    assert MARK not in "".join(upstream.told)
    assert await known(installation, harbour) == before


async def test_to_its_own_org_the_same_requests_tell_what_it_knows(
    installation: Any,
    harbour: Harbour,
    routes: list[tuple[str, str, dict[str, Any]]],
    nats_server: NatsServer,
    upstream: Upstream,
) -> None:
    """Otherwise the emptiness above would prove nothing."""
    upstream.told.clear()
    telling = set()
    async with syncs_heard(nats_server) as syncs, installation.owner as http:
        for method, template, operation in routes:
            reads = (method == "GET" and "operation" not in template) or template.endswith(
                ("/recall", "/context", "/ask")
            )
            if not reads and template not in ("/v1/chat/completions", "/api/v1/brain/sync"):
                continue
            path, sent = request_of(method, template, operation, harbour.ids)
            answer = await http.request(method, path, **sent)
            assert answer.status_code < 300, f"{method} {template}: {answer.status_code} {answer.text[:300]}"
            if MARK in answer.text or MARK.lower() in answer.text:
                telling.add(template)
    assert telling >= {
        "/ask",
        "/api/v1/memory/recall",
        "/api/v1/memory/context",
        "/api/v1/memory/grants",
        "/api/v1/memory/{memory_id}",
        "/api/v1/memory/documents/{document_id}",
        "/api/v1/brain/query",
        "/api/v1/brain/search",
        "/api/v1/brain/pages/{slug}",
        "/api/v1/brain/graph/{slug}",
        "/api/v1/brain/timeline",
        "/api/v1/brain/stats",
        "/api/v1/keys",
    }
    assert MARK in "".join(upstream.told)
    assert syncs == ["cortex.v1.cmd.sync.local.main"]


ARGUMENTS: Final = {
    "query": "Who keeps the lighthouse?",
    "content": "A boat has come in.",
    "namespace": NAMESPACE,
    "namespaces": [NAMESPACE],
    "agent": "spy",
}


@pytest.mark.parametrize("transport", ["http", "sse"])
@pytest.mark.parametrize("kind", ["token", "key"])
async def test_another_org_gets_nothing_by_any_tool(
    installation: Any,
    harbour: Harbour,
    connect: Callable[..., AbstractAsyncContextManager[Client]],
    kind: str,
    transport: str,
) -> None:
    before = await known(installation, harbour)
    credential = next(iter((await foreign(installation, kind)).values())).removeprefix("Bearer ")
    gateway = installation.gateway
    theirs = type(gateway)(gateway.url, gateway.sse_url, gateway.process, credential)
    called = set()
    async with connect(theirs, transport) as client:
        for tool in (await client.list_tools()).tools:
            named = {**ARGUMENTS, "id": harbour.ids["memory_id"], **harbour.ids}
            arguments = {name: named[name] for name in tool.input_schema["properties"] if name in named}
            if tool.name == "memory_retain":
                arguments.pop("document_id")
            answer = await client.call_tool(tool.name, arguments)
            assert MARK not in answer.model_dump_json(), tool.name
            if "id" in arguments:
                assert answer.is_error, tool.name
            called.add(tool.name)
    assert {"darwin_ask", "memory_recall", "memory_get", "memory_forget"} <= called
    assert await known(installation, harbour) == before


async def test_a_session_of_mcp_answers_only_to_the_principal_that_opened_it(
    installation: Any, harbour: Harbour
) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    accept = {"Accept": "application/json, text/event-stream"}
    async with installation.owner as http:
        opened = await http.post("/mcp", json=hello, headers=accept)
        assert opened.status_code == 200
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], **accept}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    for headers in (await foreign(installation, "token"), {"X-Brain-Key": harbour.key}):
        async with httpx.AsyncClient(headers=headers, timeout=20, trust_env=False) as http:
            answer = await http.post(f"{installation.gateway.url}/mcp", json=listing, headers=session)
        assert 400 <= answer.status_code < 500

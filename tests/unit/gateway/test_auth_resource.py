from __future__ import annotations

from typing import Any

import httpx
import pytest
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from cortex_gateway.auth_resource import WELL_KNOWN, ResourceMetadata


async def behind(scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse({}, 401)(scope, receive, send)


def client(issuer: str = "", base_url: str = "http://127.0.0.1:9890") -> httpx.AsyncClient:
    app: Any = ResourceMetadata(behind, frozenset({"/mcp"}), issuer)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base_url)


@pytest.mark.parametrize("path", ["", "/mcp"])
async def test_the_metadata_name_the_resource_as_the_client_sees_it(path: str) -> None:
    async with client("https://issuer.example", "https://brain.example") as http:
        answer = await http.get(WELL_KNOWN + path)
    assert answer.json() == {
        "resource": f"https://brain.example{path}",
        "resource_name": "Cortex",
        "bearer_methods_supported": ["header"],
        "authorization_servers": ["https://issuer.example"],
    }
    assert answer.headers["cache-control"] == "no-store"


async def test_without_an_issuer_no_authorization_server_is_named() -> None:
    async with client() as http:
        answer = await http.get(f"{WELL_KNOWN}/mcp")
        assert answer.json()["resource"] == "http://127.0.0.1:9890/mcp"
        assert "authorization_servers" not in answer.json()
        assert (await http.head(f"{WELL_KNOWN}/mcp")).status_code == 200


async def test_everything_else_is_not_answered_here() -> None:
    async with client() as http:
        assert (await http.get(f"{WELL_KNOWN}/sse")).status_code == 401
        assert (await http.get("/mcp")).status_code == 401
        assert (await http.post(WELL_KNOWN)).status_code == 401


@pytest.mark.parametrize("host", ['a"b', "a b", "a/../b", "a@b", "", "x" * 300, "a:b", "ä"])
async def test_a_host_that_is_none_is_not_repeated(host: str) -> None:
    async with client() as http:
        answer = await http.get(WELL_KNOWN, headers={"Host": host.encode("latin-1")})
    assert answer.status_code == 400
    assert not host or host not in answer.text

"""HEAD, OPTIONS and 405 of routes that share a path."""

from __future__ import annotations

import httpx
import pytest
from fastapi import APIRouter, FastAPI

from cortex_gateway import problems
from cortex_gateway.http_methods import HttpMethods


@pytest.fixture
def http() -> httpx.AsyncClient:
    app = FastAPI()
    problems.install(app)
    app.add_middleware(HttpMethods, routes=lambda: app.routes)
    routes = APIRouter(prefix="/things")

    @routes.get("/{name:path}")
    async def read(name: str) -> str:
        return name

    @routes.delete("/{name:path}")
    async def delete(name: str) -> None:
        return None

    @routes.post("/{name:path}/copy")
    async def copy(name: str) -> str:
        return name

    app.include_router(routes)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here")


async def test_head_is_get_without_its_body(http: httpx.AsyncClient) -> None:
    whole, head = await http.get("/things/a/b"), await http.head("/things/a/b")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers == whole.headers
    assert (await http.head("/nothing")).status_code == 404


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/things/a", {"GET", "HEAD", "DELETE", "OPTIONS"}),
        ("/things/a/copy", {"GET", "HEAD", "DELETE", "OPTIONS", "POST"}),
    ],
)
async def test_the_methods_of_a_path_are_told_by_options_and_by_a_405(
    http: httpx.AsyncClient, path: str, methods: set[str]
) -> None:
    told, refused = await http.options(path), await http.patch(path)
    assert (told.status_code, told.content) == (204, b"")
    assert (refused.status_code, refused.json()["error"]) == (405, "method_not_allowed")
    for response in (told, refused):
        assert set(response.headers["allow"].split(", ")) == methods


async def test_a_path_without_a_route_has_no_methods(http: httpx.AsyncClient) -> None:
    for method in ("OPTIONS", "PATCH", "GET"):
        response = await http.request(method, "/nothing")
        assert response.status_code == 404
        assert "allow" not in response.headers

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from cortex_contracts.messages.base import Principal
from cortex_gateway.auth import OPEN_PATHS, Authenticate, StaticBearer, Verifier, principal_of

TOKEN = "a-token-of-the-test"


async def whoami(scope: Scope, receive: Receive, send: Send) -> None:
    principal = scope.get("state", {}).get("principal")
    await JSONResponse({"subject": principal.subject if principal else None})(scope, receive, send)


def client(*verifiers: Verifier) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(Authenticate(whoami, verifiers, OPEN_PATHS)), base_url="http://127.0.0.1"
    )


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_the_static_token_is_the_owner_of_the_configured_org() -> None:
    principal = await StaticBearer(TOKEN, "acme").verify(Headers(bearer(TOKEN)))
    assert principal == Principal(org="acme", subject="owner", authenticated_by="static-token")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_scheme_is_read_in_any_case(scheme: str) -> None:
    async with client(StaticBearer(TOKEN, "local")) as http:
        response = await http.get("/ask", headers={"Authorization": f"{scheme} {TOKEN}"})
    assert response.json() == {"subject": "owner"}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer("wrong"),
        bearer(""),
        bearer(TOKEN + "x"),
        bearer(TOKEN[:-1]),
        {"Authorization": TOKEN},
        {"Authorization": f"Basic {TOKEN}"},
        {"X-Brain-Key": TOKEN},
    ],
)
@pytest.mark.parametrize("path", ["/ask", "/", "/mcp", "/openapi.json", "/health/", "/healthz", "/metrics/x"])
async def test_everything_else_is_refused_with_a_challenge(path: str, headers: dict[str, str]) -> None:
    async with client(StaticBearer(TOKEN, "local")) as http:
        response = await http.get(path, headers=headers)
    assert response.status_code == 401
    assert response.json()["error"] == "unauthorized"
    assert response.headers["www-authenticate"].startswith("Bearer")


async def test_health_is_open_to_get_and_to_nothing_else() -> None:
    async with client(StaticBearer(TOKEN, "local")) as http:
        assert (await http.get("/health")).json() == {"subject": None}
        assert (await http.post("/health")).status_code == 401


async def test_without_configured_credentials_nobody_gets_in() -> None:
    async with client() as http:
        for token in ("", "x"):
            response = await http.post("/ask", headers=bearer(token))
            assert response.status_code == 401
            assert "CORTEX_HTTP_TOKEN" in response.json()["message"]


async def test_a_second_verifier_is_asked_when_the_first_does_not_know_the_credentials() -> None:
    class Keys:
        async def verify(self, headers: Headers) -> Principal | None:
            return Principal(org="local", subject="agent") if headers.get("x-brain-key") == "k" else None

    async with client(StaticBearer(TOKEN, "local"), Keys()) as http:
        assert (await http.get("/ask", headers={"X-Brain-Key": "k"})).json() == {"subject": "agent"}
        assert (await http.get("/ask", headers=bearer(TOKEN))).json() == {"subject": "owner"}


async def test_a_websocket_without_credentials_is_closed() -> None:
    sent: list[object] = []

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    async def send(message: object) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/health", "headers": []}
    await Authenticate(whoami, [StaticBearer(TOKEN, "local")], OPEN_PATHS)(scope, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_an_unauthenticated_request_has_no_principal() -> None:
    from cortex_gateway.errors import Unauthorized

    with pytest.raises(Unauthorized):
        principal_of(Request({"type": "http", "headers": []}))


@given(st.binary(max_size=60))
async def test_no_other_bytes_are_taken_for_the_token(sent: bytes) -> None:
    verifier = StaticBearer(TOKEN, "local")
    headers = Headers(raw=[(b"authorization", b"Bearer " + sent)])
    assert (await verifier.verify(headers) is not None) == (sent.strip() == TOKEN.encode())

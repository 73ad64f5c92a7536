from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.keys import ResolvedKey, ResolveKeyRequest
from cortex_gateway.auth import (
    MAX_CREDENTIAL_BYTES,
    MAX_CREDENTIALS,
    OPEN_PATHS,
    Authenticate,
    Credential,
    StaticBearer,
    Verifier,
    Way,
    principal_of,
    sent,
)
from cortex_gateway.auth_jwt import Rules, SignedTokens
from cortex_gateway.auth_keys import AgentKeys

TOKEN = "a-token-of-the-test"


async def whoami(scope: Scope, receive: Receive, send: Send) -> None:
    principal = scope.get("state", {}).get("principal")
    await JSONResponse({"subject": principal.subject if principal else None})(scope, receive, send)


class Keys:
    """Knows one key, which proves `subject`; without it, nobody can be asked."""

    def __init__(self, key: str = "k", subject: str = "agent", *, away: bool = False) -> None:
        self.principal = Principal(org="local", subject=subject, authenticated_by="key:test")
        self.key = key.encode()
        self.away = away
        self.asked: list[bytes] = []

    async def verify(self, credential: Credential) -> Principal | None:
        if credential.way is not Way.KEY:
            return None
        self.asked.append(credential.secret)
        if self.away:
            raise Unavailable("nobody answers")
        return self.principal if credential.secret == self.key else None


def client(*verifiers: Verifier, **more: Any) -> httpx.AsyncClient:
    app = Authenticate(whoami, verifiers, OPEN_PATHS, **more)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_the_static_token_is_the_owner_of_the_configured_org() -> None:
    principal = await StaticBearer(TOKEN, "acme").verify(Credential(Way.BEARER, TOKEN.encode()))
    assert principal == Principal(org="acme", subject="owner", role="owner", authenticated_by="static-token")


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
        bearer("x" * (MAX_CREDENTIAL_BYTES + 1)),
        {"Authorization": TOKEN},
        {"Authorization": ""},
        {"Authorization": f"Basic {TOKEN}"},
        {"X-Brain-Key": TOKEN},
        {"X-Brain-Key": ""},
    ],
)
@pytest.mark.parametrize("path", ["/ask", "/", "/mcp", "/openapi.json", "/health/", "/healthz", "/metrics/x"])
async def test_everything_else_is_refused_with_a_challenge(path: str, headers: dict[str, str]) -> None:
    async with client(StaticBearer(TOKEN, "local")) as http:
        response = await http.get(path, headers=headers)
    assert response.status_code == 401
    assert response.json()["error"] == "unauthorized"
    assert response.headers["www-authenticate"].startswith('Bearer realm="cortex"')
    assert ("invalid_token" in response.headers["www-authenticate"]) == bool(headers)


async def test_health_is_open_to_reading_and_to_nothing_else() -> None:
    async with client(StaticBearer(TOKEN, "local")) as http:
        assert (await http.head("/health")).status_code == 200
        assert (await http.get("/health")).json() == {"subject": None}
        assert (await http.post("/health")).status_code == 401


async def test_without_configured_credentials_nobody_gets_in() -> None:
    async with client() as http:
        for token in ("", "x"):
            assert (await http.post("/ask", headers=bearer(token))).status_code == 401


async def test_a_second_verifier_is_asked_when_the_first_does_not_know_the_credentials() -> None:
    async with client(StaticBearer(TOKEN, "local"), Keys()) as http:
        assert (await http.get("/ask", headers={"X-Brain-Key": "k"})).json() == {"subject": "agent"}
        assert (await http.get("/ask", headers=bearer(TOKEN))).json() == {"subject": "owner"}


@pytest.mark.parametrize(
    "headers",
    [
        {**bearer("wrong"), "X-Brain-Key": "k"},
        {**bearer(TOKEN), "X-Brain-Key": "wrong"},
        {"Authorization": "Basic eDp5", "X-Brain-Key": "k"},
        {"Authorization": "", "X-Brain-Key": "k"},
        {**bearer(TOKEN), "X-Brain-Key": ""},
    ],
)
async def test_one_credential_that_proves_nobody_spoils_the_others(headers: dict[str, str]) -> None:
    async with client(StaticBearer(TOKEN, "local"), Keys(subject="owner")) as http:
        assert (await http.get("/ask", headers=headers)).status_code == 401


async def test_two_credentials_must_prove_the_same_principal() -> None:
    both = {**bearer(TOKEN), "X-Brain-Key": "k"}
    async with client(StaticBearer(TOKEN, "local"), Keys(subject="owner")) as http:
        assert (await http.get("/ask", headers=both)).json() == {"subject": "owner"}
    async with client(StaticBearer(TOKEN, "local"), Keys(subject="agent")) as http:
        response = await http.get("/ask", headers=both)
    assert (response.status_code, response.json()["message"]) == (401, "expected credentials of one principal")


async def test_a_header_that_comes_twice_is_read_twice() -> None:
    keys = Keys()
    headers = [("X-Brain-Key", "k"), ("X-Brain-Key", "other")]
    async with client(keys) as http:
        assert (await http.get("/ask", headers=headers)).status_code == 401
        assert (await http.get("/ask", headers=[headers[0], headers[0]])).status_code == 200
        many = [("X-Brain-Key", f"k{number}") for number in range(MAX_CREDENTIALS + 1)]
        keys.asked.clear()
        assert (await http.get("/ask", headers=many)).status_code == 401
    assert keys.asked == []


async def test_who_cannot_be_told_now_is_asked_to_come_again_and_not_refused() -> None:
    async with client(Keys(away=True)) as http:
        response = await http.get("/ask", headers={"X-Brain-Key": "k"})
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert "www-authenticate" not in response.headers


async def test_a_challenge_of_a_resource_names_its_metadata() -> None:
    async with client(StaticBearer(TOKEN, "local"), resources=frozenset({"/mcp"})) as http:
        challenge = (await http.post("/mcp")).headers["www-authenticate"]
        assert 'resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource/mcp"' in challenge
        assert "resource_metadata" not in (await http.post("/ask")).headers["www-authenticate"]
        hostile = await http.post("/mcp", headers={"Host": 'x", evil="y'})
        assert "evil" not in hostile.headers["www-authenticate"]


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


def test_a_credential_does_not_show_itself() -> None:
    assert TOKEN not in repr(Credential(Way.BEARER, TOKEN.encode()))


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=60))
async def test_no_other_bytes_are_taken_for_the_token(given_bytes: bytes) -> None:
    verifier = StaticBearer(TOKEN, "local")
    headers = Headers(raw=[(b"authorization", b"Bearer " + given_bytes)])
    (credential,) = sent(headers)
    assert (await verifier.verify(credential) is not None) == (given_bytes.strip() == TOKEN.encode())


HEADERS = st.lists(
    st.tuples(
        st.sampled_from([b"authorization", b"x-brain-key"]),
        st.one_of(
            st.binary(max_size=40),
            st.binary(max_size=40).map(lambda secret: b"Bearer " + secret),
            st.sampled_from([b"Bearer " + TOKEN.encode(), b"Bearer a.b.c", b"Bearer eyJhbGciOiJub25lIn0.e30."]),
            st.binary(min_size=43, max_size=43).map(lambda secret: b"ctx_0123456789ab_" + secret),
        ),
    ),
    max_size=6,
)


@settings(deadline=None, max_examples=200)
@given(HEADERS)
async def test_no_headers_get_in_but_the_right_ones_and_none_break_anything(headers: list[tuple[bytes, bytes]]) -> None:
    async def nobody(_: ResolveKeyRequest) -> ResolvedKey:
        return ResolvedKey()

    verifiers = [StaticBearer(TOKEN, "local"), AgentKeys(nobody), SignedTokens(Rules(), "s" * 32)]
    answers: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        answers.append(message)

    scope = {"type": "http", "method": "GET", "path": "/ask", "headers": headers}
    await Authenticate(whoami, verifiers)(scope, receive, send)
    right = {(b"authorization", b"Bearer " + TOKEN.encode())}
    got_in = bool(headers) and {(name, value.strip()) for name, value in headers} == right
    assert answers[0]["status"] == (200 if got_in else 401)

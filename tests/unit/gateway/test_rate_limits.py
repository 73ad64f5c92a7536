"""Limits on a clock that the test moves."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import httpx
import pytest
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_contracts.messages.base import Principal
from cortex_gateway import auth_failures
from cortex_gateway.auth import Authenticate, Credential, Verifier
from cortex_gateway.auth_failures import FailedAttempts, client_of
from cortex_gateway.errors import TooManyAttempts
from cortex_gateway.rate_limits import RateClass, RateLimits, Rates, rate_class

OPEN = frozenset({"/health"})


class Clock:
    def __init__(self) -> None:
        self.now = 1_796_040_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The wall clock, which the library reads, too."""
    clock = Clock()
    monkeypatch.setattr(time, "time", clock)
    return clock


class ByName:
    """The bearer is the subject; `wrong…` is nobody's."""

    async def verify(self, credential: Credential) -> Principal | None:
        name = credential.secret.decode()
        return None if name.startswith("wrong") else Principal(org="local", subject=name)


async def ok(scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse({})(scope, receive, send)


def app(rates: Rates, failures: FailedAttempts | None = None, verifiers: Sequence[Verifier] = (ByName(),)) -> ASGIApp:
    return Authenticate(RateLimits(ok, rates, OPEN), verifiers, OPEN, failures=failures)


def client(served: ASGIApp, address: str = "192.0.2.1") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(served, client=(address, 1234))
    return httpx.AsyncClient(transport=transport, base_url="http://test")


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}"}


async def test_beyond_the_limit_a_principal_waits_for_the_oldest_request_to_be_a_minute_old(clock: Clock) -> None:
    async with client(app(Rates({RateClass.REQUESTS: 3}))) as http:
        for left in (2, 1, 0):
            answer = await http.get("/ask", headers=bearer("mona"))
            assert answer.status_code == 200
            assert answer.headers["ratelimit-policy"] == '"requests";q=3;w=60'
            assert answer.headers["ratelimit"].startswith(f'"requests";r={left};t=')
            clock.now += 10
        refused = await http.get("/ask", headers=bearer("mona"))
        assert refused.status_code == 429
        assert refused.json()["error"] == "rate_limited"
        assert refused.headers["ratelimit"] == '"requests";r=0;t=31'
        wait_s = int(refused.headers["retry-after"])
        assert wait_s == 31

        # Not to the second: on it the library's own thread may have swept the oldest away, or not yet.
        clock.now += wait_s - 2
        assert (await http.get("/ask", headers=bearer("mona"))).status_code == 429
        clock.now += 2
        assert (await http.get("/ask", headers=bearer("mona"))).status_code == 200
        assert (await http.get("/ask", headers=bearer("mona"))).status_code == 429, "only one was forgotten"


async def test_whoever_waits_as_long_as_it_is_told_gets_in(clock: Clock) -> None:
    async with client(app(Rates({RateClass.REQUESTS: 2}))) as http:
        for step in (0.0, 0.25, 7.75, 0.1, 13.3):
            clock.now += step
            answer = await http.get("/ask", headers=bearer("mona"))
            if answer.status_code == 429:
                assert re.fullmatch(r"[1-9]\d*", answer.headers["retry-after"])
                clock.now += int(answer.headers["retry-after"])
                assert (await http.get("/ask", headers=bearer("mona"))).status_code == 200


async def test_principals_and_classes_are_counted_apart(clock: Clock) -> None:
    rates = Rates({RateClass.REQUESTS: 1, RateClass.BULK: 2, RateClass.CHAT: 1})
    async with client(app(rates)) as http:
        assert (await http.get("/ask", headers=bearer("mona"))).status_code == 200
        assert (await http.get("/ask", headers=bearer("mona"))).status_code == 429
        assert (await http.get("/ask", headers=bearer("eve"))).status_code == 200
        for status in (200, 200, 429):
            assert (await http.post("/api/v1/brain/sync", headers=bearer("mona"))).status_code == status
        for status in (200, 429):
            assert (await http.post("/v1/chat/completions", headers=bearer("mona"))).status_code == status


async def test_two_ports_count_together(clock: Clock) -> None:
    rates = Rates({RateClass.REQUESTS: 1})
    async with client(app(rates)) as one, client(app(rates)) as other:
        assert (await one.get("/mcp", headers=bearer("mona"))).status_code == 200
        assert (await other.get("/sse", headers=bearer("mona"))).status_code == 429


async def test_zero_is_no_limit_and_what_is_open_is_never_counted(clock: Clock) -> None:
    async with client(app(Rates({RateClass.REQUESTS: 0}))) as http:
        for _ in range(50):
            answer = await http.get("/ask", headers=bearer("mona"))
            assert (answer.status_code, "ratelimit" in answer.headers) == (200, False)
    async with client(app(Rates({RateClass.REQUESTS: 1}))) as http:
        for _ in range(5):
            assert (await http.get("/health")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("GET", "/api/v1/brain/query", RateClass.REQUESTS),
        ("PUT", "/api/v1/brain/pages/a", RateClass.REQUESTS),
        ("POST", "/api/v1/brain/pages/a/import", RateClass.BULK),
        ("POST", "/api/v1/brain/pages/a/b/import", RateClass.BULK),
        ("POST", "/api/v1/brain/sync", RateClass.BULK),
        ("GET", "/api/v1/brain/sync/status", RateClass.BULK),
        ("POST", "/api/v1/memory/batch", RateClass.BULK),
        ("PUT", "/api/v1/memory/documents/a%2Fb", RateClass.BULK),
        ("GET", "/api/v1/memory/documents/a", RateClass.REQUESTS),
        ("POST", "/v1/chat/completions", RateClass.CHAT),
        ("POST", "/mcp", RateClass.REQUESTS),
    ],
)
def test_what_a_migration_sends_and_chats_have_classes_of_their_own(method: str, path: str, kind: RateClass) -> None:
    assert rate_class(method, path) is kind


async def test_many_wrong_credentials_from_one_address_end_with_429(clock: Clock) -> None:
    served = app(Rates({}), FailedAttempts(3))
    async with client(served) as http, client(served, "192.0.2.2") as elsewhere:
        assert (await http.get("/ask", headers=bearer("known"))).status_code == 200
        for number in range(3):
            assert (await http.get("/ask", headers=bearer(f"wrong{number}"))).status_code == 401
        refused = await http.get("/ask", headers=bearer("wrong3"))
        assert (refused.status_code, refused.json()["error"]) == (429, "rate_limited")
        assert "www-authenticate" not in refused.headers
        assert (await http.get("/ask", headers=bearer("right"))).status_code == 429, "a guess that hits is not told"
        assert (await http.get("/ask", headers=bearer("known"))).status_code == 200
        assert (await elsewhere.get("/ask", headers=bearer("right"))).status_code == 200
        assert (await http.get("/health")).status_code == 200
        clock.now += int(refused.headers["retry-after"])
        assert (await http.get("/ask", headers=bearer("later"))).status_code == 200


async def test_a_client_that_repeats_one_wrong_credential_locks_nobody_out(clock: Clock) -> None:
    async with client(app(Rates({}), FailedAttempts(2))) as http:
        for _ in range(50):
            assert (await http.get("/ask", headers=bearer("wrong"))).status_code == 401
        assert (await http.get("/ask")).status_code == 401, "nothing was tried"
        assert (await http.get("/ask", headers=bearer("new"))).status_code == 200


def test_a_credential_that_stops_working_is_not_trusted_any_more(clock: Clock) -> None:
    failures = FailedAttempts(1)
    failures.proved(b"revoked")
    failures.failed("192.0.2.1", b"revoked", "key")
    with pytest.raises(TooManyAttempts):
        failures.check("192.0.2.1", b"revoked")


def test_what_is_remembered_of_credentials_is_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth_failures, "MOST", 5)
    failures = FailedAttempts(1000)
    for number in range(20):
        failures.proved(b"good%d" % number)
        failures.failed("192.0.2.1", b"bad%d" % number, "key")
    assert len(failures._working) == len(failures._wrong) == 5


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_address_of_ipv6_is_counted_with_its_network(host: str, counted: str) -> None:
    assert client_of({"type": "http", "client": (host, 1)}) == counted


def test_a_request_without_an_address_is_counted_too() -> None:
    assert client_of({"type": "http", "client": None}) == ""

"""Signed tokens at a real gateway: a shared secret, the keys of an issuer over HTTP, rotation, outages; and limits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from cortex_contracts.errors import Unavailable
from cortex_gateway.auth_jwks import MAX_BYTES, Issuer, parse

SECRET = "a-secret-of-the-test-with-32-bytes-or-more"
AUDIENCE = "cortex"


class PlayedIssuer:
    """Publishes keys, when it is there."""

    def __init__(self) -> None:
        self.keys = {"first": ec.generate_private_key(ec.SECP256R1())}
        self.status = 200
        self.body: bytes | None = None
        self.asked = 0
        self.redirect = ""
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked += 1
                body = issuer.published() if issuer.body is None else issuer.body
                self.send_response(issuer.status)
                if issuer.redirect:
                    self.send_header("Location", issuer.redirect)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/.well-known/jwks.json?tenant=x"

    def published(self) -> bytes:
        keys = [{**json.loads(ECAlgorithm.to_jwk(key.public_key())), "kid": kid} for kid, key in self.keys.items()]
        return json.dumps({"keys": keys}).encode()

    def token(self, kid: str = "first", **claims: object) -> dict[str, str]:
        usual = {"org": "local", "sub": "mona", "aud": AUDIENCE, "exp": datetime.now(UTC) + timedelta(minutes=5)}
        return {"Authorization": f"Bearer {jwt.encode({**usual, **claims}, self.keys[kid], 'ES256', {'kid': kid})}"}


@pytest.fixture
def issuer() -> Iterator[PlayedIssuer]:
    played = PlayedIssuer()
    thread = Thread(target=played.server.serve_forever)
    thread.start()
    yield played
    played.server.shutdown()
    thread.join()
    played.server.server_close()


async def status(gateway: Any, headers: dict[str, str]) -> int:
    async with httpx.AsyncClient(headers=headers, timeout=20, trust_env=False) as http:
        return (await http.get(gateway.url)).status_code


async def test_the_tokens_of_an_issuer_and_of_a_secret_work_beside_the_static_one(
    start_gateway: Any, issuer: PlayedIssuer
) -> None:
    settings = {
        "CORTEX_JWT_JWKS_URL": issuer.url,
        "CORTEX_JWT_SECRET": SECRET,
        "CORTEX_JWT_AUDIENCE": AUDIENCE,
    }
    async with start_gateway(**settings) as gateway:
        shared = {"org": "local", "sub": "mona", "aud": AUDIENCE, "exp": datetime.now(UTC) + timedelta(minutes=5)}
        assert await status(gateway, {"Authorization": f"Bearer {jwt.encode(shared, SECRET)}"}) == 200
        assert await status(gateway, gateway.headers) == 200
        assert issuer.asked == 0, "nobody needed its keys"
        for _ in range(3):
            assert await status(gateway, issuer.token()) == 200
        assert await status(gateway, issuer.token(aud="another")) == 401
        assert await status(gateway, issuer.token(exp=datetime.now(UTC) - timedelta(minutes=1))) == 401
        assert issuer.asked == 1

        issuer.keys["second"] = ec.generate_private_key(ec.SECP256R1())
        assert await status(gateway, issuer.token("second")) == 401, "asked a moment ago: not again so soon"
        assert issuer.asked == 1
    settings["CORTEX_JWT_ISSUER"] = "https://issuer.example"
    async with start_gateway(**settings) as gateway, gateway.http(None) as http:
        assert await status(gateway, issuer.token("second", iss="https://issuer.example")) == 200
        assert await status(gateway, issuer.token("second")) == 401
        sse = gateway.sse_url.removesuffix("/sse")
        for server, path in ((gateway.url, ""), (gateway.url, "/mcp"), (sse, "/sse")):
            found = (await http.get(f"{server}/.well-known/oauth-protected-resource{path}")).json()
            assert (found["resource"], found["authorization_servers"]) == (server + path, ["https://issuer.example"])


async def test_an_issuer_that_is_away_refutes_nobody(start_gateway: Any, issuer: PlayedIssuer) -> None:
    issuer.status = 503
    async with start_gateway(CORTEX_JWT_JWKS_URL=issuer.url, CORTEX_JWT_AUDIENCE=AUDIENCE) as gateway:
        async with httpx.AsyncClient(headers=issuer.token(), timeout=20, trust_env=False) as http:
            answer = await http.get(gateway.url)
        assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
        assert int(answer.headers["retry-after"]) >= 1
        assert await status(gateway, gateway.headers) == 200


async def test_an_issuer_that_answers_wrongly_is_as_good_as_away(issuer: PlayedIssuer) -> None:
    asked = Issuer(issuer.url)
    try:
        assert [key.key_id for key in parse(await asked.fetch())] == ["first"]
        issuer.body = b"<html>"
        with pytest.raises(Unavailable, match="no key set"):
            parse(await asked.fetch())
        issuer.body = issuer.published() + b" " * MAX_BYTES
        with pytest.raises(Unavailable, match="more than"):
            await asked.fetch()
        issuer.body, issuer.status = None, 404
        with pytest.raises(Unavailable, match="status 404"):
            await asked.fetch()
        issuer.status, issuer.redirect = 302, "http://127.0.0.1:1/keys"
        with pytest.raises(Unavailable, match="redirect"):
            await asked.fetch()
    finally:
        await asked.close()


def test_an_issuer_whose_answers_anybody_could_change_stops_the_start(start_gateway: Any) -> None:
    with start_gateway.started(CORTEX_JWT_JWKS_URL="http://issuer.example/keys") as gateway:
        assert gateway.process.wait(timeout=30) == 2
    assert "CORTEX_JWT_JWKS_URL: expected https beyond loopback" in start_gateway.log


async def test_a_principal_is_limited_over_both_ports_and_health_is_not(start_gateway: Any) -> None:
    async with start_gateway(CORTEX_RATE_REQUESTS="3", CORTEX_RATE_FAILURES="2") as gateway:
        async with gateway.http() as http:
            for _ in range(2):
                assert (await http.get("/")).status_code == 200
            sse = gateway.sse_url.removesuffix("/sse")
            assert (await http.post(f"{sse}/messages/?session_id={'0' * 32}", json={})).status_code < 500
            refused = await http.get("/")
            assert (refused.status_code, refused.json()["error"]) == (429, "rate_limited")
            assert 1 <= int(refused.headers["retry-after"]) <= 60
            assert (await http.post(f"{sse}/messages/?session_id={'0' * 32}", json={})).status_code == 429
            assert (await http.post("/api/v1/brain/sync")).status_code != 429
            for _ in range(5):
                assert (await http.get("/health")).status_code == 200
        for number, expected in enumerate((401, 401, 429)):
            assert await status(gateway, {"Authorization": f"Bearer guess-{number}"}) == expected
        assert await status(gateway, gateway.headers) == 429, "it is known, and still beyond its own limit"

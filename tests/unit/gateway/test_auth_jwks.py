"""The keys of an issuer: kept, renewed, rotated, and missed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given, settings
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from cortex_contracts.errors import Permanent, Unavailable
from cortex_gateway.auth_jwks import FRESH_S, REFRESH_S, Issuer, Jwks, parse


def published(kid: str | None, **more: Any) -> dict[str, Any]:
    key = json.loads(ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()).public_key()))
    return {**key, **({} if kid is None else {"kid": kid}), **more}


class PlayedIssuer:
    def __init__(self, *kids: str) -> None:
        self.keys = {kid: published(kid) for kid in kids}
        self.asked = 0
        self.away = False
        self.now = 1000.0

    def clock(self) -> float:
        return self.now

    async def fetch(self) -> bytes:
        self.asked += 1
        if self.away:
            raise Unavailable("the issuer of tokens does not answer")
        return json.dumps({"keys": list(self.keys.values())}).encode()


async def kids(jwks: Jwks, kid: str | None) -> list[str | None]:
    return [key.key_id for key in await jwks.find(kid, "ES256")]


async def refreshed(jwks: Jwks) -> None:
    if jwks._asking is not None:
        await jwks._asking


async def test_keys_are_fetched_once_for_all_who_ask() -> None:
    issuer = PlayedIssuer("a", "b")
    jwks = Jwks(issuer.fetch, issuer.clock)
    assert await asyncio.gather(*(kids(jwks, "a") for _ in range(10))) == [["a"]] * 10
    assert await kids(jwks, None) == ["a", "b"]
    assert issuer.asked == 1


async def test_a_new_key_is_found_when_a_token_names_it() -> None:
    issuer = PlayedIssuer("old")
    jwks = Jwks(issuer.fetch, issuer.clock)
    assert await kids(jwks, "old") == ["old"]
    issuer.keys["new"] = published("new")
    issuer.now += REFRESH_S
    assert await kids(jwks, "new") == ["new"]
    assert await kids(jwks, "old") == ["old"], "both are good during a rotation"


async def test_made_up_key_ids_ask_the_issuer_seldom() -> None:
    issuer = PlayedIssuer("a")
    jwks = Jwks(issuer.fetch, issuer.clock)
    for number in range(50):
        assert await kids(jwks, f"made-up-{number}") == []
    assert issuer.asked == 1
    issuer.now += REFRESH_S
    for number in range(50):
        assert await kids(jwks, f"made-up-{number}") == []
    assert issuer.asked == 2


async def test_a_withdrawn_key_is_forgotten_behind_a_request() -> None:
    issuer = PlayedIssuer("old", "new")
    jwks = Jwks(issuer.fetch, issuer.clock)
    assert await kids(jwks, "old") == ["old"]
    del issuer.keys["old"]
    issuer.now += FRESH_S
    assert await kids(jwks, "old") == ["old"]
    await refreshed(jwks)
    assert await kids(jwks, "old") == []
    assert await kids(jwks, "new") == ["new"]


async def test_while_the_issuer_is_away_known_keys_stay_and_unknown_ones_cannot_be_told() -> None:
    issuer = PlayedIssuer("a")
    jwks = Jwks(issuer.fetch, issuer.clock)
    assert await kids(jwks, "a") == ["a"]
    issuer.away = True
    for _ in range(20):
        issuer.now += FRESH_S
        assert await kids(jwks, "a") == ["a"]
        await refreshed(jwks)
    with pytest.raises(Unavailable):
        await kids(jwks, "b")
    issuer.away = False
    issuer.now += REFRESH_S
    issuer.keys["b"] = published("b")
    assert await kids(jwks, "b") == ["b"]


async def test_an_issuer_that_was_never_there_proves_nothing_and_refutes_nothing() -> None:
    issuer = PlayedIssuer("a")
    issuer.away = True
    jwks = Jwks(issuer.fetch, issuer.clock)
    for _ in range(3):
        with pytest.raises(Unavailable):
            await kids(jwks, "a")
    assert issuer.asked == 1
    issuer.away = False
    issuer.now += REFRESH_S
    assert await kids(jwks, "a") == ["a"]


def test_what_is_no_key_for_verifying_is_left_out() -> None:
    good = published("good")
    short = json.loads(RSAAlgorithm.to_jwk(rsa.generate_private_key(public_exponent=65537, key_size=2048).public_key()))
    left_out = [
        published("encryption", use="enc"),
        published("private", d="AA"),
        published("number") | {"kid": 7},
        published("other curve", crv="P-384"),
        {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"},
        {"kty": "RSA", "kid": "half"},
        {"kty": "unheard of"},
        {**short, "alg": "PS256", "kid": "other padding"},
        "text",
        None,
    ]
    assert [key.key_id for key in parse(json.dumps({"keys": [*left_out, good]}).encode())] == ["good"]


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"keys": 7}', b"[" * 5000, b"\xff\xfe"])
def test_what_is_no_key_set_is_an_outage_and_not_an_empty_set(body: bytes) -> None:
    with pytest.raises(Unavailable):
        parse(body)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["kty", "kid", "crv", "x", "y", "n", "e", "use", "alg", "k"]),
            st.sampled_from(
                ["EC", "RSA", "OKP", "oct", "P-256", "Ed25519", "AQAB", "", "é", "A" * 43, 7, None, [], {}]
            ),
        ),
        max_size=4,
    )
)
def test_no_key_breaks_the_others(keys: list[dict[str, Any]]) -> None:
    good = published("good")
    assert "good" in [key.key_id for key in parse(json.dumps({"keys": [*keys, good]}).encode())]


@pytest.mark.parametrize(
    "url",
    [
        "issuer",
        "ftp://issuer.example/keys",
        "http://issuer.example/keys",
        "https://user:pw@issuer.example/keys",
        "https://",
    ],
)
def test_an_address_whose_answers_could_be_changed_is_refused(url: str) -> None:
    with pytest.raises(Permanent, match="CORTEX_JWT_JWKS_URL") as refused:
        Issuer(url)
    assert "issuer.example" not in str(refused.value)


@pytest.mark.parametrize("url", ["https://issuer.example/keys?p=x", "http://127.0.0.1:1/keys", "http://localhost/keys"])
async def test_an_address_over_tls_or_on_this_machine_is_taken(url: str) -> None:
    await Issuer(url).close()

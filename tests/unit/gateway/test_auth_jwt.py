"""Signed tokens: what proves a principal, and everything that does not."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st
from jwt import algorithms

from cortex_contracts.messages.base import Principal
from cortex_gateway.auth import Credential, Way
from cortex_gateway.auth_jwks import Jwks, parse
from cortex_gateway.auth_jwt import Rules, SignedTokens

SECRET = "a-secret-of-the-test-with-32-bytes-or-more"
OTHER_SECRET = "another-secret-of-the-test-with-32-bytes"
NOW = 1_796_040_000
"""30 November 2026, 12:00 UTC."""
CLAIMS: dict[str, Any] = {
    "org": "acme",
    "sub": "mona",
    "exp": NOW + 600,
    "iat": NOW - 10,
    "aud": "cortex",
    "iss": "https://issuer.example",
}
RULES = Rules(audience="cortex", issuer="https://issuer.example")


class Moment(datetime):
    """A clock that stands still where the test has put it."""

    seconds = NOW

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return datetime.fromtimestamp(cls.seconds, tz)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Moment]:
    monkeypatch.setattr("jwt.api_jwt.datetime", Moment)
    monkeypatch.setattr(Moment, "seconds", NOW)
    return Moment


def token(changes: Mapping[str, Any] | None = None, key: Any = SECRET, algorithm: str = "HS256", **headers: Any) -> str:
    """A token with the usual claims; a change to none leaves one out."""
    claims = {name: value for name, value in {**CLAIMS, **(changes or {})}.items() if value is not None}
    return jwt.encode(claims, key, algorithm, headers=headers)


def part(value: object) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(header: object, claims: object, key: bytes = SECRET.encode()) -> str:
    """A token with any header and any claims that HMAC has signed."""
    body = f"{part(header)}.{part(claims)}"
    return f"{body}.{part(hmac.digest(key, body.encode(), hashlib.sha256))}"


async def proved(text: str, verifier: SignedTokens | None = None) -> Principal | None:
    return await (verifier or SignedTokens(RULES, SECRET)).verify(Credential(Way.BEARER, text.encode()))


async def test_org_and_subject_come_from_the_claims() -> None:
    assert await proved(token()) == Principal(org="acme", subject="mona", role="member", authenticated_by="jwt")


async def test_a_token_may_narrow_and_may_say_a_role() -> None:
    principal = await proved(token({"role": "owner", "readable": ["atlas", "nile"], "writable": ["atlas"]}))
    assert principal is not None
    assert (principal.role, principal.readable, principal.writable) == ("owner", ("atlas", "nile"), ("atlas",))
    nothing = await proved(token({"readable": [], "writable": []}))
    assert nothing is not None
    assert (nothing.readable, nothing.writable) == ((), ())


async def test_the_claim_of_the_org_has_the_name_that_is_configured() -> None:
    verifier = SignedTokens(Rules(audience="cortex", org_claim="tenant"), SECRET)
    principal = await proved(token({"tenant": "nile"}), verifier)
    assert principal is not None
    assert principal.org == "nile"
    assert await proved(token(), verifier) is None


@pytest.mark.parametrize(
    ("claim", "moved", "taken"),
    [
        ("exp", -29, True),
        ("exp", -30, False),
        ("nbf", 30, True),
        ("nbf", 31, False),
        ("iat", 30, True),
        ("iat", 31, False),
    ],
)
async def test_clocks_may_differ_by_the_leeway(claim: str, moved: int, taken: bool) -> None:
    assert (await proved(token({claim: NOW + moved})) is not None) is taken


async def test_a_token_that_works_now_does_not_when_its_time_is_over(clock: type[Moment]) -> None:
    made = token()
    assert await proved(made)
    clock.seconds = NOW + 600 + 30
    assert await proved(made) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": None},
        {"sub": None},
        {"org": None},
        {"aud": None},
        {"iss": None},
        {"aud": "another"},
        {"aud": ["another", "third"]},
        {"iss": "https://evil.example"},
        {"exp": NOW - 31},
        {"exp": str(NOW + 600)},
        {"exp": True},
        {"nbf": NOW + 31},
        {"nbf": str(NOW)},
        {"sub": 7},
        {"sub": ""},
        {"sub": ["mona"]},
        {"sub": "x" * 201},
        {"sub": "mona\x00"},
        {"org": 7},
        {"org": ""},
        {"org": "Acme Inc"},
        {"org": "acme.*"},
        {"org": ["acme"]},
        {"org": {"id": "acme"}},
        {"role": 1},
        {"role": ["owner"]},
        {"role": "x" * 201},
        {"readable": "atlas"},
        {"readable": {"atlas": True}},
        {"readable": [7]},
        {"readable": ["Atlas"]},
        {"readable": ["*"]},
        {"writable": [None]},
        {"writable": [f"n{number}" for number in range(65)]},
    ],
    ids=str,
)
async def test_claims_that_prove_nobody(changes: dict[str, Any]) -> None:
    assert await proved(token(changes)) is None


async def test_an_audience_of_several_may_have_ours_in_it() -> None:
    assert await proved(token({"aud": ["another", "cortex"]}))


async def test_without_a_configured_audience_a_token_for_somebody_is_refused() -> None:
    verifier = SignedTokens(Rules(), SECRET)
    assert await proved(token({"aud": None}), verifier)
    assert await proved(token(), verifier) is None


RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
KEYS: dict[str, Any] = {"RS256": RSA, "ES256": EC, "EdDSA": ED}


def public(key: Any, **more: Any) -> dict[str, Any]:
    """A key as an issuer publishes it."""
    kind: Any = {
        rsa.RSAPrivateKey: algorithms.RSAAlgorithm,
        ec.EllipticCurvePrivateKey: algorithms.ECAlgorithm,
        ed25519.Ed25519PrivateKey: algorithms.OKPAlgorithm,
    }[
        next(
            base
            for base in (rsa.RSAPrivateKey, ec.EllipticCurvePrivateKey, ed25519.Ed25519PrivateKey)
            if isinstance(key, base)
        )
    ]
    return {**json.loads(kind.to_jwk(key.public_key())), **more}


def key_set(*keys: dict[str, Any]) -> bytes:
    return json.dumps({"keys": list(keys)}).encode()


PUBLISHED = key_set(*(public(key, kid=name) for name, key in KEYS.items()))


def published(body: bytes = PUBLISHED, secret: str = "") -> SignedTokens:
    async def fetch() -> bytes:
        return body

    return SignedTokens(RULES, secret, Jwks(fetch))


@pytest.mark.parametrize("algorithm", KEYS)
async def test_the_keys_of_an_issuer_verify_its_tokens(algorithm: str) -> None:
    assert await proved(token(key=KEYS[algorithm], algorithm=algorithm, kid=algorithm), published())
    assert await proved(token(key=KEYS[algorithm], algorithm=algorithm), published()), "of an issuer without key ids"


@pytest.mark.parametrize("algorithm", KEYS)
async def test_a_key_of_somebody_else_verifies_nothing(algorithm: str) -> None:
    others: dict[str, Any] = {
        "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
        "ES256": ec.generate_private_key(ec.SECP256R1()),
        "EdDSA": ed25519.Ed25519PrivateKey.generate(),
    }
    assert await proved(token(key=others[algorithm], algorithm=algorithm, kid=algorithm), published()) is None


@pytest.mark.parametrize(
    "headers",
    [
        {"kid": "ES256"},
        {"kid": "unknown"},
        {"kid": "../../dev/null"},
        {"kid": ""},
        {"jku": "https://evil.example/keys", "kid": "unknown"},
        {"jwk": public(RSA), "kid": "unknown"},
        {"crit": ["x"], "x": 1, "kid": "RS256"},
    ],
    ids=["other", "unknown", "path", "empty", "jku", "jwk", "crit"],
)
async def test_a_header_chooses_no_key(headers: dict[str, Any]) -> None:
    assert await proved(token(key=RSA, algorithm="RS256", **headers), published()) is None


@pytest.mark.parametrize(
    "algorithm", ["none", "None", "NONE", "nOnE", "", None, 1, [], {}, ["HS256"], "HS512", "PS256"]
)
@pytest.mark.parametrize("signature", ["", "kept"])
async def test_an_algorithm_that_is_not_ours_is_refused(algorithm: object, signature: str) -> None:
    text = signed({"alg": algorithm, "typ": "JWT", "kid": "RS256"}, CLAIMS)
    if not signature:
        text = text.rpartition(".")[0] + "."
    assert await proved(text) is None
    assert await proved(text, published(secret=SECRET)) is None


async def test_a_public_key_is_no_secret() -> None:
    """The old confusion of HMAC and RSA: a token that is signed with the public key as if it were a secret."""
    for form in (
        RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        json.dumps(public(RSA)).encode(),
    ):
        text = signed({"alg": "HS256", "typ": "JWT", "kid": "RS256"}, CLAIMS, form)
        assert await proved(text, published()) is None
        assert await proved(text, published(secret=SECRET)) is None


async def test_a_secret_in_a_key_set_signs_nothing() -> None:
    symmetric = {"kty": "oct", "kid": "RS256", "k": part(OTHER_SECRET.encode()), "alg": "HS256"}
    assert parse(key_set(symmetric)) == ()
    assert await proved(token(key=OTHER_SECRET, kid="RS256"), published(key_set(symmetric))) is None


async def test_without_a_secret_no_hmac_is_taken_and_without_keys_no_signature() -> None:
    assert await proved(token(), published()) is None
    assert await proved(signed({"alg": "HS256"}, CLAIMS, b""), SignedTokens(RULES)) is None
    assert await proved(token(key=RSA, algorithm="RS256", kid="RS256")) is None


async def test_both_kinds_work_side_by_side() -> None:
    verifier = published(secret=SECRET)
    assert await proved(token(), verifier)
    assert await proved(token(key=ED, algorithm="EdDSA", kid="EdDSA"), verifier)


async def test_a_token_comes_as_a_bearer_only() -> None:
    assert await SignedTokens(RULES, SECRET).verify(Credential(Way.KEY, token().encode())) is None


@pytest.mark.parametrize(
    "text",
    [
        signed({"alg": "HS256"}, b"[" * 3000),
        signed({"alg": "HS256"}, b'{"exp": 1e999, "sub": "mona", "org": "acme"}'),
        signed({"alg": "HS256"}, b'{"exp": NaN, "sub": "mona", "org": "acme"}'),
        signed({"alg": "HS256"}, ("9" * 5000).encode()),
        signed(b"[" * 3000, CLAIMS),
        signed([], CLAIMS),
        signed({"alg": "HS256", "kid": 7}, CLAIMS),
        signed({"alg": "HS256", "b64": False, "crit": ["b64"]}, CLAIMS),
        "a.b.c",
        "..",
    ],
    ids=range(10),
)
async def test_hostile_tokens_are_refused_and_break_nothing(text: str) -> None:
    assert await proved(text, published(secret=SECRET)) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
CLAIM = st.sampled_from(["org", "sub", "exp", "nbf", "iat", "aud", "iss", "role", "readable", "writable", "jti"])
GARBAGE = st.one_of(
    st.binary(max_size=60),
    st.builds(lambda parts: b".".join(parts), st.lists(st.binary(max_size=30), min_size=3, max_size=3)),
    st.builds(lambda header, claims: signed(header, claims).encode(), JSON, JSON),
    st.builds(
        lambda changes: signed({"alg": "HS256"}, {**CLAIMS, **changes}).encode(),
        st.dictionaries(CLAIM, JSON, min_size=1, max_size=3),
    ),
)


@settings(deadline=None, max_examples=300)
@given(GARBAGE)
async def test_garbage_is_refused_or_proves_what_it_says_and_never_fails(text: bytes) -> None:
    principal = await published(secret=SECRET).verify(Credential(Way.BEARER, text))
    if principal is not None:
        claims = json.loads(base64.urlsafe_b64decode(text.split(b".")[1] + b"=="))
        assert (principal.org, principal.subject) == (claims["org"], claims["sub"])
        assert claims["aud"] == "cortex" or "cortex" in claims["aud"]
        assert datetime.fromtimestamp(claims["exp"], UTC).timestamp() > NOW - 30

"""Signed tokens (JWT, RFC 7519): the org and the subject come from claims that an issuer has signed.

HS256 with a shared secret, and RS256, ES256 or EdDSA with the keys that the issuer publishes. Each kind of key verifies
its own algorithm only, so that no token chooses how it is checked (RFC 8725 section 3.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import jwt
from pydantic import ValidationError

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.keys import MAX_KEY_NAMESPACES, Role
from cortex_gateway.auth import Credential, Way
from cortex_gateway.auth_jwks import ALGORITHMS, Jwks

HMAC: Final = "HS256"
AUTHENTICATED_BY: Final = "jwt"
UNREADABLE: Final = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)
"""What tokens that are none do to a parser; numbers beyond a float and deep nesting among it."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a token must say. Empty: any issuer; no audience: then a token that names one is for somebody else."""

    audience: str = ""
    issuer: str = ""
    leeway_s: float = 30.0
    org_claim: str = "org"


class SignedTokens:
    """Verifies JWTs that come as a bearer."""

    def __init__(self, rules: Rules, secret: str = "", keys: Jwks | None = None) -> None:
        self._rules = rules
        self._secret = secret.encode()
        self._keys = keys

    async def verify(self, credential: Credential) -> Principal | None:
        """See `Verifier`.

        Raises:
            Unavailable: the issuer publishes the key, and cannot be asked for it.
        """
        if credential.way is not Way.BEARER or credential.secret.count(b".") != 2:
            return None
        try:
            header = jwt.get_unverified_header(credential.secret)
        except UNREADABLE:
            return None
        algorithm, kid = header.get("alg"), header.get("kid")
        if not isinstance(algorithm, str):
            return None
        if algorithm == HMAC and self._secret:
            return self._principal(self._claims(credential.secret, self._secret, algorithm))
        if algorithm not in ALGORITHMS or self._keys is None:
            return None
        for key in await self._keys.find(kid, algorithm):
            if claims := self._claims(credential.secret, key, algorithm):
                return self._principal(claims)
        return None

    def _claims(self, token: bytes, key: bytes | jwt.PyJWK, algorithm: str) -> dict[str, Any] | None:
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self._rules.audience or None,
                issuer=self._rules.issuer or None,
                leeway=self._rules.leeway_s,
                options={"require": ["exp", "sub", self._rules.org_claim], "enforce_minimum_key_length": True},
            )
        except UNREADABLE:
            return None

    def _principal(self, claims: dict[str, Any] | None) -> Principal | None:
        # The parser takes "1764500000", too; a time is a number (RFC 7519 section 2).
        if claims is None or any(not isinstance(claims.get(name, 0), int | float) for name in ("exp", "nbf", "iat")):
            return None
        role = claims.get("role")
        try:
            return Principal(
                org=claims[self._rules.org_claim],
                subject=claims["sub"],
                role=Role.MEMBER if role is None else role,
                authenticated_by=AUTHENTICATED_BY,
                readable=_namespaces(claims.get("readable")),
                writable=_namespaces(claims.get("writable")),
            )
        except (ValidationError, ValueError):
            return None


def _namespaces(claim: object) -> tuple[str, ...] | None:
    """The namespaces of a claim; none: it is not there. Raises ValueError: it is no list of a reasonable length."""
    if claim is None:
        return None
    if not isinstance(claim, Sequence) or isinstance(claim, str) or len(claim) > MAX_KEY_NAMESPACES:
        raise ValueError("expected a list of namespaces")
    return tuple(claim)

"""Who asks: verifiers turn the credentials of a request into a principal, and nothing is served without one.

A verifier knows one kind of credential. Others (signed tokens, keys per agent) are added beside the static bearer.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Final, Protocol

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_contracts.messages.base import Principal
from cortex_gateway.errors import Unauthorized
from cortex_gateway.problems import problem

OPEN_PATHS: Final = frozenset({"/health"})
"""Of REST; the service itself serves liveness, readiness and metrics on every port."""
OWNER: Final = "owner"
_STATE: Final = "principal"


class Verifier(Protocol):
    """Knows one kind of credential."""

    async def verify(self, headers: Headers) -> Principal | None:
        """The principal that the credentials prove; None when there are none of this kind, or they prove nobody."""
        ...


class StaticBearer:
    """One configured bearer token, which stands for one configured principal."""

    def __init__(self, token: str, org: str) -> None:
        self._digest = _digest(token.encode())
        self._principal = Principal(org=org, subject=OWNER)

    async def verify(self, headers: Headers) -> Principal | None:
        """See `Verifier`; takes the same time for every wrong token."""
        token = bearer(headers)
        # Digests have one length, so the comparison tells nothing about the token's.
        return self._principal if token and hmac.compare_digest(_digest(token), self._digest) else None


class Authenticate:
    """ASGI middleware: a request goes on with its principal, or ends with 401."""

    def __init__(self, app: ASGIApp, verifiers: Sequence[Verifier], open_paths: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._verifiers = tuple(verifiers)
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let through what is open or authenticated."""
        if scope["type"] == "lifespan" or is_open(scope, self._open_paths):
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        for verifier in self._verifiers:
            if principal := await verifier.verify(headers):
                scope.setdefault("state", {})[_STATE] = principal
                return await self._app(scope, receive, send)
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": 1008})
        challenge = 'Bearer realm="cortex"'
        if bearer(headers):
            challenge += ', error="invalid_token"'
        expected = "expected valid credentials: Authorization: Bearer <token>"
        if not self._verifiers:
            expected = "no credentials are configured: set CORTEX_HTTP_TOKEN and start the gateway again"
        refusal = problem(401, "unauthorized", expected, headers={"WWW-Authenticate": challenge})
        await refusal(scope, receive, send)


def principal_of(request: Request) -> Principal:
    """The principal of an authenticated request.

    Raises:
        Unauthorized: it was not authenticated.
    """
    principal = request.scope.get("state", {}).get(_STATE)
    if not isinstance(principal, Principal):
        raise Unauthorized("expected an authenticated request")
    return principal


def is_open(scope: Scope, paths: frozenset[str]) -> bool:
    """Whether a request needs no credentials: it reads one of the open paths."""
    return scope["type"] == "http" and scope["method"] == "GET" and scope["path"] in paths


def bearer(headers: Headers) -> bytes:
    """The bearer token that was sent, as bytes; empty without one."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    # Starlette decodes headers as latin-1: this gives back the bytes that were sent.
    return token.strip().encode("latin-1") if scheme.lower() == "bearer" else b""


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()

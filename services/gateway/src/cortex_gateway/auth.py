"""Who asks: verifiers turn the credentials of a request into a principal, and nothing is served without one.

Three ways in, one principal: the static bearer (here), keys of agents (`auth_keys`) and signed tokens (`auth_jwt`). A
request may carry several credentials: each must prove somebody, and all of them the same principal. One that proves
nobody is never passed over for another.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_contracts.errors import CortexError
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.keys import Role
from cortex_gateway.auth_failures import FailedAttempts, client_of
from cortex_gateway.auth_resource import metadata_url
from cortex_gateway.errors import TooManyAttempts, Unauthorized
from cortex_gateway.problems import RETRY_AFTER_S, STATUS, problem

OPEN_PATHS: Final = frozenset({"/health"})
"""Of REST; the service itself serves liveness, readiness and metrics on every port."""
OWNER: Final = "owner"
KEY_HEADER: Final = "x-brain-key"
MAX_CREDENTIAL_BYTES: Final = 8192
"""Of one credential; tokens of identity providers have one or two thousand."""
MAX_CREDENTIALS: Final = 4
"""Of one request: each may cost a lookup."""
EXPECTED: Final = "expected valid credentials: Authorization: Bearer <token>, or X-Brain-Key: <key>"
_STATE: Final = "principal"


class Way(StrEnum):
    """How a credential came."""

    BEARER = "bearer"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class Credential:
    """What a request brought to prove who asks."""

    way: Way
    secret: bytes = field(repr=False)
    digest: bytes = field(init=False, repr=False)
    """SHA-256 of the secret."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", hashlib.sha256(self.secret).digest())


class Verifier(Protocol):
    """Knows one kind of credential."""

    async def verify(self, credential: Credential) -> Principal | None:
        """The principal that a credential proves; none: it is of another kind, or proves nobody.

        Raises:
            Unavailable: who could tell does not answer.
        """
        ...


class StaticBearer:
    """One configured bearer token, which stands for one configured principal."""

    def __init__(self, token: str, org: str) -> None:
        self._digest = hashlib.sha256(token.encode()).digest()
        self._principal = Principal(org=org, subject=OWNER, role=Role.OWNER)

    async def verify(self, credential: Credential) -> Principal | None:
        """See `Verifier`; takes the same time for every wrong token."""
        # Digests have one length, so the comparison tells nothing about the token's.
        same = hmac.compare_digest(credential.digest, self._digest)
        return self._principal if same and credential.way is Way.BEARER else None


class Authenticate:
    """ASGI middleware: a request goes on with its principal, or ends with 401, 429 (too many wrong credentials from its
    address) or 503 (who knows its key does not answer)."""

    def __init__(
        self,
        app: ASGIApp,
        verifiers: Sequence[Verifier],
        open_paths: frozenset[str] = frozenset(),
        *,
        resources: frozenset[str] = frozenset(),
        failures: FailedAttempts | None = None,
    ) -> None:
        """`resources`: paths whose challenge names their metadata (`auth_resource`)."""
        self._app = app
        self._verifiers = tuple(verifiers)
        self._open_paths = open_paths
        self._resources = resources
        self._failures = failures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let through what is open or authenticated."""
        if scope["type"] == "lifespan" or is_open(scope, self._open_paths):
            return await self._app(scope, receive, send)
        credentials = sent(Headers(scope=scope))
        try:
            principal = await self._principal(credentials, client_of(scope))
        except CortexError as error:
            if scope["type"] == "websocket":
                return await send({"type": "websocket.close", "code": 1008})
            return await self._refusal(error, scope, credentials)(scope, receive, send)
        scope.setdefault("state", {})[_STATE] = principal
        return await self._app(scope, receive, send)

    async def _principal(self, credentials: Sequence[Credential], client: str) -> Principal:
        if not credentials or len(credentials) > MAX_CREDENTIALS:
            raise Unauthorized(EXPECTED)
        found = [await self._proved(credential, client) for credential in credentials]
        if any(_same(one) != _same(found[0]) for one in found):
            raise Unauthorized("expected credentials of one principal")
        return found[0]

    async def _proved(self, credential: Credential, client: str) -> Principal:
        if self._failures is not None:
            self._failures.check(client, credential.digest)
        if 0 < len(credential.secret) <= MAX_CREDENTIAL_BYTES:
            for verifier in self._verifiers:
                if principal := await verifier.verify(credential):
                    if self._failures is not None:
                        self._failures.proved(credential.digest)
                    return principal
        if self._failures is not None:
            self._failures.failed(client, credential.digest, credential.way)
        raise Unauthorized(EXPECTED)

    def _refusal(self, error: CortexError, scope: Scope, credentials: Sequence[Credential]) -> Response:
        headers: dict[str, str] = {}
        if isinstance(error, TooManyAttempts):
            headers["Retry-After"] = str(error.wait_s)
        elif error.retryable:
            headers["Retry-After"] = str(RETRY_AFTER_S)
        else:
            challenge = 'Bearer realm="cortex"'
            if credentials:
                challenge += ', error="invalid_token"'
            if scope["path"] in self._resources and (url := metadata_url(scope, scope["path"])):
                challenge += f', resource_metadata="{url}"'
            headers["WWW-Authenticate"] = challenge
        return problem(STATUS[error.code], error.code.value, error.message, headers=headers)


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
    return scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and scope["path"] in paths


def sent(headers: Headers) -> tuple[Credential, ...]:
    """Every credential of a request, each once. A header of another scheme, or an empty one, is a credential, too: one
    that proves nobody."""
    found = []
    for value in headers.getlist("authorization"):
        scheme, _, token = value.strip().partition(" ")
        found.append(Credential(Way.BEARER, _bytes(token) if scheme.lower() == "bearer" else b""))
    found += [Credential(Way.KEY, _bytes(value)) for value in headers.getlist(KEY_HEADER)]
    return tuple(dict.fromkeys(found))


def _bytes(value: str) -> bytes:
    # Starlette decodes headers as latin-1: this gives back the bytes that were sent.
    return value.strip().encode("latin-1")


def _same(principal: Principal) -> Principal:
    """A principal without the way that it came in."""
    return principal.model_copy(update={"authenticated_by": ""})

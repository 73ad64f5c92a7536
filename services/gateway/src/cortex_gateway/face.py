"""What every HTTP port of the gateway has in front of its routes; the ports share what they count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.types import ASGIApp

from cortex_gateway.audit import Audit
from cortex_gateway.auth import Authenticate, Verifier
from cortex_gateway.auth_failures import FailedAttempts
from cortex_gateway.auth_resource import ResourceMetadata
from cortex_gateway.chat_errors import OpenAIErrors
from cortex_gateway.config import GatewaySettings
from cortex_gateway.purposes import CountRequests
from cortex_gateway.rate_limits import RateClass, RateLimits, Rates
from cortex_gateway.transport import LimitBody, Trace
from cortex_gateway.usage import Usage


class Face:
    """Makes an app one that is served: traced, authenticated, limited, audited, counted."""

    def __init__(
        self, settings: GatewaySettings, verifiers: Sequence[Verifier], usage: Usage, longer_bodies: Mapping[str, int]
    ) -> None:
        """`longer_bodies`: see `LimitBody`."""
        self._verifiers = verifiers
        self._usage = usage
        self._longer_bodies = longer_bodies
        self._issuer = settings.jwt_issuer
        self._failures = FailedAttempts(settings.rate_failures) if settings.rate_failures else None
        self._rates = Rates(
            {
                RateClass.REQUESTS: settings.rate_requests,
                RateClass.BULK: settings.rate_bulk,
                RateClass.CHAT: settings.rate_chat,
            }
        )

    def __call__(self, app: ASGIApp, mcp_path: str, open_paths: frozenset[str] = frozenset()) -> ASGIApp:
        """`app` behind it all; `mcp_path` is where MCP is, `open_paths` need no credentials."""
        resources = frozenset({mcp_path})
        limited = LimitBody(CountRequests(app, self._usage), longer=self._longer_bodies)
        counted = RateLimits(Audit(limited), self._rates, open_paths)
        guarded = Authenticate(counted, self._verifiers, open_paths, resources=resources, failures=self._failures)
        return Trace(OpenAIErrors(ResourceMetadata(guarded, resources, self._issuer)))

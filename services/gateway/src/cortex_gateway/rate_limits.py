"""How many requests a principal may make in a minute, whichever credential it shows and on whichever port it comes.

Counted in this process, over a minute that moves with the request. Replicas count on their own: together they let
through as many times the limit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cortex_contracts.messages.base import Principal
from cortex_gateway.auth import is_open, principal_of
from cortex_gateway.problems import problem

WINDOW_S: Final = 60
CHAT_PATH: Final = "/v1/chat/completions"
BRAIN: Final = "/api/v1/brain"
MEMORY: Final = "/api/v1/memory"


class RateClass(StrEnum):
    """What is counted together."""

    REQUESTS = "requests"
    BULK = "bulk"
    """What a migration sends many of: syncs, imports, batches, documents."""
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a limit after a request; `reset_s` until the oldest request of the window is forgotten."""

    limit: int
    left: int
    reset_s: int
    allowed: bool


class Rates:
    """The counts of every principal."""

    def __init__(self, per_minute: Mapping[RateClass, int]) -> None:
        """A class with 0, or none, is not limited."""
        self._limits = {kind: RateLimitItemPerMinute(limit) for kind, limit in per_minute.items() if limit}
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def take(self, principal: Principal, kind: RateClass) -> Allowance | None:
        """Count a request; none: it is not limited."""
        item = self._limits.get(kind)
        if item is None:
            return None
        key = (kind.value, principal.org, principal.subject)
        allowed = self._limiter.hit(item, *key)
        window = self._limiter.get_window_stats(item, *key)
        # Up to the next whole second: at the very moment the oldest request still counts.
        reset_s = math.floor(max(0.0, window.reset_time - time.time())) + 1
        return Allowance(item.amount, window.remaining, reset_s, allowed)


class RateLimits:
    """ASGI middleware behind `Authenticate`: a request beyond its principal's limit ends with 429. Every counted answer
    tells what is left (draft-ietf-httpapi-ratelimit-headers-10)."""

    def __init__(self, app: ASGIApp, rates: Rates, open_paths: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._rates = rates
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count and run the app."""
        if scope["type"] != "http" or is_open(scope, self._open_paths):
            return await self._app(scope, receive, send)
        kind = rate_class(scope["method"], scope["path"])
        allowance = self._rates.take(principal_of(Request(scope)), kind)
        if allowance is None:
            return await self._app(scope, receive, send)
        told = {
            "RateLimit-Policy": f'"{kind}";q={allowance.limit};w={WINDOW_S}',
            "RateLimit": f'"{kind}";r={allowance.left};t={allowance.reset_s}',
        }
        if not allowance.allowed:
            sentence = f"expected at most {allowance.limit} requests a minute: wait {allowance.reset_s} s"
            told["Retry-After"] = str(allowance.reset_s)
            return await problem(429, "rate_limited", sentence, headers=told)(scope, receive, send)

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(told)
            await send(message)

        return await self._app(scope, receive, tell)


def rate_class(method: str, path: str) -> RateClass:
    """What a request is counted as."""
    if path == CHAT_PATH:
        return RateClass.CHAT
    imported = path.startswith(f"{BRAIN}/pages/") and path.endswith("/import")
    document = method == "PUT" and path.startswith(f"{MEMORY}/documents/")
    if imported or document or path.startswith(f"{BRAIN}/sync") or path == f"{MEMORY}/batch":
        return RateClass.BULK
    return RateClass.REQUESTS

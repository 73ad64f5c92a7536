"""Wrong credentials, limited per client address, so that nobody tries many of them.

What counts is how many different ones an address tried in a minute: a client that repeats one wrong token for ever
locks nobody out who shares its address (everybody does on loopback and behind a proxy). Above the limit an address gets
429 for every credential that this gateway has not seen work.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from typing import Final

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from starlette.types import Scope

from cortex_gateway.errors import TooManyAttempts
from cortex_runtime import logs

WINDOW_S: Final = 60.0
MOST: Final = 10_000
"""Credentials that are remembered as working, and as many as wrong; 32 bytes each."""

log = logs.get(__name__)


class FailedAttempts:
    """Counts in this process; of every address, by windows of a minute."""

    def __init__(self, per_minute: int) -> None:
        self._limit = RateLimitItemPerMinute(per_minute)
        # Of the strategies over this storage it is the one that forgets an address by itself.
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self._working: OrderedDict[bytes, None] = OrderedDict()
        self._wrong: OrderedDict[tuple[str, bytes], float] = OrderedDict()

    def check(self, client: str, digest: bytes) -> None:
        """May this credential be tried from this address?

        Raises:
            TooManyAttempts: not now.
        """
        if digest in self._working or self._limiter.test(self._limit, client):
            return
        left_s = self._limiter.get_window_stats(self._limit, client).reset_time - time.time()
        raise TooManyAttempts(max(1, math.floor(left_s) + 1))

    def proved(self, digest: bytes) -> None:
        """A credential worked."""
        self._working[digest] = None
        self._working.move_to_end(digest)
        if len(self._working) > MOST:
            self._working.popitem(last=False)

    def failed(self, client: str, digest: bytes, way: str) -> None:
        """A credential proved nobody."""
        self._working.pop(digest, None)
        now = time.time()
        if self._wrong.get((client, digest), -math.inf) > now - WINDOW_S:
            return
        self._wrong[client, digest] = now
        self._wrong.move_to_end((client, digest))
        if len(self._wrong) > MOST:
            self._wrong.popitem(last=False)
        self._limiter.hit(self._limit, client)
        log.warning("wrong credentials", client=client, way=way)


def client_of(scope: Scope) -> str:
    """Whom attempts are counted for: the client's address; of IPv6 its /64, which one machine has for itself."""
    host = (scope.get("client") or ("",))[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return str(host)[:64]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or ipaddress.IPv6Network((int(address), 64), strict=False))

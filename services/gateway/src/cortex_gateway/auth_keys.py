"""Keys of agents: the gateway knows their form and asks ingest whose they are.

An answer is good for `FRESH_S`, and a key that ends is forgotten at once: ingest announces it to every gateway. While
ingest is away, what is known stays good for `STALE_S`, and what is not known cannot be told from what is wrong.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from cortex_contracts.errors import CortexError, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import KeyEvent
from cortex_contracts.rpc.keys import ResolvedKey, ResolveKeyRequest
from cortex_gateway.auth import Credential

FRESH_S: Final = 10.0
"""The announcement of an end can be missed while the bus is away: a revoked key lives no longer than this."""
STALE_S: Final = 600.0
UNKNOWN_S: Final = 5.0
"""For so long nobody is asked again about a key that is nobody's."""
RETRY_S: Final = 1.0
"""Of a known key, while ingest does not answer."""
MOST: Final = 10_000
"""Keys that are remembered, and as many that are nobody's."""
FORM: Final = re.compile(rb"ctx_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")

Resolve = Callable[[ResolveKeyRequest], Awaitable[ResolvedKey]]


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made: the only moment at which it is known."""

    key_id: str
    key: str
    digest: str
    """SHA-256 of the key, in hex."""

    @classmethod
    def make(cls) -> NewKey:
        """Another one, with 256 random bits."""
        key_id = secrets.token_hex(6)
        key = f"ctx_{key_id}_{secrets.token_urlsafe(32)}"
        return cls(key_id, key, hashlib.sha256(key.encode()).hexdigest())


@dataclass(slots=True)
class _Known:
    key_id: str
    principal: Principal
    expires_at: datetime | None
    asked_at: float
    ask_again_at: float


class AgentKeys:
    """Verifies `ctx_<id>_<secret>`, in `X-Brain-Key` and as a bearer."""

    def __init__(self, resolve: Resolve, clock: Callable[[], float] = time.monotonic) -> None:
        self._resolve = resolve
        self._clock = clock
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._unknown: OrderedDict[bytes, float] = OrderedDict()
        self._asking: dict[bytes, asyncio.Task[_Known | None]] = {}
        self._ends = 0

    async def verify(self, credential: Credential) -> Principal | None:
        """See `Verifier`.

        Raises:
            Unavailable: ingest does not answer, and the key is not known here.
        """
        if not FORM.fullmatch(credential.secret):
            return None
        digest = credential.digest
        known = self._known.get(digest)
        if known is None or self._clock() >= known.ask_again_at:
            if self._clock() < self._unknown.get(digest, 0.0):
                return None
            try:
                known = await self._asked(digest)
            except CortexError:
                known = self._known.get(digest)  # again: it may have been forgotten meanwhile
                if known is None or self._clock() >= known.asked_at + STALE_S:
                    raise Unavailable("whose key this is cannot be told now") from None
                known.ask_again_at = self._clock() + RETRY_S
        if known is None or (known.expires_at is not None and known.expires_at <= datetime.now(UTC)):
            return None
        return known.principal

    def heard(self, event: KeyEvent) -> None:
        """A key was made or has ended somewhere."""
        if event.revoked:
            self.forget(event.key_id)

    def forget(self, key_id: str) -> None:
        """A key has ended."""
        self._ends += 1
        for digest in [digest for digest, known in self._known.items() if known.key_id == key_id]:
            del self._known[digest]

    async def _asked(self, digest: bytes) -> _Known | None:
        """Ask once for all who want to know."""
        asking = self._asking.get(digest)
        if asking is None:
            asking = self._asking[digest] = asyncio.create_task(self._ask(digest))
            asking.add_done_callback(lambda task: self._answered(digest, task))
        return await asyncio.shield(asking)

    def _answered(self, digest: bytes, task: asyncio.Task[_Known | None]) -> None:
        del self._asking[digest]
        if not task.cancelled():
            task.exception()  # read: whoever asked may have left

    async def _ask(self, digest: bytes) -> _Known | None:
        while True:
            ends = self._ends
            found = await self._resolve(ResolveKeyRequest(digest=digest.hex()))
            if ends == self._ends:  # else the answer may be older than the end of this key
                break
        now = self._clock()
        if found.key_id is None or found.principal is None:
            self._known.pop(digest, None)
            _put(self._unknown, digest, now + UNKNOWN_S)
            return None
        known = _Known(found.key_id, found.principal, found.expires_at, now, now + FRESH_S)
        _put(self._known, digest, known)
        return known


def _put(kept: OrderedDict[bytes, _Known] | OrderedDict[bytes, float], digest: bytes, value: object) -> None:
    kept[digest] = value  # type: ignore[assignment]
    kept.move_to_end(digest)
    if len(kept) > MOST:
        kept.popitem(last=False)

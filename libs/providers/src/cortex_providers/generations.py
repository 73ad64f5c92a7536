"""Generations: how a cached answer knows that what it was made from has changed.

Every namespace and every org has a generation in the cache. A writer renews both after its commit; a reader makes them
part of the key of what it caches, so that nobody asks for the old answer again. A writer that cannot reach the cache
renews nothing: what was cached then lives at most as long as its time to live, which is the documented bound.

A generation is random, not a counter. A cache that lost a counter (it restarted, evicted it, or failed over to a
replica that had not heard of it) would count up to the same numbers again: answers of the first time would come back.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

from cortex_providers.cache import Cache

LIFETIME_S: Final = 86_400
"""Renewed or made anew, it is another one: this only keeps those of forgotten namespaces from piling up."""


class Generations:
    """Reads and renews the generations. Neither fails."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    async def bump(self, org: str, namespace: str) -> None:
        """What was cached of the namespace, and of the org as a whole, is old now. Call it after the commit and before
        anybody is told of it."""
        fresh = _fresh()
        await self._cache.put_many({_key(org, namespace): fresh, _key(org, None): fresh}, LIFETIME_S)

    async def read(self, org: str, namespaces: Sequence[str] | None) -> str | None:
        """A text that changes whenever one of the namespaces (none: any of the org) does; none when the cache is away:
        then nothing may be cached. Read it before the answer is made."""
        keys = [_key(org, None)] if namespaces is None else [_key(org, namespace) for namespace in namespaces]
        found = await self._cache.get_or_put(keys, _fresh(), LIFETIME_S) if keys else None
        return None if found is None else ",".join(one.hex() for one in found)


def _fresh() -> bytes:
    return secrets.token_bytes(16)


def _key(org: str, namespace: str | None) -> str:
    return f"cortex:v1:generation:{org}:{namespace or '*'}"

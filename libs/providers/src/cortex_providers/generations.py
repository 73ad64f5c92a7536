"""Generations: how a cached answer knows that what it was made from has changed.

Every namespace and every org has a counter in the cache. A writer raises both after its commit; a reader makes the
counters part of the key of what it caches, so that nobody asks for the old answer again. A writer that cannot reach the
cache raises nothing: what was cached then lives at most as long as its time to live, which is the documented bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from cortex_providers.cache import Cache


class Generations:
    """Reads and raises the counters. Neither fails."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    async def bump(self, org: str, namespace: str) -> None:
        """What was cached of the namespace, and of the org as a whole, is old now. Call it after the commit."""
        await self._cache.increment([_key(org, namespace), _key(org, None)])

    async def read(self, org: str, namespaces: Sequence[str] | None) -> str | None:
        """A text that changes whenever one of the namespaces (none: any of the org) does; none when the cache is away:
        then nothing may be cached. Read it before the answer is made."""
        keys = [_key(org, None)] if namespaces is None else [_key(org, namespace) for namespace in namespaces]
        return await self._cache.counters(keys)


def _key(org: str, namespace: str | None) -> str:
    return f"cortex:v1:generation:{org}:{namespace or '*'}"

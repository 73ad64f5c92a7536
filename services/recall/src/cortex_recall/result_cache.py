"""The L1 cache of answers. It saves time; a dead one costs time only.

An answer is kept under everything that it depends on: who asks, what, and the generations of the namespaces, which
every writer renews after its commit and before it replies. So nobody gets an answer from before a write that was
acknowledged, unless the writer could not reach the cache. Then an answer ends with its time to live, counted from
before it was read: that (`CORTEX_RECALL_CACHE_TTL_S`) is the documented bound of staleness, to which the difference
between the clocks of replicas is added.
"""

from __future__ import annotations

import hashlib
import math
import time
from dataclasses import dataclass
from typing import Protocol, TypeVar

from cortex_contracts.messages.base import Message, Principal

ReplyT = TypeVar("ReplyT", bound=Message)


class ByteCache(Protocol):
    """What is needed of the cache; neither call fails."""

    async def get_many(self, keys: list[str]) -> list[bytes | None]:
        """The values of `keys`."""
        ...

    async def put_many(self, values: dict[str, bytes], ttl_s: int) -> None:
        """Keep `values` for `ttl_s` seconds."""
        ...


class Generation(Protocol):
    """Tells whether a namespace has changed."""

    async def read(self, org: str, namespaces: tuple[str, ...] | None) -> str | None:
        """A text that changes with the namespaces; none: cache nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer is kept, and when it was asked for (Unix time): it is no newer than that."""

    key: str
    asked_at: float


class ResultCache:
    """Answers by request, each for `ttl_s` seconds."""

    def __init__(self, cache: ByteCache, generations: Generation, ttl_s: float) -> None:
        self._cache = cache
        self._generations = generations
        self._ttl_s = ttl_s

    async def key(
        self, kind: str, principal: Principal, request: Message, namespaces: tuple[str, ...] | None
    ) -> Place | None:
        """Where the answer to `request`, which holds its principal, is kept; none when it must not be. Ask before the
        answer is made: what commits in the meantime changes the next key."""
        asked_at = time.time()
        generation = await self._generations.read(principal.org, namespaces)
        if generation is None:
            return None
        # Never the text itself: keys show up in the tools of whoever runs the cache.
        digest = hashlib.sha256(f"{generation} {principal.model_dump_json()} {request.model_dump_json()}".encode())
        return Place(f"cortex:v1:{kind}:{principal.org}:{digest.hexdigest()}", asked_at)

    async def get(self, place: Place | None, reply: type[ReplyT]) -> ReplyT | None:
        """A kept answer."""
        if place is None:
            return None
        (value,) = await self._cache.get_many([place.key])
        if value is None:
            return None
        asked_at, _, body = value.partition(b" ")
        try:
            young = 0.0 <= time.time() - float(asked_at) < self._ttl_s
            return reply.model_validate_json(body) if young else None
        except ValueError:  # damaged, or written by another version
            return None

    async def put(self, place: Place | None, reply: Message) -> None:
        """Keep an answer. Its age goes with it: a cache that hangs stores it when it goes on, for a whole life."""
        if place is not None:
            value = f"{place.asked_at!r} {reply.model_dump_json()}".encode()
            await self._cache.put_many({place.key: value}, math.ceil(self._ttl_s))

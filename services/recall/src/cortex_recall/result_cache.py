"""The L1 cache of answers. It saves time; a dead one costs time only.

An answer is kept under everything that it depends on: who asks, what, and the generations of the namespaces, which
every writer raises after its commit. So a reader gets an answer from before a commit only until the writer has raised
them, or, when the cache was away at that moment, until the answer's time to live is over: `TTL_S` is the documented
bound of staleness.
"""

from __future__ import annotations

import hashlib
from typing import Final, Protocol, TypeVar

from pydantic import ValidationError

from cortex_contracts.messages.base import Message, Principal

TTL_S: Final = 10

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


class ResultCache:
    """Answers by request."""

    def __init__(self, cache: ByteCache, generations: Generation) -> None:
        self._cache = cache
        self._generations = generations

    async def key(self, kind: str, principal: Principal, request: Message, namespaces: tuple[str, ...] | None) -> str:
        """Where the answer to `request` is kept; empty when it must not be. Ask before the answer is made: what commits
        in the meantime changes the next key."""
        generation = await self._generations.read(principal.org, namespaces)
        if generation is None:
            return ""
        # Never the text itself: keys show up in the tools of whoever runs the cache.
        digest = hashlib.sha256(request.model_dump_json().encode()).hexdigest()
        return f"cortex:v1:{kind}:{principal.org}:{generation}:{digest}"

    async def get(self, key: str, reply: type[ReplyT]) -> ReplyT | None:
        """A kept answer."""
        if not key:
            return None
        (value,) = await self._cache.get_many([key])
        try:
            return None if value is None else reply.model_validate_json(value)
        except ValidationError:  # written by another version
            return None

    async def put(self, key: str, reply: Message) -> None:
        """Keep an answer."""
        if key:
            await self._cache.put_many({key: reply.model_dump_json().encode()}, TTL_S)

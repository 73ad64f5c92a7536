"""The L1 cache on any Redis-protocol server: it saves time, and its loss costs only time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, cast

import numpy as np
import redis.asyncio
from redis.exceptions import RedisError

from cortex_contracts.errors import Unavailable
from cortex_providers.embedder import Embedder, TextKind, Vectors
from cortex_runtime import logs

TTL_S: Final = 3600
TIMEOUT_S: Final = 0.25
"""A cache slower than this is not used for the call."""

log = logs.get(__name__)


class Cache:
    """Bytes by key with a time to live. Reads of a dead cache find nothing, writes are dropped."""

    def __init__(self, url: str) -> None:
        self._client = redis.asyncio.Redis.from_url(
            url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S, decode_responses=False
        )
        self._down = False

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """The values of `keys` in order; none where there is none or the cache is away."""
        if not keys:
            return []
        try:
            values = cast("list[bytes | None]", await self._client.mget(keys))
        except (RedisError, OSError, TimeoutError) as error:
            self._report(error)
            return [None] * len(keys)
        self._report(None)
        return values

    async def put_many(self, values: dict[str, bytes], ttl_s: int = TTL_S) -> None:
        """Keep `values` for `ttl_s` seconds, if the cache is there."""
        try:
            async with self._client.pipeline(transaction=False) as pipeline:
                for key, value in values.items():
                    pipeline.set(key, value, ex=ttl_s)
                await pipeline.execute()
        except (RedisError, OSError, TimeoutError) as error:
            self._report(error)
            return
        self._report(None)

    async def get_or_put(self, keys: Sequence[str], value: bytes, ttl_s: int) -> list[bytes] | None:
        """The values of `keys` in order, `value` kept where there was none; none at all if the cache is away."""
        try:
            values = await self._client.mget(keys)
            if None in values:
                async with self._client.pipeline(transaction=False) as pipeline:
                    for key, found in zip(keys, values, strict=True):
                        if found is None:
                            pipeline.set(key, value, ex=ttl_s, nx=True)
                    pipeline.mget(keys)
                    values = (await pipeline.execute())[-1]
        except (RedisError, OSError, TimeoutError) as error:
            self._report(error)
            return None
        self._report(None)
        return None if None in values else cast("list[bytes]", values)

    async def open(self) -> None:
        """Nothing to do: it connects when used, and may be away."""

    async def check(self) -> None:
        """Does it answer? Raises Unavailable when not."""
        try:
            await self._client.ping()
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable(f"the cache does not answer ({type(error).__name__})") from None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _report(self, error: Exception | None) -> None:
        if error is not None and not self._down:
            log.warning("cache is away; working without it", error=type(error).__name__)
        elif error is None and self._down:
            log.info("cache is back")
        self._down = error is not None


class CachedEmbedder:
    """An embedder that asks its model once for a text it has seen lately (key: model, kind and hash of the text)."""

    def __init__(self, embedder: Embedder, cache: Cache) -> None:
        self._embedder = embedder
        self._cache = cache

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._embedder.model

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Embed `texts` in order (see `Embedder.embed`)."""
        keys = [self._key(text, kind) for text in texts]
        found = [self._read(value) for value in await self._cache.get_many(keys)]
        missing = [i for i, vector in enumerate(found) if vector is None]
        if missing:
            fresh = await self._embedder.embed([texts[i] for i in missing], kind)
            for i, vector in zip(missing, fresh, strict=True):
                found[i] = vector
            await self._cache.put_many({keys[i]: np.asarray(found[i], dtype="<f4").tobytes() for i in missing})
        if not found:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([vector for vector in found if vector is not None])

    async def open(self) -> None:
        """Make the model usable."""
        await self._embedder.open()

    async def check(self) -> None:
        """Is the model usable?"""
        await self._embedder.check()

    async def close(self) -> None:
        """Let the model's connections go."""
        await self._embedder.close()

    def _read(self, value: bytes | None) -> Vectors | None:
        """A cached vector, or none when there is none of this dimension."""
        if value is None or len(value) != 4 * self.dimension:
            return None
        return np.frombuffer(value, dtype="<f4").astype(np.float32)

    def _key(self, text: str, kind: TextKind) -> str:
        digest = hashlib.sha256(text.encode()).hexdigest()
        return f"cortex:v1:embedding:{self.model}:{self.dimension}:{kind.value}:{digest}"

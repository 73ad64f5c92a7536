"""What the drivers have in common that ask a server of models for embeddings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

import numpy as np

from cortex_providers.embedder import EmbedderConfig, Vectors
from cortex_providers.model_server import Batches, ModelServer
from cortex_providers.outbound import CONNECTIONS

BATCH: Final = 16
"""Texts per request, or what the server allows if that is less: bounds the time one request holds the model."""
BULK_REQUESTS: Final = CONNECTIONS // 2
"""Requests at one time for many texts: a text that comes alone finds a free connection, and the bundled model takes it
before those."""


class ServedEmbedder:
    """A configured model behind a server; how it is asked is the driver's."""

    def __init__(self, config: EmbedderConfig, *, base: str = "") -> None:
        """`base` is the path that the server's routes start with."""
        self._config = config
        self._server = ModelServer(
            config.url,
            who="the embedder",
            setting="CORTEX_EMBEDDINGS",
            api_key=config.api_key,
            timeout_s=config.timeout_s,
            base=base,
        )
        self._batches = Batches(BATCH)
        self._bulk = asyncio.Semaphore(BULK_REQUESTS)

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._config.model

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._config.dimension

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _embedded(
        self, texts: Sequence[str], send: Callable[[Sequence[str]], Awaitable[Iterable[Vectors]]]
    ) -> Vectors:
        """The vectors of `texts` in order, by requests of `send`: of many texts a few at a time."""

        async def in_turn(batch: Sequence[str]) -> Iterable[Vectors]:
            async with self._bulk:
                return await send(batch)

        rows: list[Vectors] = await self._batches.map(texts, send if len(texts) == 1 else in_turn)
        return np.stack(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)

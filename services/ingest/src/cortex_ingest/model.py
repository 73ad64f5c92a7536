"""The embedding model of this installation: usable only while it is the one that the database was filled with."""

from __future__ import annotations

from cortex_providers.cache import CachedEmbedder
from cortex_store.database import Database
from cortex_store.embedding import check_embedding


class Model:
    """The embedder as a resource that opens after the database."""

    def __init__(self, embedder: CachedEmbedder, database: Database) -> None:
        self._embedder = embedder
        self._database = database

    async def open(self) -> None:
        """Make sure that the model answers, and record it in a database that has none yet.

        Raises:
            Unavailable: model or database is away.
            EmbeddingMismatch: the database holds vectors of another model.
        """
        await self._embedder.open()
        async with self._database.unscoped() as connection:
            await check_embedding(connection, self._embedder.dimension, self._embedder.model)

    async def check(self) -> None:
        """Is the model there?"""
        await self._embedder.check()

    async def close(self) -> None:
        """Let its connections go."""
        await self._embedder.close()

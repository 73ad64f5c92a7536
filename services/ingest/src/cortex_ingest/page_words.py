"""Pages from before their words were indexed: they are found by their meaning only until this has come to them."""

from __future__ import annotations

from typing import Final, Protocol

from cortex_runtime.worker import Worker
from cortex_store import page_chunks
from cortex_writing.ports import Transactions, Unscoped

BATCH: Final = 100


class Database(Transactions, Unscoped, Protocol):
    """What the worker needs of a database."""


class PageWords(Worker):
    """Indexes the words of chunks that lack them, in batches."""

    trouble = "pages wait for their words to be indexed"

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database

    async def step(self) -> bool:
        """Index one batch of each org; says whether there was one. Raises Unavailable when the database is away."""
        async with self._database.unscoped() as connection:
            orgs = await page_chunks.orgs_without_words(connection)
        for org in orgs:
            async with self._database.transaction(org) as connection:
                await page_chunks.index_missing(connection, BATCH)
        return bool(orgs)

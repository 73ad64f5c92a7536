"""Indexing behind: memories that wait for their words or their vector, and the counts that BM25 needs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from typing import Final, Protocol

from cortex_contracts.messages.base import Principal
from cortex_providers.embedder import TextKind
from cortex_runtime.worker import Worker
from cortex_store import indexed_text, memories, memory_index
from cortex_store.embedding import require_recorded
from cortex_store.memory_index import Waiting
from cortex_writing.ports import Invalidation, PassageEmbedder, Transactions, Unscoped
from cortex_writing.turns import previous_turn

BATCH: Final = 64
LEASE: Final = timedelta(minutes=5)
"""Longer than a batch takes; after it another replica takes over what a dead one held."""
FOLD_BATCH: Final = 500


class Database(Transactions, Unscoped, Protocol):
    """What the workers need of a database."""


class Indexer(Worker):
    """Gives waiting memories their words and vectors, oldest first, in batches. What fails is leased again later."""

    trouble = "memories wait for their vectors"

    def __init__(self, database: Database, embedder: PassageEmbedder, invalidation: Invalidation) -> None:
        super().__init__()
        self._database = database
        self._embedder = embedder
        self._invalidation = invalidation

    async def step(self) -> bool:
        """Index one batch; says whether there was one.

        Raises:
            ModelChanged: the database has vectors of another model by now; nothing was leased.
            Unavailable: the embedder or the database is away.
        """
        async with self._database.unscoped() as connection:
            await require_recorded(connection, self._embedder.model)
            waiting = await memory_index.lease(connection, BATCH, LEASE)
        of_principal = lambda one: (one.org, one.subject or "")  # noqa: E731
        for (org, subject), group in groupby(sorted(waiting, key=of_principal), key=of_principal):
            await self._index(Principal(org=org, subject=subject or "cortex"), list(group))
        return bool(waiting)

    async def _index(self, principal: Principal, waiting: Sequence[Waiting]) -> None:
        async with self._database.transaction(principal) as connection:
            found = await memories.by_ids(connection, [one.memory for one in waiting])
            texts = []
            for memory in found.values():
                texts.append(indexed_text.meaning(memory, await previous_turn(connection, memory)))
            for one in waiting:
                if one.words and one.memory in found:
                    document = indexed_text.document(found[one.memory], found[one.memory].valid_at)
                    await memory_index.index(connection, one.memory, document, None, None)
        vectors = await self._embedder.embed(texts, TextKind.PASSAGE)
        async with self._database.transaction(principal) as connection:
            # Another replica may have finished some of them, and they may have gone cold.
            there = await memories.lock(connection, list(found))
            for memory_id, vector in zip(found, vectors, strict=True):
                if memory_id in there:
                    await memory_index.add_vector(connection, memory_id, vector, self._embedder.model)
        for namespace in {memory.namespace for memory in found.values()}:
            await self._invalidation.bump(principal.org, namespace)


class TermCounts(Worker):
    """Folds the changes of the index into the counts of terms that scores are made with."""

    trouble = "term counts are not up to date"

    def __init__(self, database: Unscoped) -> None:
        super().__init__()
        self._database = database

    async def step(self) -> bool:
        """Fold some changes; says whether there may be more. Raises Unavailable when the database is away."""
        async with self._database.unscoped() as connection:
            return await memory_index.fold(connection, FOLD_BATCH) == FOLD_BATCH

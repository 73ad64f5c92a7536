"""The ports of recall on PostgreSQL: one short transaction each, bound to the principal's org."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cortex_contracts.messages.base import Principal
from cortex_providers.embedder import Vectors
from cortex_store import memories, vaults
from cortex_store.database import Database
from cortex_store.search import MemoryCandidate, PageCandidate, search_memories, search_pages


class HotTier:
    """Reads of the hot tier (see `ports`)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def memories(
        self, principal: Principal, query: str, vector: Vectors | None, namespaces: Sequence[str] | None
    ) -> tuple[MemoryCandidate, ...]:
        """See `Candidates.memories`."""
        async with self._database.transaction(principal.org) as connection:
            return await search_memories(connection, principal, query, vector, namespaces=namespaces)

    async def pages(self, principal: Principal, query: str, vector: Vectors | None) -> tuple[PageCandidate, ...]:
        """See `Candidates.pages`."""
        async with self._database.transaction(principal.org) as connection:
            return await search_pages(connection, query, vector)

    async def latest_memory(self, principal: Principal) -> datetime | None:
        """See `Freshness.latest_memory`."""
        async with self._database.transaction(principal.org) as connection:
            return await memories.latest(connection, principal)

    async def latest_sync(self, principal: Principal) -> datetime | None:
        """See `Freshness.latest_sync`."""
        async with self._database.transaction(principal.org) as connection:
            return await vaults.latest_sync(connection)

"""Announced changes take effect: what was retained for a day to come ends what it replaces when that day has come."""

from __future__ import annotations

from typing import Final

from cortex_contracts.messages.base import Principal
from cortex_contracts.subjects import MemoryOp
from cortex_ingest.indexing import Database
from cortex_runtime.worker import Worker
from cortex_store import endings, memories
from cortex_store.endings import Ending
from cortex_writing import journal
from cortex_writing.ports import Invalidation
from cortex_writing.remembering import end_derived

BATCH: Final = 100


class Endings(Worker):
    """Ends what is due. What was forgotten in the meantime ends nothing."""

    trouble = "announced changes wait to take effect"

    def __init__(self, database: Database, invalidation: Invalidation) -> None:
        super().__init__()
        self._database = database
        self._invalidation = invalidation

    async def step(self) -> bool:
        """End one batch; says whether anything was due. Raises Unavailable when the database is away."""
        async with self._database.unscoped() as connection:
            due = await endings.due(connection, BATCH)
        return any([await self._end(Principal(org=one.org, subject=one.subject or "cortex"), one) for one in due])

    async def _end(self, principal: Principal, ending: Ending) -> bool:
        async with self._database.transaction(principal) as connection:
            if not await endings.take(connection, ending):
                return False
            memory = await memories.get(connection, ending.memory)
            successor = await memories.get(connection, ending.superseded_by)
            if memory is None or successor is None or successor.invalid_at is not None:
                return True
            if not await memories.invalidate(connection, memory.id, ending.at, successor.id):
                return True
            await journal.record(connection, principal, MemoryOp.FORGET, memory.namespace, memory.id)
            await end_derived(connection, principal, (memory.id,), ending.at)
        await self._invalidation.bump(principal.org, memory.namespace)
        return True

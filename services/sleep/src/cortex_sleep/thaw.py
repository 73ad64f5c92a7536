"""Thaw: the way back of demotion. A memory that somebody is about to change returns from the cold tier, whole.

One transaction of the database makes it hot and says that what the cold store has of it counts for nothing any more;
nothing is written to the cold store. Wherever this is killed, a memory is in one tier, and in one only. The next
demotion of its namespace takes the rows out of the store (`Demote`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from operator import attrgetter
from typing import Final

import numpy as np

from cortex_contracts.errors import ErrorCode
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import MemoryEvent
from cortex_contracts.rpc.cold import ThawReply, ThawRequest
from cortex_contracts.subjects import MemoryOp
from cortex_providers.cold_memory import ColdMemory, checksum, without
from cortex_providers.cold_search import ColdRow
from cortex_providers.cold_store import Damaged
from cortex_sleep import metrics
from cortex_sleep.archive.access import opened
from cortex_sleep.archive.ports import Looks
from cortex_sleep.archive.turns import Turns
from cortex_sleep.ports import Transactions
from cortex_store import (
    documents,
    entities,
    entity_relations,
    indexed_text,
    memories,
    memory_events,
    memory_index,
    occurrences,
    thaws,
)
from cortex_store.connection import Connection
from cortex_store.ids import uuid7
from cortex_store.thaws import Proof
from cortex_writing.announcements import Announcements

WAIT_S: Final = 20.0
"""For others that look into the cold tier for the same reason."""


class Thaw:
    """Answers `cortex.v1.rpc.sleep.thaw`."""

    def __init__(self, store: Looks, database: Transactions, announcements: Announcements) -> None:
        self._store = store
        self._database = database
        self._announcements = announcements
        self._turns = Turns()

    async def thaw(self, request: ThawRequest) -> ThawReply:
        """Bring those of the memories back that the principal finds in the cold tier and may write. Each comes back by
        itself: what came back before something failed stays. Idempotent.

        Raises:
            Unavailable: the cold tier or the database is away.
            Permanent: the cold tier refuses.
            Damaged: what the cold tier has is not what was written; `cortex cold verify` tells more.
        """
        async with self._turns.turn(WAIT_S):
            look, who = await opened(self._store, self._database, request.principal)
            found = await look.find(who, frozenset(request.memory_ids))
        thawed, forbidden = [], []
        for memory_id, row in sorted(found.items()):
            async with self._database.transaction(request.principal) as connection:
                if not await memory_index.may_write(connection, row.memory.namespace):
                    forbidden.append(memory_id)
                    continue
                came_back = await _take(connection, row)
                if came_back:
                    await _restore(connection, row.memory)
                    await _announce(connection, request.principal, row)
            if came_back:
                thawed.append(memory_id)
                metrics.THAWED.inc()
                await self._announcements.changed(request.principal.org, [row.memory.namespace])
        return ThawReply(thawed=tuple(thawed), forbidden=tuple(forbidden))


async def _take(connection: Connection, row: ColdRow) -> bool:
    """Take a memory out of what is cold of its batch; false: somebody else has, or it never was."""
    computed = checksum(row.memory)
    if computed != row.checksum:
        raise Damaged("the memory is not in the cold store as it was written", code=ErrorCode.CONFLICT)
    proof = await thaws.hold(connection, row.batch, row.memory.namespace)
    if proof is None:
        return False
    left = Proof(proof.rows - 1, without(proof.checksum, computed))
    return await thaws.record(connection, row.memory.id, row.batch, row.memory.namespace, left)


async def _restore(connection: Connection, cold: ColdMemory) -> None:
    """Everything that the hot tier had of a memory, and that it was used now."""
    await thaws.insert(connection, attrgetter(*thaws.COLUMNS)(cold))
    await thaws.use(connection, cold.id, cold.access_count)
    for one in cold.occurrences:
        said = (one.source_kind, one.source_ref, one.session, one.turn, one.speaker, one.occurred_at, one.reason)
        await occurrences.record(connection, occurrences.Occurrence(one.id, cold.id, *said))
    named = [entities.Named(one.key, one.name, one.kind, one.role) for one in cold.entities]
    await entities.link(connection, cold.id, cold.namespace, named)
    related = [entity_relations.Related(one.subject, one.predicate, one.object) for one in cold.relations]
    await entity_relations.put(connection, cold.id, cold.namespace, related)
    await documents.derived(connection, cold.id, cold.sources)
    memory = await memories.get(connection, cold.id)
    assert memory is not None, "it was just inserted"
    # The cold tier keeps a term as a dimension, of which the term cannot be told: its words are read again.
    document = indexed_text.document(memory, memory.valid_at)
    vector = None if cold.embedding is None else np.frombuffer(cold.embedding, "<f2").astype(np.float32)
    await memory_index.index(connection, cold.id, document, vector, cold.embedding_model)


async def _announce(connection: Connection, principal: Principal, row: ColdRow) -> None:
    event = MemoryEvent(
        event_id=uuid7(),
        op=MemoryOp.RESTORE,
        org=principal.org,
        namespace=row.memory.namespace,
        agent=principal.subject,
        occurred_at=datetime.now(UTC),
    )
    await memory_events.announce(connection, event, {"batch": str(row.batch), "memories": 1})

"""Memory events: the append-only record of what happened to memories."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from cortex_contracts import subjects
from cortex_contracts.messages.events import MemoryEvent
from cortex_contracts.subjects import MemoryOp
from cortex_runtime import outbox
from cortex_store.connection import Connection


@dataclass(frozen=True, slots=True)
class MemoryEventRow:
    """Something that happened to a memory, or to its namespace when there is no `memory_id`. `id` is the event's id on
    the bus; `metadata` holds ids and numbers, never content."""

    id: UUID
    namespace: str
    op: MemoryOp
    occurred_at: datetime
    memory_id: UUID | None = None
    agent: str | None = None
    metadata: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)


RECORD: Final = """
INSERT INTO memory_events (id, namespace, op, occurred_at, memory_id, agent, metadata)
VALUES ($1, $2, $3, $4, $5, $6, $7::text::jsonb)
"""
OF_MEMORY: Final = """
SELECT id, namespace, op, occurred_at, memory_id, agent, metadata
FROM memory_events WHERE memory_id = $1 ORDER BY occurred_at, id
"""


async def record(connection: Connection, event: MemoryEventRow) -> None:
    """Append an event of the bound org, in the transaction of what it tells about."""
    await connection.execute(
        RECORD,
        event.id,
        event.namespace,
        event.op,
        event.occurred_at,
        event.memory_id,
        event.agent,
        json.dumps(dict(event.metadata)),
    )


async def announce(
    connection: Connection, event: MemoryEvent, metadata: Mapping[str, str | int | float | bool | None]
) -> None:
    """Record an event and leave it to the outbox, in the transaction of what it tells about; `metadata` stays in the
    database."""
    row = MemoryEventRow(
        event.event_id, event.namespace, event.op, event.occurred_at, event.memory_id, event.agent, metadata
    )
    await record(connection, row)
    subject = subjects.memory_event(event.op, event.org, event.namespace)
    await outbox.enqueue(connection, subject, str(event.event_id), event)


async def of_memory(connection: Connection, memory_id: UUID) -> tuple[MemoryEventRow, ...]:
    """What happened to one memory, oldest first."""
    return tuple(
        MemoryEventRow(
            id=row["id"],
            namespace=row["namespace"],
            op=MemoryOp(row["op"]),
            occurred_at=row["occurred_at"],
            memory_id=row["memory_id"],
            agent=row["agent"],
            metadata=json.loads(row["metadata"]),
        )
        for row in await connection.fetch(OF_MEMORY, memory_id)
    )

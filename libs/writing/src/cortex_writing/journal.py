"""What happened to memories: the row in the database and the event on the bus commit with the change itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import MemoryEvent
from cortex_contracts.messages.memory import WriteDecision
from cortex_contracts.subjects import MemoryOp
from cortex_store import memory_events
from cortex_store.connection import Connection
from cortex_store.ids import uuid7


async def record(
    connection: Connection,
    principal: Principal,
    op: MemoryOp,
    namespace: str,
    memory_id: UUID | None = None,
    *,
    decision: WriteDecision | None = None,
    importance: float | None = None,
    source_kind: str | None = None,
    preview: str = "",
    superseded: Sequence[UUID] = (),
) -> None:
    """Record an event of the principal in the transaction of what it tells about."""
    event = MemoryEvent(
        event_id=uuid7(),
        op=op,
        org=principal.org,
        namespace=namespace,
        memory_id=memory_id,
        decision=decision,
        importance=importance,
        source_kind=source_kind,
        preview=preview,
        occurred_at=datetime.now(UTC),
        superseded=tuple(superseded),
        agent=principal.subject,
    )
    known = {"decision": decision, "importance": importance, "superseded": len(superseded)}
    metadata = {key: value for key, value in known.items() if value is not None}
    await memory_events.announce(connection, event, metadata)

"""Captures become memories: embedded, inserted with their event and its outbox row in one transaction, exactly once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from cortex_contracts import subjects
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.base import preview
from cortex_contracts.messages.commands import Capture
from cortex_contracts.messages.events import MemoryEvent
from cortex_contracts.subjects import MemoryOp
from cortex_ingest.importance import importance
from cortex_ingest.ports import PassageEmbedder, Transactions
from cortex_providers.embedder import TextKind
from cortex_runtime import inbox, outbox
from cortex_runtime.bus import Delivery
from cortex_store import memories, memory_events
from cortex_store.ids import uuid7

CONSUMER = "captures"
EMBEDDED_CHARS = 60_000
"""What one vector can stand for; the words of a longer text are all found, its meaning by its beginning."""


class Captures:
    """The use case behind `cortex.v1.cmd.capture.<org>.<source_kind>`."""

    def __init__(self, database: Transactions, embedder: PassageEmbedder, committed: Callable[[], None]) -> None:
        self._database = database
        self._embedder = embedder
        self._committed = committed

    async def handle(self, capture: Capture, delivery: Delivery) -> None:
        """Retain one capture. The org and the kind of source come from the subject, never from the body.

        Idempotent by the message id within the org.

        Raises:
            Unavailable: the embedder or the database is away; the capture comes again.
            InvalidMessage: the subject or the content cannot be stored as it is.
        """
        try:
            org, source_kind = subjects.parse_capture(delivery.subject)
        except ValueError as error:
            raise InvalidMessage(str(error)) from None
        content = capture.content.replace("\x00", "")
        if not content.strip():
            raise InvalidMessage("content must hold text, got only white space")
        # Outside the transaction: inference may take long, and a second delivery of a capture is rare.
        vector = (await self._embedder.embed([content[:EMBEDDED_CHARS]], TextKind.PASSAGE))[0]
        memory = memories.NewMemory(
            id=uuid7(),
            namespace=capture.namespace,
            content=content,
            source_kind=source_kind,
            importance=importance(source_kind, explicit=capture.explicit),
            valid_at=capture.occurred_at or datetime.now(UTC),
            embedding=vector,
            owner=capture.owner,
            source_ref=capture.source_ref,
            session=capture.session,
            turn=capture.turn,
            speaker=capture.speaker,
            assertions=capture.assertions,
            metadata=capture.metadata,
        )
        event = MemoryEvent(
            event_id=uuid7(),
            op=MemoryOp.RETAIN,
            org=org,
            namespace=capture.namespace,
            memory_id=memory.id,
            decision="add",
            importance=memory.importance,
            source_kind=source_kind,
            preview=preview(content),
            occurred_at=datetime.now(UTC),
        )
        async with self._database.transaction(org) as connection:
            if not await inbox.claim(connection, CONSUMER, f"{org}/{delivery.message_id}"):
                return
            await memories.insert(connection, memory)
            await memory_events.record(
                connection,
                memory_events.MemoryEventRow(
                    event.event_id,
                    event.namespace,
                    event.op,
                    event.occurred_at,
                    memory.id,
                    capture.owner,
                    {"decision": "add", "importance": memory.importance},
                ),
            )
            subject = subjects.memory_event(MemoryOp.RETAIN, org, capture.namespace)
            await outbox.enqueue(connection, subject, str(event.event_id), event)
        self._committed()

"""Observe: take in a memory event once, and say so. What the later phases work on is what has been observed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from cortex_contracts import subjects
from cortex_contracts.messages.events import MemoryEvent, SleepEvent
from cortex_contracts.subjects import MemoryOp, SleepPhase
from cortex_runtime import inbox, outbox
from cortex_runtime.bus import Delivery
from cortex_sleep.ports import Transactions
from cortex_store import sleep_progress
from cortex_store.ids import uuid7

CONSUMER = "sleep"

UNINTERESTING = frozenset({MemoryOp.RECALL})
"""Reading changes nothing that a phase could work on; recall events are for statistics."""


class Observer:
    """Counts the events of a namespace exactly once, in the order they arrive."""

    def __init__(self, database: Transactions, committed: Callable[[], None]) -> None:
        self._database = database
        self._committed = committed

    async def observe(self, event: MemoryEvent, _: Delivery) -> None:
        """Handle one memory event; a second delivery of the same event has no effect.

        Raises:
            Unavailable: the database is away; the event comes again.
        """
        if event.op in UNINTERESTING:
            return
        async with self._database.transaction(event.org) as connection:
            if not await inbox.claim(connection, CONSUMER, str(event.event_id)):
                return
            progress = await sleep_progress.advance(connection, event.namespace, 1, event.occurred_at)
            seen = SleepEvent(
                event_id=uuid7(),
                phase=SleepPhase.OBSERVE,
                org=event.org,
                namespace=event.namespace,
                events_seen=progress.events_seen,
                occurred_at=datetime.now(UTC),
            )
            subject = subjects.sleep_event(SleepPhase.OBSERVE, event.org, event.namespace)
            await outbox.enqueue(connection, subject, str(seen.event_id), seen)
        self._committed()

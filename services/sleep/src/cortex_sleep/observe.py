"""Observe: take in a memory event once, and say so. What the later phases work on is what has been observed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from cortex_contracts import subjects
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import MemoryEvent, Observing, SleepEvent
from cortex_contracts.rpc.sleep import SleepCause
from cortex_contracts.subjects import MemoryOp, SleepPhase
from cortex_runtime import inbox, outbox
from cortex_runtime.bus import Delivery
from cortex_sleep.phase import SLEEPER
from cortex_sleep.ports import Transactions
from cortex_store import sleep_progress, sleep_runs
from cortex_store.ids import uuid7

CONSUMER = "sleep"

UNINTERESTING = frozenset({MemoryOp.RECALL})
"""Reading changes nothing that a phase could work on; recall events are for statistics. Nor is what sleep did itself
anything new to it: counted, it would be a reason to work on."""


class Observer:
    """Counts the events of a namespace exactly once, in the order they arrive."""

    def __init__(
        self, database: Transactions, committed: Callable[[], None], asked: Callable[[], None] = lambda: None
    ) -> None:
        """`asked` is called when there is a new run to work on."""
        self._database = database
        self._committed = committed
        self._asked = asked

    async def observe(self, event: MemoryEvent, _: Delivery) -> None:
        """Handle one memory event; a second delivery of the same event has no effect. Of a contradiction that recall
        found nothing may wait for the next run: one that settles it is asked for.

        Raises:
            Unavailable: the database is away; the event comes again.
        """
        if event.op in UNINTERESTING or event.agent == SLEEPER:
            return
        contradicted = event.op is MemoryOp.RECONSOLIDATE and not event.superseded
        async with self._database.transaction(Principal(org=event.org, subject=SLEEPER)) as connection:
            if not await inbox.claim(connection, CONSUMER, str(event.event_id)):
                return
            progress = await sleep_progress.advance(connection, event.namespace, 1, event.occurred_at)
            seen = SleepEvent(
                event_id=uuid7(),
                phase=Observing.OBSERVE,
                org=event.org,
                namespace=event.namespace,
                events_seen=progress.events_seen,
                occurred_at=datetime.now(UTC),
            )
            subject = subjects.sleep_event(SleepPhase.OBSERVE, event.org, event.namespace)
            await outbox.enqueue(connection, subject, str(seen.event_id), seen)
            if contradicted:
                phases = (SleepPhase.RECONSOLIDATE,)
                await sleep_runs.ask(connection, event.namespace, SleepCause.CONTRADICTION, phases)
        self._committed()
        if contradicted:
            self._asked()

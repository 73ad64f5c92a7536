"""Wake events: each thing is told once, on the bus, in the transaction that found it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from cortex_contracts import subjects
from cortex_contracts.messages.events import MemoryEvent, WakeEvent
from cortex_runtime import logs, outbox
from cortex_runtime.bus import Delivery
from cortex_sleep import wake
from cortex_sleep.decay import HALF_LIFE_DAYS, SALIENCE_GROWTH
from cortex_sleep.phase import Work
from cortex_sleep.ports import Transactions
from cortex_sleep.wake import Wake
from cortex_store import memories, wakes
from cortex_store.connection import Connection
from cortex_store.ids import uuid7

MOST_A_DAY: Final = 100
"""Wake events of a namespace in 24 hours: an import that contradicts thousands of memories is no reason to send a
person thousands of messages. What is above is in the memory events."""
MOST_STALE: Final = 20
"""Stale memories that a run tells of; the others are told by the next ones."""
DAY: Final = timedelta(days=1)

log = logs.get(__name__)


async def announce(connection: Connection, org: str, found: Wake, at: datetime) -> bool:
    """Tell of something in the caller's transaction, which is bound to the org; false when it was told before, or when
    the namespace has told of enough for a day."""
    event = WakeEvent(
        event_id=uuid7(),
        org=org,
        namespace=found.namespace,
        reason=found.reason,
        memory_id=found.memory_id,
        occurred_at=at,
        kind=found.kind,
        memory_ids=found.memory_ids,
        importance=found.importance,
        entity=found.entity,
        preview=found.preview,
    )
    told = await wakes.record(
        connection, found.namespace, found.kind, found.key, event.event_id, at, most=MOST_A_DAY, within=DAY
    )
    if told:
        subject = subjects.wake_event(org, found.namespace)
        await outbox.enqueue(connection, subject, str(event.event_id), event)
    return told


class Watch:
    """Finds contradictions and patterns in the memory events that pass by on their way to `then`. Texts and readers are
    those of the memories as they are now: what was forgotten meanwhile is not told."""

    def __init__(
        self,
        database: Transactions,
        committed: Callable[[], None],
        then: Callable[[MemoryEvent, Delivery], Awaitable[None]],
    ) -> None:
        self._database = database
        self._committed = committed
        self._then = then

    async def observe(self, event: MemoryEvent, delivery: Delivery) -> None:
        """Handle one memory event; a second delivery tells nothing again.

        Raises:
            Unavailable: the database is away; the event comes again.
        """
        if wake.may_contradict(event) or wake.may_be_pattern(event):
            async with self._database.transaction(event.org) as connection:
                found = await _found(connection, event)
                told = found is not None and await announce(connection, event.org, found, datetime.now(UTC))
            if told:
                self._committed()
        await self._then(event, delivery)


class Stale:
    """The step of a run that tells of important memories that nobody used for long."""

    def __init__(self, committed: Callable[[], None]) -> None:
        self._committed = committed

    async def run(self, work: Work) -> None:
        """Tell of the most important ones.

        Raises:
            Unavailable: the database is away.
        """
        async with work.transaction() as connection:
            idle = await wakes.idle(
                connection,
                work.namespace,
                work.now,
                least=wake.IMPORTANT,
                days=HALF_LIFE_DAYS * wake.STALE_HALF_LIVES,
                growth=SALIENCE_GROWTH,
                limit=MOST_STALE,
            )
            rows = await memories.by_ids(connection, [one.id for one in idle])
            told = 0
            for one in idle:
                entity = await wakes.most_named(connection, [one.id])
                told += await announce(connection, work.org, wake.stale(rows[one.id], one, work.now, entity), work.now)
        if told:
            log.info("stale memories told", org=work.org, namespace=work.namespace, told=told)
            self._committed()


async def _found(connection: Connection, event: MemoryEvent) -> Wake | None:
    assert event.memory_id is not None, "asked before"
    rows = await memories.by_ids(connection, [event.memory_id, *event.superseded])
    about = rows.pop(event.memory_id, None)
    if about is None:
        return None
    if wake.may_contradict(event):
        ended = [rows[one] for one in event.superseded if one in rows]
        entity = await wakes.most_named(connection, [about.id, *(one.id for one in ended)])
        return wake.contradiction(about, ended, entity)
    sources = await wakes.sources(connection, about.id)
    return wake.pattern(about, sources, await wakes.most_named(connection, [about.id]))

"""What must happen after an answer: access counts and the recall event, in batches, never in the way of a reader."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Final
from uuid import UUID

from cortex_contracts.errors import CortexError
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import MemoryEvent
from cortex_contracts.subjects import MemoryOp
from cortex_recall.ports import Transactions
from cortex_runtime import logs
from cortex_store import access, memory_events
from cortex_store.ids import uuid7

MAX_WAITING: Final = 10_000
"""Answers whose counts wait; beyond it, with the database away for long, the oldest are not counted."""
BATCH: Final = 200
PAUSE_S: Final = 1.0
"""Between batches, so that one transaction serves many answers."""

log = logs.get(__name__)


@dataclass(frozen=True, slots=True)
class Answered:
    """What one recall returned: ids and namespaces."""

    principal: Principal
    memories: tuple[tuple[UUID, str], ...]
    took_ms: int


class AccessLog:
    """Takes notes of answers and writes them down behind."""

    def __init__(self, database: Transactions, committed: Callable[[], None]) -> None:
        self._database = database
        self._committed = committed
        self._waiting: dict[int, Answered] = {}
        self._next = 0
        self._wake = asyncio.Event()

    def note(self, answered: Answered) -> None:
        """An answer was given."""
        self._waiting[self._next] = answered
        self._next += 1
        if len(self._waiting) > MAX_WAITING:
            del self._waiting[next(iter(self._waiting))]
        self._wake.set()

    async def run(self) -> None:
        """Write until cancelled; what is left then is written at once."""
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                await self._write()
                await asyncio.sleep(PAUSE_S)
        finally:
            await asyncio.shield(self._write())

    async def _write(self) -> None:
        while self._waiting:
            batch = dict(islice(self._waiting.items(), BATCH))
            by_principal: dict[Principal, list[Answered]] = {}
            for one in batch.values():
                by_principal.setdefault(one.principal, []).append(one)
            try:
                for principal, group in by_principal.items():
                    await self._record(principal, group)
            except CortexError as error:
                log.warning("accesses wait to be counted", reason=error.message)
                return
            for number in batch:
                self._waiting.pop(number, None)

    async def _record(self, principal: Principal, group: Sequence[Answered]) -> None:
        now = datetime.now(UTC)
        times = Counter(memory for one in group for memory, _ in one.memories)
        by_namespace = Counter(namespace for one in group for namespace in {space for _, space in one.memories})
        async with self._database.transaction(principal) as connection:
            await access.record(connection, times, now)
            for namespace, answers in sorted(by_namespace.items()):
                event = MemoryEvent(
                    event_id=uuid7(),
                    op=MemoryOp.RECALL,
                    org=principal.org,
                    namespace=namespace,
                    agent=principal.subject,
                    occurred_at=now,
                )
                metadata = {
                    "answers": answers,
                    "memories": sum(space == namespace for one in group for _, space in one.memories),
                    "slowest_ms": max(one.took_ms for one in group),
                }
                await memory_events.announce(connection, event, metadata)
        self._committed()

"""What contradicts an answer in the context that came with its question: found behind the answer, noted for sleep.

The context is looked at in this process and goes nowhere. What is kept is the one sentence that a memory of the answer
cannot be true beside, redacted, and only where the caller may write. Correcting is for sleep (`cortex_sleep`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from cortex_contracts.errors import CortexError
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import MemoryEvent
from cortex_contracts.subjects import MemoryOp
from cortex_decision import Statement, can_change, can_end, claims, contradiction
from cortex_decision.folding import content
from cortex_recall.ports import Transactions
from cortex_redaction import redacted
from cortex_runtime import logs
from cortex_runtime.worker import Worker
from cortex_store import contradictions, memories, memory_events, memory_index
from cortex_store.contradictions import SLEEP, Contradiction
from cortex_store.ids import uuid7
from cortex_store.memories import Memory
from cortex_writing.neighbourhood import heard

MAX_WAITING: Final = 200
"""Contexts of up to 20,000 characters: 16 MB at most. Beyond it the oldest are not looked at."""
COMPARED: Final = 20
"""Memories of an answer, the best: what is further down is hardly what the context is about."""

log = logs.get(__name__)


@dataclass(frozen=True, slots=True)
class Heard:
    """A context, when it came, and the memories that answered, best first."""

    principal: Principal
    context: str
    memories: tuple[UUID, ...]
    at: datetime


class Contradictions(Worker):
    """Looks at one context after the other. What waits when the process ends is lost: it comes with the next question,
    as long as it is what the caller knows."""

    trouble = "contradictions wait to be recorded"

    def __init__(self, database: Transactions, committed: Callable[[], None]) -> None:
        super().__init__()
        self._database = database
        self._committed = committed
        self._waiting: deque[Heard] = deque(maxlen=MAX_WAITING)

    def note(self, heard: Heard) -> None:
        """A question came with a context and was answered."""
        self._waiting.append(heard)
        self.wake()

    async def step(self) -> bool:
        """Look at one context; says whether another one waits. Raises Unavailable when the database is away."""
        if not self._waiting:
            return False
        one = self._waiting[0]
        try:
            await self._look(one)
        except CortexError as error:
            if error.retryable:
                raise
            log.warning("a context is not looked at", reason=error.message)
        # While it was looked at, it may have had to make room.
        if self._waiting and self._waiting[0] is one:
            self._waiting.popleft()
        return bool(self._waiting)

    async def _look(self, one: Heard) -> None:
        async with self._database.transaction(one.principal) as connection:
            rows = await memories.by_ids(connection, one.memories[:COMPARED])
            writable = {
                namespace: await memory_index.may_write(connection, namespace)
                for namespace in {row.namespace for row in rows.values()}
            }
        olds = [
            row
            for memory in one.memories
            if (row := rows.get(memory)) is not None
            and row.invalid_at is None
            and row.document is None
            and row.source_kind != SLEEP
            and writable[row.namespace]
        ]
        found = await compare(one, olds) if olds else []
        if not found:
            return
        async with self._database.transaction(one.principal) as connection:
            # Some may have gone to the cold tier in the meantime.
            there = await memories.lock(connection, [each.memory for each in found])
            for each in found:
                if each.memory in there and await contradictions.record(connection, each):
                    event = MemoryEvent(
                        event_id=uuid7(),
                        op=MemoryOp.RECONSOLIDATE,
                        org=one.principal.org,
                        namespace=each.namespace,
                        memory_id=each.memory,
                        agent=one.principal.subject,
                        occurred_at=one.at,
                    )
                    await memory_events.announce(connection, event, {})
        self._committed()


async def compare(one: Heard, olds: Sequence[Memory]) -> list[Contradiction]:
    """What of a context contradicts memories: for each of these the last such claim, unless a later one says again what
    is remembered. Redacted before it is read; whoever asks in the meantime has their turn after each comparison, of
    0.2 ms."""
    speakers = {old.speaker for old in olds if old.speaker}
    said = await asyncio.to_thread(lambda: claims(redacted(one.context).text, speakers))
    known = [(old, older) for old in olds if can_end(older := heard(old, one.principal.subject))]
    found: dict[UUID, Contradiction] = {}
    for claim in said:
        newer = Statement(None, claim.text, one.at, claim.speaker)
        for old, older in known if can_change(newer) else ():
            await asyncio.sleep(0)
            if content(claim.text) == content(old.content):
                found.pop(old.id, None)
            elif contradiction(newer, older) is not None:
                found[old.id] = Contradiction(uuid7(), old.namespace, old.id, claim.text, claim.speaker, one.at)
    return list(found.values())

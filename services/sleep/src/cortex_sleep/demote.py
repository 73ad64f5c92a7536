"""The phase that moves memories from the hot tier to the cold one, batch by batch.

1. A transaction reads the memories of a batch and says that it is `writing`.
2. The cold store gets them, while the batch before it goes through 3 and 4. Nothing is locked for it: whoever needs one
   of them has it.
3. The batch is `written`: nothing more can come. What the cold store committed is read back, row by row, as checksums.
4. One transaction locks the hot rows, compares each with what was read back, deletes them and says that the batch is
   `done`. If one was used or changed in the meantime the batch is `dropped`, whole, and the others are written again.

Wherever this is killed, every memory is hot or its batch is done, and what is in the cold store of a batch that is not
done counts for nothing. The next run goes on with such a batch at 3: whether its rows arrived is all it needs to know.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.events import MemoryEvent
from cortex_contracts.subjects import MemoryOp, SleepPhase
from cortex_providers.cold_memory import ColdMemory, checksum
from cortex_providers.cold_store import Batch, BatchProof, ColdStore, Damaged
from cortex_runtime import logs
from cortex_sleep import hot_memories
from cortex_sleep.demotion import EPISODES, Candidate, Rules, batches, is_due
from cortex_sleep.phase import SLEEPER, Work
from cortex_store import cold_batches, demotion, memory_events, memory_index, thaws
from cortex_store.cold_batches import BatchState
from cortex_store.connection import Connection
from cortex_store.ids import uuid7
from cortex_writing.announcements import Announcements

log = logs.get(__name__)

BATCH: Final = 10_000
"""Memories that go together (`cold_store.MAX_BATCH`)."""
BATCH_BYTES: Final = 32 << 20
"""Of their contents; what they weigh otherwise is 4,000 bytes each."""
PAGE: Final = 5_000
"""Candidates that are looked at together."""
SLICE: Final = 50_000
"""Memories that are due, of which batches are made: the more, the fewer months a batch covers."""
READ: Final = 1_000
"""Memories that are read whole at a time; between them the process does other things."""
LATE: Final = timedelta(days=1)
"""How long a commit of a batch that was dropped may be on its way, to a catalog that is no database; its own time
limits are minutes."""


@dataclass(frozen=True, slots=True)
class _Written:
    """A batch that the cold store says it has."""

    batch: Batch
    ids: Sequence[UUID]
    size_bytes: int


class Demote:
    """Moves what is due."""

    phase = SleepPhase.DEMOTE

    def __init__(self, store: ColdStore, announcements: Announcements, rules: Rules | None = None) -> None:
        self._store = store
        self._announcements = announcements
        self._rules = rules or Rules()

    async def run(self, work: Work) -> None:
        """Demote what is due.

        Raises:
            Unavailable: the cold store or the database is away; nothing is lost.
            Permanent: the cold store refuses, or does not give back what it was given.
        """
        moved = int(work.cursor.get("demoted", "0"))
        after = UUID(work.cursor["after"]) if "after" in work.cursor else None
        if not work.dry_run:
            await self._store.check()
            moved += await self._settle(work)
        async with work.transaction() as connection:
            total = await demotion.count(connection, work.namespace, after, sorted(EPISODES))
        looked_at = 0
        due: list[Candidate] = []
        is_last = False
        while not is_last:
            async with work.transaction() as connection:
                rows = await demotion.candidates(connection, work.namespace, after, PAGE, sorted(EPISODES))
            page = [Candidate(**row) for row in rows]
            due += [one for one in page if is_due(one, work.now, self._rules)]
            looked_at += len(page)
            after = page[-1].id if page else after
            is_last = len(page) < PAGE
            if is_last or len(due) >= SLICE:
                async with aclosing(self._demote(work, batches(due, BATCH, BATCH_BYTES))) as moving:
                    async for went in moving:
                        moved += went
                        await work.report(looked_at, max(total, looked_at), demoted=moved)
                due = []
                if after is not None and not work.dry_run:
                    async with work.transaction() as connection:
                        await work.save(connection, {"after": str(after), "demoted": str(moved)})
            await work.report(looked_at, max(total, looked_at), demoted=moved)

    async def _demote(self, work: Work, due: Iterable[Sequence[Candidate]]) -> AsyncGenerator[int, None]:
        """Demote memories batch by batch, one being written while the one before it goes; how many went with each. What
        is used or changed meanwhile stays, and the others are written again: that is rare for what nobody has used in
        months."""
        waiting = deque([one.id for one in batch] for batch in due)
        if work.dry_run:
            for ids in waiting:
                yield len(ids)
            return
        written: _Written | None = None
        any_went = False
        while waiting or written is not None:
            async with self._writing(work, waiting.popleft() if waiting else ()) as following:
                if written is not None:
                    went, busy = await self._finish(work, written.batch, written.size_bytes)
                    if busy:
                        log.info(
                            "memories were used while they were written",
                            batch=str(written.batch.id),
                            memories=len(busy),
                        )
                        waiting.append([one for one in written.ids if one not in busy])
                    elif not went:
                        raise Unavailable("the cold store does not have what it was given")
                    any_went |= went > 0
                    yield went
                written = await following
        if any_went:
            # Ingest counts in small steps, and would need longer for them than it took here. What goes together has
            # most of its words in common: it is counted together.
            async with work.transaction() as connection:
                await memory_index.fold(connection, SLICE)

    @asynccontextmanager
    async def _writing(self, work: Work, ids: Sequence[UUID]) -> AsyncIterator[Awaitable[_Written | None]]:
        """A batch of those of the memories that may leave, if there are any: written while the block runs, and given up
        if the block fails."""
        batch = Batch(uuid7(), work.org, work.namespace)
        # Nobody else holds the rows: they are gone when they are written.
        writing = asyncio.create_task(self._append(batch, await self._begin(work, batch, ids)))
        try:
            yield writing
        finally:
            writing.cancel()
            # Why it failed matters only to who awaits it.
            await asyncio.gather(writing, return_exceptions=True)

    async def _append(self, batch: Batch, rows: list[ColdMemory]) -> _Written | None:
        if not rows:
            return None
        written = await self._store.append(batch, rows)
        return _Written(batch, tuple(one.id for one in rows), written.size_bytes)

    async def _begin(self, work: Work, batch: Batch, ids: Sequence[UUID]) -> list[ColdMemory]:
        """Those of the memories that may leave, of which the batch is recorded."""
        if not ids:
            return []
        async with work.transaction() as connection:
            rows = [
                memory
                for first in range(0, len(ids), READ)
                for memory in await hot_memories.read(connection, ids[first : first + READ])
            ]
            if rows:
                times = [one.valid_at for one in rows]
                await cold_batches.begin(connection, batch.id, work.namespace, len(rows), min(times), max(times))
        return rows

    async def _finish(self, work: Work, batch: Batch, size_bytes: int | None = None) -> tuple[int, set[UUID]]:
        """If the cold store has what the hot tier has of a batch, let the hot rows go, otherwise drop the batch; how
        many went, and which kept them all from it."""
        async with work.transaction() as connection:
            rows = await cold_batches.close(connection, batch.id, size_bytes)
        try:
            found = await self._store.checksums(batch)
        except Damaged:
            async with work.transaction() as connection:
                await cold_batches.drop(connection, batch.id)
            raise
        async with work.transaction() as connection:
            held = await demotion.hold(connection, work.namespace, sorted(found))
            same = await _unchanged(connection, held, found)
            goes = 0 < len(same) == len(found) == rows
            if goes:
                await demotion.remove(connection, batch.id, same)
                await cold_batches.finish(connection, batch.id, BatchProof.of(found.values()).checksum)
                await _announce(connection, work, batch, len(same))
            else:
                await cold_batches.drop(connection, batch.id)
        if not goes:
            await self._clear(work, batch)
            return 0, set(found) - set(same)
        await self._announcements.changed(work.org, [work.namespace])
        return len(same), set()

    async def _clear(self, work: Work, batch: Batch) -> None:
        """Take what the cold store has of a dropped batch out of it: of a batch that is dropped it is safe however late
        it happens."""
        if found := await self._store.checksums(batch):
            await self._store.remove(batch, sorted(found))
        async with work.transaction() as connection:
            await cold_batches.clear(connection, batch.id)

    async def _forget(self, work: Work, batch: Batch, ids: Sequence[UUID]) -> None:
        """Take memories of a done batch that are hot again out of the store."""
        try:
            await self._store.remove(batch, ids)
        except Damaged as error:
            log.warning("what came back stays in the cold store", batch=str(batch.id), reason=error.message)
            return
        async with work.transaction() as connection:
            await thaws.removed(connection, batch.id, ids)

    async def _settle(self, work: Work) -> int:
        """Go on with the batches that a run has left, and take out what came late or came back; how many memories
        went."""
        async with work.transaction() as connection:
            left = await cold_batches.unsettled(connection, work.namespace, LATE)
            thawed = await thaws.pending(connection, work.namespace)
            await thaws.purge(connection, work.namespace, LATE)
        for batch_id, ids in thawed.items():
            await self._forget(work, Batch(batch_id, work.org, work.namespace), ids)
        moved = 0
        for batch_id, state in left:
            batch = Batch(batch_id, work.org, work.namespace)
            if state is not BatchState.DROPPED:
                moved += (await self._finish(work, batch))[0]
                continue
            try:
                await self._clear(work, batch)
            except Damaged as error:
                log.warning("a batch that was dropped cannot be read", batch=str(batch_id), reason=error.message)
        return moved


async def _unchanged(connection: Connection, held: Sequence[UUID], found: Mapping[UUID, bytes]) -> list[UUID]:
    """Those of the held memories that may leave and are what the cold store has."""
    same = []
    for first in range(0, len(held), READ):
        for memory in await hot_memories.read(connection, held[first : first + READ]):
            if checksum(memory) == found[memory.id]:
                same.append(memory.id)
    return same


async def _announce(connection: Connection, work: Work, batch: Batch, memories: int) -> None:
    event = MemoryEvent(
        event_id=uuid7(),
        op=MemoryOp.DEMOTE,
        org=work.org,
        namespace=work.namespace,
        agent=SLEEPER,
        occurred_at=datetime.now(UTC),
    )
    await memory_events.announce(connection, event, {"batch": str(batch.id), "memories": memories})

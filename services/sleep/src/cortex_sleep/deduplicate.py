"""The phase that finds what is there twice: of live memories with the same readers that say the same the best stays,
the others end and point to it, and when they were said is kept as occurrences of the best.

Each memory is read once, in order of ids, and compared with those of the same wording that were read before.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import combinations
from typing import Final, Protocol
from uuid import UUID

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import Visibility, WriteDecision
from cortex_contracts.subjects import MemoryOp, SleepPhase
from cortex_sleep.duplicates import LEAST_WORDS, Candidate, Merge, merges, same
from cortex_sleep.phase import SLEEPER, Work
from cortex_sleep.wording import worded
from cortex_store import access, memories, occurrences, sleep_marks, wordings
from cortex_store.connection import Connection
from cortex_store.ids import uuid7
from cortex_store.memories import Memory
from cortex_store.wordings import Reading
from cortex_writing import journal, neighbourhood
from cortex_writing.remembering import end_derived

BATCH: Final = 500
"""Memories that are read at a time: their sentences take a tenth of a second."""
LAG: Final = timedelta(minutes=5)
"""How long a memory may be on its way into the database: what is younger is read again next time."""
ANNOUNCED: Final = 32
"""Ended memories that one event names."""
REASON: Final = "said the same; merged in sleep"


class Changed(Protocol):
    """Tells readers and the relay that memories of a namespace changed."""

    async def changed(self, org: str, namespaces: Iterable[str]) -> None:
        """Call it after the commit."""
        ...


class Deduplicate:
    """Merges what is the same."""

    phase = SleepPhase.DEDUPLICATE

    def __init__(self, announcements: Changed) -> None:
        self._announcements = announcements

    async def run(self, work: Work) -> None:
        """Compare what came in since the last run.

        Raises:
            Unavailable: the database is away.
        """
        async with work.transaction() as connection:
            mark = last = (await sleep_marks.get(connection, work.namespace)).deduplicated_to
            total = await wordings.count(connection, work.namespace, last)
        done = merged = 0
        held = False
        ended: set[UUID] = set()
        while True:
            async with work.transaction() as connection:
                batch = await wordings.after(connection, work.namespace, last, work.now, BATCH)
            if not batch:
                break
            found = await self._compare(work, batch, ended)
            for merge, owner in found:
                merged += await self._merge(work, merge, owner)
                ended |= {other.id for other in merge.others}
            # Behind the mark nothing is read again: not past what waits for its vector or is too young.
            for one in batch:
                held = held or one.waiting
                mark = mark if held else one.memory.id
            last = batch[-1].memory.id
            if mark is not None and not work.dry_run:
                async with work.transaction() as connection:
                    await sleep_marks.deduplicated(connection, work.namespace, min(mark, _floor(work.now - LAG)))
            done += len(batch)
            await work.report(done, max(done, total), merged=merged)
            if len(batch) < BATCH:
                break

    async def _compare(self, work: Work, batch: Sequence[Reading], ended: set[UUID]) -> list[tuple[Merge, str | None]]:
        """What of a batch says the same as something that was read, with the owner of what is private. The wordings
        are kept in a dry run as well: nobody but this phase sees them."""
        keys = {one.memory.id: key for one in batch if (key := _key(one.memory)) is not None}
        async with work.transaction() as connection:
            await wordings.record(connection, keys)
            near = await wordings.sharing(connection, work.namespace, set(keys.values()), work.now)
            groups: dict[int | None, list[Reading]] = defaultdict(list)
            for one in near:
                if one.memory.id not in ended:
                    groups[_key(one.memory)].append(one)
            several = [group for group in groups.values() if len(group) > 1]
            kept = await wordings.restored(connection, [one.memory.id for group in several for one in group])
            found = []
            for group in several:
                known = [_candidate(one) for one in group if one.memory.id not in kept]
                found += [(merge, _private(group)) for merge in await _alike(connection, known)]
        return found

    async def _merge(self, work: Work, merge: Merge, owner: str | None) -> int:
        """Do it; how many memories ended. What changed since it was read is left for another run."""
        if work.dry_run:
            return len(merge.others)
        best, ended = merge.best.id, []
        async with work.transaction(owner or SLEEPER) as connection:
            ids = [best, *(other.id for other in merge.others)]
            await memories.lock(connection, ids)
            now = await memories.by_ids(connection, ids)
            if best not in now or now[best].invalid_at is not None:
                return 0
            for other in merge.others:
                if other.id in now and await memories.invalidate(connection, other.id, work.now, best):
                    await occurrences.record(connection, _occurrence(now[other.id], best))
                    await wordings.copy_occurrences(connection, other.id, best)
                    count, at = await access.of_memory(connection, other.id)
                    if at is not None:
                        await access.record(connection, {best: count}, at)
                    ended.append(other.id)
            sleeper = Principal(org=work.org, subject=SLEEPER)
            # What was made of them is made again, of the best.
            await end_derived(connection, sleeper, ended, work.now)
            for start in range(0, len(ended), ANNOUNCED):
                await journal.record(
                    connection,
                    sleeper,
                    MemoryOp.RECONSOLIDATE,
                    work.namespace,
                    best,
                    decision=WriteDecision.NOOP,
                    importance=now[best].importance,
                    source_kind=now[best].source_kind,
                    superseded=ended[start : start + ANNOUNCED],
                )
        if ended:
            await self._announcements.changed(work.org, [work.namespace])
        return len(ended)


async def _alike(connection: Connection, known: Sequence[Candidate]) -> tuple[Merge, ...]:
    """The merges among memories of one wording: by words first, then by their vectors."""
    pairs = [(one, other) for one, other in combinations(known, 2) if same(one, other, 1.0)]
    if not pairs:
        return ()
    near = await wordings.cosines(connection, [(one.id, other.id) for one, other in pairs])

    def alike(one: Candidate, other: Candidate) -> bool:
        return same(one, other, near.get((one.id, other.id), near.get((other.id, one.id))))

    return merges(known, alike)


def _key(memory: Memory) -> int | None:
    """The hash of who may read a memory, of its kind and of its words; none: it is nobody's duplicate."""
    wording = worded(neighbourhood.stored(memory))
    if wording.asks or wording.size < LEAST_WORDS:
        return None
    owner = memory.owner if memory.visibility is Visibility.PRIVATE else ""
    scope = (memory.namespace, memory.visibility, owner or "", memory.network, memory.memory_type)
    digest = hashlib.sha256("\x1f".join((*scope, wording.key)).encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _candidate(one: Reading) -> Candidate:
    return Candidate(one.memory.id, neighbourhood.stored(one.memory), one.memory.owner, one.base, one.uses)


def _private(group: Sequence[Reading]) -> str | None:
    memory = group[0].memory
    return memory.owner if memory.visibility is Visibility.PRIVATE else None


def _occurrence(memory: Memory, best: UUID) -> occurrences.Occurrence:
    """That a merged memory was said, as one more time of the best."""
    return occurrences.Occurrence(
        uuid7(),
        best,
        memory.source_kind,
        memory.source_ref,
        memory.session,
        memory.turn,
        memory.speaker,
        memory.valid_at,
        REASON,
    )


def _floor(moment: datetime) -> UUID:
    """The smallest identifier of a moment's millisecond (RFC 9562 section 5.7)."""
    return UUID(int=max(0, int(moment.timestamp() * 1000)) << 80)

"""The phase that corrects memories: what recall found to contradict them, and what they contradict each other in.

A contradiction that recall noted is judged again under the locks of the rows that it is about. If it holds, what was
said becomes a memory of the same readers, and the old one ends. Then every memory that was told since the last run is
compared with those near it, by words and by meaning; of two that exclude each other the later one stays. What somebody
has restored since is left alone.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from cortex_contracts.messages.base import Principal, preview
from cortex_contracts.messages.memory import Visibility, WriteDecision
from cortex_contracts.subjects import MemoryOp, SleepPhase
from cortex_decision import (
    Contradiction,
    Decision,
    Neighbour,
    Statement,
    can_change,
    can_end,
    contradiction,
    decide,
    importance,
    successions,
)
from cortex_providers.engine import BuiltinEngine, Engine
from cortex_sleep.nearness import near
from cortex_sleep.phase import SLEEPER, Work
from cortex_store import contradictions, endings, indexed_text, memory_index, occurrences, sleep_marks
from cortex_store.connection import Connection
from cortex_store.contradictions import Outcome
from cortex_store.ids import uuid7
from cortex_store.memories import Memory, NewMemory
from cortex_writing import journal, neighbourhood
from cortex_writing.announcements import Announcements
from cortex_writing.neighbourhood import Neighbourhood, Vector, heard, stored
from cortex_writing.reading import Reader
from cortex_writing.remembering import remember, supersede

SOURCE_KIND: Final = "recall"
"""Of a memory that was said along with a question."""
BATCH: Final = 500
"""Contradictions, or memories, that are read at once."""
GROUP: Final = 20
"""Memories that are compared in one transaction, each 5 ms."""
SKEW: Final = timedelta(minutes=5)
"""How far another clock may be ahead, as for a write (`cortex_ingest.verdicts`)."""
MAX_REASON: Final = 200
_FIRST: Final = UUID(int=0)


class Reconsolidate:
    """Settles contradictions, then looks for more."""

    phase = SleepPhase.RECONSOLIDATE

    def __init__(self, announcements: Announcements, *, engine: Engine | None = None) -> None:
        """Without an engine the built-in one reads what is written."""
        self._announcements = announcements
        self._reader = Reader(engine or BuiltinEngine())

    async def run(self, work: Work) -> None:
        """Do both on the namespace.

        Raises:
            Unavailable: the database is away.
        """
        counts: Counter[str] = Counter()
        settled = await self._settle(work, counts)
        await self._scan(work, counts, settled)

    async def _settle(self, work: Work, counts: Counter[str]) -> int:
        """Settle what recall noted, in its order; how many there were."""
        last, settled = _FIRST, 0
        while True:
            async with work.transaction() as connection:
                found = await contradictions.open_ones(connection, work.namespace, last, BATCH)
            if not found:
                return settled
            for one in found:
                outcome = await self._correct(work, one)
                settled += 1
                counts[outcome] += 1
                await work.report(settled, None, **counts)
            last = found[-1].id

    async def _correct(self, work: Work, found: contradictions.Contradiction) -> Outcome:
        """Judge one again, and carry it out."""
        said = Statement(None, found.statement, found.said_at, found.speaker)
        principal = Principal(org=work.org, subject=found.subject)
        async with work.transaction(found.subject) as connection:
            old = (await contradictions.held(connection, [found.memory])).get(found.memory)
            if old is None or old.invalid_at is not None or old.tier != "hot":
                outcome = Outcome.GONE
            elif (wrong := await _wrong(connection, old, said, found.subject)) is None:
                outcome = Outcome.KEPT
            else:
                outcome = await self._replace(connection, principal, old, wrong, dry=work.dry_run)
            if not work.dry_run:
                await contradictions.settle(connection, found.id, outcome)
        if not work.dry_run:
            await self._announcements.changed(work.org, (work.namespace,))
        return outcome

    async def _replace(
        self, connection: Connection, principal: Principal, old: Memory, wrong: Contradiction, *, dry: bool
    ) -> Outcome:
        """Write what was said for the readers of the old memory, which ends, unless it is there already."""
        said, new = wrong.newer, _corrected(old, wrong, principal.subject)
        document = indexed_text.document(new, new.valid_at)
        await memory_index.lock_content(connection, new.namespace, document.content)
        around = await neighbourhood.find(connection, new, document, Vector(), owner=principal.subject)
        others = [
            heard(one, principal.subject) for one in around.rows.values() if one.invalid_at is None and one.id != old.id
        ]
        if any(contradiction(later, said) is not None for later in others):
            return Outcome.KEPT
        repeated = _repeated(around, replace(said, session=stored(new).session), old)
        if dry:
            return Outcome.CORRECTED if repeated is None else Outcome.REPEATED
        if repeated is not None:
            again = occurrences.Occurrence(
                uuid7(), repeated.id, SOURCE_KIND, None, None, None, said.speaker, said.valid_at, new.decision_reason
            )
            await occurrences.record(connection, again)
            await _end(connection, principal, old, repeated, replaced=wrong.replaced)
            return Outcome.REPEATED
        [reading] = await self._reader.read([new])
        await remember(
            connection,
            principal,
            new,
            document,
            Vector(),
            reading.extraction,
            op=MemoryOp.RECONSOLIDATE,
            supersedes=(old.id,),
        )
        return Outcome.CORRECTED

    async def _scan(self, work: Work, counts: Counter[str], settled: int) -> None:
        """Compare what was told since the last scan with what is near it."""
        async with work.transaction() as connection:
            last = (await sleep_marks.get(connection, work.namespace)).reconsolidated_to
            total = await contradictions.count_after(connection, work.namespace, last)
        # At the first scan everything that can end is looked at itself: what could end it need not be.
        worth = can_end if last is None else can_change
        done, more = 0, True
        over: set[UUID] = set()
        counts["superseded"] = 0
        while more:
            async with work.transaction() as connection:
                batch = await contradictions.told_after(connection, work.namespace, last, BATCH)
            more, known = len(batch) == BATCH, len(over)
            chosen = await asyncio.to_thread(lambda: [one for one in batch if worth(stored(one))])  # noqa: B023
            for subject, ones in _by_reader(chosen):
                async with work.transaction(subject) as connection:
                    over |= await _compare(work, connection, subject, ones)
                counts["superseded"] = len(over)
                await work.report(settled + done, settled + max(done, total), **counts)
            done, last = done + len(batch), batch[-1].id if batch else last
            if batch and last is not None and not work.dry_run:
                async with work.transaction() as connection:
                    await sleep_marks.reconsolidated(connection, work.namespace, last)
                if len(over) > known:
                    await self._announcements.changed(work.org, (work.namespace,))
            await work.report(settled + done, settled + max(done, total), **counts)


async def _compare(work: Work, connection: Connection, subject: str, ones: Sequence[Memory]) -> set[UUID]:
    """End what memories make untrue among their neighbours, or are made untrue by; which ones."""
    ended: set[UUID] = set()
    neighbours = await near(connection, ones)
    for one in ones:
        for found in successions(stored(one), [stored(other) for other in neighbours[one.id]]):
            ended |= await _succeed(connection, Principal(org=work.org, subject=subject), found, dry=work.dry_run)
        await asyncio.sleep(0)
    return ended


async def _wrong(connection: Connection, old: Memory, said: Statement, subject: str) -> Contradiction | None:
    """What `subject` said does to a memory; nothing if that was restored since, or is somebody else's to change."""
    if old.visibility is Visibility.PRIVATE and old.owner != subject:
        return None
    if await contradictions.restored_since(connection, old.id, said.valid_at):
        return None
    return contradiction(said, heard(old, subject))


def _corrected(old: Memory, wrong: Contradiction, owner: str) -> NewMemory:
    """What was said, as a memory in the place of the old one: it has the same readers and is as important at least."""
    said = wrong.newer
    return NewMemory(
        id=uuid7(),
        namespace=old.namespace,
        content=said.text,
        source_kind=SOURCE_KIND,
        importance=max(
            old.importance, importance(math.nan, explicit=False, source_kind=SOURCE_KIND, reference_age_days=0.0)
        ),
        valid_at=said.valid_at,
        owner=owner,
        visibility=old.visibility,
        network=old.network,
        memory_type=old.memory_type,
        speaker=said.speaker,
        decision=WriteDecision.UPDATE if wrong.replaced else WriteDecision.INVALIDATE,
        decision_reason=f"said along with a question: {wrong.reason}"[:MAX_REASON],
    )


def _repeated(near: Neighbourhood, said: Statement, old: Memory) -> Memory | None:
    """The live memory that says what was said already, and since the old one: it takes its place."""
    known = [
        Neighbour(one.statement)
        for one in near.neighbours
        if one.invalid_at is None and one.statement.valid_at >= old.valid_at and one.statement.id != old.id
    ]
    verdict = decide(said, known)
    return near.rows[verdict.targets[0]] if verdict.decision is Decision.NOOP else None


async def _succeed(connection: Connection, principal: Principal, found: Contradiction, *, dry: bool) -> set[UUID]:
    """End the older of two stored memories; which one, if it is to end."""
    older, newer = found.older.id, found.newer.id
    assert older is not None, "it is stored"
    assert newer is not None, "it is stored"
    rows = await contradictions.held(connection, [older, newer])
    old, new = rows.get(older), rows.get(newer)
    if old is None or new is None or old.invalid_at is not None or new.invalid_at is not None:
        return set()
    if await contradictions.restored_since(connection, old.id, new.created_at):
        return set()
    if not dry:
        await _end(connection, principal, old, new, replaced=found.replaced)
    return {older}


async def _end(connection: Connection, principal: Principal, old: Memory, new: Memory, *, replaced: bool) -> None:
    """A memory takes the place of an older one; on the day that it announces, if that is to come."""
    if new.valid_at > datetime.now(UTC) + SKEW:
        await endings.announce(connection, old.id, new.id, new.valid_at)
        return
    ended = await supersede(connection, principal, [old.id], new.id, new.valid_at)
    await journal.record(
        connection,
        principal,
        MemoryOp.RECONSOLIDATE,
        new.namespace,
        new.id,
        decision=WriteDecision.UPDATE if replaced else WriteDecision.INVALIDATE,
        importance=new.importance,
        source_kind=new.source_kind,
        preview=preview(new.content) if new.visibility is not Visibility.PRIVATE else "",
        superseded=ended,
    )


def _by_reader(chosen: Sequence[Memory]) -> Iterator[tuple[str, Sequence[Memory]]]:
    """Memories in groups of one transaction, with whom they are compared for: the owner of what is private."""
    found: dict[str, list[Memory]] = defaultdict(list)
    for one in chosen:
        found[(one.owner or SLEEPER) if one.visibility is Visibility.PRIVATE else SLEEPER].append(one)
    for subject, ones in found.items():
        for start in range(0, len(ones), GROUP):
            yield subject, ones[start : start + GROUP]

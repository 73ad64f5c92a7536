"""Making: facts of topics and summaries of entities, from what their memories claim now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from cortex_contracts.errors import CortexError
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryType, Network, WriteDecision
from cortex_contracts.subjects import MemoryOp
from cortex_providers.summariser import Summariser
from cortex_runtime import logs
from cortex_sleep.consolidation import facts
from cortex_sleep.consolidation.facts import Fact, Told
from cortex_sleep.consolidation.statements import START, Group, claims_of, speaker_of
from cortex_sleep.phase import SLEEPER, Work
from cortex_store import consolidation, documents, indexed_text, memories
from cortex_store.connection import Connection
from cortex_store.consolidation import EntityRow, TopicRow
from cortex_store.ids import uuid7
from cortex_store.memories import Memory, NewMemory
from cortex_writing import journal
from cortex_writing.neighbourhood import Vector
from cortex_writing.patience import Patience
from cortex_writing.remembering import remember

BATCH: Final = 20
"""Topics or entities of one transaction."""
PAGE: Final = 1_000
"""Of them that are looked for at once: that reads what all memories with a topic are like."""
MODEL_S: Final = 60.0
"""For one answer of a language model, all attempts together."""
MODEL_CHARS: Final = 500
LATEST: Final = 200
"""Memories that tell of an entity at most; the later ones."""

log = logs.get(__name__)


class Maker:
    """Writes facts and summaries, in batches."""

    def __init__(self, work: Work, summariser: Summariser | None) -> None:
        """`summariser`: a language model that sums a fact up; none: it is told by quotations alone."""
        self._work = work
        self._summariser = summariser
        self._patience = Patience("the summariser", MODEL_S)

    async def stale(self, group: Group) -> AsyncIterator[Sequence[TopicRow]]:
        """The topics whose fact is to be made, in batches."""
        work, last, more = self._work, START, True
        async with work.transaction(group.subject) as connection:
            rows = await consolidation.emptied(connection, work.namespace, group.readers)
        while more:
            for start in range(0, len(rows), BATCH):
                yield rows[start : start + BATCH]
            async with work.transaction(group.subject) as connection:
                rows = await consolidation.stale(connection, work.namespace, group.readers, last, PAGE)
            more, last = bool(rows), rows[-1].id if rows else last

    async def facts(self, group: Group, rows: Sequence[TopicRow]) -> dict[str, int]:
        """Make the facts of some topics; how many were made, remade and ended.

        Raises:
            Unavailable: the database is away.
        """
        work = self._work
        async with work.transaction(group.subject) as connection:
            found = await memories.by_ids(connection, [one for row in rows for one in row.live])
            sources = {row.id: await consolidation.sources(connection, row.fact) for row in rows if row.fact}
        told = {
            row.id: await asyncio.to_thread(_told, [found[one] for one in row.live if one in found]) for row in rows
        }
        made = {row.id: await self._fact(row, told[row.id]) for row in rows}
        done = {"made": 0, "remade": 0, "ended": 0}
        if not work.dry_run:
            async with work.transaction(group.subject) as connection:
                for row in rows:
                    outcome = await self._settle(connection, group, row, made[row.id], sources.get(row.id, ()))
                    if outcome:
                        done[outcome] += 1
        return done

    async def _settle(
        self,
        connection: Connection,
        group: Group,
        row: TopicRow,
        made: tuple[Fact, float] | None,
        sources: Sequence[UUID],
    ) -> str | None:
        """Write what became of one topic; says what that was."""
        principal = Principal(org=self._work.org, subject=group.subject)
        old = await memories.get(connection, row.fact) if row.fact else None
        alive = old if old is not None and old.invalid_at is None else None
        # What is cold is still true.
        whole = await consolidation.hold(connection, sources) == await consolidation.still_hot(connection, sources)
        if whole and (row.cold or (row.fact and alive is None)):
            # Some of it is in the cold tier: its fact stays. Or somebody ended the fact itself, and wants no other.
            await consolidation.made(connection, row.id, row.fact, row.state, closed=True)
            return None
        if made is None or row.cold:
            if alive is not None:
                await self._end(connection, principal, alive)
            await consolidation.made(connection, row.id, None, row.state, closed=row.cold)
            return "ended" if alive is not None else None
        fact, importance = made
        if len(await consolidation.hold(connection, fact.sources)) < len(fact.sources):
            return None  # one of them ended meanwhile: the next run sees that
        if alive is not None and alive.content == fact.content:
            await consolidation.made(connection, row.id, row.fact, row.state)
            return None
        memory = self._memory(row, fact, importance, replaces=alive is not None)
        await remember(
            connection,
            principal,
            memory,
            indexed_text.document(memory, memory.valid_at),
            Vector(),
            facts.extraction(fact.quotations),
            op=MemoryOp.REFLECT,
            supersedes=(alive.id,) if alive is not None else (),
        )
        await consolidation.uncount(connection, memory.id)
        await documents.derived(connection, memory.id, fact.sources)
        await consolidation.made(connection, row.id, memory.id, row.state)
        return "made" if alive is None else "remade"

    async def _end(self, connection: Connection, principal: Principal, fact: Memory) -> None:
        """A fact is not true any more: nothing says it, or not all of it."""
        if await memories.invalidate(connection, fact.id, self._work.now):
            await journal.record(connection, principal, MemoryOp.FORGET, fact.namespace, fact.id)

    def _memory(self, row: TopicRow, fact: Fact, importance: float, *, replaces: bool) -> NewMemory:
        first = min(one.at for one in fact.quotations)
        return NewMemory(
            id=uuid7(),
            namespace=self._work.namespace,
            content=fact.content,
            source_kind=consolidation.SOURCE_KIND,
            importance=importance,
            valid_at=fact.at,
            owner=row.readers.owner or SLEEPER,
            visibility=row.readers.visibility,
            network=Network.FACT,
            memory_type=MemoryType.SEMANTIC,
            metadata={
                "topic": str(row.id),
                "said_by": row.speaker,
                "said_from": first.isoformat(),
                "said_until": fact.at.isoformat(),
            },
            decision=WriteDecision.UPDATE if replaces else WriteDecision.ADD,
            decision_reason=f"{len(fact.sources)} memories tell of one thing",
        )

    async def _fact(self, row: TopicRow, told: Sequence[Told]) -> tuple[Fact, float] | None:
        """The fact of a topic and its importance: that of the most important memory that it quotes."""
        fact = await asyncio.to_thread(lambda: facts.fact(facts.quotations(told)))
        if fact is None:
            return None
        if self._summariser is not None and not self._work.dry_run:
            fact = await self._summed_up(row, fact, self._summariser)
        return fact, max(one.importance for one in told if one.memory in fact.sources)

    async def _summed_up(self, row: TopicRow, fact: Fact, summariser: Summariser) -> Fact:
        """The fact with what a language model makes of it in front of the quotations that it is made of."""
        lines = [one.line for one in fact.quotations]
        try:
            summary = await self._patience.wait(lambda: summariser.summarise(lines, limit=MODEL_CHARS), limit_s=MODEL_S)
        except CortexError as error:
            log.warning("a fact is told by quotations alone", reason=error.message)
            return fact
        if not summary.text:
            return fact
        first = min(one.at for one in fact.quotations).date().isoformat()
        said = " ".join(summary.text.split())
        return replace(fact, content=f"{row.speaker} ({first} – {fact.at.date().isoformat()}): {said}\n{fact.content}")

    async def stale_entities(self) -> AsyncIterator[Sequence[EntityRow]]:
        """The entities of which something else is told now, in batches."""
        work, last, more = self._work, START, True
        while more:
            async with work.transaction() as connection:
                rows = await consolidation.stale_entities(connection, work.namespace, last, PAGE)
            more, last = bool(rows), rows[-1].id if rows else last
            for start in range(0, len(rows), BATCH):
                yield rows[start : start + BATCH]

    async def summaries(self, rows: Sequence[EntityRow]) -> int:
        """Sum up what is known about some entities; of how many.

        Raises:
            Unavailable: the database is away.
        """
        work = self._work
        async with work.transaction() as connection:
            found = await memories.by_ids(connection, [one for row in rows for one in row.live[-LATEST:]])
        made = {row.id: await asyncio.to_thread(_portrait, row, found) for row in rows}
        changed = 0
        if not work.dry_run:
            async with work.transaction() as connection:
                for row in rows:
                    changed += await _settle_summary(connection, row, made[row.id])
        return changed


async def _settle_summary(connection: Connection, row: EntityRow, made: Fact | None) -> bool:
    if made is None and row.cold:
        await consolidation.summary_is_of(connection, row.id, row.state)
        return False
    if made is not None and len(await consolidation.hold(connection, made.sources)) < len(made.sources):
        return False
    await consolidation.summarise(
        connection, row.id, made.content if made else None, row.state, made.sources if made else ()
    )
    return made is not None


def _told(found: Sequence[Memory]) -> list[Told]:
    return [
        Told(one.id, speaker_of(one), one.valid_at, stated, one.importance)
        for one in found
        if (stated := claims_of(one))
    ]


def _portrait(row: EntityRow, found: dict[UUID, Memory]) -> Fact | None:
    told = _told([found[one] for one in row.live if one in found])
    return facts.fact(facts.about(row.key, told), limit=facts.SUMMARY_CHARS)

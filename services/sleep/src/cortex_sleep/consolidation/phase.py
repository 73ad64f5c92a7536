"""The phase that consolidates: reads what is new, makes facts of what several memories tell, sums up what is known."""

from __future__ import annotations

from collections import Counter

from cortex_contracts.messages.memory import Visibility
from cortex_contracts.subjects import SleepPhase
from cortex_providers.summariser import Summariser
from cortex_sleep.consolidation.making import Maker
from cortex_sleep.consolidation.statements import Group, Read, Reader
from cortex_sleep.phase import SLEEPER, Work
from cortex_store import consolidation
from cortex_store.consolidation import Readers
from cortex_writing.announcements import Announcements


class Consolidate:
    """Consolidates a namespace. Readers never mix: what is made of private memories is private to the same owner."""

    phase = SleepPhase.CONSOLIDATE

    def __init__(self, announcements: Announcements, summariser: Summariser | None = None) -> None:
        """`summariser`: a language model; none: facts are quotations alone, and the same each time."""
        self._announcements = announcements
        self._summariser = summariser

    async def run(self, work: Work) -> None:
        """Read, make facts, sum up; a second run over the same memories does nothing.

        Raises:
            Unavailable: the database is away.
            Stopped: somebody asked the run to stop.
        """
        async with work.transaction() as connection:
            owners = await consolidation.private_owners(connection, work.namespace)
        shared = Group(SLEEPER, (Readers(Visibility.TEAM), Readers(Visibility.GLOBAL)))
        groups = [shared, *(Group(owner, (Readers(Visibility.PRIVATE, owner),)) for owner in owners)]
        read, counts = Read(), Counter[str](made=0, remade=0, ended=0, summaries=0)
        for group in groups:
            reader = Reader(work, group)
            more = True
            while more:
                more = await reader.batch(read)
                await self._report(work, read, counts)
        maker = Maker(work, self._summariser)
        for group in groups:
            async for topics in maker.stale(group):
                done = await maker.facts(group, topics)
                counts.update(done)
                await self._report(work, read, counts, changed=any(done.values()))
        async for entities in maker.stale_entities():
            counts["summaries"] += await maker.summaries(entities)
            await self._report(work, read, counts)

    async def _report(self, work: Work, read: Read, counts: Counter[str], *, changed: bool = False) -> None:
        if changed:
            await self._announcements.changed(work.org, (work.namespace,))
        facts = {"would_make": len(read.topics)} if work.dry_run else dict(counts)
        await work.report(read.memories, None, statements=read.statements, **facts)

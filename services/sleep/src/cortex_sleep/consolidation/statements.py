"""Reading: every new memory is read once, and what claims something gets its topic."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID

from cortex_decision.contexts import ASKERS, PROGRAMS
from cortex_extraction.folding import fold
from cortex_ranking import calibration
from cortex_sleep.consolidation.claims import Claim, claims, laughs, takes_back, topical
from cortex_sleep.consolidation.topics import WINDOW, Statement, Topics, Vector
from cortex_sleep.phase import Work
from cortex_store import consolidation, embedding, lexical, memories, memory_index, terms
from cortex_store.connection import Connection
from cortex_store.consolidation import Readers
from cortex_store.ids import uuid7
from cortex_store.memories import Memory

BATCH: Final = 200
"""Memories of one transaction."""
OVERLAP: Final = timedelta(hours=1)
"""How much of what was read is read again: who began to write earlier than another may commit later."""
PATIENCE: Final = timedelta(days=1)
"""How long a memory without a vector is waited for; after that its words must do."""
HELD: Final = 4 * WINDOW
"""Statements in memory at once, of all speakers: about 40 MB."""
START: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that are read together: whose private ones (`owner`), or all that are not private (none)."""

    subject: str
    readers: tuple[Readers, ...]

    @property
    def name(self) -> str:
        """Under which their progress is kept."""
        return self.readers[0].owner or ""


@dataclass(slots=True)
class Read:
    """What reading did: memories read, statements that got a topic, topics that have several now."""

    memories: int = 0
    statements: int = 0
    topics: set[UUID] = field(default_factory=set)


class Reader:
    """Reads the new memories of one group, batch by batch. Made anew for every run."""

    def __init__(self, work: Work, group: Group) -> None:
        self._work = work
        self._group = group
        self._windows: dict[tuple[Readers, str], Topics] = {}
        self._idfs: dict[int, float] = {}
        self._after: UUID | None = None

    async def batch(self, read: Read) -> bool:
        """Read one batch; says whether there may be more.

        Raises:
            Unavailable: the database is away.
        """
        work = self._work
        async with work.transaction(self._group.subject) as connection:
            after = self._after if self._after is not None else await self._begin(connection)
            found = await consolidation.unread(
                connection, work.namespace, self._group.readers, after, work.now - PATIENCE, BATCH
            )
            known = await consolidation.in_topics(connection, [one.id for one in found])
        if not found:
            return False
        stated = await asyncio.to_thread(_claims, found)
        async with work.transaction(self._group.subject) as connection:
            gone = await self._taken_back(connection, found)
            new = [one for one in found if one.id in stated and one.id not in known | gone]
            joined = await self._assign(connection, new, stated, read)
            if not work.dry_run:
                await consolidation.leave(connection, sorted(gone))
                await consolidation.join(connection, joined)
                await consolidation.advance(connection, work.namespace, self._group.name, found[-1].id)
        self._after = found[-1].id
        read.memories += len(found)
        read.statements += len(joined)
        return len(found) == BATCH

    async def _begin(self, connection: Connection) -> UUID:
        upto = await consolidation.progress(connection, self._work.namespace, self._group.name)
        if upto is None:
            return START
        return UUID(int=max(0, (upto.int >> 80) - int(OVERLAP.total_seconds() * 1000)) << 80)

    async def _taken_back(self, connection: Connection, found: Sequence[Memory]) -> set[UUID]:
        """What is laughed at or taken back by what follows it: the turn before, and the speaker's own before that."""
        gone: set[UUID] = set()
        for memory in found:
            if memory.session is None or not memory.turn or not _undoes(memory):
                continue
            before = await memory_index.turns(
                connection, memory.namespace, memory.session, memory.turn - 2, memory.turn - 1
            )
            for one in (await memories.by_ids(connection, before)).values():
                same = one.visibility is memory.visibility
                if same and (one.turn == memory.turn - 1 or one.speaker == memory.speaker):
                    gone.add(one.id)
        return gone

    async def _assign(
        self, connection: Connection, new: Sequence[Memory], stated: dict[UUID, tuple[Claim, ...]], read: Read
    ) -> list[tuple[UUID, UUID]]:
        """Each statement with its topic; topics that are new are made."""
        joined = []
        vectors = await consolidation.embeddings(connection, [one.id for one in new])
        statements = {one.id: _statement(one, stated[one.id], vectors) for one in new}
        await self._weigh(connection, list(statements.values()))
        for memory in new:
            readers = Readers(memory.visibility, self._group.readers[0].owner)
            speaker = speaker_of(memory)
            window = await self._window(connection, readers, speaker)
            statement = _weighed(statements[memory.id], self._idfs)
            topic = window.nearest(statement)
            if topic is None:
                topic = uuid7()
                if not self._work.dry_run:
                    await consolidation.add_topics(connection, memory.namespace, readers, [(topic, speaker)])
            else:
                read.topics.add(topic)
            window.add(topic, statement)
            joined.append((memory.id, topic))
        return joined

    async def _window(self, connection: Connection, readers: Readers, speaker: str) -> Topics:
        """The speaker's topics that a statement is compared with."""
        key = (readers, speaker)
        if key not in self._windows:
            while self._windows and sum(map(len, self._windows.values())) > HELD - WINDOW:
                del self._windows[next(iter(self._windows))]
            _, model = await embedding.recorded(connection)
            scale = calibration.of(model or "")
            window = self._windows[key] = Topics(scale.cosine_floor, scale.cosine_span)
            members = await consolidation.members(connection, self._work.namespace, readers, speaker, WINDOW)
            stated = await asyncio.to_thread(_claims, [memory for _, memory in members])
            vectors = await consolidation.embeddings(connection, [memory.id for _, memory in members])
            known = [
                (topic, _statement(memory, stated[memory.id], vectors))
                for topic, memory in members
                if memory.id in stated
            ]
            await self._weigh(connection, [one for _, one in known])
            for topic, one in known:
                window.add(topic, _weighed(one, self._idfs))
        return self._windows[key]

    async def _weigh(self, connection: Connection, statements: Sequence[Statement]) -> None:
        """Learn what the words of statements are worth in the namespace."""
        unknown = {word for one in statements for word in one.words} - self._idfs.keys()
        if not unknown:
            return
        known = await memory_index.statistics(connection, [self._work.namespace], unknown)
        holding = dict.fromkeys(unknown, 0)
        for segment in known.segments:
            holding[segment.term] += segment.df
        size = max(known.memories, lexical.SMALLEST_STORE)
        self._idfs.update({word: lexical.idf(df, size) for word, df in holding.items()})


def speaker_of(memory: Memory) -> str:
    """Who says a memory, as a fact names them: its speaker, else who keeps it, else where it comes from. "User" is
    everybody's label: whose, tells who keeps the memory."""
    named = memory.speaker if memory.speaker and fold(memory.speaker) not in ASKERS else None
    return named or memory.owner or memory.speaker or memory.source_kind


def claims_of(memory: Memory) -> tuple[Claim, ...]:
    """What a memory claims; nothing if a program said it: an answer of a model is no testimony."""
    if memory.speaker and fold(memory.speaker) in PROGRAMS:
        return ()
    return claims(memory.content, speaker=memory.speaker)


def _claims(found: Sequence[Memory]) -> dict[UUID, tuple[Claim, ...]]:
    return {one.id: stated for one in found if (stated := claims_of(one))}


def _undoes(memory: Memory) -> bool:
    return laughs(memory.content) or takes_back(memory.content)


def _statement(memory: Memory, stated: Sequence[Claim], vectors: Mapping[UUID, Vector]) -> Statement:
    said = " ".join(word for claim in stated for word in topical(claim.text))
    words = {lexical.term_hash(term) for term in terms.content_terms(said)}
    return Statement(memory.id, dict.fromkeys(sorted(words), 1.0), vectors.get(memory.id))


def _weighed(statement: Statement, idfs: Mapping[int, float]) -> Statement:
    return Statement(statement.memory, {word: idfs[word] for word in statement.words}, statement.vector)

"""Remembering: a memory with all that makes it findable, what it ends, and the event that tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from cortex_contracts.messages.base import Principal, preview
from cortex_contracts.messages.memory import Visibility
from cortex_contracts.subjects import MemoryOp
from cortex_decision import contradiction
from cortex_providers.engine import Extraction
from cortex_store import documents, entities, entity_relations, memories, memory_index
from cortex_store.connection import Connection
from cortex_store.memories import Memory, NewMemory
from cortex_writing import journal
from cortex_writing.neighbourhood import Vector, stored


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a memory: whether it has its vector (otherwise it waits for one), and which memories it ended."""

    embedded: bool
    superseded: tuple[UUID, ...]


async def remember(
    connection: Connection,
    principal: Principal,
    memory: NewMemory,
    document: memory_index.Document,
    vector: Vector,
    extraction: Extraction,
    *,
    op: MemoryOp = MemoryOp.RETAIN,
    supersedes: Sequence[UUID] = (),
) -> Remembered:
    """Write a memory of the bound principal in the caller's transaction: its row, words, vector, entities and
    relations; the end of those that it `supersedes` (`supersede`); the event `op`. One of the past (`superseded_by`) is
    put into the chain of that one where it belongs by its time. Tell the readers after the commit
    (`Announcements.changed`)."""
    chain = [] if memory.superseded_by is None else await _chain(connection, memory, memory.superseded_by)
    memory = _of_its_time(memory, chain)
    await memories.insert(connection, memory)
    embedded = await memory_index.index(connection, memory.id, document, vector.embedding, vector.model)
    await link(connection, memory.id, memory.namespace, extraction)
    ended = await supersede(connection, principal, supersedes, memory.id, memory.valid_at)
    for old in chain:
        # What was known to end later has ended with this one.
        if contradiction(stored(memory), stored(old)) is not None:
            await memories.end_earlier(connection, old.id, memory.valid_at, memory.id)
    await journal.record(
        connection,
        principal,
        op,
        memory.namespace,
        memory.id,
        decision=memory.decision,
        importance=memory.importance,
        source_kind=memory.source_kind,
        preview=preview(memory.content) if memory.visibility is not Visibility.PRIVATE else "",
        superseded=ended,
    )
    return Remembered(embedded, ended)


async def supersede(
    connection: Connection, principal: Principal, olds: Sequence[UUID], new: UUID, at: datetime
) -> tuple[UUID, ...]:
    """Memories stop being true because of a new one, and so does what sleep made of them; which of `olds` did. Of those
    that have ended already nothing changes."""
    ended = tuple([old for old in olds if await memories.invalidate(connection, old, at, new)])
    await end_derived(connection, principal, ended, at)
    return ended


async def end_derived(connection: Connection, principal: Principal, ended: Sequence[UUID], at: datetime) -> None:
    """What sleep made of memories that have just ended stops being true as well, each with its event. It is in their
    namespaces."""
    for derived, namespace in await documents.invalidate_derived(connection, ended, at) if ended else ():
        await journal.record(connection, principal, MemoryOp.FORGET, namespace, derived)


async def _chain(connection: Connection, memory: NewMemory, successor: UUID) -> list[Memory]:
    """The chain that a memory of the past belongs to: those of the same readers, by the time they became true."""
    found = await memories.chain(connection, successor)
    private = memory.visibility is Visibility.PRIVATE
    return [
        one
        for one in found
        if (one.namespace, one.visibility) == (memory.namespace, memory.visibility)
        and (not private or one.owner == memory.owner)
    ]


def _of_its_time(memory: NewMemory, chain: Sequence[Memory]) -> NewMemory:
    """A memory that came late ends with the first of the chain that contradicts it."""
    statement = stored(memory)
    later = next((one for one in chain if contradiction(stored(one), statement) is not None), None)
    return memory if later is None else replace(memory, superseded_by=later.id, invalid_at=later.valid_at)


async def link(connection: Connection, memory_id: UUID, namespace: str, extraction: Extraction) -> None:
    """Link a memory to what it names and to who says it, and record how it says these stand to each other."""
    named = [entities.Named(one.key, one.name, one.kind, one.role) for one in extraction.entities]
    await entities.link(connection, memory_id, namespace, named)
    related = [entity_relations.Related(one.subject, one.predicate, one.object) for one in extraction.relations]
    await entity_relations.put(connection, memory_id, namespace, related)

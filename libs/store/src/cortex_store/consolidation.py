"""Consolidation in the database: topics with their memories, the facts made of them, the summaries of entities.

For the role of sleep, bound to an org; whoever reads a memory reads what it was made of here as well (`sources`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from cortex_contracts.messages.memory import Visibility
from cortex_store.connection import Connection, Row
from cortex_store.memories import COLUMNS, LIVE, Memory, from_row

SOURCE_KIND: Final = "sleep"
"""Of memories that were made of others."""


@dataclass(frozen=True, slots=True)
class Readers:
    """Who may read something: `owner` of what is private, else none."""

    visibility: Visibility
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class TopicRow:
    """What `speaker` said about one thing to the same readers: ids of its memories, in order, that are live (`live`);
    `cold`: some went to the cold tier. `fact` was made of it last; `state`: of `live`."""

    id: UUID
    readers: Readers
    speaker: str
    fact: UUID | None
    state: str
    live: tuple[UUID, ...]
    cold: bool


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity with the live memories of topics that are about it or said by it; `state`: of these."""

    id: UUID
    key: str
    name: str
    state: str
    live: tuple[UUID, ...]
    cold: bool


PRIVATE_OWNERS: Final = """
SELECT DISTINCT m.owner FROM memories m WHERE m.namespace = $1 AND m.visibility = 'private' ORDER BY m.owner
"""
PROGRESS: Final = "SELECT upto FROM consolidation_progress WHERE namespace = $1 AND subject = $2"
ADVANCE: Final = """
INSERT INTO consolidation_progress (namespace, subject, upto) VALUES ($1, $2, $3)
ON CONFLICT (org, namespace, subject) DO UPDATE SET upto = excluded.upto
"""
# Whoever began to write before the last run and committed behind it has an older id: some are read again. Nothing
# behind one that waits for its vector is read before it, so that topics do not depend on when it came.
UNREAD: Final = f"""
SELECT {COLUMNS} FROM memories m
WHERE m.namespace = $1 AND m.visibility = ANY ($2) AND ($3::text IS NULL OR m.owner = $3)
    AND m.id > $4 AND {LIVE} AND m.memory_type = 'episodic' AND m.network <> 'belief' AND m.document IS NULL
    AND m.source_kind <> '{SOURCE_KIND}'
    AND m.id < coalesce((SELECT b.memory FROM index_backlog b JOIN memories w ON w.id = b.memory
        WHERE b.meaning AND w.namespace = $1 AND w.visibility = ANY ($2)
            AND ($3::text IS NULL OR w.owner = $3) AND b.memory > $4 AND b.queued_at > $5
            AND w.memory_type = 'episodic' AND w.document IS NULL AND w.source_kind <> '{SOURCE_KIND}'
        ORDER BY b.memory LIMIT 1), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
ORDER BY m.id LIMIT $6
"""  # noqa: S608 - constants
IN_TOPICS: Final = "SELECT memory FROM topic_memories WHERE memory = ANY ($1)"
EMBEDDINGS: Final = "SELECT memory, embedding FROM memory_embeddings($1)"
LATEST_MEMBERS: Final = f"""
SELECT t.id AS topic, {COLUMNS} FROM (
    SELECT t.id, x.memory FROM topics t JOIN topic_memories x ON x.topic = t.id
    WHERE t.namespace = $1 AND t.visibility = $2 AND t.owner IS NOT DISTINCT FROM $3 AND t.speaker = $4 AND NOT t.closed
    ORDER BY x.memory DESC LIMIT $5
) t JOIN memories m ON m.id = t.memory AND {LIVE} ORDER BY m.id
"""  # noqa: S608 - constants
ADD_TOPICS: Final = """
INSERT INTO topics (id, namespace, visibility, owner, speaker)
SELECT id, $1, $2, $3, speaker FROM unnest($4::uuid[], $5::text[]) AS t (id, speaker)
"""
ADD_MEMBERS: Final = """
INSERT INTO topic_memories (memory, topic) SELECT memory, topic FROM unnest($1::uuid[], $2::uuid[]) AS t (memory, topic)
ON CONFLICT DO NOTHING
"""
LEAVE: Final = "DELETE FROM topic_memories WHERE memory = ANY ($1)"
STALE: Final = """
SELECT t.id, t.visibility, t.owner, t.speaker, t.fact,
    g.live, g.cold, coalesce(state_of(g.live), '') AS state
FROM (
    SELECT t.id, coalesce(array_agg(x.memory ORDER BY x.memory)
        FILTER (WHERE m.invalid_at IS NULL AND m.id IS NOT NULL), '{}') AS live,
        coalesce(bool_or(m.id IS NULL), false) AS cold
    FROM topics t JOIN topic_memories x ON x.topic = t.id LEFT JOIN memories m ON m.id = x.memory
    WHERE t.namespace = $1 AND t.visibility = ANY ($2) AND t.owner IS NOT DISTINCT FROM $3 AND t.id > $4
    GROUP BY t.id
) g JOIN topics t ON t.id = g.id LEFT JOIN memories f ON f.id = t.fact
WHERE t.state <> coalesce(state_of(g.live), '') AND (cardinality(g.live) > 1 OR t.fact IS NOT NULL)
    AND (NOT t.closed OR f.invalid_at IS NULL AND f.id IS NOT NULL)
ORDER BY t.id LIMIT $5
"""
EMPTIED: Final = """
SELECT t.id, t.visibility, t.owner, t.speaker, t.fact, '{}'::uuid[] AS live, false AS cold,
    '' AS state
FROM topics t JOIN memories f ON f.id = t.fact AND f.invalid_at IS NULL
WHERE t.namespace = $1 AND t.visibility = ANY ($2) AND t.owner IS NOT DISTINCT FROM $3
    AND NOT EXISTS (SELECT FROM topic_memories x WHERE x.topic = t.id)
"""
MADE: Final = "UPDATE topics SET fact = $2, state = $3, closed = $4 WHERE id = $1"
SOURCES: Final = "SELECT source FROM memory_sources WHERE memory = $1 ORDER BY source"
MADE_OF: Final = "SELECT memory FROM memory_sources WHERE source = $1 ORDER BY memory"
SUMMARIES: Final = """
SELECT DISTINCT e.name, e.summary FROM memory_entities l JOIN entities e ON e.id = l.entity
WHERE l.memory = $1 AND e.summary IS NOT NULL ORDER BY e.name LIMIT $2
"""
ENTITIES: Final = """
SELECT e.id, e.key, e.name, g.live, g.cold, coalesce(state_of(g.live), '') AS state
FROM (
    SELECT l.entity, coalesce(array_agg(DISTINCT x.memory) FILTER (WHERE m.invalid_at IS NULL AND m.id IS NOT NULL),
        '{}') AS live, bool_or(m.id IS NULL) AS cold
    FROM topics t JOIN topic_memories x ON x.topic = t.id JOIN memory_entities l ON l.memory = x.memory
    LEFT JOIN memories m ON m.id = x.memory
    WHERE t.namespace = $1 AND t.visibility <> 'private' AND l.entity > $2
    GROUP BY l.entity
) g JOIN entities e ON e.id = g.entity AND e.namespace = $1 AND e.kind <> 'date'
WHERE e.summary_state <> coalesce(state_of(g.live), '') AND (cardinality(g.live) > 1 OR e.summary IS NOT NULL)
ORDER BY e.id LIMIT $3
"""
# Nobody ends what is held until the transaction is over.
HOLD: Final = "SELECT m.id FROM memories m WHERE m.id = ANY ($1) AND m.invalid_at IS NULL FOR SHARE"
HOT: Final = "SELECT m.id FROM memories m WHERE m.id = ANY ($1)"
SUMMARY_IS_OF: Final = "UPDATE entities SET summary_state = $2 WHERE id = $1"
SUMMARISE: Final = "UPDATE entities SET summary = $2, summary_state = $3 WHERE id = $1"
FORGET_SOURCES: Final = "DELETE FROM entity_sources WHERE entity = $1"
SUMMARISED: Final = "INSERT INTO entity_sources (entity, source) SELECT $1, unnest($2::uuid[])"


async def private_owners(connection: Connection, namespace: str) -> tuple[str, ...]:
    """Who has private memories in a namespace."""
    return tuple(row["owner"] for row in await connection.fetch(PRIVATE_OWNERS, namespace))


async def progress(connection: Connection, namespace: str, subject: str) -> UUID | None:
    """The last memory that was read of a namespace for a private owner, or for all others (empty)."""
    upto: UUID | None = await connection.fetchval(PROGRESS, namespace, subject)
    return upto


async def advance(connection: Connection, namespace: str, subject: str, upto: UUID) -> None:
    """Everything up to a memory was read."""
    await connection.execute(ADVANCE, namespace, subject, upto)


async def unread(
    connection: Connection, namespace: str, readers: Sequence[Readers], after: UUID, waiting_since: datetime, limit: int
) -> tuple[Memory, ...]:
    """Up to `limit` live episodic memories for some readers, oldest first, none behind one that waits for its vector
    since `waiting_since` or later. Chunks of documents and beliefs are not among them."""
    visibilities, owner = _columns(readers)
    rows = await connection.fetch(UNREAD, namespace, visibilities, owner, after, waiting_since, limit)
    return tuple(from_row(row) for row in rows)


async def in_topics(connection: Connection, ids: Sequence[UUID]) -> set[UUID]:
    """Those that have a topic."""
    return {row["memory"] for row in await connection.fetch(IN_TOPICS, list(ids))}


async def embeddings(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, NDArray[np.float32]]:
    """The vectors of live memories of the bound org that have one, L2-normalised."""
    found = await connection.fetch(EMBEDDINGS, list(ids)) if ids else []
    return {row["memory"]: row["embedding"].to_numpy().astype(np.float32) for row in found}


async def members(
    connection: Connection, namespace: str, readers: Readers, speaker: str, limit: int
) -> tuple[tuple[UUID, Memory], ...]:
    """The latest live memories of a speaker's open topics with their topics, oldest first."""
    rows = await connection.fetch(LATEST_MEMBERS, namespace, readers.visibility, readers.owner, speaker, limit)
    return tuple((row["topic"], from_row(row)) for row in rows)


async def add_topics(
    connection: Connection, namespace: str, readers: Readers, topics: Sequence[tuple[UUID, str]]
) -> None:
    """Make topics: ids and speakers."""
    ids, speakers = [one for one, _ in topics], [speaker for _, speaker in topics]
    await connection.execute(ADD_TOPICS, namespace, readers.visibility, readers.owner, ids, speakers)


async def join(connection: Connection, members: Sequence[tuple[UUID, UUID]]) -> None:
    """Memories have topics from now on: pairs of both. One that has one keeps it."""
    await connection.execute(ADD_MEMBERS, [one for one, _ in members], [topic for _, topic in members])


async def leave(connection: Connection, memories: Sequence[UUID]) -> None:
    """Memories have no topic any more: they were taken back."""
    await connection.execute(LEAVE, list(memories))


async def stale(
    connection: Connection, namespace: str, readers: Sequence[Readers], after: UUID, limit: int
) -> tuple[TopicRow, ...]:
    """Topics whose memories are others than their fact was made of, and that have two or had a fact, in order."""
    visibilities, owner = _columns(readers)
    return _topics(await connection.fetch(STALE, namespace, visibilities, owner, after, limit))


async def emptied(connection: Connection, namespace: str, readers: Sequence[Readers]) -> tuple[TopicRow, ...]:
    """Topics with a live fact and no memory any more: all of them were taken back."""
    visibilities, owner = _columns(readers)
    return _topics(await connection.fetch(EMPTIED, namespace, visibilities, owner))


async def made(connection: Connection, topic: UUID, fact: UUID | None, state: str, *, closed: bool = False) -> None:
    """What was made of a topic and of which state; a closed one stays as it is."""
    await connection.execute(MADE, topic, fact, state, closed)


async def uncount(connection: Connection, fact: UUID) -> None:
    """A fact that was indexed just now does not count in how common its words are. Call it once."""
    await connection.execute("SELECT uncount_fact($1)", fact)


async def sources(connection: Connection, memory_id: UUID) -> tuple[UUID, ...]:
    """What a memory was made of; some may be in the cold tier."""
    return tuple(row["source"] for row in await connection.fetch(SOURCES, memory_id))


async def made_of(connection: Connection, memory_id: UUID) -> tuple[UUID, ...]:
    """What was made of a memory, live or not."""
    return tuple(row["memory"] for row in await connection.fetch(MADE_OF, memory_id))


async def summaries(connection: Connection, memory_id: UUID, limit: int = 8) -> dict[str, str]:
    """What is known about the entities of a memory, by their names, in alphabetical order."""
    return {row["name"]: row["summary"] for row in await connection.fetch(SUMMARIES, memory_id, limit)}


async def hold(connection: Connection, ids: Sequence[UUID]) -> set[UUID]:
    """The live ones among memories; until the transaction is over nobody ends them."""
    return {row["id"] for row in await connection.fetch(HOLD, list(ids))} if ids else set()


async def still_hot(connection: Connection, ids: Sequence[UUID]) -> set[UUID]:
    """Those that are not in the cold tier, live or not."""
    return {row["id"] for row in await connection.fetch(HOT, list(ids))} if ids else set()


async def stale_entities(connection: Connection, namespace: str, after: UUID, limit: int) -> tuple[EntityRow, ...]:
    """Entities of which other memories tell than when they were summarised, and two do or did, in order. Private
    memories tell nothing: all readers of the namespace read the summary."""
    rows = await connection.fetch(ENTITIES, namespace, after, limit)
    return tuple(
        EntityRow(row["id"], row["key"], row["name"], row["state"], tuple(row["live"]), row["cold"]) for row in rows
    )


async def summary_is_of(connection: Connection, entity: UUID, state: str) -> None:
    """What is known about an entity stays, though other memories tell of it now."""
    await connection.execute(SUMMARY_IS_OF, entity, state)


async def summarise(
    connection: Connection, entity: UUID, summary: str | None, state: str, sources: Sequence[UUID]
) -> None:
    """What is known about an entity, and the memories that it was made of: it is gone when one of them ends."""
    await connection.execute(FORGET_SOURCES, entity)
    await connection.execute(SUMMARISE, entity, summary, state)
    await connection.execute(SUMMARISED, entity, list(sources))


def _columns(readers: Sequence[Readers]) -> tuple[list[str], str | None]:
    """Visibilities, and the one owner where they are private."""
    return [one.visibility for one in readers], readers[0].owner


def _topics(rows: Sequence[Row]) -> tuple[TopicRow, ...]:
    return tuple(
        TopicRow(
            row["id"],
            Readers(Visibility(row["visibility"]), row["owner"]),
            row["speaker"],
            row["fact"],
            row["state"],
            tuple(row["live"]),
            row["cold"],
        )
        for row in rows
    )

"""Leaving the hot tier: what may go, everything that is known of it, and its removal. Written with the sleep role.

A memory waits while something is still to be done with it: it lacks words or a vector, an end of it is announced, it
will end another one, a contradiction of it is not settled, or the cold store still has it from the last time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection, Row

_READY: Final = """
m.tier = 'hot' AND m.document IS NULL
    AND NOT EXISTS (SELECT FROM index_backlog b WHERE b.memory = m.id)
    AND NOT EXISTS (SELECT FROM announced_endings e WHERE e.memory = m.id)
    AND NOT EXISTS (SELECT FROM announced_endings e WHERE e.superseded_by = m.id)
    AND NOT EXISTS (SELECT FROM contradictions c WHERE c.memory = m.id AND c.outcome IS NULL)
    AND NOT EXISTS (SELECT FROM cold_thaws t WHERE t.memory = m.id AND t.removed_at IS NULL)
"""
_WORTH: Final = """
m.id, m.network, m.memory_type, coalesce(m.base_importance, m.importance) AS importance, m.created_at, m.valid_at,
m.invalid_at, coalesce(a.access_count, 0) + coalesce(o.times, 0)::integer AS used,
greatest(a.last_accessed_at, o.last_at) AS last_used_at, octet_length(m.content) AS size_bytes
"""
CANDIDATES: Final = f"""
SELECT {_WORTH} FROM (
    SELECT * FROM memories m
    WHERE m.org = current_setting('cortex.org') AND m.namespace = $1 AND ($2::uuid IS NULL OR m.id > $2)
        AND (m.invalid_at IS NOT NULL OR m.memory_type = ANY ($4)) AND {_READY}
    ORDER BY m.id LIMIT $3
) m LEFT JOIN memory_access a ON a.memory = m.id
LEFT JOIN LATERAL (
    SELECT count(*) AS times, max(o.occurred_at) AS last_at FROM memory_occurrences o WHERE o.memory = m.id
) o ON true
ORDER BY m.id
"""  # noqa: S608 - constants
COUNT: Final = f"""
SELECT count(*) FROM memories m
WHERE m.org = current_setting('cortex.org') AND m.namespace = $1 AND ($2::uuid IS NULL OR m.id > $2)
    AND (m.invalid_at IS NOT NULL OR m.memory_type = ANY ($3)) AND {_READY}
"""  # noqa: S608 - constants

# The bounds tell PostgreSQL in which months to look.
MEMORIES: Final = f"""
SELECT m.id, m.org, m.namespace, m.owner, m.visibility, m.network, m.memory_type, m.content, m.source_kind,
    m.source_ref, m.session, m.turn, m.speaker, m.document, m.assertions, m.metadata, m.importance, m.base_importance,
    m.valid_at, m.invalid_at, m.superseded_by, m.created_at, m.decision, m.decision_reason
FROM memories m WHERE m.id = ANY ($1) AND m.id BETWEEN $2 AND $3 AND {_READY}
"""  # noqa: S608 - constants
ACCESS: Final = "SELECT memory, access_count, last_accessed_at FROM memory_access WHERE memory = ANY ($1)"
OCCURRENCES: Final = """
SELECT memory, id, source_kind, source_ref, session, turn, speaker, occurred_at, reason
FROM memory_occurrences WHERE memory = ANY ($1) ORDER BY id
"""
ENTITIES: Final = """
SELECT l.memory, e.key, e.name, e.kind, l.role FROM memory_entities l JOIN entities e ON e.id = l.entity
WHERE l.memory = ANY ($1) ORDER BY l.role COLLATE "C", e.key COLLATE "C"
"""
RELATIONS: Final = """
SELECT r.memory, s.key AS subject, r.predicate, o.key AS object FROM entity_relations r
JOIN entities s ON s.id = r.subject JOIN entities o ON o.id = r.object
WHERE r.memory = ANY ($1) ORDER BY s.key COLLATE "C", r.predicate COLLATE "C", o.key COLLATE "C"
"""
SOURCES: Final = "SELECT memory, source FROM memory_sources WHERE memory = ANY ($1) ORDER BY source"
INDEXED: Final = "SELECT memory, script, content, impacts, embedding FROM index_of_memories($1)"
MODEL: Final = "SELECT value FROM database_settings WHERE key = 'embedding.model'"
SUCCEEDED: Final = """
INSERT INTO cold_successions (memory, superseded_by, namespace)
SELECT m.id, m.superseded_by, m.namespace FROM memories m
WHERE m.id = ANY ($1) AND m.id BETWEEN $2 AND $3 AND m.superseded_by IS NOT NULL
"""
HOLD: Final = "SELECT hold_memories($1, $2) AS id"
REMOVE: Final = "SELECT remove_demoted($1, $2)"


@dataclass(frozen=True, slots=True)
class Whole:
    """Everything that is known of some memories, as rows: `memories` by id, the others name theirs as `memory`, in the
    order in which a cold row keeps them. `indexed`: impacts and embedding as pgvector sends them; `model`: that the
    embeddings come from."""

    memories: Sequence[Row]
    access: Sequence[Row]
    occurrences: Sequence[Row]
    entities: Sequence[Row]
    relations: Sequence[Row]
    sources: Sequence[Row]
    indexed: Sequence[Row]
    model: str | None


async def candidates(
    connection: Connection, namespace: str, after: UUID | None, limit: int, live_types: Sequence[str]
) -> Sequence[Row]:
    """Up to `limit` memories of a namespace that may leave, those with an id above `after`, by id: such as are not true
    any more, and such as are and have one of `live_types`. Rows: id, network, memory_type, importance (when it was
    written), created_at, valid_at, invalid_at, used, last_used_at, size_bytes."""
    return await connection.fetch(CANDIDATES, namespace, after, limit, list(live_types))


async def count(connection: Connection, namespace: str, after: UUID | None, live_types: Sequence[str]) -> int:
    """How many `candidates` there are."""
    found: int = await connection.fetchval(COUNT, namespace, after, list(live_types))
    return found


async def hold(connection: Connection, namespace: str, ids: Sequence[UUID]) -> list[UUID]:
    """Lock memories until the transaction ends: nobody changes them, refers to them, or counts a recall of them. Those
    that somebody else has in hand are left out, and so are those that are gone. It is the first thing a transaction
    does; what it reads afterwards is as it stays."""
    return [row["id"] for row in await connection.fetch(HOLD, namespace, list(ids))]


async def whole(connection: Connection, ids: Sequence[UUID]) -> Whole:
    """Everything about those of `ids` that may leave. Of one moment only if they are held."""
    if not ids:
        return Whole((), (), (), (), (), (), (), None)
    memories = await connection.fetch(MEMORIES, list(ids), min(ids), max(ids))
    there = [row["id"] for row in memories]
    return Whole(
        memories,
        await connection.fetch(ACCESS, there),
        await connection.fetch(OCCURRENCES, there),
        await connection.fetch(ENTITIES, there),
        await connection.fetch(RELATIONS, there),
        await connection.fetch(SOURCES, there),
        await connection.fetch(INDEXED, there),
        await connection.fetchval(MODEL),
    )


async def remove(connection: Connection, batch: UUID, ids: Sequence[UUID]) -> int:
    """Take held memories of a batch that is on its way out of the hot tier, with all that refers to them; how many.
    What replaced them stays known.

    Raises:
        asyncpg.InsufficientPrivilegeError: there is no such batch, or one of them is not of its namespace; a bug.
    """
    if ids:
        await connection.execute(SUCCEEDED, list(ids), min(ids), max(ids))
    removed: int = await connection.fetchval(REMOVE, batch, list(ids))
    return removed

"""What a reindexing keeps in the database while it runs, and how it ends (ADR 0014).

The schema `reindex` holds the vector tables of the next model, with the names that they have in `public`, and a queue
of memories to look at: everything at first, then what triggers see change. A chunk that is written again has another
id, so chunks need no queue. The last transaction puts all of it in place of what is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import asyncpg

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection | asyncpg.pool.PoolConnectionProxy

SETTINGS: Final = "SELECT key, value FROM database_settings WHERE key LIKE 'embedding.%' OR key LIKE 'reindex.%'"
SET: Final = "INSERT INTO database_settings VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

PREPARE: Final = """
CREATE SCHEMA reindex;
SELECT create_vector_tables('reindex', {dimension}), create_chunk_vectors('reindex', {dimension});
CREATE TABLE reindex.queue (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, memory uuid NOT NULL);
CREATE FUNCTION reindex.enqueue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reindex.queue (memory) VALUES (CASE TG_OP WHEN 'DELETE' THEN OLD.memory ELSE NEW.memory END);
    RETURN NULL;
END
$$;
CREATE TRIGGER reindex AFTER INSERT OR UPDATE OR DELETE ON memory_terms
    FOR EACH ROW EXECUTE FUNCTION reindex.enqueue();
CREATE TRIGGER reindex AFTER INSERT OR UPDATE OR DELETE ON past_terms
    FOR EACH ROW EXECUTE FUNCTION reindex.enqueue();
"""
ENQUEUE_ALL: Final = """
INSERT INTO reindex.queue (memory) SELECT memory FROM memory_terms UNION ALL SELECT memory FROM past_terms
"""
DISCARD: Final = """
DROP SCHEMA IF EXISTS reindex CASCADE;
DELETE FROM database_settings WHERE key LIKE 'reindex.%';
"""

HAS_INDEXES: Final = "SELECT count(*) > 1 FROM pg_indexes WHERE schemaname = 'reindex' AND tablename = 'memory_vectors'"
BUILD_INDEXES: Final = """
SELECT index_memory_vectors('reindex.memory_vectors', $1), index_chunk_vectors('reindex.chunk_vectors', $1)
"""
# An exact scan reads the covering index alone, which takes a visibility map.
VACUUM: Final = "VACUUM (ANALYZE) reindex.memory_vectors, reindex.past_vectors, reindex.chunk_vectors"

# A memory may stop being true, or be restored, after it was embedded: its vector moves. These statements follow what
# holds at their own moment; a change that comes later is in the queue again.
MOVE_TO_PAST: Final = """
WITH gone AS (
    DELETE FROM reindex.memory_vectors v WHERE v.memory = ANY ($1)
        AND NOT EXISTS (SELECT FROM memory_terms t WHERE t.memory = v.memory) RETURNING v.*
)
INSERT INTO reindex.past_vectors SELECT g.*, p.invalid_at FROM gone g JOIN past_terms p ON p.memory = g.memory
ON CONFLICT (memory) DO NOTHING
"""
MOVE_BACK: Final = """
WITH back AS (
    DELETE FROM reindex.past_vectors v WHERE v.memory = ANY ($1)
        AND NOT EXISTS (SELECT FROM past_terms p WHERE p.memory = v.memory) RETURNING v.*
)
INSERT INTO reindex.memory_vectors SELECT b.memory, b.scope, b.private_to, b.is_global, b.valid_at, b.embedding
FROM back b JOIN memory_terms t ON t.memory = b.memory
ON CONFLICT (memory) DO NOTHING
"""
SET_INVALID_AT: Final = """
UPDATE reindex.past_vectors v SET invalid_at = p.invalid_at FROM past_terms p
WHERE v.memory = ANY ($1) AND p.memory = v.memory AND v.invalid_at <> p.invalid_at
"""
# Who may read a document can change, and with it who may read its chunks.
SET_READERS: Final = """
UPDATE reindex.memory_vectors v SET private_to = t.private_to, is_global = t.is_global FROM memory_terms t
WHERE v.memory = ANY ($1) AND t.memory = v.memory
    AND (v.private_to, v.is_global) IS DISTINCT FROM (t.private_to, t.is_global)
"""
SET_PAST_READERS: Final = """
UPDATE reindex.past_vectors v SET private_to = t.private_to, is_global = t.is_global FROM past_terms t
WHERE v.memory = ANY ($1) AND t.memory = v.memory
    AND (v.private_to, v.is_global) IS DISTINCT FROM (t.private_to, t.is_global)
"""

# memory_terms and chunks come first: searches and writers touch the one or the other before anything else, so that
# nobody holds what comes later.
LOCK_CHUNKS: Final = "LOCK TABLE chunks IN SHARE ROW EXCLUSIVE MODE"
LOCK: Final = """
LOCK TABLE memory_terms, past_terms, memory_vectors, past_vectors, index_backlog, chunks, chunk_vectors
IN ACCESS EXCLUSIVE MODE
"""
# What nobody has embedded yet is found by its words, and by its meaning when ingest has come to it.
LEAVE_TO_INGEST: Final = """
INSERT INTO index_backlog (memory, org, subject, words, meaning)
SELECT m.id, m.org, CASE WHEN m.visibility = 'private' THEN m.owner END, false, true
FROM (SELECT DISTINCT memory FROM reindex.queue) q JOIN memories m ON m.id = q.memory
WHERE m.tier = 'hot' AND NOT EXISTS (SELECT FROM reindex.memory_vectors v WHERE v.memory = q.memory)
    AND NOT EXISTS (SELECT FROM reindex.past_vectors v WHERE v.memory = q.memory)
ON CONFLICT (memory) DO UPDATE SET meaning = true, leased_until = NULL
"""
SWAP: Final = """
UPDATE index_backlog SET meaning = true WHERE words AND NOT meaning;
DROP TABLE memory_vectors, past_vectors, chunk_vectors;
ALTER TABLE reindex.memory_vectors SET SCHEMA public;
ALTER TABLE reindex.past_vectors SET SCHEMA public;
ALTER TABLE reindex.chunk_vectors SET SCHEMA public;
UPDATE chunks SET embedded = true WHERE NOT embedded;
DROP SCHEMA reindex CASCADE;
DELETE FROM database_settings WHERE key LIKE 'reindex.%';
"""
NEED_NO_MEANING: Final = """
DELETE FROM index_backlog b WHERE NOT b.words AND (EXISTS (SELECT FROM memory_vectors v WHERE v.memory = b.memory)
    OR EXISTS (SELECT FROM past_vectors v WHERE v.memory = b.memory))
"""


@dataclass(frozen=True, slots=True)
class State:
    """What a database records: its own model, and that of an unfinished reindexing."""

    dimension: int
    model: str | None
    next_dimension: int | None
    next_model: str | None
    is_queued: bool
    """Whether every memory that was there is in the queue, or was."""


async def state(connection: Connection) -> State:
    """What the database records now."""
    found = {row["key"]: row["value"] for row in await connection.fetch(SETTINGS)}
    following = found.get("reindex.dimension")
    return State(
        dimension=int(found["embedding.dimension"]),
        model=found.get("embedding.model"),
        next_dimension=None if following is None else int(following),
        next_model=found.get("reindex.model"),
        is_queued="reindex.queued" in found,
    )


async def prepare(connection: Connection, dimension: int, model: str) -> None:
    """Make the tables of the next model; the triggers see every change from now on."""
    await connection.execute(PREPARE.format(dimension=dimension))
    await connection.execute(SET, "reindex.dimension", str(dimension))
    await connection.execute(SET, "reindex.model", model)


async def enqueue_all(connection: Connection) -> None:
    """Put every memory that can be found into the queue."""
    await connection.execute(ENQUEUE_ALL)
    await connection.execute(SET, "reindex.queued", "true")


async def follow(connection: Connection, memories: list[object]) -> None:
    """Make the next tables agree with what holds of `memories` now; those without a vector stay without one."""
    for statement in (MOVE_TO_PAST, MOVE_BACK, SET_INVALID_AT, SET_READERS, SET_PAST_READERS):
        await connection.execute(statement, memories)


async def swap(connection: Connection, dimension: int, model: str) -> int:
    """Put the next model in place; returns how many memories are left to ingest. Chunks must be complete."""
    await connection.execute(LOCK)
    await follow(connection, [row["memory"] for row in await connection.fetch("SELECT memory FROM reindex.queue")])
    left = int((await connection.execute(LEAVE_TO_INGEST)).rsplit(" ", 1)[-1])
    await connection.execute(SWAP)
    await connection.execute(SET, "embedding.dimension", str(dimension))
    await connection.execute(SET, "embedding.model", model)
    return left

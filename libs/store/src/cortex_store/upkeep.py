"""Upkeep of the hot tier: partitions, what is not findable, tables and indexes that shrink. With the sleep role."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from cortex_store.connection import Connection


@dataclass(frozen=True, slots=True)
class TableState:
    """A table as PostgreSQL counts it: live `rows`, rows that were ever `removed`, and how many of these there were
    when its indexes were last built (`removed_before`). `size_bytes`: with its indexes."""

    name: str
    rows: int
    removed: int
    removed_before: int
    size_bytes: int
    indexes: tuple[str, ...] = ()


LOCK: Final = "SELECT pg_try_advisory_lock(hashtext('cortex.upkeep'))"
UNLOCK: Final = "SELECT pg_advisory_unlock(hashtext('cortex.upkeep'))"
# While another model's vectors are being made those of this one are left alone: they are about to go (ADR 0014).
# Counts are forgotten in a crash of the server; then everything removed since counts.
TABLES: Final = """
SELECT t::text AS name, s.n_live_tup AS rows, s.n_tup_del AS removed,
    CASE WHEN u.removed <= s.n_tup_del THEN u.removed ELSE 0 END AS removed_before,
    pg_total_relation_size(t) AS size_bytes,
    ARRAY (SELECT i.indexrelid::regclass::text FROM pg_index i WHERE i.indrelid = t AND i.indisvalid
        ORDER BY 1) AS indexes
FROM tables_of_memories() AS t JOIN pg_stat_user_tables s ON s.relid = t LEFT JOIN upkeep_tables u ON u.name = t::text
WHERE to_regnamespace('reindex') IS NULL OR t::text NOT IN ('memory_vectors', 'past_vectors')
ORDER BY 1
"""
REBUILT: Final = """
INSERT INTO upkeep_tables (name, removed, rebuilt_at) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET removed = excluded.removed, rebuilt_at = excluded.rebuilt_at
"""
DONE_AT: Final = "SELECT done_at FROM upkeep_tasks WHERE task = $1"
DONE: Final = """
INSERT INTO upkeep_tasks (task, done_at) VALUES ($1, $2)
ON CONFLICT (task) DO UPDATE SET done_at = greatest(upkeep_tasks.done_at, excluded.done_at)
"""
CHECKED: Final = """
INSERT INTO sleep_marks (namespace, checked_on) VALUES ($1, $2)
ON CONFLICT (org, namespace) DO UPDATE SET checked_on = greatest(sleep_marks.checked_on, excluded.checked_on)
"""
WAITING: Final = """
SELECT count(*) FROM index_backlog b JOIN memories m ON m.id = b.memory WHERE m.namespace = $1
"""


async def lock(connection: Connection) -> bool:
    """Let one worker at a time do what is there once for all namespaces; the lock is the session's, until `unlock`."""
    held: bool = await connection.fetchval(LOCK)
    return held


async def unlock(connection: Connection) -> None:
    """Give the lock up."""
    await connection.fetchval(UNLOCK)


async def tables(connection: Connection) -> tuple[TableState, ...]:
    """The tables that grow and shrink with memories, by name; they may be vacuumed and indexed again from now on."""
    await connection.execute("SELECT allow_upkeep()")
    return tuple(TableState(**{**row, "indexes": tuple(row["indexes"])}) for row in await connection.fetch(TABLES))


async def rebuilt(connection: Connection, name: str, removed: int, at: datetime) -> None:
    """The indexes of a table were built again when so many rows had ever been removed from it."""
    await connection.execute(REBUILT, name, removed, at)


async def drop_unfinished_indexes(connection: Connection) -> int:
    """Drop what killed workers left of indexes; how many there were. Only under the lock."""
    dropped: int = await connection.fetchval("SELECT drop_unfinished_indexes()")
    return dropped


async def empty_partitions(connection: Connection, before: datetime) -> tuple[str, ...]:
    """The monthly partitions that ended before a moment and hold nothing."""
    rows = await connection.fetch("SELECT name FROM empty_memory_partitions($1) AS name", before)
    return tuple(row["name"] for row in rows)


async def drop_partition(connection: Connection, name: str, before: datetime) -> bool:
    """Drop an empty partition; false if it is not empty any more, or somebody uses its table just now."""
    dropped: bool = await connection.fetchval("SELECT drop_memory_partition($1, $2)", name, before)
    return dropped


async def queue_unindexed(connection: Connection, namespace: str, limit: int, *, count_only: bool = False) -> int:
    """Let memories of a namespace that lack their words or vector, and do not wait for them, wait for them; how many
    there were, `limit` at most."""
    queued: int = await connection.fetchval("SELECT queue_unindexed($1, $2, $3)", namespace, limit, count_only)
    return queued


async def waiting(connection: Connection, namespace: str) -> int:
    """How many memories of a namespace wait for their words or vector."""
    found: int = await connection.fetchval(WAITING, namespace)
    return found


async def checked_on(connection: Connection, namespace: str) -> date | None:
    """The day on which a namespace was last looked at for what is not findable."""
    day: date | None = await connection.fetchval("SELECT checked_on FROM sleep_marks WHERE namespace = $1", namespace)
    return day


async def checked(connection: Connection, namespace: str, day: date) -> None:
    """It was on this day."""
    await connection.execute(CHECKED, namespace, day)


async def done_at(connection: Connection, task: str) -> datetime | None:
    """When a task that is there once for all namespaces was done last."""
    at: datetime | None = await connection.fetchval(DONE_AT, task)
    return at


async def done(connection: Connection, task: str, at: datetime) -> None:
    """It was done then."""
    await connection.execute(DONE, task, at)

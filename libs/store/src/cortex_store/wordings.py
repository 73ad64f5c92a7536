"""Wordings: which live memories may say the same, by a hash of their words. Read and written with the sleep role."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from cortex_store import consolidation
from cortex_store.connection import Connection, Row
from cortex_store.memories import COLUMNS, Memory, from_row

FIRST: Final = UUID(int=0)
SHARED: Final = 64
"""Memories of one wording that are compared with a new one, the newest first: what is said a thousand times on a
thousand days is a thousand events."""
PATIENCE: Final = timedelta(days=1)
"""For how long a memory that waits for its vector is waited for."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A memory with what decides which one of several stays. `base`: what it was worth when it was written; `uses`: how
    often it was recalled or said again, last at `used_at`; `waiting`: its vector will come."""

    memory: Memory
    base: float
    uses: int
    used_at: datetime | None
    waiting: bool


# What sleep wrote itself is remade by it, and a chunk stands and falls with its document. What will end by an
# announcement is not made to stand for another one, nor the other way round.
_READ: Final = f"""
SELECT {COLUMNS}, coalesce(m.base_importance, m.importance) AS base,
    coalesce(a.access_count, 0) + (SELECT count(*) FROM memory_occurrences o WHERE o.memory = m.id) AS uses,
    a.last_accessed_at AS used_at, coalesce(b.queued_at > $4, false) AS waiting
FROM {{source}} LEFT JOIN memory_access a ON a.memory = m.id LEFT JOIN index_backlog b ON b.memory = m.id
WHERE m.org = current_setting('cortex.org') AND m.namespace = $1 AND m.invalid_at IS NULL AND m.tier = 'hot'
    AND m.valid_at <= $3 AND m.document IS NULL AND m.source_kind <> '{consolidation.SOURCE_KIND}'
    AND NOT EXISTS (SELECT FROM announced_endings e WHERE e.memory = m.id)
"""  # noqa: S608 - constants
AFTER: Final = _READ.format(source="memories m") + "AND m.id > $2 ORDER BY m.id LIMIT $5"
# One by one, by their ids: joined, the whole namespace would be read for the few that share a wording.
_SHARED: Final = """unnest($2::bigint[]) AS wanted (wording) CROSS JOIN LATERAL (
    SELECT w.memory FROM memory_wordings w WHERE w.wording = wanted.wording ORDER BY w.memory DESC LIMIT $5
) w CROSS JOIN LATERAL (SELECT * FROM memories WHERE id = w.memory OFFSET 0) m"""
SHARING: Final = _READ.format(source=_SHARED) + "ORDER BY m.id"
COUNT: Final = """
SELECT count(*) FROM memories m
WHERE m.org = current_setting('cortex.org') AND m.namespace = $1 AND m.id > $2 AND m.invalid_at IS NULL
    AND m.tier = 'hot' AND m.document IS NULL
"""
RECORD: Final = """
INSERT INTO memory_wordings (memory, wording)
SELECT g.memory, g.wording FROM unnest($1::uuid[], $2::bigint[]) AS g (memory, wording)
WHERE EXISTS (SELECT FROM memories m WHERE m.id = g.memory)
ON CONFLICT (memory) DO UPDATE SET wording = excluded.wording WHERE memory_wordings.wording <> excluded.wording
"""
RESTORED: Final = "SELECT DISTINCT memory_id FROM memory_events WHERE memory_id = ANY ($1::uuid[]) AND op = 'restore'"
COSINES: Final = "SELECT one, other, cosine FROM memory_cosines($1, $2)"
COPY_OCCURRENCES: Final = """
INSERT INTO memory_occurrences (id, memory, source_kind, source_ref, session, turn, speaker, occurred_at, reason)
SELECT uuidv7(), $2, source_kind, source_ref, session, turn, speaker, occurred_at, reason
FROM memory_occurrences WHERE memory = $1
"""


async def after(
    connection: Connection, namespace: str, last: UUID | None, now: datetime, limit: int
) -> tuple[Reading, ...]:
    """The first `limit` live memories of a namespace behind `last` that are true by `now`, by id."""
    rows = await connection.fetch(AFTER, namespace, last or FIRST, now, now - PATIENCE, limit)
    return tuple(map(_reading, rows))


async def count(connection: Connection, namespace: str, last: UUID | None) -> int:
    """About how many `after` gives in all."""
    found: int = await connection.fetchval(COUNT, namespace, last or FIRST)
    return found


async def record(connection: Connection, wordings: Mapping[UUID, int]) -> None:
    """Keep the wordings of memories; of those that are still there."""
    await connection.execute(RECORD, list(wordings), list(wordings.values()))


async def sharing(
    connection: Connection, namespace: str, wordings: Collection[int], now: datetime
) -> tuple[Reading, ...]:
    """The live memories of a namespace with one of these wordings, the `SHARED` newest of each, by id."""
    rows = await connection.fetch(SHARING, namespace, sorted(wordings), now, now - PATIENCE, SHARED)
    return tuple(map(_reading, rows))


async def restored(connection: Connection, ids: Sequence[UUID]) -> set[UUID]:
    """Those that somebody made true again after they had ended."""
    return {row["memory_id"] for row in await connection.fetch(RESTORED, list(ids))}


async def cosines(connection: Connection, pairs: Sequence[tuple[UUID, UUID]]) -> dict[tuple[UUID, UUID], float]:
    """How near the two memories of each pair are; without those of which one has no vector."""
    rows = await connection.fetch(COSINES, [one for one, _ in pairs], [other for _, other in pairs])
    return {(row["one"], row["other"]): row["cosine"] for row in rows}


async def copy_occurrences(connection: Connection, memory_id: UUID, to: UUID) -> None:
    """Let what was said again of one memory count as said again of another one as well."""
    await connection.execute(COPY_OCCURRENCES, memory_id, to)


def _reading(row: Row) -> Reading:
    return Reading(from_row(row), row["base"], row["uses"], row["used_at"], row["waiting"])

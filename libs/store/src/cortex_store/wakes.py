"""Wakes: what a person was told of, and which memories there is something to tell about. Read and written with the
sleep role.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from cortex_contracts.messages.events import WakeKind
from cortex_contracts.messages.memory import MemoryType
from cortex_store.connection import Connection


@dataclass(frozen=True, slots=True)
class Idle:
    """A live memory that was neither recalled nor said again since `since`; `importance` when it was written. `key` is
    that of a wake about it: once it was used again it can become idle again."""

    id: UUID
    importance: float
    since: datetime
    key: str


RECORD: Final = """
INSERT INTO wakes (namespace, kind, key, event_id, announced_at)
SELECT $1, $2, $3, $4::uuid, $5::timestamptz WHERE $6 > (SELECT count(*) FROM wakes
    WHERE org = current_setting('cortex.org') AND namespace = $1 AND announced_at > $5::timestamptz - $7::interval)
ON CONFLICT DO NOTHING RETURNING true
"""
# What came lately was said lately, however old it is: an import is no reason to ask about everything in it.
IDLE: Final = """
SELECT id, importance, since, id || ' ' || extract(epoch FROM since)::bigint AS key FROM (
    SELECT m.id, coalesce(m.base_importance, m.importance) AS importance,
        greatest(m.valid_at, uuid_extract_timestamp(m.id), a.last_accessed_at, o.last) AS since
    FROM memories m LEFT JOIN memory_access a ON a.memory = m.id
        LEFT JOIN LATERAL (SELECT max(occurred_at) AS last FROM memory_occurrences WHERE memory = m.id) o ON true
    WHERE m.org = current_setting('cortex.org') AND m.namespace = $1 AND m.invalid_at IS NULL AND m.tier = 'hot'
        AND m.document IS NULL AND m.memory_type <> $7 AND coalesce(m.base_importance, m.importance) >= $3
        AND m.id < uuid_floor($2::timestamptz - make_interval(secs => 86400 * $4 * power($5, $3)))
) known
WHERE since < $2::timestamptz - make_interval(secs => 86400 * $4 * power($5, importance))
    AND NOT EXISTS (SELECT FROM wakes w WHERE w.org = current_setting('cortex.org') AND w.namespace = $1
        AND w.kind = 'stale' AND w.key = known.id || ' ' || extract(epoch FROM since)::bigint)
ORDER BY importance DESC, since, id LIMIT $6
"""
SOURCES: Final = "SELECT source FROM memory_sources WHERE memory = $1 ORDER BY source"
NAMED: Final = """
SELECT e.name FROM memory_entities me JOIN entities e ON e.id = me.entity
WHERE me.memory = ANY ($1::uuid[]) AND me.role = 'mention'
GROUP BY e.id, e.name ORDER BY count(DISTINCT me.memory) DESC, e.name, e.id LIMIT 1
"""


async def record(
    connection: Connection,
    namespace: str,
    kind: WakeKind,
    key: str,
    event_id: UUID,
    at: datetime,
    *,
    most: int,
    within: timedelta,
) -> bool:
    """Note that something is told at `at`; false when it was told before, or when the namespace told of `most` things
    `within` the time before (transactions at the same time do not count each other's)."""
    return bool(await connection.fetchval(RECORD, namespace, kind, key, event_id, at, most, within))


async def idle(
    connection: Connection, namespace: str, now: datetime, *, least: float, days: float, growth: float, limit: int
) -> tuple[Idle, ...]:
    """The most important memories that are at least as important as `least`, idle for more than
    `days * growth ** importance` days and not told of since: working memories and chunks of documents aside."""
    rows = await connection.fetch(IDLE, namespace, now, least, days, growth, limit, MemoryType.WORKING)
    return tuple(Idle(*row) for row in rows)


async def sources(connection: Connection, memory_id: UUID) -> tuple[UUID, ...]:
    """What a memory was made of, oldest first."""
    return tuple(row["source"] for row in await connection.fetch(SOURCES, memory_id))


async def most_named(connection: Connection, memory_ids: Sequence[UUID]) -> str | None:
    """The name that most of the memories mention."""
    found: str | None = await connection.fetchval(NAMED, list(memory_ids))
    return found

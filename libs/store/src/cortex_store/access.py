"""Access: how often and when memories were recalled."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection

# Sorted, so that two recorders of the same memories wait for each other instead of deadlocking.
RECORD: Final = """
INSERT INTO memory_access (memory, access_count, last_accessed_at)
SELECT memory, times, $3 FROM unnest($1::uuid[], $2::integer[]) AS a (memory, times)
WHERE EXISTS (SELECT FROM memories m WHERE m.id = a.memory) ORDER BY memory
ON CONFLICT (memory) DO UPDATE SET access_count = memory_access.access_count + excluded.access_count,
    last_accessed_at = greatest(memory_access.last_accessed_at, excluded.last_accessed_at)
"""
OF_MEMORY: Final = "SELECT access_count, last_accessed_at FROM memory_access WHERE memory = $1"


async def record(connection: Connection, times: Mapping[UUID, int], at: datetime) -> None:
    """Add to the counters of memories (id to how many times); those that are gone or not readable are left out."""
    await connection.execute(RECORD, list(times), list(times.values()), at)


async def of_memory(connection: Connection, memory_id: UUID) -> tuple[int, datetime | None]:
    """How often a memory was recalled, and when last."""
    row = await connection.fetchrow(OF_MEMORY, memory_id)
    return (0, None) if row is None else (row["access_count"], row["last_accessed_at"])

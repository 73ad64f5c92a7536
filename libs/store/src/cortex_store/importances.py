"""Importances of many memories at once, with what they decay by. Read and written with the sleep role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection

FIRST: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Worth:
    """What a live memory is worth: `importance` now and `base` when it was written. A use is a recall or that it was
    said again; `used_at`: the last one, none: never."""

    id: UUID
    importance: float
    base: float
    valid_at: datetime
    uses: int
    used_at: datetime | None


# A chunk of a document is as important as its document, however old that is.
AFTER: Final = """
SELECT m.id, m.importance, coalesce(m.base_importance, m.importance) AS base, m.valid_at,
    coalesce(a.access_count, 0) + coalesce(o.times, 0) AS uses,
    greatest(a.last_accessed_at, o.last) AS used_at
FROM memories m LEFT JOIN memory_access a ON a.memory = m.id
    LEFT JOIN LATERAL (
        SELECT count(*)::integer AS times, max(occurred_at) AS last FROM memory_occurrences WHERE memory = m.id
    ) o ON true
WHERE m.org = current_setting('cortex.org') AND m.namespace = $1 AND m.id > $2 AND m.invalid_at IS NULL
    AND m.tier = 'hot' AND m.document IS NULL
ORDER BY m.id LIMIT $3
"""
CHANGE: Final = """
UPDATE memories m SET importance = d.importance, base_importance = coalesce(m.base_importance, m.importance)
FROM unnest($1::uuid[], $2::real[]) AS d (id, importance) WHERE m.id = d.id
"""
COUNT: Final = """
SELECT count(*) FROM memories m
WHERE m.org = current_setting('cortex.org') AND m.namespace = $1 AND m.id > $2 AND m.invalid_at IS NULL
    AND m.tier = 'hot' AND m.document IS NULL
"""


async def after(connection: Connection, namespace: str, last: UUID | None, limit: int) -> tuple[Worth, ...]:
    """The first `limit` live memories of a namespace behind `last`, by id; no chunks of documents."""
    return tuple(Worth(*row) for row in await connection.fetch(AFTER, namespace, last or FIRST, limit))


async def count(connection: Connection, namespace: str, last: UUID | None) -> int:
    """How many `after` gives in all."""
    found: int = await connection.fetchval(COUNT, namespace, last or FIRST)
    return found


async def change(connection: Connection, importances: Mapping[UUID, float]) -> None:
    """Let memories have other importances; what they were worth when they were written is kept."""
    await connection.execute(CHANGE, list(importances), list(importances.values()))

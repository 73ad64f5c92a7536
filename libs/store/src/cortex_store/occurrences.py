"""Occurrences: the further times that a memory was said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One more time; `id` is a UUIDv7."""

    id: UUID
    memory: UUID
    source_kind: str
    source_ref: str | None
    session: str | None
    turn: int | None
    speaker: str | None
    occurred_at: datetime
    reason: str


RECORD: Final = """
INSERT INTO memory_occurrences (id, memory, source_kind, source_ref, session, turn, speaker, occurred_at, reason)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""
OF_MEMORY: Final = """
SELECT id, memory, source_kind, source_ref, session, turn, speaker, occurred_at, reason
FROM memory_occurrences WHERE memory = $1 ORDER BY occurred_at DESC, id DESC LIMIT $2
"""


async def record(connection: Connection, occurrence: Occurrence) -> None:
    """Keep that a memory was said again."""
    await connection.execute(
        RECORD,
        occurrence.id,
        occurrence.memory,
        occurrence.source_kind,
        occurrence.source_ref,
        occurrence.session,
        occurrence.turn,
        occurrence.speaker,
        occurrence.occurred_at,
        occurrence.reason,
    )


async def of_memory(connection: Connection, memory_id: UUID, limit: int = 100) -> tuple[Occurrence, ...]:
    """The latest `limit` occurrences of a memory, newest first."""
    return tuple(Occurrence(*row) for row in await connection.fetch(OF_MEMORY, memory_id, limit))

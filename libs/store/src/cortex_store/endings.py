"""Memories that stop being true at a moment that is still to come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection, affected

ANNOUNCE: Final = "INSERT INTO announced_endings (memory, superseded_by, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
DUE: Final = "SELECT memory, superseded_by, at, org, subject FROM due_endings($1)"
TAKE: Final = "DELETE FROM announced_endings WHERE memory = $1 AND superseded_by = $2"


@dataclass(frozen=True, slots=True)
class Ending:
    """A `memory` of an org stops being true `at`, when the one that takes its place does; `subject`: the owner of what
    is private."""

    memory: UUID
    superseded_by: UUID
    at: datetime
    org: str
    subject: str | None


async def announce(connection: Connection, memory_id: UUID, superseded_by: UUID, at: datetime) -> None:
    """A memory will stop being true. Idempotent."""
    await connection.execute(ANNOUNCE, memory_id, superseded_by, at)


async def due(connection: Connection, limit: int) -> Sequence[Ending]:
    """What stopped being true by now, in every org, the earliest first. Nothing is leased: `take` says who ends it."""
    return [Ending(**row) for row in await connection.fetch(DUE, limit)]


async def take(connection: Connection, ending: Ending) -> bool:
    """End the announcement; false if somebody else has, or its memories are not the principal's to see."""
    return affected(await connection.execute(TAKE, ending.memory, ending.superseded_by)) == 1

"""Marks: how far sleep is with the memories of a namespace, in order of their ids. Written with the sleep role."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection


@dataclass(frozen=True, slots=True)
class SleepMarks:
    """The last memories that are done; none: nothing is. `decayed_to` holds for the day `decayed_on` only."""

    decayed_on: date | None = None
    decayed_to: UUID | None = None
    deduplicated_to: UUID | None = None
    reconsolidated_to: UUID | None = None


GET: Final = "SELECT decayed_on, decayed_to, deduplicated_to, reconsolidated_to FROM sleep_marks WHERE namespace = $1"
DECAYED: Final = """
INSERT INTO sleep_marks (namespace, decayed_on, decayed_to) VALUES ($1, $2, $3)
ON CONFLICT (org, namespace) DO UPDATE SET decayed_on = excluded.decayed_on, decayed_to = excluded.decayed_to
"""
DEDUPLICATED: Final = """
INSERT INTO sleep_marks (namespace, deduplicated_to) VALUES ($1, $2)
ON CONFLICT (org, namespace) DO UPDATE SET deduplicated_to = excluded.deduplicated_to
"""
RECONSOLIDATED: Final = """
INSERT INTO sleep_marks (namespace, reconsolidated_to) VALUES ($1, $2)
ON CONFLICT (org, namespace) DO UPDATE SET reconsolidated_to = excluded.reconsolidated_to
"""


async def get(connection: Connection, namespace: str) -> SleepMarks:
    """The marks of a namespace."""
    row = await connection.fetchrow(GET, namespace)
    return SleepMarks() if row is None else SleepMarks(*row)


async def decayed(connection: Connection, namespace: str, day: date, to: UUID | None) -> None:
    """The importances of memories up to `to` are those of `day`."""
    await connection.execute(DECAYED, namespace, day, to)


async def deduplicated(connection: Connection, namespace: str, to: UUID) -> None:
    """Memories up to `to` have been compared with each other."""
    await connection.execute(DEDUPLICATED, namespace, to)


async def reconsolidated(connection: Connection, namespace: str, to: UUID) -> None:
    """Memories up to `to` do not contradict each other, as far as it can be told."""
    await connection.execute(RECONSOLIDATED, namespace, to)

"""Sleep progress: which memory events the background work has taken in. Written with the sleep role."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cortex_store.connection import Connection


@dataclass(frozen=True, slots=True)
class SleepProgress:
    """What sleep has seen of one namespace."""

    namespace: str
    events_seen: int
    last_event_at: datetime


ADVANCE: Final = """
INSERT INTO sleep_progress AS p (namespace, events_seen, last_event_at) VALUES ($1, $2, $3)
ON CONFLICT (org, namespace) DO UPDATE SET
    events_seen = p.events_seen + excluded.events_seen,
    last_event_at = greatest(p.last_event_at, excluded.last_event_at)
RETURNING p.namespace, p.events_seen, p.last_event_at
"""
ALL: Final = """
SELECT namespace, events_seen, last_event_at FROM sleep_progress WHERE bound_to('readable', namespace)
ORDER BY namespace
"""


async def advance(connection: Connection, namespace: str, events: int, last_event_at: datetime) -> SleepProgress:
    """Count events as seen; claim their messages in the inbox first, or a redelivery counts twice."""
    row = await connection.fetchrow(ADVANCE, namespace, events, last_event_at)
    assert row is not None, "INSERT … RETURNING gives a row"
    return SleepProgress(row["namespace"], row["events_seen"], row["last_event_at"])


async def progress(connection: Connection) -> tuple[SleepProgress, ...]:
    """Progress of what the bound principal may read, by namespace in alphabetical order."""
    rows = await connection.fetch(ALL)
    return tuple(SleepProgress(row["namespace"], row["events_seen"], row["last_event_at"]) for row in rows)

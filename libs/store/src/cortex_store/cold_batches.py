"""Batches of memories on their way to the cold store, and what became of them. Written with the sleep role.

writing      the cold store may get its rows
written      it gets nothing more of it; its rows are being compared with the hot ones
done         the cold store has its rows, the hot tier has not
dropped      the hot tier has its rows, for good; what the cold store has of it, if anything, is taken out
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection


class BatchState(StrEnum):
    """How far a batch is."""

    WRITING = "writing"
    WRITTEN = "written"
    DONE = "done"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class DoneBatch:
    """Memories that are in the cold store: how many, and their checksums combined."""

    id: UUID
    org: str
    namespace: str
    rows: int
    checksum: bytes


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """Batches of a namespace: rows and bytes (as they were written) of those that are done, how many are
    `unfinished`, and when the last one was done."""

    namespace: str
    rows: int
    size_bytes: int
    unfinished: int
    last_done_at: datetime | None


BEGIN: Final = """
INSERT INTO cold_batches (id, namespace, rows, first_valid_at, last_valid_at) VALUES ($1, $2, $3, $4, $5)
"""
CLOSE: Final = """
UPDATE cold_batches SET state = 'written', size_bytes = coalesce($2, size_bytes)
WHERE id = $1 AND state IN ('writing', 'written') RETURNING rows
"""
DONE: Final = """
UPDATE cold_batches SET state = 'done', checksum = $2, ended_at = now() WHERE id = $1 AND state = 'written'
"""
DROP: Final = "UPDATE cold_batches SET state = 'dropped' WHERE id = $1 AND state = 'written'"
CLEAR: Final = "UPDATE cold_batches SET ended_at = now() WHERE id = $1 AND state = 'dropped' AND ended_at IS NULL"
UNSETTLED: Final = """
SELECT id, state FROM cold_batches
WHERE namespace = $1 AND (state IN ('writing', 'written')
    OR state = 'dropped' AND coalesce(ended_at > now() - $2::interval, true))
ORDER BY id
"""
NOT_DONE: Final = "SELECT id FROM cold_batches WHERE state <> 'done'"
ALL_DONE: Final = "SELECT id, org, namespace, rows, checksum FROM done_cold_batches()"
COUNTS: Final = """
SELECT namespace, coalesce(sum(rows) FILTER (WHERE state = 'done'), 0)::bigint AS rows,
    coalesce(sum(size_bytes) FILTER (WHERE state = 'done'), 0)::bigint AS size_bytes,
    count(*) FILTER (WHERE state IN ('writing', 'written')) AS unfinished,
    max(ended_at) FILTER (WHERE state = 'done') AS last_done_at
FROM cold_batches GROUP BY namespace ORDER BY namespace
"""


async def begin(
    connection: Connection, batch: UUID, namespace: str, rows: int, first_valid_at: datetime, last_valid_at: datetime
) -> None:
    """Say which batch is about to be written; commit it before the cold store hears of the batch."""
    await connection.execute(BEGIN, batch, namespace, rows, first_valid_at, last_valid_at)


async def close(connection: Connection, batch: UUID, size_bytes: int | None) -> int:
    """The cold store gets nothing more of an unfinished batch: a commit of it that is in flight is waited for, and none
    follows (`hold_cold_batch`). `size_bytes`: of its files, if that is known. Idempotent; returns its rows."""
    rows: int = await connection.fetchval(CLOSE, batch, size_bytes)
    return rows


async def finish(connection: Connection, batch: UUID, checksum: bytes) -> None:
    """The batch is in the cold store as it is here, in the transaction that takes its memories out of the hot tier."""
    await connection.execute(DONE, batch, checksum)


async def drop(connection: Connection, batch: UUID) -> None:
    """None of a closed batch goes cold. Idempotent."""
    await connection.execute(DROP, batch)


async def clear(connection: Connection, batch: UUID) -> None:
    """The cold store has nothing (any more) of a dropped batch. Idempotent."""
    await connection.execute(CLEAR, batch)


async def unsettled(connection: Connection, namespace: str, recent: timedelta) -> tuple[tuple[UUID, BatchState], ...]:
    """Batches of a namespace to look after, oldest first: those that are neither done nor dropped, and dropped ones of
    which the cold store may have something: not cleared yet, or so recently that something may have come late."""
    rows = await connection.fetch(UNSETTLED, namespace, recent)
    return tuple((row["id"], BatchState(row["state"])) for row in rows)


async def not_done(connection: Connection) -> frozenset[UUID]:
    """The batches of the bound org whose rows are not to be read from the cold store: their memories are hot. Ask after
    the snapshot of the cold store was chosen, or a batch that begins in between is missed."""
    return frozenset(row["id"] for row in await connection.fetch(NOT_DONE))


async def done(connection: Connection) -> tuple[DoneBatch, ...]:
    """What the cold store must have, of every org, oldest first. Needs no binding, but sleep's role."""
    return tuple(DoneBatch(**row) for row in await connection.fetch(ALL_DONE))


async def counts(connection: Connection) -> tuple[BatchCounts, ...]:
    """What the bound org has in the cold store, per namespace, in alphabetical order."""
    return tuple(BatchCounts(**row) for row in await connection.fetch(COUNTS))

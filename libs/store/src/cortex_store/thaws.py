"""Coming back from the cold tier: the record of what did, and the hot row that it becomes. Written with the sleep role.

A thaw is a memory and the batch that had taken it. From the transaction on that records it, the row that the cold store
has of it counts for nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection

_COLUMNS: Final = """
id, org, namespace, owner, visibility, network, memory_type, content, source_kind, source_ref, session, turn, speaker,
document, assertions, metadata, importance, base_importance, valid_at, invalid_at, superseded_by, created_at, decision,
decision_reason
"""
COLUMNS: Final = tuple(_COLUMNS.replace(",", " ").split())
"""Of a memory's row, in the order in which `insert` takes their values; `assertions` and `metadata` as JSON texts."""

HOLD: Final = "SELECT rows, checksum FROM cold_batches WHERE id = $1 AND namespace = $2 AND state = 'done' FOR UPDATE"
RECORD: Final = """
INSERT INTO cold_thaws (memory, batch, namespace) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING memory
"""
REDUCE: Final = "UPDATE cold_batches SET rows = $2, checksum = $3 WHERE id = $1"
UNLINK: Final = "DELETE FROM cold_successions WHERE memory = $1"
INSERT: Final = f"""
INSERT INTO memories ({_COLUMNS}, content_hash) VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15::text::jsonb, $16::text::jsonb, $17, $18, $19, $20,
    $21, $22, $23, $24, sha256(convert_to($8, 'UTF8'))
)
"""  # noqa: S608 - constants
USE: Final = "INSERT INTO memory_access (memory, access_count, last_accessed_at) VALUES ($1, $2, now())"
PAIRS: Final = "SELECT batch, memory FROM cold_thaws"
PENDING: Final = """
SELECT batch, memory FROM cold_thaws
WHERE org = current_setting('cortex.org') AND namespace = $1 AND removed_at IS NULL ORDER BY batch, memory
"""
REMOVED: Final = "UPDATE cold_thaws SET removed_at = now() WHERE batch = $1 AND memory = ANY ($2)"
PURGE: Final = """
DELETE FROM cold_thaws
WHERE org = current_setting('cortex.org') AND namespace = $1 AND removed_at < now() - $2::interval
"""
HAS_COLD: Final = "SELECT has_cold_memories()"


@dataclass(frozen=True, slots=True)
class Proof:
    """What a batch is without those that came back: how many rows, and their checksums combined."""

    rows: int
    checksum: bytes


async def hold(connection: Connection, batch: UUID, namespace: str) -> Proof | None:
    """Lock a batch that is done until the transaction ends: one memory of it comes back at a time. None: there is none
    of this namespace, whatever the cold store has of it."""
    row = await connection.fetchrow(HOLD, batch, namespace)
    return None if row is None else Proof(row["rows"], row["checksum"])


async def record(connection: Connection, memory: UUID, batch: UUID, namespace: str, left: Proof) -> bool:
    """A memory of a held batch comes back, and `left` is what is cold of the batch; false: it has come back before."""
    if await connection.fetchval(RECORD, memory, batch, namespace) is None:
        return False
    await connection.execute(REDUCE, batch, left.rows, left.checksum)
    await connection.execute(UNLINK, memory)
    return True


async def insert(connection: Connection, values: Sequence[object]) -> None:
    """The row of a memory of the bound org as it was (`COLUMNS`). It is found after `memory_index.index` only."""
    await connection.execute(INSERT, *values)


async def use(connection: Connection, memory: UUID, before: int) -> None:
    """It was used now, and `before` that so many times."""
    await connection.execute(USE, memory, before + 1)


async def pairs(connection: Connection) -> frozenset[tuple[UUID, UUID]]:
    """The rows (batch, memory) of the bound org that count for nothing in the cold store. Ask after the snapshot of the
    cold store was chosen, as for `cold_batches.not_done`."""
    return frozenset((row["batch"], row["memory"]) for row in await connection.fetch(PAIRS))


async def pending(connection: Connection, namespace: str) -> Mapping[UUID, list[UUID]]:
    """What the cold store may still have of a namespace that came back: memories by batch, both in order."""
    found: dict[UUID, list[UUID]] = defaultdict(list)
    for row in await connection.fetch(PENDING, namespace):
        found[row["batch"]].append(row["memory"])
    return found


async def removed(connection: Connection, batch: UUID, memories: Sequence[UUID]) -> None:
    """The cold store does not have these of a batch any more. Idempotent."""
    await connection.execute(REMOVED, batch, list(memories))


async def purge(connection: Connection, namespace: str, kept: timedelta) -> None:
    """Let go of thaws whose rows were taken out so long ago that no reader knows them any more."""
    await connection.execute(PURGE, namespace, kept)


async def has_cold(connection: Connection) -> bool:
    """Has the bound org anything in the cold tier?"""
    found: bool = await connection.fetchval(HAS_COLD)
    return found

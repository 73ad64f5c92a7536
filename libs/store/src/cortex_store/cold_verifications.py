"""Verifications of the cold tier and what they found. Written with the sleep role, bound to an org."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from cortex_contracts.rpc.cold import ColdDamage, ColdVerification, VerificationState
from cortex_store.connection import Connection, Row
from cortex_store.ids import uuid7

SILENT_S: Final = 300.0
"""A verification that has told nothing for so long has died: one file takes seconds."""
COLUMNS: Final = (
    "id, state, files_done, files, rows, batches, damaged, damages::text AS damages, reason, began_at, finished_at"
)
BURY: Final = """
UPDATE cold_verifications SET state = 'failed', reason = 'its process ended before it did', finished_at = now()
WHERE state = 'running' AND beat_at < now() - make_interval(secs => $1)
"""
BEGIN: Final = "INSERT INTO cold_verifications (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id"
LATEST: Final = f"SELECT {COLUMNS} FROM cold_verifications ORDER BY id DESC LIMIT 1"  # noqa: S608 - constants
BY_ID: Final = f"SELECT {COLUMNS} FROM cold_verifications WHERE id = $1"  # noqa: S608 - constants
BEAT: Final = """
UPDATE cold_verifications SET files_done = $2, files = $3, beat_at = now() WHERE id = $1 AND state = 'running'
"""
FINISH: Final = """
UPDATE cold_verifications SET state = 'done', files_done = $2, files = $2, rows = $3, batches = $4, damaged = $5,
    damages = $6::text::jsonb, finished_at = now()
WHERE id = $1 AND state = 'running'
"""
FAIL: Final = """
UPDATE cold_verifications SET state = 'failed', reason = $2, finished_at = now() WHERE id = $1 AND state = 'running'
"""


async def begin(connection: Connection) -> UUID | None:
    """Begin a verification of the bound org; none: one is under way."""
    await connection.execute(BURY, SILENT_S)
    begun: UUID | None = await connection.fetchval(BEGIN, uuid7())
    return begun


async def latest(connection: Connection) -> ColdVerification | None:
    """The last one that was begun."""
    await connection.execute(BURY, SILENT_S)
    row = await connection.fetchrow(LATEST)
    return None if row is None else _verification(row)


async def get(connection: Connection, verification: UUID) -> ColdVerification | None:
    """One of them."""
    await connection.execute(BURY, SILENT_S)
    row = await connection.fetchrow(BY_ID, verification)
    return None if row is None else _verification(row)


async def beat(connection: Connection, verification: UUID, done: int, files: int) -> None:
    """It goes on: so many files of so many are read."""
    await connection.execute(BEAT, verification, done, files)


async def finish(
    connection: Connection,
    verification: UUID,
    *,
    files: int,
    rows: int,
    batches: int,
    damaged: int,
    damages: Sequence[ColdDamage],
) -> None:
    """Everything was read."""
    found = json.dumps([damage.model_dump(mode="json") for damage in damages])
    await connection.execute(FINISH, verification, files, rows, batches, damaged, found)


async def fail(connection: Connection, verification: UUID, reason: str) -> None:
    """It could not be read to the end."""
    await connection.execute(FAIL, verification, reason)


def _verification(row: Row) -> ColdVerification:
    return ColdVerification(
        verification_id=row["id"],
        state=VerificationState(row["state"]),
        files_done=row["files_done"],
        files=row["files"],
        rows=row["rows"],
        batches=row["batches"],
        damaged=row["damaged"],
        damages=tuple(ColdDamage.model_validate(each) for each in json.loads(row["damages"])),
        reason=row["reason"],
        began_at=row["began_at"],
        finished_at=row["finished_at"],
    )

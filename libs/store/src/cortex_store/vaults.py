"""Vaults: how far the sync of each one is."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from cortex_store.connection import Connection, Row


class SyncResult(StrEnum):
    """How a sync ended: every page applied, some of them, or none because the vault could not be read."""

    OK = "ok"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PageFailure:
    """A file that could not be applied, and why."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Vault:
    """The state of one vault: its pages equal `synced_commit` (none: never synced)."""

    vault: str
    synced_commit: str | None
    last_sync: datetime | None
    last_result: SyncResult | None
    pages_changed: int
    errors: tuple[PageFailure, ...]


GET: Final = """
SELECT vault, synced_commit, last_sync, last_result, pages_changed, errors FROM vaults WHERE vault = $1
"""
LATEST_SYNC: Final = "SELECT max(last_sync) FROM vaults"
RECORD: Final = """
INSERT INTO vaults (vault, synced_commit, last_sync, last_result, pages_changed, errors)
VALUES ($1, $2, now(), $3, $4, $5::text::jsonb)
ON CONFLICT (org, vault) DO UPDATE SET
    synced_commit = coalesce(excluded.synced_commit, vaults.synced_commit),
    last_sync = excluded.last_sync,
    last_result = excluded.last_result,
    pages_changed = excluded.pages_changed,
    errors = excluded.errors
RETURNING vault, synced_commit, last_sync, last_result, pages_changed, errors
"""

TRY_LOCK: Final = """
SELECT pg_try_advisory_xact_lock(hashtextextended('sync/' || current_setting('cortex.org') || '/' || $1, 0))
"""


async def try_lock_sync(connection: Connection, vault: str) -> bool:
    """Take the right to sync a vault until this transaction ends; false if somebody else has it.

    A transaction that does nothing but hold the lock keeps neither a snapshot nor a row: it may stay open for as long
    as the sync takes.
    """
    return bool(await connection.fetchval(TRY_LOCK, vault))


async def get(connection: Connection, vault: str) -> Vault | None:
    """The state of a vault of the bound org; none if it was never synced."""
    row = await connection.fetchrow(GET, vault)
    return None if row is None else _from_row(row)


async def latest_sync(connection: Connection) -> datetime | None:
    """When any vault of the bound org was last synced; none if none was."""
    synced: datetime | None = await connection.fetchval(LATEST_SYNC)
    return synced


async def record_sync(
    connection: Connection,
    vault: str,
    result: SyncResult,
    *,
    synced_commit: str | None,
    pages_changed: int,
    errors: tuple[PageFailure, ...] = (),
) -> Vault:
    """Write how a sync ended; without a `synced_commit` the one of the last sync stands."""
    body = json.dumps([asdict(error) for error in errors])
    row = await connection.fetchrow(RECORD, vault, synced_commit, result, pages_changed, body)
    assert row is not None, "INSERT … RETURNING gives a row"
    return _from_row(row)


def _from_row(row: Row) -> Vault:
    return Vault(
        vault=row["vault"],
        synced_commit=row["synced_commit"],
        last_sync=row["last_sync"],
        last_result=None if row["last_result"] is None else SyncResult(row["last_result"]),
        pages_changed=row["pages_changed"],
        errors=tuple(PageFailure(**each) for each in json.loads(row["errors"])),
    )

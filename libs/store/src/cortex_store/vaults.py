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
class Progress:
    """How far the sync to `commit` is that runs now: `done` of the `total` changed files."""

    commit: str
    done: int
    total: int
    started_at: datetime


@dataclass(frozen=True, slots=True)
class Vault:
    """The state of one vault: its pages equal `synced_commit` (none: never synced). `progress`: none, no sync runs."""

    vault: str
    synced_commit: str | None
    last_sync: datetime | None
    last_result: SyncResult | None
    pages_changed: int
    errors: tuple[PageFailure, ...]
    progress: Progress | None = None


COLUMNS: Final = (
    "vault, synced_commit, last_sync, last_result, pages_changed, errors, "
    "progress_commit, progress_done, progress_total, progress_started_at"
)
GET: Final = f"SELECT {COLUMNS} FROM vaults WHERE vault = $1"  # noqa: S608 - constants
LISTED: Final = f"SELECT {COLUMNS} FROM vaults ORDER BY vault"  # noqa: S608 - constants
LATEST_SYNC: Final = "SELECT max(last_sync) FROM vaults"
RECORD: Final = f"""
INSERT INTO vaults (vault, synced_commit, last_sync, last_result, pages_changed, errors)
VALUES ($1, $2, now(), $3, $4, $5::text::jsonb)
ON CONFLICT (org, vault) DO UPDATE SET
    synced_commit = coalesce(excluded.synced_commit, vaults.synced_commit),
    last_sync = excluded.last_sync,
    last_result = excluded.last_result,
    pages_changed = excluded.pages_changed,
    errors = excluded.errors,
    progress_commit = NULL, progress_done = NULL, progress_total = NULL, progress_started_at = NULL
RETURNING {COLUMNS}
"""  # noqa: S608 - constants
# A sync that goes on after a crash has begun when it began.
PROGRESS: Final = """
INSERT INTO vaults AS v (vault, progress_commit, progress_done, progress_total, progress_started_at)
VALUES ($1, $2, $3, $4, now())
ON CONFLICT (org, vault) DO UPDATE SET
    progress_commit = excluded.progress_commit,
    progress_done = excluded.progress_done,
    progress_total = excluded.progress_total,
    progress_started_at = CASE WHEN v.progress_commit = excluded.progress_commit THEN v.progress_started_at
        ELSE excluded.progress_started_at END
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


async def may_read(connection: Connection, vault: str) -> bool:
    """May the bound principal read the vault, whether or not it was ever synced?"""
    allowed: bool = await connection.fetchval("SELECT bound_to_vault('readable', $1)", vault)
    return allowed


async def listed(connection: Connection) -> tuple[Vault, ...]:
    """Every vault that the binding may read and that was ever synced or is being synced, by name."""
    return tuple(_from_row(row) for row in await connection.fetch(LISTED))


async def progress(connection: Connection, vault: str, commit: str, done: int, total: int) -> None:
    """Say that the sync to `commit` has applied `done` of `total` changed files; `record_sync` ends it."""
    await connection.execute(PROGRESS, vault, commit, done, total)


async def latest_sync(connection: Connection) -> datetime | None:
    """When any vault that the binding may read was last synced; none if none was."""
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
        progress=None
        if row["progress_commit"] is None
        else Progress(row["progress_commit"], row["progress_done"], row["progress_total"], row["progress_started_at"]),
    )

"""Forward-only migrations: SQL files in order, a ledger of what was applied, and a refusal to touch anything else.

MigrationError
├── ForeignDatabase      it has tables, but not our ledger
├── NewerDatabase        it was migrated by a newer version of the code
├── PartlyMigrated       the ledger has a gap
├── ChangedMigration     a file is not the one that was applied
├── PendingMigrations    it is older than the code (raised by `require_current` only)
└── MigrationFailed      a file did not run; it left nothing behind
"""

from __future__ import annotations

import hashlib
import importlib.resources
import re
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import asyncpg

from cortex_infra.errors import MigrationError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    Connection: TypeAlias = asyncpg.Connection | asyncpg.pool.PoolConnectionProxy

LEDGER: Final = "schema_migrations"
_FILE_NAME: Final = re.compile(r"^(\d{4})_([a-z0-9_]+)\.sql$")
_LOCK: Final = 0x636F7274_6578  # "cortex"
_LOCK_TIMEOUT_MS: Final = 120_000
_CONNECT_TIMEOUT_S: Final = 10.0


class ForeignDatabase(MigrationError):
    """The database has tables, but not our ledger."""


class NewerDatabase(MigrationError):
    """The database was migrated by a newer version of the code."""


class PartlyMigrated(MigrationError):
    """The ledger has a gap."""


class ChangedMigration(MigrationError):
    """A migration file is not the one that was applied."""


class PendingMigrations(MigrationError):
    """The database is older than the code."""


class MigrationFailed(MigrationError):
    """A migration did not run; nothing of it was kept."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file."""

    version: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """Hex digest of the text, which must never change once it was applied somewhere."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Applied:
    """One row of the ledger."""

    version: int
    name: str
    sha256: str


def load() -> tuple[Migration, ...]:
    """The migrations of this version of the code, in order.

    Raises:
        MigrationError: a file is misnamed, or the numbers are not 1, 2, 3, …
    """
    folder = importlib.resources.files("cortex_infra") / "migrations"
    files = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    return parse({file.name: file.read_text(encoding="utf-8") for file in files})


def parse(files: dict[str, str]) -> tuple[Migration, ...]:
    """Migrations from file names and texts; raises as `load` does."""
    found = []
    for name in sorted(files):
        match = _FILE_NAME.match(name)
        if match is None:
            raise MigrationError(f"expected migration files called 0001_name.sql, found {name}")
        found.append(Migration(int(match[1]), match[2], files[name]))
    versions = [migration.version for migration in found]
    if versions != list(range(1, len(found) + 1)):
        raise MigrationError(f"expected migrations numbered from 1 without a gap, found {versions}")
    return tuple(found)


def pending(
    migrations: Sequence[Migration], ledger: Sequence[Applied] | None, foreign: Sequence[str]
) -> list[Migration]:
    """What is to be applied to a database with this `ledger` (None: it has none) and these other tables.

    Raises:
        ForeignDatabase, NewerDatabase, PartlyMigrated, ChangedMigration: nothing may be applied.
    """
    if ledger is None:
        if foreign:
            shown = ", ".join(sorted(foreign)[:3])
            raise ForeignDatabase(
                f"the database is not empty ({shown}{', …' if len(foreign) > 3 else ''}) and has no table {LEDGER}: it "
                "belongs to something else; use an empty database"
            )
        return list(migrations)
    rows = sorted(ledger, key=lambda row: row.version)
    newest = rows[-1].version if rows else 0
    if newest > len(migrations):
        raise NewerDatabase(
            f"the database is at migration {newest}, this version of Cortex knows {len(migrations)}: install the "
            "version that migrated it, or a newer one"
        )
    missing = sorted(set(range(1, newest + 1)) - {row.version for row in rows})
    if missing:
        raise PartlyMigrated(
            f"the database is at migration {newest}, but {', '.join(map(str, missing))} was never applied: restore it "
            "from a backup"
        )
    for row, migration in zip(rows, migrations, strict=False):
        if row.sha256 != migration.sha256:
            raise ChangedMigration(
                f"migration {row.version} ({row.name}) was applied with checksum {row.sha256[:12]}, but the file "
                f"{migration.version:04}_{migration.name}.sql has {migration.sha256[:12]}: an applied migration "
                "must not change"
            )
    return list(migrations[len(rows) :])


async def check(database: str | asyncpg.Pool | Connection) -> list[Migration]:
    """What is still to be applied; reads only. `database` is a DSN, a pool or a connection.

    Raises:
        MigrationError: as `pending`.
    """
    async with _connection(database) as connection:
        return pending(load(), *await _inspect(connection))


async def require_current(database: str | asyncpg.Pool | Connection) -> None:
    """Return if the database is exactly what this version of the code expects; reads only.

    Raises:
        PendingMigrations: it is older.
        MigrationError: as `pending`.
    """
    missing = await check(database)
    if missing:
        raise PendingMigrations(
            f"the database lacks {len(missing)} migration(s), the first is {missing[0].version} ({missing[0].name}): "
            "run `python -m cortex_infra migrate`"
        )


async def migrate(dsn: str, migrations: Sequence[Migration] | None = None) -> list[Migration]:
    """Apply what is missing, as the owner role, and return it; concurrent runs wait for each other.

    Raises:
        MigrationError: as `pending`; MigrationFailed names the file, and the earlier ones stay applied.
    """
    known = load() if migrations is None else tuple(migrations)
    async with _connection(dsn) as connection:
        await connection.execute(f"SET lock_timeout = {_LOCK_TIMEOUT_MS}")
        try:
            await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
        except asyncpg.LockNotAvailableError:
            raise MigrationError(f"another migration has been running for {_LOCK_TIMEOUT_MS // 1000} s") from None
        missing = pending(known, *await _inspect(connection))
        if missing and missing[0].version == 1:
            await connection.execute(
                f"CREATE TABLE IF NOT EXISTS {LEDGER} (version int PRIMARY KEY, name text NOT NULL, "
                "sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());"
                f"GRANT SELECT ON {LEDGER} TO PUBLIC"
            )
        for migration in missing:
            await _apply(connection, migration)
        return missing


async def _apply(connection: Connection, migration: Migration) -> None:
    try:
        async with connection.transaction():
            await connection.execute(migration.sql)
            await connection.execute(
                f"INSERT INTO {LEDGER} (version, name, sha256) VALUES ($1, $2, $3)",  # noqa: S608 - a constant
                migration.version,
                migration.name,
                migration.sha256,
            )
    except asyncpg.PostgresError as error:
        raise MigrationFailed(f"migration {migration.version} ({migration.name}) failed: {error}") from error


async def _inspect(connection: Connection) -> tuple[list[Applied] | None, list[str]]:
    tables = [
        row["name"]
        for row in await connection.fetch(
            """
            SELECT n.nspname || '.' || c.relname AS name
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
              AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_t%'
              AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
            """
        )
    ]
    if f"public.{LEDGER}" not in tables:
        return None, tables
    rows = await connection.fetch(f"SELECT version, name, sha256 FROM public.{LEDGER}")  # noqa: S608 - a constant
    return [Applied(row["version"], row["name"], row["sha256"]) for row in rows], tables


def _connection(database: str | asyncpg.Pool | Connection) -> AbstractAsyncContextManager[Connection]:
    if isinstance(database, str):
        return _connected(database)
    if isinstance(database, asyncpg.Pool):
        return database.acquire()
    return _lent(database)


@asynccontextmanager
async def _connected(dsn: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(dsn, timeout=_CONNECT_TIMEOUT_S)
    try:
        yield connection
    finally:
        await connection.close(timeout=_CONNECT_TIMEOUT_S)


@asynccontextmanager
async def _lent(connection: Connection) -> AsyncIterator[Connection]:
    yield connection

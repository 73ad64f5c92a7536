"""Bootstrap and migrations on a real database."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from cortex_infra import ports
from cortex_infra.bootstrap import RolePasswords, bootstrap
from cortex_infra.migrate import (
    ForeignDatabase,
    Migration,
    MigrationFailed,
    NewerDatabase,
    PartlyMigrated,
    PendingMigrations,
    check,
    load,
    migrate,
    require_current,
)
from cortex_infra.servers import postgres
from cortex_infra.servers.running import RunningServer

PASSWORDS = RolePasswords(migration="m-pw", runtime="r-pw", sleep="s-pw")
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    port = ports.choose()
    with tempfile.TemporaryDirectory(prefix="cortex-", ignore_cleanup_errors=True) as name:
        process = postgres.prepare(Path(name) / "data", port=port, password="pw", durable=False)
        with RunningServer(process, Path(name)) as server:
            asyncio.run(server.wait_ready())
            yield port


@pytest.fixture
async def database(port: int) -> str:
    """The name of a bootstrapped, empty database."""
    name = f"cortex_{next(NUMBERS)}"
    await bootstrap(postgres.url("postgres", "pw", port, "postgres"), PASSWORDS, name)
    return name


@pytest.fixture
def owner(port: int, database: str) -> str:
    return postgres.url("cortex_migration", PASSWORDS.migration, port, database)


async def execute(dsn: str, sql: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


async def fetch(dsn: str, sql: str) -> list[tuple[object, ...]]:
    connection = await asyncpg.connect(dsn)
    try:
        return [tuple(row) for row in await connection.fetch(sql)]
    finally:
        await connection.close()


async def test_the_roles_can_log_in_and_are_no_superusers(port: int, database: str) -> None:
    for role, password in PASSWORDS.by_role().items():
        dsn = postgres.url(role, password, port, database)
        sql = (
            "SELECT rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = current_user"
        )
        assert await fetch(dsn, sql) == [(False,)]
    runtime = postgres.url("cortex_runtime", PASSWORDS.runtime, port, database)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await execute(runtime, "CREATE TABLE mine (n int)")


async def test_bootstrap_again_sets_the_passwords_again(port: int) -> None:
    name = f"cortex_{next(NUMBERS)}"
    superuser = postgres.url("postgres", "pw", port, "postgres")
    await bootstrap(superuser, PASSWORDS, name)
    await execute(superuser, "ALTER ROLE cortex_sleep PASSWORD 'changed' SUPERUSER")
    await bootstrap(superuser, PASSWORDS, name)
    await fetch(postgres.url("cortex_sleep", PASSWORDS.sleep, port, name), "SELECT 1")
    assert await fetch(superuser, "SELECT rolsuper FROM pg_roles WHERE rolname = 'cortex_sleep'") == [(False,)]


async def test_the_migrations_of_this_version_apply_once(owner: str) -> None:
    with pytest.raises(PendingMigrations, match="run `python -m cortex_infra migrate`"):
        await require_current(owner)
    applied = await migrate(owner)
    assert applied == list(load())
    assert await migrate(owner) == []
    await require_current(owner)


async def test_the_runtime_role_may_check_but_not_change_the_ledger(port: int, database: str, owner: str) -> None:
    await migrate(owner)
    runtime = postgres.url("cortex_runtime", PASSWORDS.runtime, port, database)
    assert await check(runtime) == []
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await execute(runtime, "DELETE FROM schema_migrations")


async def test_runs_at_the_same_time_apply_everything_once(owner: str) -> None:
    migrations = [Migration(1, "slow", "CREATE TABLE a (n int); SELECT pg_sleep(0.3)"), Migration(2, "b", "SELECT 1")]
    results = await asyncio.gather(*(migrate(owner, migrations) for _ in range(4)))
    assert sorted(map(len, results)) == [0, 0, 0, 2]


async def test_a_failing_migration_leaves_nothing_of_itself(owner: str) -> None:
    good, bad = (
        Migration(1, "good", "CREATE TABLE a (n int)"),
        Migration(2, "bad", "CREATE TABLE b (n int); SELECT 1/0"),
    )
    with pytest.raises(MigrationFailed, match=r"migration 2 \(bad\) failed: division by zero"):
        await migrate(owner, [good, bad])
    tables = await fetch(owner, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    assert tables == [("a",), ("schema_migrations",)]
    mended = Migration(2, "bad", "CREATE TABLE b (n int)")
    assert await migrate(owner, [good, mended]) == [mended]


async def test_a_foreign_database_is_not_touched(owner: str) -> None:
    await execute(owner, "CREATE SCHEMA shop; CREATE TABLE shop.orders (n int)")
    with pytest.raises(ForeignDatabase, match=r"shop\.orders"):
        await migrate(owner)
    assert await fetch(owner, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == []


async def test_a_newer_or_torn_database_is_not_touched(owner: str) -> None:
    await migrate(owner)
    newest = len(load())
    await execute(owner, f"INSERT INTO schema_migrations VALUES ({newest + 1}, 'later', 'x')")
    with pytest.raises(NewerDatabase):
        await migrate(owner)
    await execute(owner, "DELETE FROM schema_migrations WHERE version = 1")
    with pytest.raises((NewerDatabase, PartlyMigrated)):
        await check(owner)


async def test_a_pool_can_be_checked(owner: str) -> None:
    async with asyncpg.create_pool(owner, min_size=1, max_size=1) as pool:
        assert await check(pool) == list(load())

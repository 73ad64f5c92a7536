"""The connection that holds the lock of a namespace: one at a time, and gone with whoever had it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import pytest_asyncio

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_store.database import Database
from cortex_testkit.eventually import eventually
from cortex_testkit.postgres_server import PostgresDatabase

ME = Principal(org="mine", subject="me")
HOLD = """
import asyncio, sys
from cortex_contracts.messages.base import Principal
from cortex_store.database import Database

async def main():
    async with Database(sys.argv[1]).locked("mine", "work", 60.0) as held:
        async with held.transaction(Principal(org="mine", subject="me")) as connection:
            print("holds", flush=True)
            await connection.execute("SELECT pg_sleep(60)")

asyncio.run(main())
"""


@pytest_asyncio.fixture
async def sleep(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    database = Database(postgres.sleep_url)
    await database.open()
    yield database
    await database.close()


@asynccontextmanager
async def nobody_else(database: Database, org: str = "mine", namespace: str = "work") -> AsyncIterator[bool]:
    async with database.locked(org, namespace, 5.0) as held:
        yield held is not None


async def test_one_session_holds_a_namespace_until_its_block_ends(sleep: Database) -> None:
    async with nobody_else(sleep) as first:
        assert first
        async with nobody_else(sleep) as second:
            assert not second
        async with nobody_else(sleep, namespace="home") as home, nobody_else(sleep, org="theirs") as theirs:
            assert home
            assert theirs
    async with nobody_else(sleep) as again:
        assert again


async def test_a_transaction_is_bound_and_stands_alone(sleep: Database) -> None:
    async with sleep.locked("mine", "work", 5.0) as held:
        assert held is not None
        async with held.transaction(ME) as connection:
            assert await connection.fetchval("SELECT current_setting('cortex.subject')") == "me"
            with pytest.raises(RuntimeError, match="no transaction"):
                async with held.transaction(ME):
                    pass
        with suppress(ZeroDivisionError):
            async with held.transaction(ME) as connection:
                await connection.execute("INSERT INTO sleep_progress VALUES ('mine', 'work', 1, now())")
                raise ZeroDivisionError
        async with held.transaction(ME) as connection:
            assert not await connection.fetchval("SELECT count(*) FROM sleep_progress")
        await held.alone("SET statement_timeout = '5s'")
        async with nobody_else(sleep) as free:
            assert not free, "the lock is the session's, not a transaction's"


async def test_who_loses_the_session_gets_no_transaction_any_more(sleep: Database) -> None:
    async with sleep.locked("mine", "work", 5.0) as held:
        assert held is not None
        async with sleep.unscoped() as connection:
            await connection.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
        with pytest.raises(Unavailable):
            async with held.transaction(ME):
                pass
        assert held.is_lost
        async with nobody_else(sleep) as free:
            assert free


async def test_who_loses_the_session_in_the_midst_of_a_transaction_gets_no_other_one(sleep: Database) -> None:
    async with sleep.locked("mine", "work", 5.0) as held:
        assert held is not None

        async def lose_it() -> None:
            async with held.transaction(ME) as connection:
                async with sleep.unscoped() as other:
                    await other.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
                await connection.fetchval("SELECT 1")

        with pytest.raises(Unavailable):
            await lose_it()
        with pytest.raises(Unavailable):
            async with held.transaction(ME):
                pass


async def test_a_holder_that_is_killed_in_the_midst_of_a_statement_is_let_go(
    sleep: Database, postgres: PostgresDatabase
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD, postgres.sleep_url, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"holds\n"
    async with nobody_else(sleep) as free:
        assert not free
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()

    async def free_again() -> bool:
        async with nobody_else(sleep) as free:
            return free

    # The server looks every two seconds whether its client is there; the statement would take a minute.
    await eventually(free_again, within_s=20)

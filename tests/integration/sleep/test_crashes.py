"""The kill -9 harness itself: a service that dies before a commit leaves nothing of it, and the next one goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cortex_contracts.messages.base import Principal
from cortex_contracts.subjects import SleepPhase
from cortex_store import memories, sleep_runs
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.crashes import Crashes
from cortex_testkit.postgres_server import PostgresDatabase

ME = Principal(org="local", subject="me")


async def test_a_service_that_dies_before_a_commit_is_followed_by_one_that_goes_on(
    crashes: Crashes, postgres: PostgresDatabase, sleep_database: Database
) -> None:
    database = Database(postgres.runtime_url)
    await database.open()
    old = datetime.now(UTC) - timedelta(days=400)
    async with database.transaction(ME) as connection:
        for number in range(3):
            memory = NewMemory(uuid7(), "work", f"the deploy key {number}", "chat", 0.5, old, owner="me")
            await memories.insert(connection, memory)
    attempts: list[int] = []
    faded: list[int] = []

    async def look() -> None:
        async with sleep_database.transaction(ME) as connection:
            attempts.append(await connection.fetchval("SELECT attempts FROM sleep_runs"))
            faded.append(await connection.fetchval("SELECT count(*) FROM memories WHERE importance < 0.5"))

    dead = await crashes.through(SleepPhase.DECAY, deaths=(1, 3, 4, 5), between=look)
    await database.close()
    assert dead == 4
    # Taken up; at the phase's beginning; and then it is decay itself that does not get to its commit.
    assert attempts[:2] == [0, 1]
    assert faded[0] == 0
    async with sleep_database.transaction(ME) as connection:
        assert await connection.fetchval("SELECT count(*) FROM memories WHERE importance < 0.5") == 3
        (run,) = await sleep_runs.current(connection, 9)
    assert run.reports[0].counts["changed"] <= 3

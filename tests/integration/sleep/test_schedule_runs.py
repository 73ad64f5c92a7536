"""What is due, in every namespace of every org: by time, by pressure, and again after a failure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, time, timedelta
from typing import Any

import asyncpg
import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import SleepRunState
from cortex_contracts.rpc.sleep import SleepCause, SleepPhaseReport
from cortex_contracts.subjects import SleepPhase
from cortex_sleep.schedule import Schedule
from cortex_store import memories, sleep_progress, sleep_runs
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.postgres_server import PostgresDatabase

ME = Principal(org="local", subject="me")
NOW = datetime.now(UTC)
PHASES = (SleepPhase.DECAY, SleepPhase.DEMOTE)
MINUTE = timedelta(minutes=1)


def schedule(database: Database, at: time | None = None, pressure: int = 0, now: datetime = NOW) -> Schedule:
    return Schedule(database, PHASES, lambda: None, at=at, zone=UTC, pressure=pressure, now=lambda: now)


def daily(database: Database, now: datetime) -> Schedule:
    """Every day at the time that it was two hours before `NOW`."""
    return schedule(database, at=(NOW - timedelta(hours=2)).time(), now=now)


@pytest.fixture
async def owner(postgres: PostgresDatabase) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(postgres.migration_url)
    yield connection
    await connection.close()


async def remember(postgres: PostgresDatabase, owner: asyncpg.Connection, org: str, namespace: str) -> None:
    """A memory that was learned when this function is called, in a namespace that is known from now on."""
    database = Database(postgres.runtime_url)
    await database.open()
    async with database.transaction(Principal(org=org, subject="me")) as connection:
        await memories.insert(connection, NewMemory(uuid7(), namespace, "the deploy key", "chat", 0.5, NOW, owner="me"))
    await database.close()
    await owner.execute(
        "INSERT INTO namespaces (org, namespace) VALUES ($1, $2) ON CONFLICT DO NOTHING", org, namespace
    )


async def runs(owner: asyncpg.Connection) -> list[tuple[Any, ...]]:
    rows = await owner.fetch("SELECT org, namespace, cause, phases FROM sleep_runs ORDER BY id")
    return [tuple(row) for row in rows]


async def run(database: Database, *failed: SleepPhase, began_at: datetime, org: str = "local") -> None:
    """Take the next run of the org and let it end at once."""
    principal = Principal(org=org, subject="me")
    async with database.unscoped() as connection:
        (one,) = [one for one in await sleep_runs.open_runs(connection, 9) if one.org == org]
    async with database.transaction(principal) as connection:
        taken = await sleep_runs.take(connection, one.id, began_at)
        assert taken is not None
        for phase in taken.phases:
            state = SleepRunState.FAILED if phase in failed else SleepRunState.DONE
            await sleep_runs.report(connection, one.id, SleepPhaseReport(phase=phase, state=state))
        await sleep_runs.end(connection, one.id, SleepRunState.FAILED if failed else SleepRunState.DONE)


async def test_every_namespace_of_every_org_has_its_turn_once_a_day(
    sleep_database: Database, postgres: PostgresDatabase, owner: asyncpg.Connection
) -> None:
    await remember(postgres, owner, "local", "work")
    await remember(postgres, owner, "theirs", "home")
    assert await daily(sleep_database, NOW).look() == 0, "what is new since is not due before tomorrow"
    tomorrow = NOW + timedelta(days=1)
    assert await daily(sleep_database, tomorrow).look() == 2
    assert await daily(sleep_database, tomorrow).look() == 0, "what waits already is not asked for again"
    assert await runs(owner) == [
        ("local", "work", "schedule", list(PHASES)),
        ("theirs", "home", "schedule", list(PHASES)),
    ]
    for org in ("local", "theirs"):
        await run(sleep_database, began_at=tomorrow, org=org)
    assert await daily(sleep_database, tomorrow + timedelta(hours=3)).look() == 0
    assert await daily(sleep_database, tomorrow + timedelta(days=1)).look() == 2


async def test_a_run_of_some_phases_or_a_dry_one_is_no_reason_to_leave_out_the_daily_one(
    sleep_database: Database, postgres: PostgresDatabase, owner: asyncpg.Connection
) -> None:
    await remember(postgres, owner, "local", "work")
    tomorrow = NOW + timedelta(days=1)
    for phases, dry_run in (([SleepPhase.DECAY], False), (PHASES, True)):
        async with sleep_database.transaction(ME) as connection:
            await sleep_runs.ask(connection, "work", SleepCause.COMMAND, phases, dry_run=dry_run)
        await run(sleep_database, began_at=tomorrow)
    assert await daily(sleep_database, tomorrow).look() == 1


async def test_many_events_are_a_reason_but_not_all_the_time(
    sleep_database: Database, postgres: PostgresDatabase, owner: asyncpg.Connection
) -> None:
    await remember(postgres, owner, "local", "work")
    pressed = schedule(sleep_database, pressure=10)

    async def happen(events: int) -> None:
        async with sleep_database.transaction(ME) as connection:
            await sleep_progress.advance(connection, "work", events, NOW)

    await happen(9)
    assert await pressed.look() == 0
    await happen(1)
    assert await pressed.look() == 1
    assert (await runs(owner))[-1][2] == "pressure"
    await happen(3)
    await run(sleep_database, began_at=NOW)
    await happen(9)
    assert await pressed.look() == 0, "those that came before it began were slept on"
    await happen(1)
    assert await pressed.look() == 0, "it has just slept"
    await owner.execute("UPDATE sleep_runs SET finished_at = finished_at - interval '11 minutes'")
    assert await pressed.look() == 1


async def test_what_failed_is_tried_again_alone_after_a_while(
    sleep_database: Database, postgres: PostgresDatabase, owner: asyncpg.Connection
) -> None:
    await remember(postgres, owner, "local", "work")
    async with sleep_database.transaction(ME) as connection:
        await sleep_runs.ask(connection, "work", SleepCause.SCHEDULE, PHASES)
    await run(sleep_database, SleepPhase.DEMOTE, began_at=NOW)
    by_time = schedule(sleep_database, at=NOW.time())
    assert await by_time.look() == 0
    await owner.execute("UPDATE sleep_runs SET finished_at = finished_at - interval '11 minutes'")
    assert await by_time.look() == 1
    assert (await runs(owner))[-1] == ("local", "work", "retry", [SleepPhase.DEMOTE])
    await run(sleep_database, began_at=NOW)
    await owner.execute("UPDATE sleep_runs SET finished_at = finished_at - interval '11 minutes'")
    assert await by_time.look() == 0


async def test_old_runs_are_forgotten_but_when_a_namespace_slept_last_is_known(
    sleep_database: Database, postgres: PostgresDatabase, owner: asyncpg.Connection
) -> None:
    await remember(postgres, owner, "local", "work")
    for _ in range(3):
        async with sleep_database.transaction(ME) as connection:
            await sleep_runs.ask(connection, "work", SleepCause.COMMAND, PHASES)
        await run(sleep_database, began_at=NOW)
    async with sleep_database.transaction(ME) as connection:
        waiting = await sleep_runs.ask(connection, "work", SleepCause.COMMAND, PHASES, dry_run=True)
    await owner.execute("UPDATE sleep_runs SET finished_at = finished_at - interval '31 days'")
    async with sleep_database.unscoped() as connection:
        assert await sleep_runs.purge(connection, timedelta(days=30), 1) == 1
        assert await sleep_runs.purge(connection, timedelta(days=30), 9) == 1
        assert await sleep_runs.purge(connection, timedelta(days=30), 9) == 0
    async with sleep_database.transaction(ME) as connection:
        assert [one.run_id for one in await sleep_runs.current(connection, 9)][-1] == waiting

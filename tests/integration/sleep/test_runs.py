"""Runs of the background work on a real PostgreSQL: in order, under one lock, resumed, stopped, reported."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from cortex_contracts.errors import Permanent, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import SleepRunEvent, SleepRunState
from cortex_contracts.rpc.sleep import SleepCause, SleepRun, SleepRunRequest, SleepStatusRequest, SleepStopRequest
from cortex_contracts.subjects import SleepPhase
from cortex_sleep.phase import SLEEPER, Work
from cortex_sleep.run import MOST_ATTEMPTS, Runner
from cortex_sleep.status import Status
from cortex_store import memories, sleep_runs
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_store.sleep_runs import OpenRun
from cortex_testkit.postgres_server import PostgresDatabase

ME = Principal(org="local", subject="me")
NOW = datetime(2026, 5, 4, tzinfo=UTC)


class Played:
    """A phase that does what a test says."""

    def __init__(self, phase: SleepPhase, play: Callable[[Work], Awaitable[None]] | None = None) -> None:
        self.phase = phase
        self.seen: list[Work] = []
        self._play = play

    async def run(self, work: Work) -> None:
        self.seen.append(work)
        if self._play is not None:
            await self._play(work)


def runner(database: Database, *phases: Played) -> Runner:
    return Runner(database, phases, lambda: None, pace=0.0, waits_s=(0.0,))


async def asked(database: Database, *phases: SleepPhase, namespace: str = "work", dry_run: bool = False) -> OpenRun:
    async with database.transaction(ME) as connection:
        run = await sleep_runs.ask(connection, namespace, SleepCause.COMMAND, phases, dry_run=dry_run)
    return OpenRun(run, "local", namespace)


async def found(database: Database, run: OpenRun) -> SleepRun:
    async with database.transaction(ME) as connection:
        (one,) = await sleep_runs.get(connection, [run.id])
    return one


async def events(database: Database) -> list[SleepRunEvent]:
    async with database.unscoped() as connection:
        rows = await connection.fetch("SELECT body FROM outbox ORDER BY id")
    return [SleepRunEvent.model_validate_json(row["body"]) for row in rows]


async def retain(connection: Connection, namespace: str = "work", age: timedelta = timedelta()) -> None:
    memory = NewMemory(uuid7(), namespace, "the deploy key", "chat", 0.5, NOW, owner="me")
    await memories.insert(connection, memory)


async def test_phases_run_in_their_order_and_the_run_tells_what_they_did(sleep_database: Database) -> None:
    order: list[SleepPhase] = []

    def played(phase: SleepPhase) -> Played:
        async def play(work: Work) -> None:
            order.append(phase)
            async with work.transaction() as connection:
                assert await connection.fetchval("SELECT current_setting('cortex.subject')") == SLEEPER
                assert await connection.fetchval("SELECT current_setting('cortex.writable')") == "work"
            await work.report(2, 3, faded=7)

        return Played(phase, play)

    decay, reconsolidate = played(SleepPhase.DECAY), played(SleepPhase.RECONSOLIDATE)
    run = await asked(sleep_database, SleepPhase.DECAY, SleepPhase.RECONSOLIDATE)
    phases = [decay, reconsolidate]
    # Its clock stands: nothing takes a second.
    assert await Runner(sleep_database, phases, lambda: None, pace=0.0, clock=lambda: 0.0).step()
    assert order == [SleepPhase.RECONSOLIDATE, SleepPhase.DECAY]
    ended = await found(sleep_database, run)
    assert ended.state is SleepRunState.DONE
    assert ended.finished_at is not None
    assert [(one.phase, one.state) for one in ended.reports] == [
        (SleepPhase.DECAY, SleepRunState.DONE),
        (SleepPhase.RECONSOLIDATE, SleepRunState.DONE),
    ]
    assert ended.reports[0].counts == {"faded": 7}
    assert (ended.reports[0].done, ended.reports[0].total) == (2, 3)
    assert [(one.phase, one.state) for one in await events(sleep_database)] == [
        (SleepPhase.RECONSOLIDATE, SleepRunState.DONE),
        (SleepPhase.DECAY, SleepRunState.DONE),
    ], "what is over in less than a second is announced once"
    assert not await runner(sleep_database, decay).step(), "nothing is left to do"


async def test_one_worker_per_namespace_whatever_their_number(
    sleep_database: Database, postgres: PostgresDatabase
) -> None:
    inside, release = asyncio.Event(), asyncio.Event()

    async def wait(_: Work) -> None:
        inside.set()
        await release.wait()

    first, second = Played(SleepPhase.DECAY, wait), Played(SleepPhase.DECAY)
    await asked(sleep_database, SleepPhase.DECAY)
    other_process = Database(postgres.sleep_url)
    await other_process.open()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(runner(sleep_database, first).step())
        await inside.wait()
        run = await asked(sleep_database, SleepPhase.DECAY)
        assert not await runner(other_process, second).step()
        assert not await runner(other_process, second).work(run)
        await asked(sleep_database, SleepPhase.DECAY, namespace="home")
        assert await runner(other_process, second).step(), "another namespace is another matter"
        release.set()
        assert await task
    assert [work.namespace for work in second.seen] == ["home"]
    assert await runner(other_process, second).step()
    assert [work.namespace for work in second.seen] == ["home", "work"]
    await other_process.close()


async def test_a_run_whose_connection_dies_goes_on_from_its_cursor_as_of_its_beginning(
    sleep_database: Database, postgres: PostgresDatabase
) -> None:
    done: list[int] = []

    async def play(work: Work) -> None:
        for step in range(int(work.cursor.get("step", 0)), 4):
            async with work.transaction() as connection:
                await work.save(connection, {"step": str(step + 1)})
            done.append(step)
            if step == 1 and len(played.seen) == 1:
                await end_sessions(postgres)
                async with work.transaction():
                    pytest.fail("who lost the lock must not get a transaction")

    first, played = Played(SleepPhase.DEDUPLICATE), Played(SleepPhase.DECAY, play)
    run = await asked(sleep_database, SleepPhase.DECAY, SleepPhase.DEDUPLICATE)
    work = runner(sleep_database, first, played)
    with pytest.raises(Unavailable):
        await work.work(run, NOW)
    assert (await found(sleep_database, run)).state is SleepRunState.RUNNING
    assert await work.step()
    assert done == [0, 1, 2, 3]
    assert len(first.seen) == 1, "a phase that was done is not run again"
    assert [one.now for one in played.seen] == [NOW, NOW]
    assert (await found(sleep_database, run)).state is SleepRunState.DONE


async def test_what_is_urgent_waits_for_no_other_namespace_and_behind_nothing_else(sleep_database: Database) -> None:
    phases = (SleepPhase.RECONSOLIDATE, SleepPhase.DECAY)
    await asked(sleep_database, *phases, namespace="home")
    await asked(sleep_database, *phases)
    urgent = []
    for _ in range(2):
        async with sleep_database.transaction(ME) as connection:
            urgent.append(
                await sleep_runs.ask(connection, "work", SleepCause.CONTRADICTION, [SleepPhase.RECONSOLIDATE])
            )
    assert urgent[0] == urgent[1]
    reconsolidate, decay = Played(SleepPhase.RECONSOLIDATE), Played(SleepPhase.DECAY)
    work = runner(sleep_database, reconsolidate, decay)
    assert await work.step(urgent=True)
    assert [(one.namespace, one.run_id) for one in reconsolidate.seen] == [("work", urgent[0])]
    assert not await work.step(urgent=True)
    assert await work.step()
    assert await work.step()
    assert [one.namespace for one in decay.seen] == ["home", "work"]


async def end_sessions(postgres: PostgresDatabase) -> None:
    """End the sessions of sleep that hold a lock."""
    connection = await asyncpg.connect(postgres.migration_url)
    sleeper = await asyncpg.connect(postgres.sleep_url)
    await sleeper.fetch(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
    )
    await sleeper.close()
    await connection.close()


async def test_a_phase_that_fails_lets_the_others_have_their_turn(sleep_database: Database) -> None:
    async def away(_: Work) -> None:
        raise Unavailable("the cold store is away")

    async def bug(_: Work) -> None:
        raise KeyError("a secret of somebody")

    demote, decay = Played(SleepPhase.DEMOTE, away), Played(SleepPhase.DECAY, bug)
    maintain = Played(SleepPhase.MAINTAIN)
    run = await asked(sleep_database, SleepPhase.DECAY, SleepPhase.DEMOTE, SleepPhase.MAINTAIN)
    await runner(sleep_database, demote, decay, maintain).step()
    ended = await found(sleep_database, run)
    assert ended.state is SleepRunState.FAILED
    assert [(one.state, one.reason) for one in ended.reports] == [
        (SleepRunState.FAILED, "unexpected KeyError"),
        (SleepRunState.FAILED, "the cold store is away"),
        (SleepRunState.DONE, None),
    ]
    assert ended.reason == "decay: unexpected KeyError"
    assert len(demote.seen) == 2, "what may come back is tried again before it fails"
    assert len(decay.seen) == 1


async def test_what_was_saved_in_a_transaction_that_was_undone_is_not_how_far_it_is(sleep_database: Database) -> None:
    seen: list[str] = []

    async def play(work: Work) -> None:
        seen.append(work.cursor.get("at", "beginning"))
        if not seen[1:]:
            async with work.transaction() as connection:
                await work.save(connection, {"at": "middle"})
        async with work.transaction() as connection:
            await work.save(connection, {"at": "end"})
            if not seen[1:]:
                raise Unavailable("deadlock detected")

    run = await asked(sleep_database, SleepPhase.DECAY)
    assert await runner(sleep_database, Played(SleepPhase.DECAY, play)).work(run)
    assert seen == ["beginning", "middle"]
    assert (await found(sleep_database, run)).state is SleepRunState.DONE


async def test_a_phase_whose_workers_keep_dying_fails_in_the_end(
    sleep_database: Database, postgres: PostgresDatabase
) -> None:
    async def dies(work: Work) -> None:
        await end_sessions(postgres)
        async with work.transaction():
            pass

    decay, maintain = Played(SleepPhase.DECAY, dies), Played(SleepPhase.MAINTAIN)
    run = await asked(sleep_database, SleepPhase.DECAY, SleepPhase.MAINTAIN)
    work = Runner(sleep_database, [decay, maintain], lambda: None, pace=0.0, waits_s=())
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(Unavailable):
            await work.work(run)
    assert await work.work(run)
    ended = await found(sleep_database, run)
    assert [one.state for one in ended.reports] == [SleepRunState.FAILED, SleepRunState.DONE]


async def test_a_run_stops_at_its_next_report_and_keeps_what_is_done(sleep_database: Database) -> None:
    async def play(work: Work) -> None:
        async with work.transaction() as connection:
            await work.save(connection, {"at": "1"})
        await status(sleep_database).stop(SleepStopRequest(principal=ME, namespace="work"))
        clock[0] += 10
        await work.report(1, 9)
        pytest.fail("it went on")

    clock = [0.0]
    decay, maintain = Played(SleepPhase.DECAY, play), Played(SleepPhase.MAINTAIN)
    run = await asked(sleep_database, SleepPhase.DECAY, SleepPhase.MAINTAIN)
    work = Runner(sleep_database, [decay, maintain], lambda: None, pace=0.0, waits_s=(), clock=lambda: clock[0])
    assert await work.work(run)
    ended = await found(sleep_database, run)
    assert ended.state is SleepRunState.STOPPED
    assert [one.state for one in ended.reports] == [SleepRunState.STOPPED]
    assert ended.reports[0].done == 1
    assert not maintain.seen
    waiting = await asked(sleep_database, SleepPhase.DECAY)
    (stopped,) = (await status(sleep_database).stop(SleepStopRequest(principal=ME))).runs
    assert (stopped.run_id, stopped.state) == (waiting.id, SleepRunState.STOPPED)
    assert not await work.step()


async def test_events_are_told_once_a_second_at_most(sleep_database: Database) -> None:
    clock = [0.0]

    async def play(work: Work) -> None:
        for number in range(100):
            clock[0] += 0.1
            await work.report(number + 1, 100, faded=number + 1)

    run = await asked(sleep_database, SleepPhase.DECAY)
    work = Runner(
        sleep_database, [Played(SleepPhase.DECAY, play)], lambda: None, pace=0.0, waits_s=(), clock=lambda: clock[0]
    )
    assert await work.work(run)
    told = await events(sleep_database)
    assert 10 <= len(told) <= 12
    assert (told[-1].done, told[-1].total, told[-1].counts) == (100, 100, {"faded": 100})


async def test_a_run_can_be_asked_for_where_one_may_write_only(sleep_database: Database) -> None:
    answers = status(sleep_database, SleepPhase.DECAY)
    reader = Principal(org="local", subject="reader", readable=("work",), writable=())
    with pytest.raises(Permanent, match="may not write"):
        await answers.run(SleepRunRequest(principal=reader, namespace="work"))
    with pytest.raises(Permanent, match="no phase demote here; there are decay"):
        await answers.run(SleepRunRequest(principal=ME, namespace="work", phases=(SleepPhase.DEMOTE,)))
    first, again = [await answers.run(SleepRunRequest(principal=ME, namespace="work")) for _ in range(2)]
    assert first == again, "one that waits already is the one that was asked for"
    (dry,) = (await answers.run(SleepRunRequest(principal=ME, namespace="work", dry_run=True))).runs
    assert dry.run_id != first.runs[0].run_id
    assert not (await answers.stop(SleepStopRequest(principal=reader))).runs
    assert [one.run_id for one in (await answers.status(SleepStatusRequest(principal=reader))).runs] == [
        first.runs[0].run_id,
        dry.run_id,
    ]
    for stranger in (Principal(org="theirs", subject="me"), Principal(org="local", subject="s", readable=("home",))):
        assert not (await answers.status(SleepStatusRequest(principal=stranger))).runs


def status(database: Database, *phases: SleepPhase) -> Status:
    return Status(database, phases, lambda: None, lambda: None)


async def test_what_is_asked_of_everything_is_asked_of_what_one_may_write(
    sleep_database: Database, postgres: PostgresDatabase
) -> None:
    await namespaces(postgres, "home", "work")
    answers = status(sleep_database, SleepPhase.DECAY)
    writer = Principal(org="local", subject="writer", readable=("home", "work"), writable=("home",))
    assert [one.namespace for one in (await answers.run(SleepRunRequest(principal=writer))).runs] == ["home"]
    assert {one.namespace for one in (await answers.run(SleepRunRequest(principal=ME))).runs} == {"home", "work"}


async def namespaces(postgres: PostgresDatabase, *names: str) -> None:
    connection = await asyncpg.connect(postgres.migration_url)
    for name in names:
        await connection.execute("INSERT INTO namespaces (org, namespace) VALUES ('local', $1)", name)
    await connection.close()


async def test_the_cursor_of_a_phase_is_not_that_of_the_next(sleep_database: Database) -> None:
    async def saves(work: Work) -> None:
        async with work.transaction() as connection:
            await work.save(connection, {"at": "the end"})
        assert work.cursor == {"at": "the end"}

    async def starts(work: Work) -> None:
        assert work.cursor == {}

    run = await asked(sleep_database, SleepPhase.DECAY, SleepPhase.MAINTAIN)
    await runner(sleep_database, Played(SleepPhase.DECAY, saves), Played(SleepPhase.MAINTAIN, starts)).step()
    assert json.loads((await found(sleep_database, run)).model_dump_json())["state"] == "done"

"""Demotion into the real cold store: killed anywhere, two at a time, or with the store away, it loses and doubles
nothing."""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import SleepRunState
from cortex_contracts.rpc.sleep import SleepCause
from cortex_contracts.subjects import SleepPhase
from cortex_providers.cold_store import Batch, BatchProof, ColdStoreConfig
from cortex_sleep import demote as phase
from cortex_sleep.demote import Demote
from cortex_sleep.demotion import Rules
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_sleep.run import Runner
from cortex_store import cold_batches, indexed_text, memories, memory_index, sleep_runs
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_writing.announcements import Announcements

ME = Principal(org="local", subject="me")
OLD = datetime(2024, 1, 31, 23, 30, tzinfo=UTC)
KILLS = 20
BATCH = 40


class Readers:
    """Nobody has cached anything."""

    async def bump(self, org: str, namespace: str) -> None: ...


def demote(store: IcebergColdStore) -> Demote:
    return Demote(store, Announcements(lambda: None, Readers()), Rules(timedelta(0), timedelta(0), 1.0))


async def remember(postgres: PostgresDatabase, namespace: str, count: int) -> frozenset[UUID]:
    """Memories of several months."""
    database = Database(postgres.runtime_url)
    await database.open()
    ids = []
    async with database.transaction(ME) as connection:
        await connection.execute("INSERT INTO database_settings VALUES ('embedding.model', 'm') ON CONFLICT DO NOTHING")
        for number in range(count):
            when = OLD + timedelta(hours=number * 5)
            new = NewMemory(uuid7(), namespace, f"what was said {number} قيل", "chat", 0.3, when, owner="me")
            await memories.insert(connection, new)
            vector = [float(number + 1), 1.0, *[0.0] * 382]
            await memory_index.index(connection, new.id, indexed_text.document(new, when), vector, "m")
            ids.append(new.id)
    await database.close()
    return frozenset(ids)


async def hot(postgres: PostgresDatabase) -> frozenset[UUID]:
    owner = await asyncpg.connect(postgres.migration_url)
    try:
        found = frozenset(row["id"] for row in await owner.fetch("SELECT id FROM memories"))
        for table in ("memory_terms", "memory_vectors"):
            indexed = {row["memory"] for row in await owner.fetch(f"SELECT memory FROM {table}")}
            assert indexed == found, table
        return found
    finally:
        await owner.close()


async def cold(database: Database, store: IcebergColdStore) -> Counter[UUID]:
    """How often each memory is in the table. It has the batches that are done, each of which is proved, and no more."""
    async with database.unscoped() as connection:
        done = await cold_batches.done(connection)
    for one in done:
        rows = await store.checksums(Batch(one.id, one.org, one.namespace))
        assert BatchProof.of(rows.values()) == BatchProof(one.rows, one.checksum)
    table = await store.in_thread(
        lambda cold: cold.warehouse.table().scan(selected_fields=("id", "demotion")).to_arrow()
    )
    assert set(table["demotion"].to_pylist()) == {one.id for one in done}
    return Counter(table["id"].to_pylist())


@asynccontextmanager
async def tiers(postgres: PostgresDatabase, warehouse: Path) -> AsyncIterator[tuple[Database, IcebergColdStore]]:
    database = Database(postgres.sleep_url)
    await database.open()
    store = IcebergColdStore(ColdStoreConfig(str(warehouse), postgres.sleep_url))
    try:
        yield database, store
    finally:
        await store.close()
        await database.close()


async def test_killed_at_twenty_moments_it_loses_and_doubles_nothing(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    everything = await remember(postgres, "work", 4 * BATCH)
    owner = await asyncpg.connect(postgres.migration_url)
    arguments = (postgres.sleep_url, str(tmp_path / "cold"), "local", "work", str(BATCH))
    workers = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cortex_testkit.demoting_process", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert workers.stdin is not None
    assert workers.stdout is not None

    async def worker(lives_s: float) -> tuple[str, float]:
        assert workers.stdin is not None
        assert workers.stdout is not None
        workers.stdin.write(f"{lives_s}\n".encode())
        words: list[str] = []
        while words[:1] not in (["killed"], ["done"], ["failed"]):  # others are its log's
            words = (await workers.stdout.readline()).decode().split() or [str(workers.returncode)]
            assert workers.returncode is None, words
        return words[0], float(words[1])

    outcome, seconds = await worker(float("inf"))
    assert outcome == "done"
    of_a_batch = seconds / 4  # on this machine, now
    chance = random.Random(20261130)
    states: Counter[str] = Counter()
    while states.total() < KILLS:
        if await owner.fetchval("SELECT count(*) FROM memories") < 2 * BATCH:
            everything |= await remember(postgres, "work", 4 * BATCH)
        outcome, _ = await worker(chance.uniform(0.0, 1.5 * of_a_batch))
        assert outcome != "failed"
        counts = await owner.fetchrow(
            "SELECT (SELECT count(*) FROM memories) AS hot, "
            "(SELECT coalesce(sum(rows), 0) FROM cold_batches WHERE state = 'done') AS cold, "
            "(SELECT max(state) FROM cold_batches WHERE state IN ('writing', 'written')) AS unfinished"
        )
        assert counts["hot"] + counts["cold"] == len(everything), states
        if outcome == "killed":
            states[counts["unfinished"] or "between batches"] += 1
    assert (await worker(float("inf")))[0] == "done"
    workers.stdin.close()
    assert await workers.wait() == 0
    await owner.close()
    assert states["writing"] + states["written"] >= KILLS // 4, states
    async with tiers(postgres, tmp_path / "cold") as (database, store):
        assert await cold(database, store) == Counter(everything)
    assert await hot(postgres) == frozenset()


async def test_killed_before_any_commit_it_goes_on(crashes, postgres: PostgresDatabase, tmp_path: Path) -> None:
    everything = await remember(postgres, "work", 30)
    crashes.settings |= {
        "CORTEX_SLEEP_DEMOTE_LEARNED_DAYS": "0",
        "CORTEX_SLEEP_DEMOTE_RETENTION": "1",
        "CORTEX_COLD_STORE_WAREHOUSE": str(tmp_path / "cold"),
    }
    async with tiers(postgres, tmp_path / "cold") as (database, store):

        async def nothing_is_lost() -> None:
            there = await hot(postgres)
            async with database.unscoped() as connection:
                done = {one.id for one in await cold_batches.done(connection)}
            gone = {one for batch in done for one in await store.checksums(Batch(batch, "local", "work"))}
            assert there | gone == everything
            assert not there & gone

        await crashes.through(SleepPhase.DEMOTE, deaths=(4, 5, 4, 5), between=nothing_is_lost)
        assert await cold(database, store) == Counter(everything)


async def run(runner: Runner, database: Database, namespaces: Iterable[str]) -> None:
    for namespace in namespaces:
        async with database.transaction(ME) as connection:
            await sleep_runs.ask(connection, namespace, SleepCause.COMMAND, [SleepPhase.DEMOTE])
    while await runner.step():
        pass


async def test_two_workers_share_namespaces_and_never_one(
    postgres: PostgresDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phase, "BATCH", 20)
    namespaces = ("one", "two", "three")
    everything = frozenset[UUID]().union(*[await remember(postgres, name, 60) for name in namespaces])
    async with (
        tiers(postgres, tmp_path / "cold") as (database, store),
        tiers(postgres, tmp_path / "cold") as (other_database, other_store),
    ):
        await asyncio.gather(
            run(Runner(database, [demote(store)], lambda: None, pace=0.0), database, namespaces),
            run(Runner(other_database, [demote(other_store)], lambda: None, pace=0.0), other_database, namespaces),
        )
        assert await cold(database, store) == Counter(everything)
    assert await hot(postgres) == frozenset()


@pytest.mark.parametrize(
    ("warehouse", "endpoint", "reason"),
    [
        ("s3://cortex", "http://127.0.0.1:1", "away"),
        ("/proc/cold", "", "refuse"),
    ],
    ids=["away", "read-only"],
)
async def test_a_store_that_cannot_be_used_stops_the_phase_and_touches_nothing(
    run_phase, postgres: PostgresDatabase, warehouse: str, endpoint: str, reason: str
) -> None:
    everything = await remember(postgres, "work", 5)
    store = IcebergColdStore(ColdStoreConfig(warehouse, postgres.sleep_url, endpoint=endpoint, timeout_s=2.0))
    report = await run_phase(demote(store), ends=SleepRunState.FAILED)
    assert report.reason
    print(report.reason, reason)
    await store.close()
    assert await hot(postgres) == everything
    owner = await asyncpg.connect(postgres.migration_url)
    assert await owner.fetchval("SELECT count(*) FROM cold_batches") == 0
    await owner.close()

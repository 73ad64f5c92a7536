"""Upkeep of the hot tier on a real server: months come and go, indexes shrink, nothing stays unfindable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

import asyncpg
import pytest

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import Visibility
from cortex_contracts.subjects import SleepPhase
from cortex_providers.cold_store import ColdStore, Upkeep, Upkept
from cortex_sleep import maintain
from cortex_sleep.maintain import Maintain
from cortex_store import memories, memory_index, occurrences, upkeep
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.crashes import Crashes
from cortex_testkit.eventually import eventually
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.sleep_work import PlayedWork

ME = Principal(org="mine", subject="me")
BORN = datetime(2026, 5, 4, tzinfo=UTC)
UPKEEP = Upkeep(keep_snapshots=timedelta(days=1), orphan_age=timedelta(days=2))
PARTITIONS = """
SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'memories'::regclass ORDER BY 1
"""


class Cold:
    """A cold tier that keeps what it was asked, and may be away."""

    def __init__(self) -> None:
        self.asked: list[tuple[Upkeep, datetime]] = []
        self.away = False

    async def maintain(self, kept: Upkeep, now: datetime, pause: Callable[[], Awaitable[None]]) -> Upkept:
        self.asked.append((kept, now))
        if self.away:
            raise Unavailable("the cold tier is away")
        await pause()
        return Upkept(files_joined=3, files_made=1, snapshots_expired=2)


@pytest.fixture
async def hot(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    database = Database(postgres.runtime_url)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
async def sleeping(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    database = Database(postgres.sleep_url)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
async def owner(postgres: PostgresDatabase) -> AsyncIterator[asyncpg.Connection]:
    """The owner of the schema."""
    connection = await asyncpg.connect(postgres.migration_url)
    yield connection
    await connection.close()


@asynccontextmanager
async def working(sleeping: Database, now: datetime | None = None, **fields: Any) -> AsyncIterator[PlayedWork]:
    async with sleeping.locked("mine", "work", 60) as held:
        yield PlayedWork(sleeping, "mine", "work", now or datetime.now(UTC), held=held, **fields)


async def maintained(
    sleeping: Database, now: datetime | None = None, cold: Cold | None = None, **fields: Any
) -> dict[str, int]:
    """What a run counted."""
    async with working(sleeping, now, **fields) as work:
        await Maintain(cast(ColdStore | None, cold), UPKEEP, least_removed=300).run(work)
        return {name: number for name, number in work.counts.items() if number}


def born(moment: datetime) -> UUID:
    """An identifier that was made then."""
    return UUID(int=int(moment.timestamp() * 1000) << 80 | 7 << 76 | uuid7().int & ((1 << 76) - 1))


async def keep(hot: Database, moment: datetime, **fields: Any) -> UUID:
    given: dict[str, Any] = {"namespace": "work", "owner": "me", "source_kind": "chat"} | fields
    memory = NewMemory(id=born(moment), content="the tide is late", importance=0.5, valid_at=moment, **given)
    async with hot.transaction(ME) as connection:
        await memories.insert(connection, memory)
    return memory.id


async def partitions(owner: asyncpg.Connection) -> set[str]:
    return {row["name"] for row in await owner.fetch(PARTITIONS)}


def month(moment: datetime) -> str:
    return f"memories_{moment:%Y%m}"


async def test_months_are_made_ahead_of_any_clock_and_what_came_too_early_moves_into_its_own(
    hot: Database, sleeping: Database, owner: asyncpg.Connection
) -> None:
    later = datetime.now(UTC) + timedelta(days=800)
    one = await keep(hot, later)
    async with hot.transaction(ME) as connection:
        again = occurrences.Occurrence(uuid7(), one, "chat", None, None, None, None, later, "said again")
        await occurrences.record(connection, again)
    where = "SELECT tableoid::regclass::text FROM memories WHERE id = $1"
    async with hot.transaction(ME) as connection:
        assert await connection.fetchval(where, one) == "memories_default"
    counts = await maintained(sleeping, later)
    assert counts["partitions"] == 7
    assert month(later.replace(day=1) + timedelta(days=31 * 6)) in await partitions(owner)
    async with hot.transaction(ME) as connection:
        assert await connection.fetchval(where, one) == month(later)
        assert await occurrences.of_memory(connection, one) == (again,)
    assert "partitions" not in await maintained(sleeping, later)


async def test_months_that_are_long_over_go_when_they_are_empty_and_only_then(
    hot: Database, sleeping: Database, owner: asyncpg.Connection
) -> None:
    now = datetime.now(UTC)
    await maintained(sleeping)
    one = await keep(hot, now)
    later = now + timedelta(days=400)
    dry = await maintained(sleeping, later, dry_run=True)
    assert month(now + timedelta(days=45)) in await partitions(owner)
    counts = await maintained(sleeping, later)
    left = await partitions(owner)
    assert {month(now), "memories_default", month(later)} <= left
    assert month(now + timedelta(days=45)) not in left
    assert counts["dropped"] == dry["dropped"] >= 5
    async with hot.transaction(ME) as connection:
        assert await memories.get(connection, one) is not None


async def test_a_month_to_come_waits_for_who_reads(hot: Database, sleeping: Database) -> None:
    later = datetime.now(UTC) + timedelta(days=800)
    async with hot.transaction(ME) as connection:
        await memories.counts(connection)
        assert "partitions" not in await maintained(sleeping, later)
    assert (await maintained(sleeping, later))["partitions"] == 7


async def test_an_empty_month_waits_for_who_reads(hot: Database, sleeping: Database, owner: asyncpg.Connection) -> None:
    later = datetime.now(UTC) + timedelta(days=400)
    async with sleeping.unscoped() as connection:
        await memories.ensure_partitions(connection, 6, later)
    before = await partitions(owner)
    async with hot.transaction(ME) as connection:
        await memories.counts(connection)
        assert "dropped" not in await maintained(sleeping, later)
        await memories.counts(connection)
    assert before <= await partitions(owner)
    assert (await maintained(sleeping, later))["dropped"] >= 3


async def test_what_nobody_can_find_begins_to_wait_for_its_words_and_its_vector(
    hot: Database, sleeping: Database
) -> None:
    old = datetime.now(UTC) - timedelta(hours=2)
    lost = await keep(hot, old)
    private = await keep(hot, old, visibility=Visibility.PRIVATE)
    await keep(hot, old, namespace="other")
    await keep(hot, datetime.now(UTC))
    assert (await maintained(sleeping, dry_run=True))["requeued"] == 2
    counts = await maintained(sleeping)
    assert (counts["requeued"], counts["waiting"]) == (2, 2)
    async with hot.unscoped() as connection:
        found = await memory_index.lease(connection, 10, timedelta(minutes=1))
    assert {(one.memory, one.subject, one.words, one.meaning) for one in found} == {
        (lost, None, True, True),
        (private, "me", True, True),
    }
    again = await maintained(sleeping, datetime.now(UTC) + timedelta(days=1))
    assert (again.get("requeued"), again["waiting"]) == (None, 2)


async def grow(owner: asyncpg.Connection, rows: int) -> None:
    """Rows of the side tables, as many memories make them."""
    await owner.execute(
        "INSERT INTO memory_terms SELECT gen_random_uuid(), 1, NULL, false, now(), NULL, NULL, n, 1, "
        f"ARRAY[n, n + 1, n % 50], '{{1:1}}/1000000000' FROM generate_series(1, {rows}) AS n"
    )
    await owner.execute(
        "INSERT INTO memory_vectors SELECT memory, scope, NULL, false, valid_at, "
        "(SELECT array_agg(((hashint4(content::int + i) % 1000) / 1000.0)::real) FROM generate_series(1, 384) i)"
        "::vector(384)::halfvec(384) FROM memory_terms"
    )


async def test_indexes_shrink_after_many_memories_went_and_are_left_alone_afterwards(
    sleeping: Database, owner: asyncpg.Connection, postgres: PostgresDatabase
) -> None:
    await grow(owner, 600)
    sizes = (
        "SELECT indexrelid::regclass::text, pg_relation_size(indexrelid) FROM pg_index "
        "WHERE indrelid IN ('memory_terms'::regclass, 'memory_vectors'::regclass)"
    )
    before = dict(await owner.fetch(sizes))
    other = await asyncpg.connect(postgres.migration_url)
    for table in ("memory_terms", "memory_vectors"):
        await other.execute(f"DELETE FROM {table} WHERE memory IN (SELECT memory FROM memory_terms LIMIT 550)")
    # The counts of a session are there for others when it ends.
    await other.close()

    async def worn() -> dict[str, int]:
        return await maintained(sleeping, dry_run=True)

    assert (await eventually(worn, lambda counts: counts.get("rebuilt") == 1))["rebuilt"] == 1
    assert dict(await owner.fetch(sizes)) == before
    assert (await maintained(sleeping))["rebuilt"] == 1
    after = dict(await owner.fetch(sizes))
    assert "rebuilt" not in await maintained(sleeping)
    shrunk = {name for name in before if after[name] < before[name]}
    assert {"memory_terms_pkey"} <= shrunk, (before, after)
    valid = "SELECT count(*) FROM pg_index WHERE NOT indisvalid"
    assert await owner.fetchval(valid) == 0


async def test_a_transaction_that_was_left_open_keeps_indexes_as_they_are_and_nothing_else(
    sleeping: Database, owner: asyncpg.Connection, postgres: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintain, "GENTLY", ("SET lock_timeout = '100ms'",))
    await grow(owner, 400)
    reader, other = await asyncpg.connect(postgres.migration_url), await asyncpg.connect(postgres.migration_url)
    await other.execute("DELETE FROM memory_terms WHERE content > 10")
    await other.close()
    await eventually(lambda: maintained(sleeping, dry_run=True), lambda counts: counts.get("rebuilt") == 1)
    await reader.transaction(isolation="repeatable_read").start()
    await reader.fetchval("SELECT count(*) FROM namespaces")
    cold = Cold()
    counts = await maintained(sleeping, cold=cold)
    assert (counts.get("rebuilt"), counts["files_made"]) == (None, 1)
    await reader.close()
    assert await owner.fetchval("SELECT count(*) FROM pg_index WHERE NOT indisvalid") == 0
    assert (await maintained(sleeping))["rebuilt"] == 1


async def test_what_a_killed_worker_left_of_an_index_is_dropped(
    sleeping: Database, owner: asyncpg.Connection, postgres: PostgresDatabase
) -> None:
    await maintained(sleeping)
    unfinished = "SELECT count(*) FROM pg_index WHERE NOT indisvalid"
    reader, killer = await asyncpg.connect(postgres.runtime_url), await asyncpg.connect(postgres.sleep_url)
    building = await asyncpg.connect(postgres.sleep_url)
    try:
        # An old snapshot keeps the new index from being used.
        await reader.transaction(isolation="repeatable_read").start()
        await reader.fetchval("SELECT count(*) FROM memories")
        task = asyncio.create_task(building.execute("REINDEX INDEX CONCURRENTLY memory_terms_keys"))
        await eventually(lambda: owner.fetchval(unfinished), bool)
        await killer.execute(f"SELECT pg_terminate_backend({building.get_server_pid()}, 5000)")
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
            await task
    finally:
        await reader.close()
        await killer.close()
        building.terminate()
    assert await owner.fetchval(unfinished) > 0
    assert (await maintained(sleeping))["unfinished"] > 0
    assert await owner.fetchval(unfinished) == 0


async def test_the_cold_tier_is_maintained_once_a_day_and_when_it_is_away_the_rest_was_done(sleeping: Database) -> None:
    now, cold = datetime.now(UTC).replace(hour=3), Cold()
    cold.away = True
    with pytest.raises(Unavailable, match="cold tier is away"):
        await maintained(sleeping, now, cold)
    async with sleeping.transaction(ME) as connection:
        assert await upkeep.checked_on(connection, "work") == now.date()
    cold.away = False
    counts = await maintained(sleeping, now, cold)
    assert {name: counts[name] for name in ("files_joined", "files_made", "snapshots_expired")} == {
        "files_joined": 3,
        "files_made": 1,
        "snapshots_expired": 2,
    }
    await maintained(sleeping, now + timedelta(hours=20), cold)
    await maintained(sleeping, now + timedelta(days=1), cold, dry_run=True)
    assert len(cold.asked) == 2
    await maintained(sleeping, now + timedelta(days=1), cold)
    assert cold.asked[1:] == [(UPKEEP, now), (UPKEEP, now + timedelta(days=1))]


async def test_only_one_worker_at_a_time_maintains_what_all_share(sleeping: Database) -> None:
    cold = Cold()
    async with sleeping.locked("mine", "other", 60) as held:
        assert held is not None
        async with held.transaction(ME) as connection:
            assert await upkeep.lock(connection)
        assert "partitions" not in await maintained(sleeping, cold=cold)
        assert cold.asked == []
    assert (await maintained(sleeping, cold=cold))["files_made"] == 1


async def test_kill_9_of_the_service_leaves_nothing_half_done(
    hot: Database, sleeping: Database, owner: asyncpg.Connection, crashes: Crashes
) -> None:
    local = Principal(org="local", subject="me")
    lost = NewMemory(born(datetime.now(UTC) - timedelta(hours=2)), "work", "the tide is late", "chat", 0.5, BORN, "me")
    async with hot.transaction(local) as connection:
        await memories.insert(connection, lost)
    before = await partitions(owner)
    assert await crashes.through(SleepPhase.MAINTAIN, deaths=(2, 4)) == 2
    assert before <= await partitions(owner)
    async with hot.unscoped() as connection:
        assert [one.memory for one in await memory_index.lease(connection, 10, timedelta(minutes=1))] == [lost.id]

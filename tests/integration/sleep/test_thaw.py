"""Thaw against a real hot tier and a real cold store: what comes back is whole, in one tier, and in one only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from cortex_contracts.errors import ErrorCode, Permanent, Unavailable
from cortex_contracts.messages.base import Assertion, Principal
from cortex_contracts.messages.memory import Network, Visibility
from cortex_contracts.rpc.archive import ArchiveRequest
from cortex_contracts.rpc.cold import THAW, ColdVerification, ColdVerifyRequest, ThawRequest, VerificationState
from cortex_contracts.rpc.recall import GetRequest
from cortex_contracts.subjects import MemoryOp
from cortex_providers.cold_memory import ColdMemory
from cortex_providers.cold_store import ColdStoreConfig
from cortex_ranking.calibration import Backgrounds
from cortex_ranking.fusion import Recipe
from cortex_ranking.query_vector import NoVectors
from cortex_runtime.bus import Bus
from cortex_sleep import hot_memories
from cortex_sleep.archive.archive import Archive
from cortex_sleep.cold_rpc import ColdTier
from cortex_sleep.demote import Demote
from cortex_sleep.demotion import Rules
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_sleep.thaw import Thaw
from cortex_store import (
    access,
    documents,
    entities,
    entity_relations,
    indexed_text,
    memories,
    memory_index,
    occurrences,
    thaws,
)
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.process import RunningService, service_process
from cortex_testkit.sleep_work import Killed, PlayedWork
from cortex_writing.announcements import Announcements

NOW = datetime.now(UTC) + timedelta(hours=1)
OLD = datetime(2021, 3, 4, 5, 6, 7, 891011, tzinfo=UTC)
ME = Principal(org="local", subject="me")
MODEL = "test-model"
VECTOR = [0.6, 0.8, *[0.0] * 382]
AT_ONCE = Rules(timedelta(0), timedelta(0), 1.0)


class Readers:
    """Nobody has cached anything."""

    async def bump(self, org: str, namespace: str) -> None: ...


ANNOUNCEMENTS = Announcements(lambda: None, Readers())


@pytest.fixture
async def hot(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    """The hot tier as ingest and recall have it."""
    database = Database(postgres.runtime_url)
    await database.open()
    async with database.unscoped() as connection:
        await connection.execute("INSERT INTO database_settings VALUES ('embedding.model', $1)", MODEL)
    yield database
    await database.close()


@pytest.fixture
def config(postgres: PostgresDatabase, tmp_path: Path) -> ColdStoreConfig:
    return ColdStoreConfig(str(tmp_path / "cold"), postgres.sleep_url)


@pytest.fixture
async def store(config: ColdStoreConfig) -> AsyncIterator[IcebergColdStore]:
    opened = IcebergColdStore(config)
    yield opened
    await opened.close()


@pytest.fixture
def thaw(store: IcebergColdStore, sleep_database: Database) -> Thaw:
    return Thaw(store, sleep_database, ANNOUNCEMENTS)


@pytest.fixture
def archive(store: IcebergColdStore, sleep_database: Database) -> Archive:
    return Archive(store, sleep_database, NoVectors(MODEL), Recipe(), Backgrounds())


async def remember(connection: Connection, content: str, model: str = MODEL, **fields: Any) -> UUID:
    given: dict[str, Any] = {
        "id": uuid7(),
        "namespace": "work",
        "owner": "me",
        "source_kind": "chat",
        "importance": 0.3,
        "valid_at": OLD,
    }
    memory = NewMemory(content=content, **given | fields)
    await memories.insert(connection, memory)
    await memory_index.index(connection, memory.id, indexed_text.document(memory, memory.valid_at), VECTOR, model)
    return memory.id


async def demoted(database: Database, store: IcebergColdStore, rules: Rules = AT_ONCE, **played: Any) -> int:
    """Run the phase; how many went."""
    work = PlayedWork(database, "local", "work", NOW, **played)
    await Demote(store, ANNOUNCEMENTS, rules).run(work)
    return work.counts["demoted"]


def asked(*ids: UUID, principal: Principal = ME) -> ThawRequest:
    return ThawRequest(principal=principal, memory_ids=ids)


async def whole(database: Database, store: IcebergColdStore, ids: Sequence[UUID]) -> list[ColdMemory]:
    """What would go of memories that stay for now."""
    assert await demoted(database, store, Rules()) == 0
    async with database.transaction(ME) as connection:
        return await hot_memories.read(connection, ids)


async def verified(database: Database, store: IcebergColdStore) -> ColdVerification:
    tier = ColdTier(database, store)
    begun = await tier.verify(ColdVerifyRequest(principal=ME))
    running = asyncio.create_task(tier.run())

    async def state() -> ColdVerification:
        return await tier.verify(ColdVerifyRequest(principal=ME, verification_id=begun.verification_id))

    done = await eventually(state, lambda one: one.state is not VerificationState.RUNNING)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert done.state is VerificationState.DONE, done.reason
    return done


async def rows_of(store: IcebergColdStore) -> list[UUID]:
    """What is in the files, whatever it counts for."""
    table = await store.in_thread(lambda cold: cold.warehouse.table().scan(selected_fields=("id",)).to_arrow())
    return sorted(table["id"].to_pylist())


async def is_hot(database: Database, memory: UUID) -> bool:
    async with database.transaction(ME) as connection:
        return await memories.get(connection, memory) is not None


async def everything(connection: Connection) -> tuple[UUID, UUID]:
    """A memory of which everything is known, and one that it replaced."""
    source = await remember(connection, "said long ago")
    memory = await remember(
        connection,
        "Ada owns Atlas, القديم",
        visibility=Visibility.PRIVATE,
        network=Network.BELIEF,
        source_ref="c/1",
        session="s1",
        turn=3,
        speaker="Ada",
        assertions=(Assertion(subject="Ada", attribute="owns", value="Atlas"),),
        metadata={"b": "2", "a": "ä"},
        decision_reason="new",
    )
    named = [entities.Named(name.lower(), name, "thing", "mention") for name in ("Zoe", "Ada", "Atlas")]
    await entities.link(connection, memory, "work", [*named, entities.Named("ada", "Ada", "thing", "speaker")])
    await entity_relations.put(connection, memory, "work", [entity_relations.Related("ada", "owns", "atlas")])
    for number in range(2):
        again = occurrences.Occurrence(uuid7(), memory, "chat", f"c/{number}", "s9", 4, "Bob", OLD, "said before")
        await occurrences.record(connection, again)
    await access.record(connection, {memory: 5}, OLD)
    await documents.derived(connection, memory, [source])
    await memories.invalidate(connection, source, OLD + timedelta(days=1), memory)
    return source, memory


async def test_a_memory_comes_back_whole_and_is_cold_no_more(
    hot: Database, sleep_database: Database, store: IcebergColdStore, thaw: Thaw, archive: Archive
) -> None:
    async with hot.transaction(ME) as connection:
        ids = await everything(connection)
        stays = await remember(connection, "Atlas stays where it is")
    before = await whole(sleep_database, store, ids)
    assert await demoted(sleep_database, store) == 3
    assert set((await thaw.thaw(asked(*ids))).thawed) == set(ids)

    found = await archive.recall(ArchiveRequest(principal=ME, query="Ada owns Atlas", min_score=0.0))
    assert ([one.memory.memory_id for one in found.memories], found.rows) == ([stays], 1)
    with pytest.raises(Permanent) as missing:
        await archive.get(GetRequest(principal=ME, memory_id=ids[1]))
    assert missing.value.code is ErrorCode.NOT_FOUND
    told_of = await verified(sleep_database, store)
    assert (told_of.rows, told_of.batches, told_of.damages) == (1, 1, ())
    assert (await thaw.thaw(asked(*ids))).thawed == (), "it has come back"

    after = await whole(sleep_database, store, ids)
    assert [(one.access_count, one.last_accessed_at is not None) for one in after] == [(1, True), (6, True)]
    used = [{"access_count": one.access_count, "last_accessed_at": one.last_accessed_at} for one in after]
    assert after == [replace(one, **fields) for one, fields in zip(before, used, strict=True)]
    async with hot.transaction(ME) as connection:
        assert [one.id for one in await memories.chain(connection, ids[1])] == list(ids)
        await memory_index.fold(connection, 1000)
        stored = await memories.get(connection, ids[1])
        assert stored is not None
        known = await memory_index.statistics(connection, ["work"], indexed_text.document(stored, OLD).impacts)
        told = await connection.fetch("SELECT memory_id FROM memory_events WHERE op = $1", MemoryOp.RESTORE)
    assert [one.df for one in known.segments if one.df], "its words count again"
    assert [row["memory_id"] for row in told] == [None, None]


async def test_what_came_back_is_taken_out_of_the_store_and_stays_hot(
    hot: Database, sleep_database: Database, store: IcebergColdStore, thaw: Thaw
) -> None:
    async with hot.transaction(ME) as connection:
        ids = [await remember(connection, f"said long ago {number}") for number in range(4)]
    await demoted(sleep_database, store)
    assert await rows_of(store) == ids
    await thaw.thaw(asked(*ids[:2]))
    assert await rows_of(store) == ids, "nobody waits for the files"

    # Dies after the rows were taken out, before it is recorded.
    with pytest.raises(Killed):
        await demoted(sleep_database, store, Rules(), dies_in=2)
    assert await rows_of(store) == ids[2:]
    assert (await verified(sleep_database, store)).damages == ()
    assert await demoted(sleep_database, store, Rules()) == 0, "it was used just now"
    assert [await is_hot(hot, one) for one in ids] == [True, True, False, False]
    told = await verified(sleep_database, store)
    assert (told.rows, told.damages) == (2, ())

    await thaw.thaw(asked(*ids[2:]))
    await demoted(sleep_database, store, Rules())
    told = await verified(sleep_database, store)
    assert (await rows_of(store), told.rows, told.damages) == ([], 0, ()), "all of a batch may come back"


async def test_it_may_go_and_come_back_again(
    hot: Database, sleep_database: Database, store: IcebergColdStore, thaw: Thaw, archive: Archive
) -> None:
    async with hot.transaction(ME) as connection:
        memory = await remember(connection, "said long ago")
    async with sleep_database.transaction(ME) as connection:
        [before] = await hot_memories.read(connection, [memory])
    for times in range(1, 4):
        assert await demoted(sleep_database, store) == 1
        assert await rows_of(store) == [memory], "what it left behind went before it"
        assert (await archive.get(GetRequest(principal=ME, memory_id=memory))).access_count == times - 1
        assert (await thaw.thaw(asked(memory))).thawed == (memory,)
        assert (await verified(sleep_database, store)).damages == ()
        [after] = await whole(sleep_database, store, [memory])
        assert after == replace(before, access_count=times, last_accessed_at=after.last_accessed_at)


async def test_thaws_of_the_same_at_once_are_one(
    hot: Database, sleep_database: Database, config: ColdStoreConfig, store: IcebergColdStore
) -> None:
    async with hot.transaction(ME) as connection:
        ids = [await remember(connection, f"said long ago {number}") for number in range(3)]
    await demoted(sleep_database, store)
    other = IcebergColdStore(config)
    replicas = [Thaw(one, sleep_database, ANNOUNCEMENTS) for one in (store, other, store)]
    replies = await asyncio.gather(*[one.thaw(asked(*ids)) for one in replicas])
    await other.close()
    assert sorted(one for reply in replies for one in reply.thawed) == ids
    assert [one.access_count for one in await whole(sleep_database, store, ids)] == [1, 1, 1]
    assert (await verified(sleep_database, store)).damages == ()


async def test_only_who_may_change_a_memory_brings_it_back(
    hot: Database, sleep_database: Database, store: IcebergColdStore, thaw: Thaw
) -> None:
    async with hot.transaction(ME) as connection:
        team = await remember(connection, "of the team")
        private = await remember(connection, "mine alone", visibility=Visibility.PRIVATE)
        shown = await remember(connection, "for everybody", visibility=Visibility.GLOBAL)
    await demoted(sleep_database, store)
    everyone = (team, private, shown)
    reader = Principal(org="local", subject="you", readable=("work",), writable=())
    stranger = Principal(org="local", subject="you", readable=("other",), writable=("other",))
    foreign = Principal(org="acme", subject="me")
    replies = [await thaw.thaw(asked(*everyone, principal=one)) for one in (reader, stranger, foreign)]
    assert [(one.thawed, one.forbidden) for one in replies] == [((), (team, shown)), ((), (shown,)), ((), ())]
    assert [await is_hot(hot, one) for one in everyone] == [False] * 3
    writer = Principal(org="local", subject="you")
    assert (await thaw.thaw(asked(*everyone, principal=writer))).thawed == (team, shown)
    assert (await thaw.thaw(asked(*everyone))).thawed == (private,)


async def test_a_chain_is_shown_over_both_tiers(
    hot: Database, sleep_database: Database, store: IcebergColdStore, thaw: Thaw, archive: Archive
) -> None:
    async with hot.transaction(ME) as connection:
        chain = [
            await remember(connection, f"retries {n} times", valid_at=NOW - timedelta(days=400 - 100 * n))
            for n in range(3)
        ]
        private = await remember(connection, "mine alone", visibility=Visibility.PRIVATE, valid_at=OLD)
        last = await remember(connection, "retries forever", network=Network.FACT)
        for old, new in pairwise([private, *chain, last]):
            await memories.invalidate(connection, old, NOW - timedelta(days=40), new)
    assert await demoted(sleep_database, store) == 4

    async with hot.transaction(ME) as connection:
        links = await memories.links(connection, last)
    assert ([one.id for one in links.memories], set(links.others)) == ([last], {private, *chain})
    asked_for = GetRequest(principal=ME, memory_id=last)
    assert [one.memory_id for one in (await archive.chain(asked_for)).memories] == [private, *chain]
    others = GetRequest(principal=Principal(org="local", subject="you"), memory_id=last)
    assert [one.memory_id for one in (await archive.chain(others)).memories] == chain
    cold = await archive.get(GetRequest(principal=ME, memory_id=chain[1]))
    assert ([one.memory_id for one in cold.chain], set(cold.chain_archived)) == (
        [private, *chain],
        {private, *chain},
    )

    await thaw.thaw(asked(chain[1]))
    async with hot.transaction(ME) as connection:
        links = await memories.links(connection, last)
    assert ({one.id for one in links.memories}, set(links.others)) == ({chain[1], last}, {private, chain[0], chain[2]})


async def test_a_vector_of_a_replaced_model_is_made_again(
    hot: Database, sleep_database: Database, postgres: PostgresDatabase, store: IcebergColdStore, thaw: Thaw
) -> None:
    async with hot.transaction(ME) as connection:
        memory = await remember(connection, "said long ago")
    await demoted(sleep_database, store)
    owner = await asyncpg.connect(postgres.migration_url)
    await owner.execute("UPDATE database_settings SET value = 'another' WHERE key = 'embedding.model'")
    await owner.close()
    await thaw.thaw(asked(memory))
    async with hot.transaction(ME) as connection:
        assert (await memory_index.backlog(connection))[0] == 1
    assert await demoted(sleep_database, store) == 0, "it waits for its vector"


async def test_with_the_store_away_nothing_changes(
    hot: Database, sleep_database: Database, postgres: PostgresDatabase, store: IcebergColdStore
) -> None:
    async with hot.transaction(ME) as connection:
        memory = await remember(connection, "said long ago")
    await demoted(sleep_database, store)
    away = IcebergColdStore(
        ColdStoreConfig("s3://cortex", postgres.sleep_url, endpoint="http://127.0.0.1:1", timeout_s=2.0)
    )
    with pytest.raises(Unavailable):
        await Thaw(away, sleep_database, ANNOUNCEMENTS).thaw(asked(memory))
    await away.close()
    assert not await is_hot(hot, memory)
    assert (await verified(sleep_database, store)).rows == 1


async def test_a_service_that_is_killed_leaves_it_in_one_tier(
    hot: Database,
    sleep_database: Database,
    postgres: PostgresDatabase,
    nats: NatsServer,
    store: IcebergColdStore,
    thaw: Thaw,
    sleep_settings: dict[str, str],
    tmp_path: Path,
) -> None:
    async with hot.transaction(ME) as connection:
        memory = await remember(connection, "said long ago")
    await demoted(sleep_database, store)
    settings = sleep_settings | {
        "CORTEX_SLEEP_DATABASE_URL": postgres.sleep_url,
        "CORTEX_COLD_STORE_WAREHOUSE": str(tmp_path / "cold"),
    }
    bus = Bus(nats.url("ingest"), "ingest", "0.1.0")
    await bus.open()
    owner = await asyncpg.connect(postgres.migration_url)

    async def waiting() -> int:
        found: int = await owner.fetchval(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = to_regclass('memory_events') "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return found

    with RunningService(service_process("sleep", **settings), tmp_path) as dies:
        await dies.wait_ready()
        async with owner.transaction():
            await owner.execute("LOCK TABLE memory_events IN ACCESS EXCLUSIVE MODE")
            request = asyncio.create_task(bus.request(THAW, asked(memory), timeout_s=60.0))
            await eventually(waiting, lambda count: count == 1, within_s=60)  # all else is written
            dies.kill()
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
    assert not await is_hot(hot, memory)
    async with sleep_database.transaction(ME) as connection:
        assert await thaws.pairs(connection) == frozenset()
    await owner.close()
    await bus.close()
    assert (await thaw.thaw(asked(memory))).thawed == (memory,)
    assert (await verified(sleep_database, store)).damages == ()

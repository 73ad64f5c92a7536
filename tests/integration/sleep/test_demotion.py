"""Demotion against a real hot tier: whatever happens in between, a memory is in one tier, whole, and in one only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import numpy as np
import pytest

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Assertion, Principal
from cortex_contracts.messages.memory import MemoryType, Network, Visibility
from cortex_contracts.subjects import MemoryOp
from cortex_providers.cold_memory import ColdEntity, ColdMemory, ColdRelation, checksum
from cortex_providers.cold_store import Batch, BatchProof, Written
from cortex_sleep.demote import Demote
from cortex_sleep.demotion import Rules
from cortex_store import (
    access,
    cold_batches,
    contradictions,
    demotion,
    documents,
    endings,
    entities,
    entity_relations,
    indexed_text,
    lexical_index,
    memories,
    memory_index,
    occurrences,
)
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.sleep_work import Killed, PlayedWork
from cortex_writing.announcements import Announcements

NOW = datetime.now(UTC) + timedelta(hours=1)
OLD = datetime(2021, 3, 4, 5, 6, 7, 891011, tzinfo=UTC)
ME = Principal(org="local", subject="me")
VECTOR = [0.6, 0.8, *[0.0] * 382]
AT_ONCE = Rules(timedelta(0), timedelta(0))
ENDED_LONG_AGO = Rules(timedelta(days=30), timedelta(0))

Interruption = Callable[[], Awaitable[None]]


@dataclass
class PlayedStore:
    """A cold store in memory. `before` and `after` are called around what is written, `rows` is what was committed."""

    rows: dict[UUID, dict[UUID, ColdMemory]] = field(default_factory=dict)
    before: Interruption | None = None
    after: Interruption | None = None
    away: bool = False

    @property
    def everything(self) -> list[ColdMemory]:
        return [memory for batch in self.rows.values() for memory in batch.values()]

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def check(self) -> None:
        if self.away:
            raise Unavailable("the cold store is away")

    async def append(self, batch: Batch, rows: Sequence[ColdMemory], *, recorded: bool = True) -> Written:
        if self.before is not None:
            await self.before()
        await self.check()
        self.rows[batch.id] = {memory.id: memory for memory in rows}
        if self.after is not None:
            await self.after()
        return Written(1, 1000)

    async def checksums(self, batch: Batch) -> Mapping[UUID, bytes]:
        await self.check()
        return {one: checksum(memory) for one, memory in self.rows.get(batch.id, {}).items()}

    async def remove(self, batch: Batch, ids: Sequence[UUID]) -> int:
        await self.check()
        for one in ids:
            del self.rows[batch.id][one]
        return len(ids)


@pytest.fixture
async def hot(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    """The hot tier as ingest and recall have it."""
    database = Database(postgres.runtime_url)
    await database.open()
    async with database.unscoped() as connection:
        await connection.execute("INSERT INTO database_settings VALUES ('embedding.model', 'test-model')")
    yield database
    await database.close()


@pytest.fixture
async def sleeping(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    """The hot tier as sleep has it."""
    database = Database(postgres.sleep_url)
    await database.open()
    yield database
    await database.close()


async def remember(connection: Connection, content: str = "the old deploy key", **fields: Any) -> NewMemory:
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
    document = indexed_text.document(memory, memory.valid_at)
    await memory_index.index(connection, memory.id, document, VECTOR, "test-model")
    return memory


async def said_again(connection: Connection, memory: UUID) -> None:
    again = occurrences.Occurrence(uuid7(), memory, "chat", "c/9", "s9", 4, "Bob", OLD, "said before")
    await occurrences.record(connection, again)


class Readers:
    """Nobody has cached anything."""

    async def bump(self, org: str, namespace: str) -> None: ...


def demote(store: PlayedStore, rules: Rules = AT_ONCE) -> Demote:
    return Demote(store, Announcements(lambda: None, Readers()), rules)  # type: ignore[arg-type]


def working(database: Database, namespace: str = "work", **fields: Any) -> PlayedWork:
    return PlayedWork(database, "local", namespace, NOW, **fields)


async def is_hot(hot: Database, memory: UUID, principal: Principal = ME) -> bool:
    async with hot.transaction(principal) as connection:
        return await memories.get(connection, memory) is not None


SIDE_TABLES = (
    *("memory_occurrences", "memory_access", "memory_entities", "entity_relations", "index_backlog"),
    *("memory_terms", "past_terms", "memory_vectors", "past_vectors", "memory_sources"),
)


async def left_over(postgres: PostgresDatabase) -> dict[str, int]:
    """Rows about memories that are not there."""
    owner = await asyncpg.connect(postgres.migration_url)
    try:
        return {
            table: count
            for table in SIDE_TABLES
            if (
                count := await owner.fetchval(
                    f"SELECT count(*) FROM {table} t WHERE NOT EXISTS (SELECT FROM memories m WHERE m.id = t.memory)"
                )
            )
        }
    finally:
        await owner.close()


async def test_everything_that_is_known_of_a_memory_goes_with_it(
    hot: Database, sleeping: Database, postgres: PostgresDatabase
) -> None:
    async with hot.transaction(ME) as connection:
        source = await remember(connection, "said long ago", network=Network.EXPERIENCE)
        memory = await remember(
            connection,
            "Ada owns Atlas, القديم",
            visibility=Visibility.PRIVATE,
            source_ref="c/1",
            session="s1",
            turn=3,
            speaker="Ada",
            assertions=(Assertion(subject="Ada", attribute="owns", value="Atlas"),),
            metadata={"b": "2", "a": "ä"},
            decision_reason="new",
        )
        named = [entities.Named(name.lower(), name, "thing", "mention") for name in ("Zoe", "Ada", "Atlas")]
        await entities.link(connection, memory.id, "work", [*named, entities.Named("ada", "Ada", "thing", "speaker")])
        await entity_relations.put(connection, memory.id, "work", [entity_relations.Related("ada", "owns", "atlas")])
        await said_again(connection, memory.id)
        await access.record(connection, {memory.id: 5}, OLD)
        await documents.derived(connection, memory.id, [source.id])
        await memories.invalidate(connection, source.id, OLD + timedelta(days=1), memory.id)
        words = indexed_text.document(memory, OLD)
        stored = await memories.get(connection, memory.id)
    store = PlayedStore()
    work = working(sleeping)
    await demote(store).run(work)

    assert work.counts == {"demoted": 2}
    cold = {one.id: one for one in store.everything}
    went = cold[memory.id]
    assert stored is not None
    assert (went.org, went.namespace, went.owner, went.visibility) == ("local", "work", "me", "private")
    assert (went.content, went.valid_at, went.created_at) == (memory.content, OLD, stored.created_at)
    assert (went.source_ref, went.session, went.turn, went.speaker) == ("c/1", "s1", 3, "Ada")
    assert (went.access_count, went.last_accessed_at) == (5, OLD)
    assert went.entities == (
        ColdEntity("ada", "Ada", "thing", "mention"),
        ColdEntity("atlas", "Atlas", "thing", "mention"),
        ColdEntity("zoe", "Zoe", "thing", "mention"),
        ColdEntity("ada", "Ada", "thing", "speaker"),
    )
    assert went.relations == (ColdRelation("ada", "owns", "atlas"),)
    assert [(one.source_ref, one.session, one.turn, one.speaker) for one in went.occurrences] == [
        ("c/9", "s9", 4, "Bob")
    ]
    assert went.sources == (source.id,)
    assert '"owns"' in went.assertions
    assert '"ä"' in went.metadata
    assert went.embedding_model == "test-model"
    assert went.embedding is not None
    assert np.frombuffer(went.embedding, "<f2")[:3].tolist() == pytest.approx([0.6, 0.8, 0.0], abs=1e-3)
    impacts = {term % lexical_index.DIMENSIONS: impact for term, impact in words.impacts.items()}
    assert np.frombuffer(went.terms, "<i4").tolist() == sorted(impacts)
    assert np.frombuffer(went.impacts, "<f4").tolist() == pytest.approx([impacts[term] for term in sorted(impacts)])
    assert (went.folded, went.script) == (words.content, words.script)
    past = cold[source.id]
    assert (past.invalid_at, past.superseded_by) == (OLD + timedelta(days=1), memory.id)
    assert past.terms
    assert past.embedding

    assert not await is_hot(hot, memory.id)
    assert await left_over(postgres) == {}
    async with hot.transaction(ME) as connection:
        known = await memory_index.statistics(connection, ["work"], words.impacts)
    assert (known.memories, [one for one in known.segments if one.df]) == (0, []), "what is gone is not counted"
    async with sleeping.transaction(ME) as connection:
        [batch] = await cold_batches.done(connection)
        counts = await cold_batches.counts(connection)
        assert await cold_batches.not_done(connection) == frozenset()
        told = await connection.fetch("SELECT op, memory_id, metadata FROM memory_events")
    assert BatchProof(batch.rows, batch.checksum) == BatchProof.of(map(checksum, store.everything))
    assert [(one.namespace, one.rows, one.size_bytes, one.unfinished) for one in counts] == [("work", 2, 1000, 0)]
    assert [(row["op"], row["memory_id"]) for row in told] == [(MemoryOp.DEMOTE, None)]


async def test_what_may_still_be_asked_for_stays(hot: Database, sleeping: Database) -> None:
    async with hot.transaction(ME) as connection:
        kept = [
            await remember(connection, "a fact", network=Network.FACT),
            await remember(connection, "knowledge", memory_type=MemoryType.SEMANTIC),
            await remember(connection, "what matters", importance=0.95, valid_at=NOW - timedelta(days=400)),
            used := await remember(connection, "what is used"),
            waiting := await remember(connection, "what waits for its vector"),
            ends := await remember(connection, "what will end"),
            await remember(connection, "of somebody else", namespace="other"),
        ]
        ender = await remember(connection, "what will end it")
        kept.append(ender)
        await access.record(connection, {used.id: 3}, NOW)
        await memory_index.index(connection, waiting.id, indexed_text.document(waiting, OLD), None, None)
        await endings.announce(connection, ends.id, ender.id, NOW + timedelta(days=900))
        kind = documents.Kind("me", Visibility.TEAM, "file", Network.EXPERIENCE, MemoryType.EPISODIC)
        await documents.create(connection, document := uuid7(), "work", "a.md", kind, {}, OLD)
        chunk = await remember(connection, "a chunk", document=document)
        await memories.invalidate(connection, chunk.id, OLD)
        kept.append(chunk)
        gone = [await remember(connection, "noise"), await remember(connection, "a false fact", network=Network.FACT)]
        await memories.invalidate(connection, gone[1].id, OLD)
    store = PlayedStore()
    await demote(store).run(working(sleeping))
    assert {one.id for one in store.everything} == {one.id for one in gone}
    assert all([await is_hot(hot, one.id) for one in kept])
    again = working(sleeping)
    await demote(store).run(again)
    assert again.counts == {"demoted": 0}


async def test_a_dry_run_counts_and_changes_nothing(hot: Database, sleeping: Database) -> None:
    async with hot.transaction(ME) as connection:
        for number in range(3):
            await remember(connection, f"noise {number}")
    store = PlayedStore(away=True)
    work = working(sleeping, dry_run=True)
    await demote(store).run(work)
    assert work.counts == {"demoted": 3}
    async with sleeping.transaction(ME) as connection:
        assert await connection.fetchval("SELECT count(*) FROM cold_batches") == 0


async def _recalled(connection: Connection, memory: UUID) -> None:
    await access.record(connection, {memory: 1}, NOW)


async def _superseded(connection: Connection, memory: UUID) -> None:
    new = await remember(connection, "the new deploy key", importance=1.0, valid_at=NOW)
    assert await memories.invalidate(connection, memory, NOW, new.id)


async def _reindexed(connection: Connection, memory: UUID) -> None:
    await _index(connection, memory, VECTOR[::-1])


async def _queued(connection: Connection, memory: UUID) -> None:
    await _index(connection, memory, None)


async def _index(connection: Connection, memory: UUID, vector: list[float] | None) -> None:
    stored = await memories.get(connection, memory)
    assert stored is not None
    document = indexed_text.document(stored, stored.valid_at)
    await memory_index.index(connection, memory, document, vector, None if vector is None else "test-model")


async def _linked(connection: Connection, memory: UUID) -> None:
    await entities.link(connection, memory, "linked", [entities.Named("ada", "Ada", "thing", "mention")])


async def _announced(connection: Connection, memory: UUID) -> None:
    new = await remember(connection, "from next year on", importance=1.0, valid_at=NOW)
    await endings.announce(connection, memory, new.id, NOW + timedelta(days=300))


async def _derived(connection: Connection, memory: UUID) -> None:
    source = await remember(connection, "a source", importance=1.0, valid_at=NOW)
    await documents.derived(connection, memory, [source.id])


Change = Callable[[Connection, UUID], Awaitable[None]]


async def _contradicted(connection: Connection, memory: UUID) -> None:
    found = contradictions.Contradiction(uuid7(), "contradicted", memory, "it is not", None, NOW)
    assert await contradictions.record(connection, found)


CHANGES: list[Change] = [
    *(_recalled, said_again, _superseded, _reindexed, _queued, _linked, _announced, _derived, _contradicted)
]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_what_changes_while_it_is_written_stays_hot_as_it_is_now(
    hot: Database, sleeping: Database, postgres: PostgresDatabase, when: str
) -> None:
    for change in CHANGES:
        changing, other = await _two(hot, change.__name__.strip("_"))

        store = PlayedStore()

        async def interrupt(store: PlayedStore = store, change: Change = change, changing: UUID = changing) -> None:
            store.before = store.after = None
            async with hot.transaction(ME) as connection:
                await change(connection, changing)

        setattr(store, when, interrupt)
        await demote(store, ENDED_LONG_AGO).run(working(sleeping, change.__name__.strip("_")))
        assert [one.id for one in store.everything] == [other], change
        assert await is_hot(hot, changing), change
        assert not await is_hot(hot, other), change
    assert await left_over(postgres) == {}


async def test_nobody_waits_for_a_batch_and_who_is_at_a_memory_keeps_it(
    hot: Database, sleeping: Database, postgres: PostgresDatabase
) -> None:
    """A transaction that has changed a memory and goes on: demotion neither waits for it nor takes the memory away."""
    for change in CHANGES:
        changing, other = await _two(hot, change.__name__.strip("_"))
        store = PlayedStore()
        async with hot.transaction(ME) as connection, asyncio.timeout(20):
            await change(connection, changing)
            await demote(store, ENDED_LONG_AGO).run(working(sleeping, change.__name__.strip("_")))
            assert [one.id for one in store.everything] == [other], change
        assert await is_hot(hot, changing), change
    assert await left_over(postgres) == {}


async def _two(hot: Database, namespace: str) -> tuple[UUID, UUID]:
    """A memory that somebody is about to change, and one that nobody asks for."""
    async with hot.transaction(ME) as connection:
        changing = await remember(connection, namespace=namespace)
        await access.record(connection, {changing.id: 1}, OLD)
        return changing.id, (await remember(connection, "nobody asks for this", namespace=namespace)).id


async def test_a_run_that_dies_in_any_transaction_is_finished_by_the_next_one(
    hot: Database, sleeping: Database, postgres: PostgresDatabase
) -> None:
    died = 0
    for dies_in in range(1, 20):
        async with hot.transaction(ME) as connection:
            ids = {(await remember(connection, f"noise {number}", namespace=f"n{dies_in}")).id for number in range(3)}
        store = PlayedStore()
        work = working(sleeping, f"n{dies_in}", dies_in=dies_in)
        try:
            await demote(store).run(work)
        except Killed:
            died += 1
        async with sleeping.transaction(ME) as connection:
            hidden = await cold_batches.not_done(connection)
        cold = {one for batch, rows in store.rows.items() if batch not in hidden for one in rows}
        there = {one for one in ids if await is_hot(hot, one)}
        assert not cold & there, dies_in
        assert cold | there == ids, dies_in

        await demote(store).run(working(sleeping, f"n{dies_in}", cursor=work.cursor))
        assert sorted(one.id for one in store.everything) == sorted(ids), dies_in
        assert not any([await is_hot(hot, one) for one in ids]), dies_in
        if died < dies_in:
            break
    assert died >= 6
    assert await left_over(postgres) == {}


async def test_a_batch_of_which_the_store_got_nothing_is_dropped(hot: Database, sleeping: Database) -> None:
    async with hot.transaction(ME) as connection:
        memory = await remember(connection)
    store = PlayedStore()

    async def goes() -> None:
        store.away = True

    store.before = goes
    with pytest.raises(Unavailable):
        await demote(store).run(working(sleeping))
    assert await is_hot(hot, memory.id)
    with pytest.raises(Unavailable):
        await demote(store).run(working(sleeping))
    async with sleeping.transaction(ME) as connection:
        assert len(await cold_batches.not_done(connection)) == 1, "a store that is away is given no second batch"
    store.away, store.before = False, None
    await demote(store).run(working(sleeping))
    assert [one.id for one in store.everything] == [memory.id]
    async with sleeping.transaction(ME) as connection:
        states = await connection.fetch("SELECT state FROM cold_batches ORDER BY id")
    assert [row["state"] for row in states] == ["dropped", "done"]


async def test_what_comes_after_its_batch_was_dropped_is_taken_out(hot: Database, sleeping: Database) -> None:
    async with hot.transaction(ME) as connection:
        memory = await remember(connection)
    store = PlayedStore()
    late: dict[UUID, dict[UUID, ColdMemory]] = {}

    async def hangs() -> None:
        late.update(store.rows)
        store.rows.clear()
        raise Unavailable("the cold store did not answer in time")

    store.after = hangs
    with pytest.raises(Unavailable):
        await demote(store).run(working(sleeping))
    await demote(PlayedStore(), Rules(retention=0.0)).run(working(sleeping))
    store.rows.update(late)
    store.after = None
    await demote(store).run(working(sleeping))
    assert [one.id for one in store.everything] == [memory.id]
    assert not await is_hot(hot, memory.id)


async def test_a_commit_that_is_in_flight_is_waited_for_and_none_follows(hot: Database, sleeping: Database) -> None:
    """A writer that lost its lock is at its commit, while the next worker takes over."""
    async with sleeping.transaction(ME) as connection:
        await cold_batches.begin(connection, batch := uuid7(), "work", 1, OLD, OLD)
    async with sleeping.transaction(ME) as writer:
        assert await writer.fetchval("SELECT hold_cold_batch('local', $1)", batch)
        taking_over = asyncio.create_task(demote(PlayedStore()).run(working(sleeping)))
        done, _ = await asyncio.wait([taking_over], timeout=0.3)
        assert not done
    await taking_over
    async with sleeping.transaction(ME) as writer:
        assert not await writer.fetchval("SELECT hold_cold_batch('local', $1)", batch)
        assert not await writer.fetchval("SELECT hold_cold_batch('theirs', $1)", batch)


async def test_an_org_reaches_its_own_memories_only_and_readers_none(hot: Database, sleeping: Database) -> None:
    async with hot.transaction(ME) as connection:
        memory = await remember(connection)
    async with sleeping.transaction(ME) as connection:
        await cold_batches.begin(connection, batch := uuid7(), "work", 1, OLD, OLD)
        await cold_batches.close(connection, batch, None)
        await cold_batches.begin(connection, other := uuid7(), "other", 1, OLD, OLD)
        await cold_batches.close(connection, other, None)
        assert await demotion.hold(connection, "other", [memory.id]) == []
    async with sleeping.transaction(Principal(org="theirs", subject="me")) as connection:
        assert await demotion.hold(connection, "work", [memory.id]) == []
        assert (await demotion.whole(connection, [memory.id])).memories == []
        assert await connection.fetch(demotion.INDEXED, [memory.id]) == []
        assert await cold_batches.unsettled(connection, "work", timedelta(days=1)) == ()
        assert await cold_batches.not_done(connection) == frozenset()
        assert await cold_batches.counts(connection) == ()
    for principal, known in ((Principal(org="theirs", subject="me"), batch), (ME, other), (ME, uuid7())):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with sleeping.transaction(principal) as connection:
                await demotion.remove(connection, known, [memory.id])
    for statement in (
        "SELECT * FROM cold_batches",
        "SELECT * FROM done_cold_batches()",
        f"SELECT * FROM index_of_memories('{{{memory.id}}}')",
        f"SELECT remove_demoted('{batch}', '{{{memory.id}}}')",
        f"SELECT hold_memories('work', '{{{memory.id}}}')",
        f"SELECT hold_cold_batch('local', '{batch}')",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with hot.transaction(ME) as connection:
                await connection.execute(statement)
    assert await is_hot(hot, memory.id)


async def test_a_fact_keeps_its_sources_when_they_go_cold_and_ends_with_those_that_are_hot(
    hot: Database, sleeping: Database
) -> None:
    async with hot.transaction(ME) as connection:
        goes = await remember(connection, "noise")
        stays = await remember(connection, "what matters", importance=1.0, valid_at=NOW)
        fact = await remember(connection, "what both say", network=Network.FACT, memory_type=MemoryType.SEMANTIC)
        await documents.derived(connection, fact.id, [goes.id, stays.id])
    await demote(PlayedStore()).run(working(sleeping))
    async with hot.transaction(ME) as connection:
        kept = await connection.fetch("SELECT source FROM memory_sources WHERE memory = $1 ORDER BY source", fact.id)
        assert [row["source"] for row in kept] == [goes.id, stays.id]
        await memories.invalidate(connection, stays.id, NOW)
        ended = await documents.invalidate_derived(connection, [stays.id], NOW)
    assert ended == ((fact.id, "work"),)

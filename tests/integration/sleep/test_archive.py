"""The archive on a real PostgreSQL and a real cold store: who may find what, and how, in process and as a service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import numpy as np
import pytest

from cortex_contracts.errors import ErrorCode, InvalidMessage, Permanent, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.archive import GET_ARCHIVED, RECALL_ARCHIVE, ArchiveReply, ArchiveRequest
from cortex_contracts.rpc.engine import EngineAskRequest, EngineHealthRequest, EngineStatus
from cortex_contracts.rpc.ingest import Access
from cortex_contracts.rpc.recall import GetRequest, RecallFilter
from cortex_providers.cold_memory import ColdMemory
from cortex_providers.cold_search import ColdLook
from cortex_providers.cold_store import Batch, ColdStoreConfig
from cortex_providers.embedder import EmbedderConfig, TextKind, open_embedder
from cortex_ranking.calibration import Backgrounds
from cortex_ranking.fusion import Recipe
from cortex_ranking.query_vector import NoVectors, QueryVector
from cortex_runtime.bus import Bus
from cortex_sleep.archive.archive import Archive
from cortex_sleep.archive.engine import ArchiveEngine
from cortex_sleep.archive.turns import Turns
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_store import cold_batches, grants
from cortex_store.database import Database
from cortex_store.grants import Grant
from cortex_testkit.archived import MODEL, archived, vector_of
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.process import RunningService, service_process

OWNER = Principal(org="local", subject="owner")
RECIPE = Recipe(cosine_floor=0.3, cosine_span=0.6)


class Meaning:
    """The vector of a question, as `archived` makes those of memories."""

    async def of(self, query: str) -> QueryVector:
        return QueryVector(vector_of(query), MODEL)


@pytest.fixture
def config(postgres: PostgresDatabase, tmp_path: Path) -> ColdStoreConfig:
    return ColdStoreConfig(warehouse=str(tmp_path / "cold"), database=postgres.sleep_url)


@pytest.fixture
async def store(config: ColdStoreConfig) -> AsyncIterator[IcebergColdStore]:
    opened = IcebergColdStore(config)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def archive(store: IcebergColdStore, sleep_database: Database) -> Archive:
    return Archive(store, sleep_database, Meaning(), RECIPE, Backgrounds())


async def put(store: IcebergColdStore, postgres: PostgresDatabase, memories: Sequence[ColdMemory]) -> UUID:
    """Memories in the cold tier, whose namespaces the hot one knows."""
    batch = Batch(uuid4(), memories[0].org, memories[0].namespace)
    await store.append(batch, memories, recorded=False)
    connection = await asyncpg.connect(postgres.migration_url)
    await connection.execute(
        "INSERT INTO namespaces (org, namespace, has_global) VALUES ($1, $2, $3) "
        "ON CONFLICT (org, namespace) DO UPDATE SET has_global = namespaces.has_global OR excluded.has_global",
        batch.org,
        batch.namespace,
        any(one.visibility == "global" for one in memories),
    )
    await connection.close()
    return batch.id


async def found(archive: Archive, query: str, principal: Principal = OWNER, **asked: object) -> set[UUID]:
    reply = await archive.recall(ArchiveRequest(principal=principal, query=query, **asked))  # type: ignore[arg-type]
    return {one.memory.memory_id for one in reply.memories}


async def test_a_memory_is_found_by_its_words_with_its_provenance(
    archive: Archive, store: IcebergColdStore, postgres: PostgresDatabase
) -> None:
    at = datetime(2021, 5, 6, tzinfo=UTC)
    wanted = archived(2, "The harbour crane was repaired by Layla Haddad", at=at, speaker="Omar")
    others = [archived(number, f"Something else entirely, number {number}", at=at) for number in range(10, 60)]
    await put(store, postgres, [wanted, *others])
    reply = await archive.recall(ArchiveRequest(principal=OWNER, query="who repaired the harbour crane?", explain=True))
    best = reply.memories[0]
    assert best.memory.memory_id == wanted.id
    assert best.memory.content == wanted.content
    assert (best.memory.speaker, best.memory.valid_at, best.memory.owner) == ("Omar", at, "agent-1")
    assert best.occurrences[0].reason == wanted.occurrences[0].reason
    assert "Layla Haddad" in best.entities
    assert best.sources == wanted.sources
    assert best.access_count == wanted.access_count
    assert best.explanation is not None
    assert best.explanation.lexical_rank == 1
    assert sum(best.explanation.contributions.values()) > reply.floor
    assert (reply.rows, reply.files, reply.files_read, reply.complete) == (51, 1, 1, True)


async def test_nothing_relevant_is_an_answer(
    archive: Archive, store: IcebergColdStore, postgres: PostgresDatabase
) -> None:
    await put(store, postgres, [archived(number, f"Something else, number {number}") for number in range(20)])
    reply = await archive.recall(ArchiveRequest(principal=OWNER, query="quantum chromodynamics lattice"))
    assert reply.memories == ()
    assert reply.dropped.below_floor == 20


async def test_namespaces_grants_and_visibility_are_those_of_the_hot_tier(
    archive: Archive, store: IcebergColdStore, postgres: PostgresDatabase
) -> None:
    team = archived(1, "the crane of the team")
    mine = archived(2, "the crane of agent-1", visibility="private", owner="agent-1")
    await put(store, postgres, [team, mine])
    elsewhere = archived(3, "the crane elsewhere", namespace="other")
    everybody = archived(4, "the crane for everybody", namespace="other", visibility="global")
    await put(store, postgres, [elsewhere, everybody])
    foreign = archived(5, "the crane of another org", org="acme")
    await put(store, postgres, [foreign])

    agent = Principal(org="local", subject="agent-1", readable=("work",), writable=("work",))
    assert await found(archive, "crane") == {team.id, elsewhere.id, everybody.id}
    assert await found(archive, "crane", agent) == {team.id, mine.id, everybody.id}
    assert await found(archive, "crane", agent, namespaces=("other",)) == {everybody.id}
    assert await found(archive, "crane", agent, namespaces=("nowhere",)) == set()
    stranger = Principal(org="acme", subject="agent-1")
    assert await found(archive, "crane", stranger) == {foreign.id}
    nobody = Principal(org="local", subject="spy", readable=(), writable=())
    assert await found(archive, "crane", nobody) == {everybody.id}

    database = Database(postgres.runtime_url)
    await database.open()
    async with database.transaction(OWNER) as connection:
        await grants.put(connection, Grant("other", "agent-1", Access.READ))
    await database.close()
    assert await found(archive, "crane", agent) == {team.id, mine.id, everybody.id, elsewhere.id}

    assert (await archive.get(GetRequest(principal=agent, memory_id=mine.id))).memory.content == mine.content
    for principal, memory in ((OWNER, mine), (stranger, team), (nobody, team), (agent, foreign)):
        with pytest.raises(Permanent) as refused:
            await archive.get(GetRequest(principal=principal, memory_id=memory.id))
        assert refused.value.code is ErrorCode.NOT_FOUND


async def test_a_batch_that_is_still_being_written_is_hot(
    archive: Archive, store: IcebergColdStore, postgres: PostgresDatabase, sleep_database: Database
) -> None:
    memory = archived(1, "the crane moves")
    batch = await put(store, postgres, [memory])
    async with sleep_database.transaction(OWNER) as connection:
        await cold_batches.begin(connection, batch, "work", 1, memory.valid_at, memory.valid_at)
    assert await found(archive, "crane") == set()
    async with sleep_database.transaction(OWNER) as connection:
        await cold_batches.close(connection, batch, 100)
    assert await found(archive, "crane") == set()
    async with sleep_database.transaction(OWNER) as connection:
        await cold_batches.finish(connection, batch, bytes(32))
    assert await found(archive, "crane") == {memory.id}


async def test_a_question_is_narrowed_by_time_also_by_its_own_words(
    archive: Archive, store: IcebergColdStore, postgres: PostgresDatabase
) -> None:
    march, may = (archived(n, "the crane stopped", at=datetime(2022, n, 9, tzinfo=UTC)) for n in (3, 5))
    await put(store, postgres, [march, may])
    since, until = datetime(2022, 3, 1, tzinfo=UTC), datetime(2022, 4, 1, tzinfo=UTC)
    reply = await archive.recall(
        ArchiveRequest(principal=OWNER, query="crane", filter=RecallFilter(since=since, until=until))
    )
    assert [one.memory.memory_id for one in reply.memories] == [march.id]
    assert (reply.files, reply.files_read) == (2, 1)
    asked = ArchiveRequest(principal=OWNER, query="which crane stopped in May 2022?", time_filter=True)
    reply = await archive.recall(asked)
    assert [one.memory.memory_id for one in reply.memories] == [may.id]
    assert reply.time is not None
    with pytest.raises(InvalidMessage, match="time zone"):
        await archive.recall(ArchiveRequest(principal=OWNER, query="crane", timezone="Mars/Olympus"))


async def test_a_reply_keeps_its_budget_and_may_be_brief(
    archive: Archive, store: IcebergColdStore, postgres: PostgresDatabase
) -> None:
    await put(store, postgres, [archived(n, f"the crane number {n} " + "lifts stones " * 60) for n in range(9)])
    reply = await archive.recall(ArchiveRequest(principal=OWNER, query="crane stones", budget_tokens=500))
    assert 0 < len(reply.memories) < 9
    assert reply.tokens <= 500
    assert reply.dropped.over_budget == 9 - len(reply.memories)
    brief = await archive.recall(ArchiveRequest(principal=OWNER, query="crane stones", brief=True, k=2))
    assert len(brief.memories) == 2
    assert brief.dropped.beyond_k == 7
    assert all("\n" not in one.memory.content and len(one.memory.content) < 300 for one in brief.memories)


async def test_without_an_embedder_it_goes_by_words_and_says_so(
    store: IcebergColdStore, sleep_database: Database, postgres: PostgresDatabase
) -> None:
    memory = archived(1, "the crane moves")
    await put(store, postgres, [memory, archived(2, "old crane", model="an-earlier-model")])
    by_words = Archive(store, sleep_database, NoVectors(MODEL), RECIPE, Backgrounds())
    reply = await by_words.recall(ArchiveRequest(principal=OWNER, query="the crane moves"))
    assert reply.memories[0].memory.memory_id == memory.id
    assert reply.degraded == ("vectors",)
    both = await Archive(store, sleep_database, Meaning(), RECIPE, Backgrounds()).recall(
        ArchiveRequest(principal=OWNER, query="crane")
    )
    assert both.degraded == ("vectors of 1 memories",)


class Held:
    """A cold store whose looks wait until they are let go."""

    def __init__(self, store: IcebergColdStore) -> None:
        self._store = store
        self.waiting = asyncio.Event()
        self.go = asyncio.Event()

    async def look(self) -> ColdLook:
        self.waiting.set()
        await self.go.wait()
        return await self._store.look()


async def test_one_search_at_a_time_and_few_that_wait(
    store: IcebergColdStore, sleep_database: Database, postgres: PostgresDatabase
) -> None:
    await put(store, postgres, [archived(1, "the crane moves")])
    held = Held(store)
    archive = Archive(held, sleep_database, Meaning(), RECIPE, Backgrounds(), Turns(most_waiting=1))
    request = ArchiveRequest(principal=OWNER, query="crane")
    first = asyncio.create_task(archive.recall(request))
    await held.waiting.wait()
    with pytest.raises(Unavailable) as late:
        await archive.recall(request.model_copy(update={"limit_s": 0.1}))
    assert late.value.code is ErrorCode.DEADLINE_EXCEEDED
    second = asyncio.create_task(archive.recall(request))
    await asyncio.sleep(0)
    for _ in range(100):  # until the second one has come to wait
        with pytest.raises(Unavailable) as refused:
            await archive.recall(request.model_copy(update={"limit_s": 0.1}))
        if "too many" in refused.value.message:
            break
    else:
        pytest.fail("any number may wait")
    held.go.set()
    replies: list[ArchiveReply] = [await first, await second]
    assert [len(one.memories) for one in replies] == [1, 1]


async def test_the_engine_answers_in_its_time_and_tells_what_ended(
    archive: Archive, store: IcebergColdStore, postgres: PostgresDatabase, sleep_database: Database
) -> None:
    true = archived(1, "the crane stands in the harbour")
    ended = archived(2, "the crane stands in the yard", invalid_at=datetime(2024, 3, 20, tzinfo=UTC))
    await put(store, postgres, [true, ended])
    asked = ArchiveEngine(archive, sleep_database)
    reply = await asked.ask(EngineAskRequest(principal=OWNER, query="where does the crane stand?"))
    assert reply.status is EngineStatus.UP
    assert {hit.path: hit.source_class.value for hit in reply.hits} == {
        f"memory:{true.id}": "agent-memory",
        f"memory:{ended.id}": "older-note",
    }
    health = await asked.health(EngineHealthRequest(principal=OWNER))
    assert (health.status, health.last_ingest) == (EngineStatus.UP, None)


@pytest.fixture
async def sleep(
    nats: NatsServer,
    postgres: PostgresDatabase,
    embedder: EmbedderConfig,
    config: ColdStoreConfig,
    sleep_settings: dict[str, str],
    tmp_path: Path,
) -> AsyncIterator[RunningService]:
    process = service_process(
        "sleep",
        CORTEX_SLEEP_DATABASE_URL=postgres.sleep_url,
        **{
            **sleep_settings,
            "CORTEX_COLD_STORE_WAREHOUSE": config.warehouse,
            "CORTEX_EMBEDDINGS_URL": embedder.url,
            "CORTEX_EMBEDDINGS_MODEL": embedder.model,
            "CORTEX_EMBEDDINGS_API_KEY": embedder.api_key,
        },
    )
    with RunningService(process, tmp_path) as running:
        await running.wait_ready()
        yield running


async def test_the_service_finds_old_events_by_words_and_by_meaning_in_arabic_and_english(
    sleep: RunningService,
    store: IcebergColdStore,
    nats: NatsServer,
    postgres: PostgresDatabase,
    embedder: EmbedderConfig,
) -> None:
    said = (
        "We moved the weekly review to Thursday because the client is away on Wednesdays.",
        "The backup of the billing database failed again; Omar restarted it by hand at night.",
        "نقلنا مستودع الأدوية إلى الطابق الثاني بعد تسرب المياه.",
        "اشترت سلمى سيارة كهربائية صغيرة لتذهب بها إلى العمل.",
        "The new coffee machine in the kitchen makes terrible espresso.",
        "وقعت الشركة عقدًا مع مورد جديد للورق.",
    )
    driver = open_embedder("openai", embedder)
    await driver.open()
    vectors = await driver.embed(list(said), TextKind.PASSAGE)
    await driver.close()
    memories = [
        replace(
            archived(number, text, at=datetime(2019, 2, 3, tzinfo=UTC)),
            embedding=np.asarray(vector, dtype="<f2").tobytes(),
            embedding_model=embedder.model,
        )
        for number, (text, vector) in enumerate(zip(said, vectors, strict=True), start=1)
    ]
    await put(store, postgres, memories)
    gateway = Bus(nats.url("gateway"), "gateway", "0.1.0")
    await gateway.open()
    for query, best in (
        ("backup of the billing database", 1),
        ("trouble with the nightly database copy", 1),
        ("مستودع الأدوية", 2),
        ("أين تحفظ العقاقير بعد البلل؟", 2),
        ("Salma's electric car", 3),
        ("ماكينة القهوة السيئة", 4),
    ):
        reply = await gateway.request(RECALL_ARCHIVE, ArchiveRequest(principal=OWNER, query=query, min_score=0.0))
        assert reply.degraded == (), query
        assert reply.memories, query
        assert reply.memories[0].memory.content == said[best], query
    known = await gateway.request(GET_ARCHIVED, GetRequest(principal=OWNER, memory_id=memories[0].id))
    assert (known.memory.content, known.archived) == (said[0], True)
    asked = await gateway.request(
        engine.ask(engine.ARCHIVE), EngineAskRequest(principal=OWNER, query="مستودع الأدوية", deadline_ms=20_000)
    )
    assert asked.hits[0].path == f"memory:{memories[2].id}"
    with pytest.raises(Permanent):
        await gateway.request(GET_ARCHIVED, GetRequest(principal=OWNER, memory_id=uuid4()))
    await gateway.close()

"""What sleep made of memories, as recall answers with it: beside the memories, never in their place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryType, Network
from cortex_contracts.rpc.recall import GetRequest, RecallFilter, RecallReply, RecallRequest
from cortex_providers.reranker import NoReranker, RerankerConfig
from cortex_ranking.fusion import Recipe
from cortex_ranking.query_vector import QueryVector
from cortex_recall.access_log import AccessLog
from cortex_recall.hot_tier import HotTier
from cortex_recall.provenance import Provenance
from cortex_recall.recall import MEMORIES_PER_FACT, Recall
from cortex_recall.result_cache import ResultCache
from cortex_store import consolidation, documents, entities, indexed_text, memories, memory_index
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.postgres_server import PostgresDatabase

NOW = datetime.now(UTC)
ME = Principal(org="mine", subject="me")


class NoVector:
    async def of(self, _: str) -> QueryVector:
        return QueryVector(None, None)


class NothingKept:
    async def get_many(self, keys: list[str]) -> list[bytes | None]:
        return [None for _ in keys]

    async def put_many(self, values: dict[str, bytes], ttl_s: int) -> None: ...

    async def read(self, _: str, __: tuple[str, ...] | None) -> str | None:
        return None


@pytest.fixture
async def database(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    database = Database(postgres.runtime_url)
    await database.open()
    yield database
    await database.close()


async def keep(database: Database, content: str, made_of: tuple[UUID, ...] = ()) -> UUID:
    """A memory, or what sleep made of some."""
    memory = NewMemory(
        id=uuid7(),
        namespace="work",
        content=content,
        source_kind=consolidation.SOURCE_KIND if made_of else "chat",
        network=Network.FACT if made_of else Network.EXPERIENCE,
        memory_type=MemoryType.SEMANTIC if made_of else MemoryType.EPISODIC,
        importance=0.5,
        valid_at=NOW - timedelta(days=1),
    )
    async with database.transaction(ME) as connection:
        await memories.insert(connection, memory)
        await memory_index.index(connection, memory.id, indexed_text.document(memory, memory.valid_at), None, None)
        await documents.derived(connection, memory.id, made_of)
    return memory.id


async def ask(database: Database, **asked: object) -> RecallReply:
    cache = ResultCache(NothingKept(), NothingKept(), 60)
    recall = Recall(
        HotTier(database), NoVector(), cache, AccessLog(database, lambda: None), NoReranker(RerankerConfig()), Recipe()
    )
    question = {"query": "sourdough bread", "min_score": 0.0} | asked
    return await recall.recall(RecallRequest.model_validate({"principal": ME.model_dump(), **question}))


async def test_facts_come_beside_the_memories(database: Database) -> None:
    said = [await keep(database, f"sourdough bread number {number}") for number in range(6)]
    fact = await keep(database, "Mara (2025-03-02): “sourdough bread”", tuple(said[:2]))
    before = {one.memory_id for one in (await ask(database, k=6, facts=False)).memories}
    reply = await ask(database, k=6)
    assert {one.memory_id for one in reply.memories} == before == set(said)
    assert [one.memory_id for one in reply.facts] == [fact]
    assert (reply.facts[0].network, reply.facts[0].source_kind) == (Network.FACT, "sleep")
    assert reply.dropped.beyond_k == 0


async def test_there_are_k_memories_however_many_facts_there_are(database: Database) -> None:
    said = [await keep(database, f"sourdough bread number {number}") for number in range(30)]
    for _ in range(25):
        await keep(database, "sourdough bread", tuple(said[:2]))
    reply = await ask(database, k=20)
    assert len(reply.memories) == 20
    assert all(one.source_kind == "chat" for one in reply.memories)
    assert len(reply.facts) == -(-20 // MEMORIES_PER_FACT)


async def test_facts_have_what_the_memories_leave_of_the_budget(database: Database) -> None:
    said = [await keep(database, f"sourdough bread number {number}") for number in range(4)]
    await keep(database, "sourdough bread " * 40, tuple(said[:2]))
    reply = await ask(database, k=4, budget_tokens=40)
    assert len(reply.memories) == 4
    assert reply.facts == ()
    assert reply.tokens <= 40


@pytest.mark.parametrize(
    "narrowed", [{"networks": ("fact",)}, {"types": ("semantic",)}, {"sources": ("sleep",)}], ids=str
)
async def test_who_asks_for_facts_gets_them_as_memories(database: Database, narrowed: dict[str, object]) -> None:
    said = [await keep(database, f"sourdough bread number {number}") for number in range(2)]
    fact = await keep(database, "sourdough bread", tuple(said))
    reply = await ask(database, filter=RecallFilter.model_validate(narrowed).model_dump())
    assert [one.memory_id for one in reply.memories] == [fact]
    assert reply.facts == ()


async def test_get_names_what_a_fact_was_made_of_and_what_was_made_of_a_memory(database: Database) -> None:
    said = tuple([await keep(database, f"sourdough bread number {number}") for number in range(2)])
    fact = await keep(database, "sourdough bread", said)
    provenance = Provenance(database, ResultCache(NothingKept(), NothingKept(), 60))
    reply = await provenance.get(GetRequest(principal=ME, memory_id=fact))
    assert (set(reply.sources), reply.facts) == (set(said), ())
    reply = await provenance.get(GetRequest(principal=ME, memory_id=said[0]))
    assert (reply.sources, reply.facts) == ((), (fact,))


async def test_get_tells_what_is_known_about_the_entities_of_a_memory(
    database: Database, postgres: PostgresDatabase
) -> None:
    said = await keep(database, "I met Ines and Omar at the harbour.")
    async with database.transaction(ME) as connection:
        named = [entities.Named(name.lower(), name, "person_or_thing", "mention") for name in ("Ines", "Omar")]
        await entities.link(connection, said, "work", named)
    sleep = Database(postgres.sleep_url)
    await sleep.open()
    async with sleep.transaction(ME) as connection:
        ines = await connection.fetchval("SELECT id FROM entities WHERE key = 'ines'")
        await consolidation.summarise(connection, ines, "Mara (2025-03-02): “I met Ines.”", "state", (said,))
    await sleep.close()
    provenance = Provenance(database, ResultCache(NothingKept(), NothingKept(), 60))
    reply = await provenance.get(GetRequest(principal=ME, memory_id=said))
    assert reply.summaries == {"Ines": "Mara (2025-03-02): “I met Ines.”"}

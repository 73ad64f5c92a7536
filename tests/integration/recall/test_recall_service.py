"""The recall service as a process: memories and pages over the bus, with and without its helpers."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cortex_contracts.errors import Permanent, Unavailable
from cortex_contracts.messages.base import Assertion, Principal
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.recall import RECALL, RecallRequest
from cortex_infra.servers.process import ServerProcess
from cortex_providers.embedder import EmbedderConfig, TextKind, open_embedder
from cortex_runtime.bus import Bus
from cortex_store import indexed_text, memories, memory_index, pages
from cortex_store.database import Database
from cortex_store.embedding import check_embedding
from cortex_store.ids import uuid7
from cortex_testkit.cache_server import CacheServer
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.process import RunningService, service_process

LOCAL = Principal(org="local", subject="tester")
STRANGER = Principal(org="stranger", subject="tester")
NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
async def hot_tier(postgres: PostgresDatabase, embedder: EmbedderConfig) -> AsyncIterator[Database]:
    """Two memories and one page of the org `local`."""
    model, database = open_embedder("openai", embedder), Database(postgres.runtime_url)
    await database.open()
    texts = ["The billing service was stopped by Mina.", "نجتمع كل يوم أحد في الإسكندرية", "Inês owns the Billing API."]
    vectors = await model.embed(texts, TextKind.PASSAGE)
    async with database.unscoped() as connection:
        await check_embedding(connection, embedder.dimension, embedder.model)
    async with database.transaction(LOCAL) as connection:
        for content, vector in zip(texts[:2], vectors[:2], strict=True):
            memory = memories.NewMemory(
                id=uuid7(),
                namespace="demo",
                content=content,
                source_kind="live_infra" if "billing" in content else "chat",
                importance=0.5,
                valid_at=NOW,
                assertions=(Assertion(subject="Billing API", attribute="status", value="stopped"),),
            )
            await memories.insert(connection, memory)
            document = indexed_text.document(memory, NOW)
            await memory_index.index(connection, memory.id, document, vector, embedder.model)
        await pages.upsert(
            connection,
            pages.NewPage(
                vault="notes",
                slug="billing-api",
                path="billing-api.md",
                title="Billing API",
                type="note",
                body=texts[2],
                content_hash=b"1",
                frontmatter={"status": "active", "updated": "2026-09-14"},
                chunks=(pages.NewChunk(texts[2], (), vectors[2]),),
            ),
        )
    yield database
    await database.close()
    await model.close()


def recall_process(
    nats: NatsServer, postgres: PostgresDatabase, cache_url: str, embedder: EmbedderConfig, **more: str
) -> ServerProcess:
    return service_process(
        "recall",
        CORTEX_NATS_URL=nats.url("recall"),
        CORTEX_DATABASE_URL=postgres.runtime_url,
        CORTEX_CACHE_URL=cache_url,
        CORTEX_EMBEDDINGS_URL=embedder.url,
        CORTEX_EMBEDDINGS_MODEL=embedder.model,
        CORTEX_EMBEDDINGS_API_KEY=embedder.api_key,
        **more,
    )


@pytest.fixture
async def gateway(nats: NatsServer) -> AsyncIterator[Bus]:
    bus = Bus(nats.url("gateway"), "gateway", "0.1.0")
    await bus.open()
    yield bus
    await bus.close()


@pytest.fixture
async def recall(
    hot_tier: Database,
    nats: NatsServer,
    postgres: PostgresDatabase,
    cache: CacheServer,
    embedder: EmbedderConfig,
    tmp_path: Path,
) -> AsyncIterator[RunningService]:
    with RunningService(recall_process(nats, postgres, cache.url, embedder), tmp_path) as running:
        await running.wait_ready()
        yield running


async def test_a_memory_is_recalled_by_words_and_by_meaning_in_both_languages(recall: RunningService, gateway: Bus):
    for query, expected in (
        ("who stopped the billing service", "Mina"),
        ("متى نجتمع", "الإسكندرية"),
        ("when do we meet in Alexandria", "الإسكندرية"),
    ):
        reply = await gateway.request(RECALL, RecallRequest(principal=LOCAL, query=query))
        assert expected in reply.memories[0].content, query
        assert reply.degraded == ()
    # The second time the vector comes from the cache; the answer is the same.
    again = await gateway.request(RECALL, RecallRequest(principal=LOCAL, query="متى نجتمع"))
    assert "الإسكندرية" in again.memories[0].content


async def test_recall_is_limited_to_what_was_asked_for_and_to_the_org(recall: RunningService, gateway: Bus):
    one = await gateway.request(RECALL, RecallRequest(principal=LOCAL, query="billing", k=1))
    assert len(one.memories) == 1
    elsewhere = await gateway.request(RECALL, RecallRequest(principal=LOCAL, query="billing", namespaces=("other",)))
    assert elsewhere.memories == ()
    stranger = await gateway.request(RECALL, RecallRequest(principal=STRANGER, query="billing"))
    assert stranger.memories == ()


async def test_the_built_in_engines_answer_with_hits_that_can_disagree(recall: RunningService, gateway: Bus):
    request = engine.EngineAskRequest(principal=LOCAL, query="What is the status of the Billing API?")
    memory = await gateway.request(engine.ask(engine.MEMORY), request)
    [page] = (await gateway.request(engine.ask(engine.PAGES), request)).hits
    live = next(hit for hit in memory.hits if hit.source_class is engine.SourceClass.LIVE_INFRA)
    assert live.path.startswith("memory:")
    assert uuid.UUID(live.path.removeprefix("memory:"))
    assert live.assertions == (Assertion(subject="Billing API", attribute="status", value="stopped"),)
    assert page.path == "page:notes/billing-api"
    assert page.last_seen == datetime(2026, 9, 14, tzinfo=UTC)
    assert Assertion(subject="Billing API", attribute="status", value="active") in page.assertions
    assert (
        await gateway.request(engine.ask(engine.PAGES), request.model_copy(update={"principal": STRANGER}))
    ).hits == ()


async def test_the_engines_tell_how_fresh_they_are(recall: RunningService, gateway: Bus):
    health = await gateway.request(engine.health(engine.MEMORY), engine.EngineHealthRequest(principal=LOCAL))
    assert health.status is engine.EngineStatus.UP
    assert health.last_ingest is not None
    pages_health = await gateway.request(engine.health(engine.PAGES), engine.EngineHealthRequest(principal=STRANGER))
    assert (pages_health.status, pages_health.last_ingest) == (engine.EngineStatus.UP, None)


@pytest.mark.parametrize("query", ["", "   ", "a\x00b", "x" * 4001])
async def test_a_question_that_cannot_be_asked_is_refused_with_its_reason(
    recall: RunningService, gateway: Bus, query: str
):
    request = RecallRequest.model_construct(principal=LOCAL, query=query, namespaces=None, k=10)
    with pytest.raises(Permanent, match="query"):
        await gateway.request(RECALL, request)


@pytest.mark.parametrize("query", ["' OR 1=1 --", "a & b | !c <-> (", "\\", "%_", "🙂", "x " * 1999])
async def test_any_question_is_text_and_never_syntax(recall: RunningService, gateway: Bus, query: str):
    await gateway.request(RECALL, RecallRequest(principal=LOCAL, query=query))


async def test_without_embedder_and_cache_it_answers_by_words_and_says_so(
    hot_tier: Database,
    nats: NatsServer,
    postgres: PostgresDatabase,
    embedder: EmbedderConfig,
    gateway: Bus,
    tmp_path: Path,
):
    away = EmbedderConfig("http://127.0.0.1:9", embedder.model, embedder.dimension, "none")
    process = recall_process(nats, postgres, "redis://127.0.0.1:9/0", away)
    with RunningService(process, tmp_path) as running:
        await running.wait_ready()
        reply = await gateway.request(RECALL, RecallRequest(principal=LOCAL, query="who stopped the billing service"))
        assert "Mina" in reply.memories[0].content
        assert reply.degraded == ("vectors",)
        request = engine.EngineAskRequest(principal=LOCAL, query="billing")
        assert (await gateway.request(engine.ask(engine.MEMORY), request)).error == "answered without vectors"


async def test_a_database_of_another_model_is_refused_with_the_way_out(
    hot_tier: Database,
    nats: NatsServer,
    postgres: PostgresDatabase,
    cache: CacheServer,
    embedder: EmbedderConfig,
    tmp_path: Path,
):
    from cortex_infra.errors import ServerDied
    from cortex_store.embedding import check_embedding

    async with hot_tier.unscoped() as connection:
        await check_embedding(connection, embedder.dimension, embedder.model)
    other = EmbedderConfig(embedder.url, "another-model", embedder.dimension, embedder.api_key)
    with RunningService(recall_process(nats, postgres, cache.url, other), tmp_path) as running:
        with pytest.raises(ServerDied, match="cortex reindex"):
            await running.wait_ready()


async def test_questions_given_up_at_any_moment_leave_the_service_whole(
    recall: RunningService, gateway: Bus, tmp_path: Path
):
    async def give_up(key: str, number: int) -> bool:
        request = engine.EngineAskRequest(principal=LOCAL, query=f"billing {number}")
        try:
            await gateway.request(engine.ask(key), request, timeout_s=0.001 + number / 1000)
        except Unavailable:
            return True
        return False

    for key in engine.BUILT_IN_ENGINES:
        given_up = await asyncio.gather(*(give_up(key, number) for number in range(60)))
        assert sum(given_up) > 10
        # More than the connections that the service has: none of them is lost.
        requests = [
            engine.EngineAskRequest(principal=LOCAL, query=f"billing again {number}", deadline_ms=30_000)
            for number in range(20)
        ]
        replies = await asyncio.gather(*(gateway.request(engine.ask(key), one, timeout_s=30) for one in requests))
        assert {(reply.status, len(reply.hits) > 0) for reply in replies} == {(engine.EngineStatus.UP, True)}
    log = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.log"))
    assert "unexpected failure" not in log

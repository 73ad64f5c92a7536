"""Pages over the bus, from the recall service as a process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from cortex_contracts.errors import Permanent
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.pages import (
    BRAIN_STATUS,
    GRAPH,
    PAGE,
    QUERY_PAGES,
    SNIPPET_CHARS,
    TIMELINE,
    BrainStatusRequest,
    GraphEdge,
    GraphRequest,
    PageRequest,
    PageSearch,
    PageType,
    QueryPagesReply,
    QueryPagesRequest,
    TimelineRequest,
)
from cortex_providers.embedder import EmbedderConfig, TextKind, open_embedder
from cortex_runtime.bus import Bus
from cortex_store import indexed_text, pages, vaults
from cortex_store.database import Database
from cortex_store.embedding import check_embedding
from cortex_store.pages import NewChunk, NewPage
from cortex_testkit.cache_server import CacheServer
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.process import RunningService, service_process

LOCAL = Principal(org="local", subject="tester")
NARROW = Principal(org="local", subject="narrow", readable=("team",))
STRANGER = Principal(org="stranger", subject="tester")
CREATED = datetime(2026, 3, 1, tzinfo=UTC)

HISTORY = (
    "The research group began as a reading circle. " * 8
    + "Ingrid Solberg founded Harbour Research in 2019 together with Omar Haddad. "
    + "Since then it has grown to twelve people who work on tides and harbours. " * 6
)
PAGES: Sequence[dict[str, Any]] = (
    {"slug": "harbour-research", "title": "Harbour Research", "type": "company", "texts": (HISTORY,), "tags": ("Lab",)},
    {
        "slug": "ingrid-solberg",
        "title": "Ingrid Solberg",
        "type": "person",
        "texts": ("Co-founder of [[Harbour Research]]. She studies tides.", "She likes sardines."),
        "links": ("Harbour Research", "Nobody Yet"),
        "tags": ("leadership",),
        "frontmatter": {"effective_date": "2026-05-04", "sources": ["mail"], "status": "active"},
    },
    {
        "slug": "sardine-soup",
        "title": "Sardine soup",
        "texts": ("Boil potatoes and fennel, then add the sardines and lemon.",),
        "links": ("ingrid-solberg",),
        "frontmatter": {"date": "2026-06-01"},
    },
    {"slug": "مشروع-النيل", "title": "مشروع النيل", "texts": ("يقود مشروع النيل فريق صغير في القاهرة.",)},
    {"slug": "secret", "title": "Secret sardines", "texts": ("The sardines are counted at night.",), "vault": "board"},
    {"slug": "endless", "title": "Endless", "texts": ("endless",), "body": "حرف🙂\n" * 120_000},
)


@pytest.fixture
async def hot_tier(postgres: PostgresDatabase, embedder: EmbedderConfig) -> AsyncIterator[Database]:
    """The pages above, in the vaults `team` and `board` of the org `local`."""
    model, database = open_embedder("openai", embedder), Database(postgres.runtime_url)
    await database.open()
    async with database.unscoped() as connection:
        await check_embedding(connection, embedder.dimension, embedder.model)
    async with database.transaction("local") as connection:
        for given in PAGES:
            fields = {"vault": "team", "type": "note", "body": "\n\n".join(given["texts"]), **given}
            texts = [indexed_text.passage(given["title"], (), text) for text in fields.pop("texts")]
            vectors = await model.embed(texts, TextKind.PASSAGE)
            chunks = tuple(NewChunk(text, (), vector) for text, vector in zip(given["texts"], vectors, strict=True))
            page = NewPage(path=None, content_hash=b"", chunks=chunks, created=CREATED, model=embedder.model, **fields)
            await pages.upsert(connection, page)
        await vaults.record_sync(connection, "team", vaults.SyncResult.OK, synced_commit="c", pages_changed=5)
        await vaults.record_sync(connection, "board", vaults.SyncResult.FAILED, synced_commit=None, pages_changed=0)
    yield database
    await database.close()
    await model.close()


@pytest.fixture
async def gateway(nats: NatsServer) -> AsyncIterator[Bus]:
    bus = Bus(nats.url("gateway"), "gateway", "0.1.0")
    await bus.open()
    yield bus
    await bus.close()


@asynccontextmanager
async def served(
    nats: NatsServer, postgres: PostgresDatabase, cache_url: str, embedder: EmbedderConfig, folder: Path
) -> AsyncIterator[None]:
    process = service_process(
        "recall",
        CORTEX_NATS_URL=nats.url("recall"),
        CORTEX_DATABASE_URL=postgres.runtime_url,
        CORTEX_CACHE_URL=cache_url,
        CORTEX_EMBEDDINGS_URL=embedder.url,
        CORTEX_EMBEDDINGS_MODEL=embedder.model,
        CORTEX_EMBEDDINGS_API_KEY=embedder.api_key,
        CORTEX_VAULTS='[{"name": "team", "repository": "/nowhere"}]',
    )
    with RunningService(process, folder) as running:
        await running.wait_ready()
        yield


@pytest.fixture
async def recall(
    hot_tier: Database,
    nats: NatsServer,
    postgres: PostgresDatabase,
    cache: CacheServer,
    embedder: EmbedderConfig,
    tmp_path: Path,
) -> AsyncIterator[None]:
    async with served(nats, postgres, cache.url, embedder, tmp_path):
        yield


async def query(bus: Bus, text: str, principal: Principal = LOCAL, **more: Any) -> QueryPagesReply:
    reply = await bus.request(QUERY_PAGES, QueryPagesRequest(principal=principal, query=text, **more))
    scores = [result.score for result in reply.results]
    assert scores == sorted(scores, reverse=True)
    assert not scores or scores[0] == 1.0
    slugs = [(result.vault, result.slug) for result in reply.results]
    assert len(set(slugs)) == len(slugs)
    return reply


def slugs(reply: QueryPagesReply) -> list[str]:
    return [result.slug for result in reply.results]


async def test_a_question_finds_pages_with_snippets_and_highlights(recall: None, gateway: Bus) -> None:
    reply = await query(gateway, "Who founded Harbour Research?")
    assert set(slugs(reply)[:2]) == {"harbour-research", "ingrid-solberg"}
    best = next(result for result in reply.results if result.slug == "harbour-research")
    assert (best.vault, best.title, best.type) == ("team", "Harbour Research", PageType.COMPANY)
    assert "Ingrid Solberg founded Harbour Research in 2019" in best.snippet
    assert len(best.snippet) <= SNIPPET_CHARS
    assert best.highlights[0] == "founded Harbour Research"
    assert all(highlight in HISTORY for highlight in best.highlights)
    assert reply.degraded is None
    assert {"embed", "search", "rank", "passages", "snippets"} <= reply.stages.keys()
    assert reply.took_ms == pytest.approx(sum(reply.stages.values()), abs=0.1)
    # By meaning, and across languages.
    assert slugs(await query(gateway, "من يقود المشروع في القاهرة؟"))[0] == "مشروع-النيل"
    assert slugs(await query(gateway, "recipe with fish and potatoes"))[0] == "sardine-soup"


async def test_the_page_that_is_called_so_is_the_first(recall: None, gateway: Bus) -> None:
    for text, slug in (("harbour research", "harbour-research"), ("INGRID SOLBERG", "ingrid-solberg")):
        assert slugs(await query(gateway, text))[0] == slug


async def test_nothing_relevant_is_an_empty_answer(recall: None, gateway: Bus) -> None:
    for search in PageSearch:
        for text in ("xqzzt vbnkl", "?!", "🙂"):
            assert (await query(gateway, text, search=search)).results == (), text
    await query(gateway, "sardines " * 200)


async def test_filters_narrow_unless_no_page_has_them(recall: None, gateway: Bus) -> None:
    every = set(slugs(await query(gateway, "sardines", search=PageSearch.LEXICAL)))
    assert every == {"sardine-soup", "ingrid-solberg", "secret"}
    for more, expected in (
        ({"types": ("Person",)}, {"ingrid-solberg"}),
        ({"tags": ("LEADERSHIP",)}, {"ingrid-solberg"}),
        ({"types": ("bogus",), "tags": ("unheard",)}, every),
        ({"types": ("company",)}, set()),
        ({"vault": "board"}, {"secret"}),
        ({"vault": "unknown"}, set()),
    ):
        assert set(slugs(await query(gateway, "sardines", search=PageSearch.LEXICAL, **more))) == expected, more
    assert len((await query(gateway, "sardines", limit=1)).results) == 1


async def test_one_sees_the_vaults_one_may_read_in_every_answer(recall: None, gateway: Bus) -> None:
    assert "secret" not in slugs(await query(gateway, "sardines counted at night", NARROW))
    assert slugs(await query(gateway, "sardines", STRANGER)) == []
    ask = engine.EngineAskRequest(principal=NARROW, query="where are the sardines counted at night?")
    assert not [hit for hit in (await gateway.request(engine.ask(engine.PAGES), ask)).hits if "secret" in hit.path]
    mine = ask.model_copy(update={"principal": LOCAL})
    assert "page:board/secret" in [hit.path for hit in (await gateway.request(engine.ask(engine.PAGES), mine)).hits]
    for principal, there in ((LOCAL, True), (NARROW, False), (STRANGER, False)):
        page = await gateway.request(PAGE, PageRequest(principal=principal, slug="secret"))
        assert (page.page is not None) == there
        assert (await gateway.request(GRAPH, GraphRequest(principal=principal, slug="secret"))).found == there
    status = await gateway.request(BRAIN_STATUS, BrainStatusRequest(principal=NARROW))
    assert (status.vaults, status.degraded) == ({"team": 5}, ())


async def test_a_page_comes_as_it_is_stored(recall: None, gateway: Bus) -> None:
    reply = await gateway.request(PAGE, PageRequest(principal=LOCAL, slug="ingrid-solberg"))
    assert not reply.truncated
    page = reply.page
    assert page is not None
    assert page.body_markdown == "Co-founder of [[Harbour Research]]. She studies tides.\n\nShe likes sardines."
    assert set(page.links_out) == {"harbour-research", "Nobody Yet"}
    assert (page.effective_date, page.sources, page.metadata) == (date(2026, 5, 4), ("mail",), {"status": "active"})
    assert (page.created, page.path, page.tags) == (CREATED, None, ("leadership",))
    assert (await gateway.request(PAGE, PageRequest(principal=LOCAL, slug="nope"))).page is None


async def test_a_page_that_fits_no_message_comes_cut(recall: None, gateway: Bus) -> None:
    reply = await gateway.request(PAGE, PageRequest(principal=LOCAL, slug="endless"))
    assert reply.truncated
    assert reply.page is not None
    assert len(reply.page.body_markdown.encode()) > 700_000
    assert PAGES[-1]["body"].startswith(reply.page.body_markdown)


async def test_the_graph_and_the_timeline(recall: None, gateway: Bus) -> None:
    graph = await gateway.request(GRAPH, GraphRequest(principal=LOCAL, slug="sardine-soup", depth=2))
    assert [(node.slug, node.distance) for node in graph.nodes] == [
        ("sardine-soup", 0),
        ("ingrid-solberg", 1),
        ("harbour-research", 2),
    ]
    assert GraphEdge(source="ingrid-solberg", target="harbour-research") in graph.edges
    assert not (await gateway.request(GRAPH, GraphRequest(principal=LOCAL, slug="nope"))).found
    request = TimelineRequest(principal=LOCAL, start=date(2026, 5, 1), types=("note", "person", "bogus"))
    entries = (await gateway.request(TIMELINE, request)).entries
    assert [(one.date.isoformat(), one.slug) for one in entries] == [
        ("2026-06-01", "sardine-soup"),
        ("2026-05-04", "ingrid-solberg"),
    ]


async def test_the_status_counts_and_says_what_does_not_work(recall: None, gateway: Bus) -> None:
    status = await gateway.request(BRAIN_STATUS, BrainStatusRequest(principal=LOCAL, details=True))
    assert (status.pages, status.links, status.chunks, status.stale_chunks) == (6, 2, 7, 0)
    assert status.last_sync is not None
    assert status.degraded == ("the last sync of the vault board failed",)
    assert status.types == {"note": 4, "company": 1, "person": 1}
    assert status.tags == {"Lab": 1, "leadership": 1}
    assert status.vaults == {"board": 1, "team": 5}
    plain = await gateway.request(BRAIN_STATUS, BrainStatusRequest(principal=STRANGER))
    assert (plain.pages, plain.last_sync, plain.tags, plain.degraded) == (0, None, {}, ())


async def test_without_the_embedder_it_answers_by_words_and_says_so(
    hot_tier: Database,
    nats: NatsServer,
    postgres: PostgresDatabase,
    embedder: EmbedderConfig,
    gateway: Bus,
    tmp_path: Path,
) -> None:
    away = EmbedderConfig("http://127.0.0.1:9", embedder.model, embedder.dimension, "none")
    async with served(nats, postgres, "redis://127.0.0.1:9/0", away, tmp_path):
        reply = await query(gateway, "who founded Harbour Research")
        assert slugs(reply)[0] == "harbour-research"
        assert reply.degraded == "the embedder is away: the pages were searched by words only"
        by_words = await query(gateway, "harbour research", search=PageSearch.LEXICAL)
        assert by_words.degraded is None
        status = await gateway.request(BRAIN_STATUS, BrainStatusRequest(principal=STRANGER))
        assert status.degraded == ("the embedder is away: pages are searched by words only",)


async def test_a_question_that_cannot_be_asked_is_refused(recall: None, gateway: Bus) -> None:
    for text in ("", "a\x00b", "x" * 2001):
        request = QueryPagesRequest.model_construct(principal=LOCAL, query=text)
        with pytest.raises(Permanent, match="query"):
            await gateway.request(QUERY_PAGES, request)

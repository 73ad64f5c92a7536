"""A live store moves from one model to another: killed on the way, resumed, and exactly right at the end."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import numpy as np
import pytest
from pgvector.asyncpg import register_vector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryType, Network, Visibility
from cortex_contracts.rpc.recall import RECALL, RecallReply, RecallRequest
from cortex_infra import reindex_tables, services
from cortex_infra.bootstrap import RolePasswords, bootstrap
from cortex_infra.migrate import migrate
from cortex_infra.servers.running import RunningServer
from cortex_runtime.bus import Bus
from cortex_store import documents, indexed_text, lexical, memories, memory_index, pages, terms
from cortex_store.database import Database
from cortex_store.embedding import RecordedModel, check_embedding
from cortex_store.errors import EmbeddingMismatch, ModelChanged
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_store.page_search import PageQuestion
from cortex_store.page_search import search as search_pages
from cortex_store.pages import NewChunk, NewPage
from cortex_testkit.cache_server import CacheServer
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PASSWORD, PostgresDatabase, PostgresServer
from cortex_testkit.process import service_process
from cortex_testkit.tei_server import served
from cortex_writing.turns import previous_turn

OLD, NEW = "old-model", "new-model"
DIMENSIONS = {OLD: 384, NEW: 512}
NOW = datetime(2026, 5, 4, tzinfo=UTC)
ADA, BOB = Principal(org="mine", subject="ada"), Principal(org="yours", subject="bob")
DOCUMENT = uuid7()
PATIENCE_S = 60


def vector(model: str, text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """What a model makes of a text: (dimension,), L2-normalised."""
    seed = int.from_bytes(hashlib.sha256(f"{model}\0{text}".encode()).digest()[:8], "big")
    drawn = np.random.default_rng(seed).standard_normal(DIMENSIONS[model]).astype(np.float32)
    return drawn / np.linalg.norm(drawn)


@dataclass
class ModelServer:
    """An OpenAI-compatible server of one model; it stops at texts that `stops_at` chooses until it may go on."""

    model: str = NEW
    stops_at: Callable[[Sequence[str]], bool] = lambda _: False
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    texts: list[str] = field(default_factory=list)
    url: str = ""

    def stop_at(self, wanted: Callable[[Sequence[str]], bool]) -> None:
        self.stops_at, self.stopped, self.go_on = wanted, asyncio.Event(), asyncio.Event()

    def release(self) -> None:
        self.stops_at = lambda _: False
        self.go_on.set()

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/models", self._models),
                Route("/v1/embeddings", self._embeddings, methods=["POST"]),
            ]
        )

    async def _models(self, _: Request) -> Response:
        return JSONResponse({"data": [{"id": self.model}]})

    async def _embeddings(self, request: Request) -> Response:
        texts = (await request.json())["input"]
        if self.stops_at(texts):
            self.stopped.set()
            await self.go_on.wait()
        self.texts += texts
        rows = [{"index": i, "embedding": vector(self.model, text).tolist()} for i, text in enumerate(texts)]
        return JSONResponse({"data": rows, "model": self.model})


@pytest.fixture
async def model_server() -> AsyncIterator[ModelServer]:
    server = ModelServer()
    async with served(server.app()) as server.url:
        yield server
        server.release()


@dataclass
class Store:
    """What a test wrote, and the text that the vector of each memory stands for."""

    database: Database
    texts: dict[UUID, str] = field(default_factory=dict)
    past: set[UUID] = field(default_factory=set)

    async def retain(
        self,
        principal: Principal,
        content: str,
        *,
        embed: bool = True,
        **fields: Any,
    ) -> NewMemory:
        given: dict[str, Any] = {
            "namespace": "work",
            "source_kind": "chat",
            "importance": 0.5,
            "valid_at": NOW,
            "owner": principal.subject,
        } | fields
        new = NewMemory(id=uuid7(), content=content, **given)
        async with self.database.transaction(principal) as connection:
            # As ingest reads it: a reindexing must read the same.
            text = indexed_text.meaning(new, await previous_turn(connection, new))
            await memories.insert(connection, new)
            await memory_index.index(
                connection, new.id, indexed_text.document(new, NOW), vector(OLD, text) if embed else None, OLD
            )
        self.texts[new.id] = text
        return new

    async def forget(self, principal: Principal, memory: UUID) -> None:
        async with self.database.transaction(principal) as connection:
            assert await memories.invalidate(connection, memory, NOW + timedelta(days=1))
        self.past.add(memory)

    async def restore(self, principal: Principal, memory: UUID) -> None:
        async with self.database.transaction(principal) as connection:
            assert await memories.restore(connection, memory)
        self.past.remove(memory)

    async def write_page(self, org: str, slug: str, *texts: str, model: str = OLD) -> None:
        chunks = tuple(
            NewChunk(text, ("Notes", "Part"), vector(model, indexed_text.passage("Notes", ("Notes", "Part"), text)))
            for text in texts
        )
        page = NewPage("vault", slug, f"{slug}.md", "Notes", "note", "", b"hash", chunks, model=model)
        async with self.database.transaction(org) as connection:
            await pages.upsert(connection, page)

    async def search(
        self, principal: Principal, text: str, embedding: Any, model: str
    ) -> dict[UUID, memory_index.Candidate]:
        async with self.database.transaction(principal) as connection:
            hashes = [lexical.term_hash(term) for term in terms.content_terms(text)]
            known = await memory_index.statistics(connection, None, hashes)
            plan = lexical.plan(hashes, known.segments, known.memories, 5_000)
            query = memory_index.Query(plan.idfs, plan.steps, embedding, model, 40)
            return {one.id: one for one in await memory_index.search(connection, query)}


@pytest.fixture
async def store(postgres: PostgresDatabase) -> AsyncIterator[Store]:
    database = Database(postgres.runtime_url)
    await database.open()
    async with database.unscoped() as connection:
        await check_embedding(connection, DIMENSIONS[OLD], OLD)
    yield Store(database)
    await database.close()


async def fill(store: Store) -> list[NewMemory]:
    """Two orgs, sessions, private memories, past ones, some that wait for their vector, and pages; Ada's memories."""
    kept: list[NewMemory] = []
    for session in range(10):
        for turn in range(8):
            kept.append(
                await store.retain(
                    ADA, f"turn {turn} of talk {session}", session=f"s{session}", turn=turn, speaker="Ada"
                )
            )
    for number in range(60):
        visibility = Visibility.PRIVATE if number % 3 == 0 else Visibility.TEAM
        kept.append(
            await store.retain(ADA, f"fact number{number} is known", visibility=visibility, embed=number % 10 > 0)
        )
    for turn, visibility in enumerate((*Visibility, *reversed(Visibility), Visibility.TEAM, Visibility.TEAM)):
        for saying in ("first", "second"):
            await store.retain(
                ADA, f"{saying} of turn {turn}, {visibility}", visibility=visibility, session="readers", turn=turn
            )
    for turn in range(3):
        under = {"metadata": {indexed_text.HEADINGS: "Notes"}, "document": DOCUMENT}
        await store.retain(ADA, f"chunk {turn} of a document", session="document", turn=turn, **under)
    for number in range(60):
        await store.retain(BOB, f"their fact number{number}", namespace="home")
    for memory in kept[100:120]:
        await store.forget(ADA, memory.id)
    for number in range(30):
        for org in ("mine", "yours"):
            await store.write_page(org, f"page{number}", f"passage {number} of {org}", f"second passage {number}")
    return kept


class Run:
    """One `python -m cortex_infra reindex`, a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[dict[str, Any]] = []

    async def line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        read = await self.process.stdout.readline()
        if not read:
            assert self.process.stderr is not None
            pytest.fail((await self.process.stderr.read()).decode())
        self.lines.append(json.loads(read))
        return self.lines[-1]

    async def until(self, phase: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while (await self.line()).get("phase") != phase:
                pass

    async def outcome(self) -> str:
        async with asyncio.timeout(PATIENCE_S):
            while "outcome" not in (line := await self.line()):
                pass
            assert await self.process.wait() == 0
        return str(line["outcome"])

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def running(
    postgres: PostgresDatabase, server: ModelServer, *options: str, **settings: str
) -> AsyncIterator[Run]:
    environment = os.environ | {
        "CORTEX_MIGRATION_DATABASE_URL": postgres.migration_url,
        "CORTEX_EMBEDDINGS_URL": server.url,
        "CORTEX_EMBEDDINGS_MODEL": NEW,
        "CORTEX_EMBEDDINGS_DIMENSION": "512",
        **settings,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cortex_infra", "reindex", "--json", *options),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield Run(process)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


@asynccontextmanager
async def recalls(store: Store, wanted: NewMemory) -> AsyncIterator[list[float | None]]:
    """Ask for a memory all the time; yields the cosines it came with."""
    cosines: list[float | None] = []
    embedding = vector(OLD, store.texts[wanted.id])

    async def ask() -> None:
        while True:
            found = await store.search(ADA, wanted.content, embedding, OLD)
            cosines.append(found[wanted.id].cosine)
            async with store.database.transaction("mine") as connection:
                await search_pages(connection, PageQuestion("passage", embedding, OLD))

    asking = asyncio.create_task(ask())
    try:
        yield cosines
        assert not asking.done(), asking.result()
    finally:
        asking.cancel()
        await asyncio.wait({asking})


async def owner(postgres: PostgresDatabase) -> asyncpg.Connection:
    connection = await asyncpg.connect(postgres.migration_url)
    await register_vector(connection)
    return connection


async def embedded(postgres: PostgresDatabase) -> set[UUID]:
    """Memories that have a vector of the next model."""
    connection = await owner(postgres)
    try:
        return {row["memory"] for row in await connection.fetch("SELECT memory FROM reindex.memory_vectors")}
    finally:
        await connection.close()


def close(stored: Any, expected: np.ndarray[Any, np.dtype[np.float32]]) -> bool:
    return bool(np.allclose(stored.to_numpy(), expected, atol=1e-3))  # 16-bit floats


async def assert_complete(postgres: PostgresDatabase, store: Store, left: frozenset[UUID] = frozenset()) -> None:
    """Every memory and every chunk has the new model's vector of its text."""
    connection = await owner(postgres)
    try:
        live = {row["memory"]: row["embedding"] for row in await connection.fetch("SELECT * FROM memory_vectors")}
        past = {row["memory"]: row["embedding"] for row in await connection.fetch("SELECT * FROM past_vectors")}
        assert live.keys() == store.texts.keys() - store.past - left
        assert past.keys() == store.past - left
        for vectors, words in (("memory_vectors", "memory_terms"), ("past_vectors", "past_terms")):
            assert not await connection.fetch(
                f"SELECT FROM {vectors} v JOIN {words} t USING (memory) "
                "WHERE (v.private_to, v.is_global) IS DISTINCT FROM (t.private_to, t.is_global)"
            )
        for memory, stored in (live | past).items():
            assert close(stored, vector(NEW, store.texts[memory])), store.texts[memory]
        waiting = {row["memory"] for row in await connection.fetch("SELECT memory FROM index_backlog")}
        assert waiting == left
        chunks = await connection.fetch(
            "SELECT p.title, c.heading_path, c.text, c.embedded, v.embedding "
            "FROM chunks c JOIN pages p ON p.id = c.page LEFT JOIN chunk_vectors v ON v.chunk = c.id"
        )
        for row in chunks:
            text = indexed_text.passage(row["title"], row["heading_path"], row["text"])
            assert row["embedded"]
            assert close(row["embedding"], vector(NEW, text)), text
        settings = dict(await connection.fetch("SELECT key, value FROM database_settings"))
        assert settings == {"embedding.dimension": "512", "embedding.model": NEW}
    finally:
        await connection.close()


CATALOG = {
    "tables": """SELECT n.nspname, c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity, c.relacl::text,
        c.reloptions, pg_get_userbyid(c.relowner) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname IN ('public', 'reindex') AND c.relname !~ '^memories_[0-9]'""",
    "columns": """SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstorage,
        pg_get_expr(d.adbin, d.adrelid), a.attacl::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
        AND c.relname !~ '^memories_[0-9]'""",
    "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename !~ '^memories_[0-9]'",
    "constraints": """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text !~ '^memories_[0-9]'""",
    "policies": "SELECT * FROM pg_policies",
    "triggers": """SELECT tgrelid::regclass::text, tgname, tgfoid::regproc::text FROM pg_trigger WHERE NOT tgisinternal
        AND tgrelid::regclass::text !~ '^memories_[0-9]'""",
    "functions": "SELECT proname, proacl::text, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "schemas": "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp'",
}


async def catalog(dsn: str) -> dict[str, list[str]]:
    connection = await asyncpg.connect(dsn)
    try:
        return {name: sorted(str(tuple(row)) for row in await connection.fetch(sql)) for name, sql in CATALOG.items()}
    finally:
        await connection.close()


@pytest.mark.slow
async def test_a_store_in_use_is_moved_and_killed_thrice_on_the_way(
    postgres: PostgresDatabase, postgres_server: PostgresServer, store: Store, model_server: ModelServer
) -> None:
    kept = await fill(store)
    async with recalls(store, kept[0]) as cosines:
        # Killed while it embeds memories; what it had committed is not embedded again.
        model_server.stop_at(lambda texts: any("number20 " in text for text in texts))
        async with running(postgres, model_server) as run:
            async with asyncio.timeout(PATIENCE_S):
                await model_server.stopped.wait()
            await run.kill()
        committed = {store.texts[memory] for memory in await embedded(postgres)}
        assert 0 < len(committed) < len(store.texts)
        asked = len(model_server.texts)
        model_server.release()
        await store.retain(ADA, "learned while nobody was embedding", session="new", turn=0)
        await store.forget(ADA, kept[1].id)  # embedded already
        await store.forget(ADA, kept[130].id)  # not yet
        await store.restore(ADA, kept[101].id)
        cold = kept[2].id
        async with store.database.transaction(ADA) as connection:
            await connection.execute("UPDATE memories SET tier = 'cold' WHERE id = $1", cold)
        del store.texts[cold]
        async with store.database.transaction(ADA) as connection:
            kind = documents.Kind("ada", Visibility.PRIVATE, "file", Network.FACT, MemoryType.SEMANTIC)
            await documents.set_kind(connection, DOCUMENT, kind, {})

        # Killed while it embeds pages.
        model_server.stop_at(lambda texts: any("passage 20 of yours" in text for text in texts))
        async with running(postgres, model_server) as run:
            async with asyncio.timeout(PATIENCE_S):
                await model_server.stopped.wait()
            await store.write_page("yours", "page20", "rewritten while it was being embedded")
            await run.kill()
        model_server.release()
        assert not committed & set(model_server.texts[asked:])
        async with store.database.transaction("mine") as connection:
            assert await pages.delete(connection, "vault", "page3")
        later = await store.retain(ADA, "a later turn", session="new", turn=1)

        # Killed at the very end, when a reader keeps it from the tables; the readers behind it are let pass.
        reader = await owner(postgres)
        held = reader.transaction()
        await held.start()
        await reader.execute("SELECT FROM memory_terms LIMIT 1")
        async with running(postgres, model_server) as run:
            await run.until("swap")
            seen = len(cosines)
            await run.until("swap")
            await run.until("swap")
            assert len(cosines) > seen
            await run.kill()
        assert None not in cosines, "every recall until now compared vectors"
        await held.rollback()
        await reader.close()

        async with running(postgres, model_server) as run:
            assert await run.outcome() == f"the database holds embeddings by {NEW!r} (512 dimensions) now"
        seen = len(cosines)
        async with asyncio.timeout(PATIENCE_S):
            while len(cosines) < seen + 2:
                await store.search(ADA, "anything", None, OLD)
        assert cosines[-1] is None, "by words only, until the service is restarted"
    await assert_complete(postgres, store)

    text = store.texts[later.id]
    found = await store.search(ADA, "nothing of it", vector(NEW, text), NEW)
    assert found[later.id].cosine == pytest.approx(1.0, abs=1e-3)
    async with store.database.transaction("mine") as connection:
        text = indexed_text.passage("Notes", ("Notes", "Part"), "passage 7 of mine")
        found_pages = (await search_pages(connection, PageQuestion("", vector(NEW, text), NEW))).candidates
    assert max(found_pages, key=lambda one: one.cosine or 0).slug == "page7"

    fresh = "fresh_at_512"
    await bootstrap(postgres_server.superuser_url, RolePasswords(PASSWORD, PASSWORD, PASSWORD), fresh)
    fresh_url = postgres.migration_url.replace(postgres.name, fresh)
    await migrate(f"{fresh_url}?cortex.embedding_dimension=512")
    moved, made = await catalog(postgres.migration_url), await catalog(fresh_url)
    for name in CATALOG:
        assert moved[name] == made[name], name


async def test_services_that_still_have_the_old_model_do_no_harm(
    postgres: PostgresDatabase, store: Store, model_server: ModelServer
) -> None:
    model = RecordedModel(store.database, DIMENSIONS[OLD], OLD)
    await model.open()
    assert await model.fits()
    first = await store.retain(ADA, "the harbour opens at nine")
    await store.write_page("mine", "page", "the harbour opens at nine")
    async with running(postgres, model_server) as run:
        await run.outcome()

    with pytest.raises(ModelChanged, match="CORTEX_EMBEDDINGS_MODEL=new-model and CORTEX_EMBEDDINGS_DIMENSION=512"):
        await model.check()
    assert not await model.fits()
    with pytest.raises(EmbeddingMismatch, match="run `cortex reindex`"):
        await RecordedModel(store.database, DIMENSIONS[OLD], OLD).open()

    # A memory is written, found by its words, and waits for a vector; so does one whose vector comes late.
    second = await store.retain(ADA, "the harbour closes at five")
    found = await store.search(ADA, "harbour", vector(OLD, "harbour"), OLD)
    assert {one.id: one.cosine for one in found.values()} == {first.id: None, second.id: None}
    async with store.database.transaction(ADA) as connection:
        assert not await memory_index.add_vector(connection, second.id, vector(OLD, "late"), OLD)
        assert await memory_index.backlog(connection) != (0, None)
    # A page is found by its words; writing one is tried again later, and leaves the old one as it was.
    with pytest.raises(ModelChanged):
        await store.write_page("mine", "page", "the harbour is closed")
    async with store.database.transaction("mine") as connection:
        pages_found = (await search_pages(connection, PageQuestion("opens", vector(OLD, "harbour"), OLD))).candidates
    assert [(one.lexical > 0, one.cosine) for one in pages_found] == [(True, None)]


@pytest.mark.slow
async def test_the_recall_service_answers_all_the_time_and_says_when_it_lacks_vectors(
    postgres: PostgresDatabase,
    nats: NatsServer,
    cache: CacheServer,
    store: Store,
    model_server: ModelServer,
    folder: Path,
) -> None:
    kept = await fill(store)
    old, bus, numbers = ModelServer(OLD), Bus(nats.url("gateway"), "gateway", "0.1.0"), itertools.count()

    async def recall() -> RecallReply:
        # Never the same question twice: the answer must not come from the cache.
        question = f"{kept[50].content} {next(numbers)}"
        reply = await bus.request(RECALL, RecallRequest(principal=ADA, query=question, min_score=0.0))
        assert kept[50].id in {found.memory_id for found in reply.memories}
        return reply

    async with served(old.app()) as old.url:
        service = service_process(
            "recall",
            CORTEX_NATS_URL=nats.url("recall"),
            CORTEX_DATABASE_URL=postgres.runtime_url,
            CORTEX_CACHE_URL=cache.url,
            CORTEX_EMBEDDINGS_URL=old.url,
            CORTEX_EMBEDDINGS_MODEL=OLD,
        )
        with RunningServer(service, folder) as server:
            await server.wait_ready()
            await bus.open()
            try:
                async with running(postgres, model_server) as run:
                    moving = asyncio.create_task(run.outcome())
                    assert (await recall()).degraded == ()
                    while not moving.done():
                        await recall()
                    await moving
                reply = await eventually(recall, lambda reply: bool(reply.degraded))
                assert reply.degraded == ("vectors",)
                with pytest.raises(httpx.HTTPStatusError, match="restart with CORTEX_EMBEDDINGS_MODEL=new-model"):
                    await services.ask(service.url, "")
            finally:
                await bus.close()


async def test_what_is_not_embedded_at_the_swap_is_left_to_ingest(postgres: PostgresDatabase, store: Store) -> None:
    mine = await store.retain(ADA, "a note", visibility=Visibility.PRIVATE)
    theirs = await store.retain(BOB, "their note")
    connection = await owner(postgres)
    try:
        async with connection.transaction():
            await reindex_tables.prepare(connection, DIMENSIONS[NEW], NEW)
            await reindex_tables.enqueue_all(connection)
            assert await reindex_tables.swap(connection, DIMENSIONS[NEW], NEW) == 2
    finally:
        await connection.close()
    async with store.database.unscoped() as runtime:
        waiting = await memory_index.lease(runtime, 10, timedelta(minutes=1))
    assert {(one.memory, one.org, one.subject, one.words) for one in waiting} == {
        (mine.id, "mine", "ada", False),
        (theirs.id, "yours", None, False),
    }
    for principal, memory in ((ADA, mine.id), (BOB, theirs.id)):
        async with store.database.transaction(principal) as runtime:
            assert await memory_index.add_vector(runtime, memory, vector(NEW, store.texts[memory]), NEW)
    await assert_complete(postgres, store)


async def test_an_unfinished_move_is_finished_or_given_up(
    postgres: PostgresDatabase, store: Store, model_server: ModelServer
) -> None:
    await store.retain(ADA, "something")
    untouched = await catalog(postgres.migration_url)
    model_server.stop_at(lambda texts: texts != ["ready"])
    async with running(postgres, model_server) as run:
        async with asyncio.timeout(PATIENCE_S):
            await model_server.stopped.wait()
        await run.kill()
    model_server.release()
    with pytest.raises(pytest.fail.Exception, match=r"'new-model' \(512 dimensions\) is unfinished"):
        async with running(postgres, model_server, CORTEX_EMBEDDINGS_MODEL="third") as run:
            await run.outcome()
    settings = {"CORTEX_EMBEDDINGS_MODEL": OLD, "CORTEX_EMBEDDINGS_DIMENSION": "384"}
    async with running(postgres, model_server, "--restart", **settings) as run:
        assert (await run.outcome()).endswith("there is nothing to do")
    assert await catalog(postgres.migration_url) == untouched

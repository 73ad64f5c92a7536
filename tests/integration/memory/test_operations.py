"""Operations with real processes: whatever is stopped, killed or away in the middle, every item is done once."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import asyncpg
import httpx
import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cortex_contracts.errors import CortexError, ErrorCode, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryDraft
from cortex_contracts.rpc.ingest import (
    IMPROVE,
    RETAIN,
    RETAIN_BATCH,
    SHARE,
    Access,
    ImproveRequest,
    RetainBatchRequest,
    RetainRequest,
    ShareRequest,
)
from cortex_contracts.rpc.operations import (
    CANCEL_OPERATION,
    OPERATION,
    OPERATIONS,
    RETRY_OPERATION,
    STAGE_DOCUMENT,
    START_DOCUMENT,
    Operation,
    OperationReply,
    OperationRequest,
    OperationsRequest,
    OperationStatus,
    StagedDocument,
    StageDocumentRequest,
    StartDocumentRequest,
)
from cortex_infra import ports
from cortex_infra.servers import postgres as embedded_postgres
from cortex_infra.servers.running import RunningServer
from cortex_runtime.bus import Bus
from cortex_testkit import provider
from cortex_testkit.cache_server import CacheServer
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PASSWORD, PostgresDatabase, PostgresServer
from cortex_testkit.process import RunningService, service_process
from cortex_testkit.tei_server import served

ME: Final = Principal(org="local", subject="me")
MODEL: Final = "paced"
DIMENSION: Final = 384
SLICE: Final = 16
"""Statements that ingest embeds together."""
CHUNK_REQUESTS: Final = 64 // SLICE
"""To the embedder, for the chunks of a document that are committed together."""
ENDS: Final = (OperationStatus.SUCCEEDED, OperationStatus.FAILED, OperationStatus.CANCELLED)


@dataclass
class PacedEmbedder:
    """An OpenAI-compatible server that embeds `allowed` batches, and then none until it is let to."""

    url: str = ""
    allowed: int = 1_000_000
    down: bool = False
    waits: asyncio.Event = field(default_factory=asyncio.Event)
    _go_on: asyncio.Event = field(default_factory=asyncio.Event)

    def app(self) -> Starlette:
        return Starlette(
            routes=[Route("/v1/models", self._models), Route("/v1/embeddings", self._embed, methods=["POST"])]
        )

    def stop_after(self, batches: int) -> None:
        self.allowed, self.waits, self._go_on = batches, asyncio.Event(), asyncio.Event()

    def go_on(self) -> None:
        self.allowed = 1_000_000
        self._go_on.set()

    async def _models(self, _: Request) -> Response:
        return JSONResponse({"data": [{"id": MODEL}]})

    async def _embed(self, request: Request) -> Response:
        texts = (await request.json())["input"]
        if self.down:
            return Response(status_code=503)
        if texts != ["ready"]:
            if self.allowed <= 0:
                self.waits.set()
                await self._go_on.wait()
            self.allowed -= 1
        rows = [{"index": i, "embedding": _vector(text)} for i, text in enumerate(texts)]
        return JSONResponse({"data": rows, "model": MODEL})


def _vector(text: str) -> list[float]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    drawn: list[float] = np.random.default_rng(seed).standard_normal(DIMENSION).tolist()
    return drawn


@dataclass
class Workshop:
    """A client of the operations, and the replicas of ingest that work on them."""

    bus: Bus
    start: Callable[[], RunningService]
    postgres: PostgresDatabase
    embedder: PacedEmbedder

    async def retain(self, contents: Sequence[str], principal: Principal = ME, **options: Any) -> UUID:
        memories = tuple(MemoryDraft(namespace="work", content=content) for content in contents)
        reply = await self.bus.request(
            RETAIN_BATCH,
            RetainBatchRequest(
                **({"principal": principal, "memories": memories, "background": True, "decide": False} | options)
            ),
        )
        assert reply.items == ()
        assert reply.operation_id is not None
        return reply.operation_id

    async def get(self, operation_id: UUID, principal: Principal = ME) -> OperationReply:
        return await self.bus.request(OPERATION, OperationRequest(principal=principal, operation_id=operation_id))

    async def state(self, operation_id: UUID) -> Operation:
        return (await self.get(operation_id)).operation

    async def cancel(self, operation_id: UUID, principal: Principal = ME) -> Operation:
        return await self.bus.request(
            CANCEL_OPERATION, OperationRequest(principal=principal, operation_id=operation_id)
        )

    async def retry(self, operation_id: UUID, principal: Principal = ME) -> Operation:
        return await self.bus.request(RETRY_OPERATION, OperationRequest(principal=principal, operation_id=operation_id))

    async def listed(self, principal: Principal = ME, **narrow: Any) -> list[UUID]:
        reply = await self.bus.request(OPERATIONS, OperationsRequest(principal=principal, **narrow))
        return [one.operation_id for one in reply.operations]

    async def reaches(self, operation_id: UUID, holds: Callable[[Operation], bool]) -> Operation:
        return await eventually(lambda: self.state(operation_id), holds, within_s=60, ignoring=(Unavailable,))

    async def ends(self, operation_id: UUID) -> Operation:
        return await self.reaches(operation_id, lambda one: one.status in ENDS)

    async def rows(self, statement: str, *arguments: Any) -> list[asyncpg.Record]:
        connection = await asyncpg.connect(self.postgres.migration_url)
        try:
            return list(await connection.fetch(statement, *arguments))
        finally:
            await connection.close()

    async def counts(self) -> dict[str, int]:
        """What is there of memories and of everything that a second effect of an item would leave behind."""
        connection = await asyncpg.connect(self.postgres.sleep_url)
        try:
            await connection.execute("SELECT set_config('cortex.org', 'local', false)")
            row = await connection.fetchrow(
                "SELECT (SELECT count(*) FROM memories) AS memories, "
                "(SELECT count(DISTINCT content) FROM memories) AS contents, "
                "(SELECT count(*) FROM memory_events WHERE op = 'retain') AS events, "
                "(SELECT count(DISTINCT memory_id) FROM memory_events WHERE op = 'improve') AS improved, "
                "(SELECT count(*) FROM memory_events WHERE op = 'improve') AS improvements, "
                "(SELECT count(*) FROM memory_occurrences) AS repeats"
            )
        finally:
            await connection.close()
        assert row is not None
        return dict(row)


def once(count: int, improved: int = 0) -> dict[str, int]:
    retained = {"memories": count, "contents": count, "events": count, "repeats": 0}
    return retained | {"improved": improved, "improvements": improved}


def numbered(count: int, prefix: str = "crane") -> list[str]:
    return [f"{prefix} number {number} stands at quay {number * 7 % 31}" for number in range(count)]


@asynccontextmanager
async def opened_workshop(
    nats: NatsServer, postgres: PostgresDatabase, cache: CacheServer, folder: Path
) -> AsyncIterator[Workshop]:
    async with AsyncExitStack() as stack:
        processes = stack.enter_context(ExitStack())
        embedder = PacedEmbedder()
        embedder.url = await stack.enter_async_context(served(embedder.app()))
        stack.callback(embedder.go_on)
        number = 0

        def start() -> RunningService:
            nonlocal number
            number += 1
            home = folder / f"ingest-{number}"
            home.mkdir()
            process = service_process(
                "ingest",
                CORTEX_HOME=str(home),
                CORTEX_NATS_URL=nats.url("ingest"),
                CORTEX_DATABASE_URL=postgres.runtime_url,
                CORTEX_CACHE_URL=cache.url,
                CORTEX_EMBEDDINGS_URL=embedder.url,
                CORTEX_EMBEDDINGS_MODEL=MODEL,
            )
            return processes.enter_context(RunningService(process, home))

        bus = Bus(nats.url("gateway"), "gateway", "0.1.0")
        await bus.open()
        stack.push_async_callback(bus.close)
        yield Workshop(bus, start, postgres, embedder)


@pytest.fixture
async def workshop(
    nats: NatsServer, postgres: PostgresDatabase, cache: CacheServer, tmp_path: Path
) -> AsyncIterator[Workshop]:
    async with opened_workshop(nats, postgres, cache, tmp_path) as opened:
        yield opened


@pytest.fixture
async def ingest(workshop: Workshop) -> RunningService:
    running = workshop.start()
    await running.wait_ready()
    return running


async def refused(call: Any, code: ErrorCode) -> None:
    with pytest.raises(CortexError) as caught:
        await call
    assert caught.value.code is code


async def test_an_operation_tells_how_far_it_is_and_what_became_of_every_item(
    workshop: Workshop, ingest: RunningService
) -> None:
    workshop.embedder.stop_after(1)
    contents = [
        *numbered(20),
        "<private>all of it</private>",
        "crane with a key ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    ]
    operation_id = await workshop.retain(contents)
    await asyncio.wait_for(workshop.embedder.waits.wait(), 30)
    half = await workshop.state(operation_id)
    assert (half.status, half.kind, half.total) == ("running", "retain_batch", 22)
    assert (half.done, half.failed) == (SLICE + 1, 1), "what was refused when it came needs no model"
    workshop.embedder.go_on()
    done = await workshop.ends(operation_id)
    assert (done.status, done.done, done.failed, done.error) == ("succeeded", 22, 1, None)
    assert done.started_at is not None
    assert done.finished_at is not None
    items = (await workshop.get(operation_id)).items
    assert [one.item for one in items] == list(range(22))
    assert items[20].error is not None
    assert items[21].retained is not None
    assert items[21].retained.redactions.credentials == 1
    assert await workshop.counts() == once(21)
    kept = await workshop.rows("SELECT input, outcome, request FROM operation_items JOIN operations ON id = operation")
    assert not any("all of it" in str(row) or "ghp_" in str(row) or "crane" in str(row["input"]) for row in kept)


async def test_what_waits_is_stored_redacted(workshop: Workshop, ingest: RunningService) -> None:
    workshop.embedder.stop_after(0)
    await workshop.retain(["the quay is <private>mine alone</private> today", "<private>mine alone</private>"])
    rows = await workshop.rows("SELECT input::text FROM operation_items ORDER BY item")
    assert "[private]" in rows[0]["input"]
    assert not any("mine alone" in row["input"] for row in rows)


async def test_a_cancel_takes_effect_between_items_and_a_retry_goes_on_there(
    workshop: Workshop, ingest: RunningService
) -> None:
    workshop.embedder.stop_after(1)
    operation_id = await workshop.retain(numbered(40))
    await asyncio.wait_for(workshop.embedder.waits.wait(), 30)
    asked = await workshop.cancel(operation_id)
    assert (asked.status, asked.cancel_requested) == ("running", True)
    await refused(workshop.retry(operation_id), ErrorCode.CONFLICT)
    workshop.embedder.go_on()
    stopped = await workshop.ends(operation_id)
    assert (stopped.status, stopped.done) == ("cancelled", SLICE)
    assert await workshop.counts() == once(SLICE)
    assert (await workshop.cancel(operation_id)).status == "cancelled"
    assert (await workshop.retry(operation_id)).status == "queued"
    done = await workshop.ends(operation_id)
    assert (done.status, done.done, done.cancel_requested) == ("succeeded", 40, False)
    assert await workshop.counts() == once(40)
    await refused(workshop.retry(operation_id), ErrorCode.CONFLICT)
    await refused(workshop.cancel(operation_id), ErrorCode.CONFLICT)


async def test_what_was_never_begun_is_cancelled_at_once(workshop: Workshop, ingest: RunningService) -> None:
    workshop.embedder.stop_after(0)
    busy = [await workshop.retain(numbered(2, f"busy {number}")) for number in range(2)]
    for one in busy:
        await workshop.reaches(one, lambda state: state.status == "running")
    waiting = await workshop.retain(numbered(2))
    assert (await workshop.cancel(waiting)).status == "cancelled"
    workshop.embedder.go_on()
    for one in busy:
        assert (await workshop.ends(one)).status == "succeeded"
    assert await workshop.counts() == once(4)


async def test_failed_items_are_tried_again_and_only_they(workshop: Workshop, ingest: RunningService) -> None:
    writer = Principal(org="local", subject="agent", readable=("work",), writable=("work",))
    memories = tuple(
        MemoryDraft(namespace=name, content=f"{name} crane {i}") for i in range(3) for name in ("work", "other")
    )
    operation_id = await workshop.retain([], writer, memories=memories)

    async def state() -> Operation:
        return (await workshop.get(operation_id, writer)).operation

    done = await eventually(state, lambda one: one.status in ENDS)
    assert (done.status, done.done, done.failed) == ("succeeded", 6, 3)
    failed = [one for one in (await workshop.get(operation_id, writer)).items if one.error is not None]
    assert [(one.item, one.error.code) for one in failed if one.error] == [(i, "forbidden") for i in (1, 3, 5)]
    grant = ShareRequest(principal=ME, namespace="other", agent="agent", access=Access.WRITE)
    await workshop.bus.request(SHARE, grant)
    assert (await workshop.retry(operation_id, writer)).done == 3
    done = await eventually(state, lambda one: one.status in ENDS)
    assert (done.status, done.done, done.failed) == ("succeeded", 6, 0)
    assert await workshop.counts() == once(6)


async def test_a_killed_worker_is_followed_by_another_and_every_item_happens_once(
    workshop: Workshop, ingest: RunningService
) -> None:
    workshop.embedder.stop_after(3)
    operation_id = await workshop.retain(numbered(150))
    await workshop.embedder.waits.wait()
    await workshop.reaches(operation_id, lambda one: one.done >= 40)
    ingest.kill()
    await workshop.start().wait_ready()
    left = await workshop.state(operation_id)
    assert (left.status, left.done < 150) == ("running", True)
    workshop.embedder.go_on()
    done = await workshop.ends(operation_id)
    assert (done.status, done.done, done.failed) == ("succeeded", 150, 0)
    assert await workshop.counts() == once(150)


async def test_a_stopped_worker_hands_over_at_once(workshop: Workshop, ingest: RunningService) -> None:
    workshop.embedder.stop_after(2)
    operation_id = await workshop.retain(numbered(120))
    await workshop.embedder.waits.wait()
    await workshop.reaches(operation_id, lambda one: one.done >= 20)
    await asyncio.to_thread(ingest.stop)
    workshop.embedder.go_on()
    (row,) = await workshop.rows("SELECT status, lease, attempts, done FROM operations")
    assert (row["status"], row["lease"], row["attempts"]) == ("queued", None, 0)
    assert 20 <= row["done"] < 120
    await workshop.start().wait_ready()
    assert (await workshop.ends(operation_id)).status == "succeeded"
    assert await workshop.counts() == once(120)


async def test_two_replicas_share_the_work(workshop: Workshop, ingest: RunningService) -> None:
    await workshop.start().wait_ready()
    workshop.embedder.stop_after(0)
    ids = [await workshop.retain(numbered(10, f"lot {number}")) for number in range(5)]

    async def running() -> list[asyncpg.Record]:
        return await workshop.rows("SELECT worker FROM operations WHERE status = 'running'")

    found = await eventually(running, lambda rows: len(rows) == 4)
    assert len({row["worker"] for row in found}) == 2
    workshop.embedder.go_on()
    for one in ids:
        assert (await workshop.ends(one)).status == "succeeded"
    assert await workshop.counts() == once(50)


async def test_an_embedder_that_is_away_is_waited_for(workshop: Workshop, ingest: RunningService) -> None:
    workshop.embedder.down = True
    operation_id = await workshop.retain(numbered(20))
    waiting = await workshop.reaches(operation_id, lambda one: one.error is not None)
    assert waiting.error is not None
    assert (waiting.status, waiting.error.retryable) == ("running", True)
    workshop.embedder.down = False
    done = await workshop.ends(operation_id)
    assert (done.status, done.done, done.error) == ("succeeded", 20, None)
    assert await workshop.counts() == once(20)


async def test_nobody_else_sees_an_operation(workshop: Workshop, ingest: RunningService) -> None:
    operation_id = await workshop.retain(numbered(2))
    await workshop.ends(operation_id)
    later = await workshop.retain(["one more"])
    assert await workshop.listed() == [later, operation_id]
    assert await workshop.listed(before=later) == [operation_id]
    assert await workshop.listed(kind="improve") == []
    for stranger in (Principal(org="local", subject="you"), Principal(org="theirs", subject="me")):
        assert await workshop.listed(stranger) == []
        for call in (workshop.get, workshop.cancel, workshop.retry):
            await refused(call(operation_id, stranger), ErrorCode.NOT_FOUND)
    await refused(workshop.get(UUID(int=1)), ErrorCode.NOT_FOUND)


async def test_a_namespace_is_improved_page_by_page(workshop: Workshop, ingest: RunningService) -> None:
    await workshop.ends(await workshop.retain(numbered(30)))
    request = ImproveRequest(principal=ME, namespace="work", background=True)
    reply = await workshop.bus.request(IMPROVE, request)
    assert reply.operation_id is not None
    later = RetainRequest(principal=ME, memory=MemoryDraft(namespace="work", content="a late crane"))
    await workshop.bus.request(RETAIN, later)
    done = await workshop.ends(reply.operation_id)
    assert (done.status, done.done, done.total, done.failed) == ("succeeded", 30, 30, 0)
    items = (await workshop.get(reply.operation_id)).items
    assert len({one.memory_id for one in items}) == 30
    assert await workshop.counts() == once(31, improved=30)
    stranger = Principal(org="local", subject="agent", readable=("work",), writable=())
    await refused(
        workshop.bus.request(IMPROVE, request.model_copy(update={"principal": stranger})), ErrorCode.FORBIDDEN
    )
    for wrong in ({"namespace": "work"}, {}, {"namespace": "work", "memory_ids": (UUID(int=1),)}):
        await refused(workshop.bus.request(IMPROVE, ImproveRequest(principal=ME, **wrong)), ErrorCode.INVALID_REQUEST)


async def test_named_memories_that_are_not_there_are_told(workshop: Workshop, ingest: RunningService) -> None:
    nobody = UUID(int=7)
    reply = await workshop.bus.request(IMPROVE, ImproveRequest(principal=ME, memory_ids=(nobody,), background=True))
    assert reply.operation_id is not None
    done = await workshop.ends(reply.operation_id)
    assert (done.status, done.failed, done.error and done.error.retryable) == ("failed", 1, False)
    (item,) = (await workshop.get(reply.operation_id)).items
    assert item.error is not None
    assert item.error.code is ErrorCode.NOT_FOUND


async def test_vectors_and_too_many_operations_are_refused(workshop: Workshop, ingest: RunningService) -> None:
    vectors = ((0.0,) * DIMENSION,)
    await refused(workshop.retain(["x"], vectors=vectors, model=MODEL), ErrorCode.INVALID_REQUEST)
    await workshop.rows(
        "INSERT INTO operations (id, org, subject, kind, request) "
        "SELECT gen_random_uuid(), 'local', 'me', 'of a later version', '{}' FROM generate_series(1, 100)"
    )
    await refused(workshop.retain(["x"]), ErrorCode.RATE_LIMITED)
    await workshop.retain(["x"], Principal(org="local", subject="you"))


async def test_what_was_finished_long_ago_is_forgotten(workshop: Workshop, postgres: PostgresDatabase) -> None:
    await workshop.rows(
        "INSERT INTO operations (id, org, subject, kind, request, status, finished_at) "
        "SELECT gen_random_uuid(), 'local', 'me', 'retain_batch', '{}', 'succeeded', now() - make_interval(days => n) "
        "FROM unnest(ARRAY[1, 29, 31, 400]) AS n"
    )
    await workshop.rows(
        "INSERT INTO operation_items (operation, item, org, outcome) SELECT id, 0, org, '{}' FROM operations"
    )
    await workshop.start().wait_ready()

    async def left() -> tuple[int, int]:
        (row,) = await workshop.rows("SELECT (SELECT count(*) FROM operations), (SELECT count(*) FROM operation_items)")
        return tuple(row)

    await eventually(left, lambda count: count == (2, 2))


async def test_postgresql_restarts_in_the_middle(nats: NatsServer, cache: CacheServer, tmp_path: Path) -> None:
    with provider.folder() as directory:
        port = ports.choose()
        process = embedded_postgres.prepare(directory / "postgres", port=port, password=PASSWORD, durable=False)
        running = RunningServer(process, directory)
        try:
            await running.wait_ready()
            server = PostgresServer(embedded_postgres.url(embedded_postgres.SUPERUSER, PASSWORD, port, "postgres"))
            async with opened_workshop(nats, await server.fresh(), cache, tmp_path) as workshop:
                await workshop.start().wait_ready()
                workshop.embedder.stop_after(2)
                operation_id = await workshop.retain(numbered(120))
                await workshop.embedder.waits.wait()
                await workshop.reaches(operation_id, lambda one: one.done >= 30)
                await asyncio.to_thread(running.stop)
                running = RunningServer(process, directory)
                await running.wait_ready()
                workshop.embedder.go_on()
                done = await workshop.ends(operation_id)
                assert (done.status, done.done, done.failed) == ("succeeded", 120, 0)
                assert await workshop.counts() == once(120)
        finally:
            running.stop()


# Long documents -------------------------------------------------------------------------------------------------------


def long_text(mark: str, paragraphs: int) -> str:
    """About 290 characters for each paragraph, no two alike."""
    sentences = (
        f"In {mark} {n} the crane number {n * 31 % 977} lifts {n % 17} boxes onto quay {n % 7}." for n in count()
    )
    return "\n\n".join(" ".join(next(sentences) for _ in range(5)) for _ in range(paragraphs))


async def stage(workshop: Workshop, text: str, **document: Any) -> UUID:
    """Start a long document as the gateway does, with parts of 20,000 characters."""
    upload_id = uuid4()
    parts = [text[start : start + 20_000] for start in range(0, len(text), 20_000)]
    for number, part in reversed(list(enumerate(parts))):
        request = StageDocumentRequest(principal=ME, upload_id=upload_id, part=number, text=part)
        await workshop.bus.request(STAGE_DOCUMENT, request)
    started = await workshop.bus.request(
        START_DOCUMENT,
        StartDocumentRequest(
            principal=ME,
            upload_id=upload_id,
            parts=len(parts),
            document=StagedDocument(**({"namespace": "work", "document_id": "log.md"} | document)),
        ),
    )
    return started.operation_id


async def live_chunks(workshop: Workshop) -> list[str]:
    """What the documents say, in order."""
    rows = await workshop.rows(
        "SELECT m.content FROM document_chunks c JOIN memories m ON m.id = c.memory "
        "WHERE c.since IS NOT NULL AND c.until IS NULL AND m.invalid_at IS NULL ORDER BY c.ordinal"
    )
    return [row["content"] for row in rows]


async def test_texts_of_one_document_come_in_order_and_a_killed_worker_is_followed(
    workshop: Workshop, ingest: RunningService
) -> None:
    workshop.embedder.stop_after(CHUNK_REQUESTS)
    first = await stage(workshop, long_text("dock", 500))
    second = await stage(workshop, long_text("wharf", 300))
    await asyncio.wait_for(workshop.embedder.waits.wait(), 60)
    half = await workshop.state(first)
    assert half.total is not None
    assert 0 < half.done < half.total
    assert (await workshop.state(second)).status == "queued", "they are of one document"
    ingest.kill()
    workshop.embedder.go_on()
    await workshop.start().wait_ready()
    for one in (first, second):
        done = await workshop.ends(one)
        assert (done.status, done.done == done.total) == ("succeeded", True)
        (item,) = (await workshop.get(one)).items
        assert item.document is not None
        assert item.document.version == (1 if one == first else 2)
    kept = await workshop.counts()
    assert kept["memories"] == kept["contents"] > 64, "no chunk was written twice"
    assert "\n\n".join(await live_chunks(workshop)) == long_text("wharf", 300)
    (left,) = await workshop.rows("SELECT (SELECT count(*) FROM staged_parts), count(input) FROM operation_items")
    assert tuple(left) == (0, 0)


async def test_a_long_text_is_redacted_as_one_before_it_is_cut_and_stored(
    workshop: Workshop, ingest: RunningService, nats: NatsServer, tmp_path: Path
) -> None:
    hidden = "qzkxv wjqpz " * 20
    text = long_text("dock", 800)
    cut = 150_000 - 100
    text = f"{text[:cut]} <private>{hidden}</private> {text[cut:]} <private>{hidden}"
    process = service_process(
        "gateway",
        CORTEX_HOME=str(tmp_path),
        CORTEX_NATS_URL=nats.url("gateway"),
        CORTEX_HTTP_TOKEN="token-of-the-test",
        CORTEX_GATEWAY_SSE_PORT=str(ports.choose()),
    )
    workshop.embedder.stop_after(CHUNK_REQUESTS)
    with RunningService(process, tmp_path) as gateway:
        await gateway.wait_ready()
        headers = {"Authorization": "Bearer token-of-the-test"}
        async with httpx.AsyncClient(base_url=process.url, headers=headers, timeout=60, trust_env=False) as http:
            path = "/api/v1/memory/documents/notes/dock.md"
            body = {"namespace": "work", "content": text, "metadata": {"note": f"<private>{hidden}</private>"}}
            answer = await http.put(path, json=body)
            assert answer.status_code == 202, answer.text
            location = answer.headers["location"]
            await asyncio.wait_for(workshop.embedder.waits.wait(), 60)
            half = (await http.get(location)).json()["operation"]
            assert half["status"] == "running"
            assert 0 < half["done"] < half["total"]
            await nothing_is_kept(workshop, hidden.split())
            workshop.embedder.go_on()

            async def state() -> dict[str, Any]:
                found: dict[str, Any] = (await http.get(location)).json()
                return found

            # A gateway that got no answer in time has no operation in its own.
            done = await eventually(
                state, lambda one: one["operation"]["finished_at"] is not None, within_s=60, ignoring=(KeyError,)
            )
            assert done["operation"]["status"] == "succeeded"
            document = done["items"][0]["document"]
            assert (document["document_id"], document["version"]) == ("notes/dock.md", 1)
            assert document["redactions"]["private"] == 3
            await nothing_is_kept(workshop, hidden.split())
            assert sum("[private]" in chunk for chunk in await live_chunks(workshop)) == 2
            short = await http.put(
                path, json={"namespace": "work", "content": "short now"}, params={"background": True}
            )
            assert short.status_code == 202
            again = await http.put(
                path, json={"namespace": "work", "content": "<private>all</private>" + "x" * 200_000}
            )
            assert again.status_code == 202
            refused = await http.put(path, json={"namespace": "work", "content": "x" * (17 << 20)})
            assert refused.status_code == 413


async def nothing_is_kept(workshop: Workshop, words: Sequence[str]) -> None:
    """No table holds any of the words."""
    tables = await workshop.rows(
        "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    )
    for table in tables:
        for word in set(words):
            found = await workshop.rows(f'SELECT count(*) FROM "{table["name"]}" t WHERE t::text LIKE $1', f"%{word}%")
            assert found[0]["count"] == 0, table["name"]


async def test_a_document_whose_parts_are_not_all_there_is_refused(workshop: Workshop, ingest: RunningService) -> None:
    request = StageDocumentRequest(principal=ME, upload_id=UUID(int=5), part=1, text="half of it")
    await workshop.bus.request(STAGE_DOCUMENT, request)
    document = StagedDocument(namespace="work", document_id="log.md")
    start = StartDocumentRequest(principal=ME, upload_id=UUID(int=5), parts=2, document=document)
    await refused(workshop.bus.request(START_DOCUMENT, start), ErrorCode.INVALID_REQUEST)
    stranger = Principal(org="local", subject="you")
    await workshop.bus.request(STAGE_DOCUMENT, request.model_copy(update={"principal": stranger, "part": 0}))
    await refused(workshop.bus.request(START_DOCUMENT, start), ErrorCode.INVALID_REQUEST)
    reader = Principal(org="local", subject="me", readable=("work",), writable=())
    await refused(
        workshop.bus.request(START_DOCUMENT, start.model_copy(update={"principal": reader})), ErrorCode.FORBIDDEN
    )
    secret = start.model_copy(update={"document": document.model_copy(update={"document_id": "<private>x</private>"})})
    await refused(workshop.bus.request(START_DOCUMENT, secret), ErrorCode.INVALID_REQUEST)
    assert await workshop.listed() == []

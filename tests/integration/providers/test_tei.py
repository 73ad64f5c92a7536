"""The TEI drivers against a server that answers as TEI does, and against ones that break."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cortex_contracts.errors import CortexError, ErrorCode, Permanent, Unavailable
from cortex_providers import model_server
from cortex_providers.embedder import Embedder, EmbedderConfig, ModelMismatch, TextKind, open_embedder
from cortex_providers.model_server import ATTEMPTS, BATCH_BYTES
from cortex_providers.served_embedder import BATCH, BULK_REQUESTS
from cortex_testkit.eventually import eventually
from cortex_testkit.tei_server import TEIServer, error, running, served, silent

OVERLOADED = ("Model is overloaded", "Overloaded")


@asynccontextmanager
async def opened(
    server: TEIServer, *, driver: str = "tei", model: str | None = None, dimension: int | None = None, key: str = ""
) -> AsyncIterator[Embedder]:
    config = EmbedderConfig(server.url, model or server.model_id, dimension or server.dimension, key, timeout_s=10.0)
    embedder = open_embedder(driver, config)
    try:
        yield embedder
    finally:
        await embedder.close()


def closest(vectors: np.ndarray, server: TEIServer, readings: list[str]) -> list[bool]:  # type: ignore[type-arg]
    return [
        bool(np.allclose(row, server.vector(reading), atol=1e-6))
        for row, reading in zip(vectors, readings, strict=True)
    ]


@pytest.mark.parametrize("driver", ["tei", "openai"])
async def test_vectors_come_in_the_order_of_the_texts_and_in_batches_that_the_server_takes(driver: str):
    texts = [f"text {n}" for n in range(100)]
    async with running(TEIServer(max_client_batch_size=5)) as server, opened(server, driver=driver) as embedder:
        await embedder.open()
        await embedder.check()
        server.requests.clear()
        vectors = await embedder.embed(texts, TextKind.PASSAGE)
        one = await embedder.embed(["text 7"], TextKind.PASSAGE)
        nothing = await embedder.embed([], TextKind.PASSAGE)
        batches = server.batches("/embed" if driver == "tei" else "/v1/embeddings")
    assert vectors.shape == (100, server.dimension)
    assert vectors.dtype == np.float32
    assert all(closest(vectors, server, texts))
    assert all(closest(one, server, ["text 7"]))
    assert nothing.shape == (0, server.dimension)
    if driver == "tei":  # it knows the limit from /info
        assert max(batches) == 5
    else:  # it learns it from its first refusals
        assert [batch for batch in batches if batch > 5] == [16, 8, 8]


async def test_a_limit_that_shrinks_behind_its_back_is_learnt():
    async with running(TEIServer()) as server, opened(server) as embedder:
        await embedder.open()
        server.max_client_batch_size = 3
        vectors = await embedder.embed([f"t{n}" for n in range(40)], TextKind.PASSAGE)
    assert all(closest(vectors, server, [f"t{n}" for n in range(40)]))


async def test_a_batch_never_holds_more_than_ours_however_much_the_server_takes():
    async with running(TEIServer(max_client_batch_size=512)) as server, opened(server) as embedder:
        await embedder.embed(["x"] * 100, TextKind.PASSAGE)
    assert max(server.batches("/embed")) == BATCH


async def test_too_large_a_body_is_split_and_too_large_a_text_is_refused():
    async with running(TEIServer(payload_limit=300_000)) as server, opened(server) as embedder:
        texts = [letter * 100_000 for letter in "abcdef"]
        assert all(closest(await embedder.embed(texts, TextKind.PASSAGE), server, texts))
        with pytest.raises(Permanent, match="too long for the embedder") as caught:
            await embedder.embed(["x" * 400_000], TextKind.PASSAGE)
    assert caught.value.code is ErrorCode.TOO_LARGE


async def test_the_default_limit_of_bytes_is_not_even_met():
    async with running(TEIServer()) as server, opened(server) as embedder:
        # 16 texts of 60,000 Arabic letters have 1,920,000 bytes, and quotes double in JSON.
        texts = ["م" * 60_000 + '"' * 5000 + str(n) for n in range(16)]
        await embedder.embed(texts, TextKind.PASSAGE)
    sizes = [len(json.dumps(body, ensure_ascii=False).encode()) for _, body in server.requests]
    assert max(sizes) < 1.1 * BATCH_BYTES


async def test_a_text_longer_than_the_model_reads_is_cut_by_the_server():
    async with running(TEIServer(max_input_length=10)) as server, opened(server) as embedder:
        vectors = await embedder.embed(["word " * 1000], TextKind.PASSAGE)
    assert all(closest(vectors, server, [" ".join(["word"] * 10)]))


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("intfloat/multilingual-e5-small", "query: x", "passage: x"),
        ("intfloat/e5-base-v2", "query: x", "passage: x"),
        ("BAAI/bge-m3", "x", "x"),
        ("acme/nice5-small", "x", "x"),
    ],
)
async def test_models_of_the_e5_family_get_their_prefixes(model: str, query: str, passage: str):
    async with running(TEIServer(model_id=model)) as server, opened(server) as embedder:
        assert all(closest(await embedder.embed(["x"], TextKind.QUERY), server, [query]))
        assert all(closest(await embedder.embed(["x"], TextKind.PASSAGE), server, [passage]))


@pytest.mark.parametrize(
    ("model", "prompts", "query", "passage"),
    [
        (
            "Qwen/Qwen3-Embedding-0.6B",
            {"query": "Instruct: find Query:", "document": ""},
            "Instruct: find Query:x",
            "x",
        ),
        ("acme/arctic", {"query": "ask: "}, "ask: x", "x"),
        ("acme/both", {"query": "q: ", "passage": "p: "}, "q: x", "p: x"),
        ("intfloat/multilingual-e5-large-instruct", {"query": "Instruct: "}, "Instruct: x", "x"),
    ],
)
async def test_a_model_with_named_prompts_gets_them(model: str, prompts: dict[str, str], query: str, passage: str):
    async with running(TEIServer(model_id=model, prompts=prompts)) as server, opened(server) as embedder:
        assert all(closest(await embedder.embed(["x"], TextKind.QUERY), server, [query]))
        assert all(closest(await embedder.embed(["x"], TextKind.PASSAGE), server, [passage]))


async def test_another_model_is_refused_when_it_is_opened_and_at_the_first_texts():
    async with running(TEIServer(model_id="acme/other")) as server, opened(server, model="acme/mine") as embedder:
        sentence = r"serves 'acme/other', but CORTEX_EMBEDDINGS_MODEL says 'acme/mine'.*cortex reindex"
        with pytest.raises(ModelMismatch, match=sentence):
            await embedder.open()
        with pytest.raises(ModelMismatch, match=sentence):
            await embedder.embed(["x"], TextKind.QUERY)
        with pytest.raises(ModelMismatch, match=sentence):
            await embedder.check()
    assert server.batches("/embed") == []


async def test_the_openai_driver_refuses_another_model_of_tei_too():
    async with running(TEIServer()) as server, opened(server, driver="openai", model="acme/mine") as embedder:
        with pytest.raises(ModelMismatch, match=r"'acme/mine'.*acme/plain-embedder.*cortex reindex"):
            await embedder.open()


@pytest.mark.parametrize("driver", ["tei", "openai"])
async def test_another_dimension_is_refused_when_it_is_opened(driver: str):
    async with running(TEIServer()) as server, opened(server, driver=driver, dimension=384) as embedder:
        with pytest.raises(
            ModelMismatch, match=r"8 dimensions, expected 384.*CORTEX_EMBEDDINGS_DIMENSION.*cortex reindex"
        ):
            await embedder.open()


async def test_a_dimension_that_changes_while_it_runs_is_refused():
    async with running(TEIServer()) as server, opened(server) as embedder:
        await embedder.open()
        server.dimension = 9
        with pytest.raises(ModelMismatch):
            await embedder.embed(["x"], TextKind.PASSAGE)


async def test_a_reranker_is_no_embedder():
    async with running(TEIServer(kind="reranker")) as server, opened(server) as embedder:
        with pytest.raises(ModelMismatch, match="kind 'reranker', expected 'embedding'"):
            await embedder.open()


async def test_a_server_that_is_no_tei_is_named():
    async with served(Starlette()) as url:
        embedder = open_embedder("tei", EmbedderConfig(url, "m", 8))
        with pytest.raises(Permanent, match="CORTEX_EMBEDDINGS_URL is not the address of a TEI server"):
            await embedder.open()
        await embedder.close()


@pytest.mark.parametrize("info", [{}, [], {"model_id": "m", "model_type": 3, "max_client_batch_size": None}])
async def test_a_description_in_another_form_is_no_crash(info: object):
    async def endpoint(_: Request) -> Response:
        return JSONResponse(info)

    async with served(Starlette(routes=[Route("/info", endpoint)])) as url:
        embedder = open_embedder("tei", EmbedderConfig(url, "m", 8))
        with pytest.raises(CortexError):
            await embedder.open()
        await embedder.close()


@pytest.mark.parametrize("key", ["", "wrong"])
async def test_a_refused_key_is_named_and_nothing_is_lost_for_it(key: str):
    async with running(TEIServer()) as server, opened(server, key=key) as embedder:
        await embedder.open()
        server.api_key = "right"
        with pytest.raises(Unavailable, match="CORTEX_EMBEDDINGS_API_KEY"):
            await embedder.embed(["x"], TextKind.PASSAGE)


@pytest.mark.parametrize("driver", ["tei", "openai"])
@pytest.mark.parametrize(
    "failure",
    [
        error(429, *OVERLOADED),
        error(429, *OVERLOADED, headers={"Retry-After": "0"}),
        error(429, *OVERLOADED, headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
        error(503, "unhealthy", "Unhealthy"),
        error(424, "backend failed", "Backend"),
        Response(status_code=502),
        Response("<html>", 200),
    ],
)
async def test_a_server_that_cannot_work_now_is_asked_again(driver: str, failure: Response):
    async with running(TEIServer()) as server, opened(server, driver=driver) as embedder:
        await embedder.open()
        server.failures = [failure] * (ATTEMPTS - 1)
        assert all(closest(await embedder.embed(["x"], TextKind.PASSAGE), server, ["x"]))
        server.failures = [failure] * ATTEMPTS
        with pytest.raises(Unavailable):
            await embedder.embed(["x"], TextKind.PASSAGE)
        assert server.failures == []


async def test_a_server_is_left_alone_as_long_as_it_asks_and_no_longer_than_we_wait(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(model_server, "MAX_RETRY_AFTER_S", 0.3)
    async with running(TEIServer()) as server, opened(server) as embedder:
        await embedder.open()
        server.failures = [error(429, *OVERLOADED, headers={"Retry-After": "86400"})]
        clock = asyncio.get_running_loop().time
        started = clock()
        async with asyncio.timeout(30):
            await embedder.embed(["x"], TextKind.PASSAGE)
        assert clock() - started >= 0.3


async def test_a_refusal_never_shows_the_text_that_the_server_quoted():
    async with running(TEIServer()) as server, opened(server) as embedder:
        await embedder.open()
        server.failures = [error(422, "cannot tokenise: my secret", "Tokenizer")]
        with pytest.raises(Permanent) as caught:
            await embedder.embed(["my secret"], TextKind.PASSAGE)
    assert "secret" not in str(caught.value)


async def test_a_text_that_comes_alone_does_not_wait_for_loads_that_do():
    held, release = 0, asyncio.Event()

    async def answer(request: Request) -> Response:
        nonlocal held
        texts = (await request.json())["input"]
        if len(texts) > 1:
            held += 1
            await release.wait()
        return JSONResponse({"data": [{"index": index, "embedding": [1.0, 0.0]} for index in range(len(texts))]})

    async with served(Starlette(routes=[Route("/v1/embeddings", answer, methods=["POST"])])) as url:
        embedder = open_embedder("openai", EmbedderConfig(url, "m", 2))
        loads = [asyncio.create_task(embedder.embed(["a"] * 3 * BATCH, TextKind.PASSAGE)) for _ in range(20)]
        await eventually(lambda: asyncio.sleep(0, held), lambda seen: seen == BULK_REQUESTS)
        async with asyncio.timeout(30):
            await asyncio.gather(*(embedder.embed([text], TextKind.PASSAGE) for text in "abcdefgh"))
        assert held == BULK_REQUESTS
        assert not any(load.done() for load in loads)
        release.set()
        assert [len(vectors) for vectors in await asyncio.gather(*loads)] == [3 * BATCH] * 20
        await embedder.close()


async def test_a_slow_server_is_given_up_once_and_in_time():
    asked = 0

    async def slow(request: Request) -> Response:
        nonlocal asked
        asked += 1
        return await silent(request)

    async with served(Starlette(routes=[Route("/v1/embeddings", slow, methods=["POST"])])) as url:
        embedder = open_embedder("openai", EmbedderConfig(url, "m", 8, timeout_s=0.2))
        async with asyncio.timeout(30):
            with pytest.raises(Unavailable, match=r"the embedder did not answer within 0\.2 s"):
                await embedder.embed(["x"], TextKind.QUERY)
        await embedder.close()
    assert asked == 1


async def test_a_server_that_closes_in_the_middle_of_its_answer_is_asked_again_then_unavailable():
    connections = 0

    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n[[0.1, 0.2")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(half, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    embedder = open_embedder("openai", EmbedderConfig(f"http://127.0.0.1:{port}", "m", 2))
    with pytest.raises(Unavailable, match="the embedder does not answer"):
        await embedder.embed(["x"], TextKind.QUERY)
    await embedder.close()
    server.close()
    assert connections == ATTEMPTS

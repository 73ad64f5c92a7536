"""The OpenAI-compatible driver against the bundled model, and against servers that misbehave."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from cortex_contracts.errors import CortexError, Permanent, Unavailable
from cortex_providers.cache import Cache, CachedEmbedder
from cortex_providers.embedder import EmbedderConfig, ModelMismatch, TextKind, open_embedder
from cortex_providers.model_server import ATTEMPTS
from cortex_providers.openai import OpenAIEmbedder
from cortex_providers.outbound import DestinationRefused
from cortex_testkit.cache_server import CacheServer
from cortex_testkit.tei_server import served


@asynccontextmanager
async def opened(config: EmbedderConfig) -> AsyncIterator[OpenAIEmbedder]:
    model = OpenAIEmbedder(config)
    try:
        yield model
    finally:
        await model.close()


async def test_questions_find_their_answers_in_both_languages(embedder: EmbedderConfig):
    async with opened(embedder) as model:
        texts = ["Omar leads the Atlas project.", "Bananas are yellow.", "تقود سلمى مشروع النيل"]
        passages = await model.embed(texts, TextKind.PASSAGE)
        questions = await model.embed(["Who leads Atlas?", "من يقود مشروع النيل؟"], TextKind.QUERY)
        again = await model.embed([texts[0]], TextKind.QUERY)
    assert passages.shape == (3, 384)
    assert passages.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1.0, atol=1e-5)
    assert (questions @ passages.T).argmax(axis=1).tolist() == [0, 2]
    # A query and a passage of the same words are embedded apart.
    assert not np.allclose(again[0], passages[0])


async def test_many_texts_come_back_in_their_order(embedder: EmbedderConfig):
    texts = [f"text number {number}" for number in range(70)]
    async with opened(embedder) as model:
        together = await model.embed(texts, TextKind.QUERY)
        alone = await model.embed([texts[69]], TextKind.QUERY)
        nothing = await model.embed([], TextKind.QUERY)
    assert together.shape == (70, 384)
    assert np.allclose(together[69], alone[0], atol=1e-4)
    assert nothing.shape == (0, 384)


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
async def test_the_address_may_be_spelled_with_or_without_its_version(embedder: EmbedderConfig, suffix: str):
    address = embedder.url.removesuffix("/v1") + suffix
    async with opened(EmbedderConfig(address, embedder.model, 384, embedder.api_key)) as model:
        await model.open()
        await model.check()


async def test_a_wrong_key_and_a_wrong_dimension_are_told_apart(embedder: EmbedderConfig):
    async with opened(EmbedderConfig(embedder.url, embedder.model, 384, "wrong")) as model:
        with pytest.raises(Unavailable, match="CORTEX_EMBEDDINGS_API_KEY"):
            await model.embed(["x"], TextKind.QUERY)
    async with opened(EmbedderConfig(embedder.url, embedder.model, 100, embedder.api_key)) as model:
        with pytest.raises(Permanent, match="cortex reindex"):
            await model.embed(["x"], TextKind.QUERY)


def routed(endpoint: Callable[[Request], object]) -> Starlette:
    return Starlette(routes=[Route("/v1/embeddings", endpoint, methods=["POST"])])


def answered(rows: object) -> Callable[[], Response]:
    return lambda: Response(json.dumps(rows), media_type="application/json")


@pytest.mark.parametrize(
    ("answer", "kind", "tries"),
    [
        (lambda: PlainTextResponse("no", HTTPStatus.SERVICE_UNAVAILABLE), Unavailable, ATTEMPTS),
        (lambda: PlainTextResponse("slow down", HTTPStatus.TOO_MANY_REQUESTS), Unavailable, ATTEMPTS),
        (lambda: PlainTextResponse("not json"), Unavailable, ATTEMPTS),
        (answered({"data": []}), Unavailable, 1),
        (answered({"error": "x"}), Unavailable, 1),
        (answered([1, 2]), Unavailable, 1),
        (lambda: PlainTextResponse("too long", HTTPStatus.REQUEST_ENTITY_TOO_LARGE), Permanent, 1),
        (lambda: PlainTextResponse("bad", HTTPStatus.BAD_REQUEST), Permanent, 1),
        (lambda: Response(status_code=302, headers={"Location": "http://127.0.0.1:9/"}), DestinationRefused, 1),
        (answered({"data": [{"index": 0, "embedding": ["a", "b"]}]}), Unavailable, 1),
        (lambda: Response('{"data": [{"index": 0, "embedding": [NaN, 1]}]}'), Unavailable, 1),
        (lambda: Response('{"data": [{"index": 0, "embedding": [null, 1]}]}'), Unavailable, 1),
        (answered({"data": [{"index": 0, "embedding": [1, 2, 3]}]}), ModelMismatch, 1),
    ],
)
async def test_a_server_that_misbehaves_is_a_known_error(
    answer: Callable[[], Response], kind: type[CortexError], tries: int
):
    asked = 0

    async def endpoint(_: Request) -> Response:
        nonlocal asked
        asked += 1
        return answer()

    async with served(routed(endpoint)) as url, opened(EmbedderConfig(url, "m", 2)) as model:
        with pytest.raises(kind) as caught:
            await model.embed(["x"], TextKind.QUERY)
    assert caught.value.retryable is issubclass(kind, Unavailable)
    assert asked == tries


async def test_lists_of_numbers_in_any_order_are_understood():
    rows = {"data": [{"index": 1, "embedding": [0, 3]}, {"index": 0, "embedding": [4, 0]}]}

    async def endpoint(_: Request) -> Response:
        return Response(json.dumps(rows), media_type="application/json")

    async with served(routed(endpoint)) as url, opened(EmbedderConfig(url, "m", 2)) as model:
        vectors = await model.embed(["a", "b"], TextKind.PASSAGE)
    assert vectors.tolist() == [[1, 0], [0, 1]]


def test_an_unknown_driver_is_named_with_those_that_are_there():
    with pytest.raises(Permanent, match=r"no embedder driver 'magic' is installed \(there are: .*openai"):
        open_embedder("magic", EmbedderConfig("http://x", "m", 2))


def test_a_configuration_never_shows_its_key():
    assert "hunter2" not in repr(EmbedderConfig("http://x", "m", 2, "hunter2"))


class CountingEmbedder:
    """An embedder whose work can be counted."""

    model, dimension = "counting", 2

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def embed(self, texts: list[str], kind: TextKind) -> np.ndarray:  # type: ignore[type-arg]
        self.embedded += texts
        return np.array([[len(text), float(kind is TextKind.QUERY)] for text in texts], dtype=np.float32)

    async def open(self) -> None: ...
    async def check(self) -> None: ...
    async def close(self) -> None: ...


async def test_a_text_is_embedded_once_and_kinds_are_kept_apart(cache: CacheServer):
    inner, store = CountingEmbedder(), Cache(cache.url)
    cached = CachedEmbedder(inner, store)
    first = await cached.embed(["a", "bb", "a"], TextKind.PASSAGE)
    second = await cached.embed(["bb", "ccc"], TextKind.PASSAGE)
    query = await cached.embed(["bb"], TextKind.QUERY)
    await store.close()
    assert first.tolist() == [[1, 0], [2, 0], [1, 0]]
    assert second.tolist() == [[2, 0], [3, 0]]
    assert query.tolist() == [[2, 1]]
    assert inner.embedded.count("bb") == 2
    assert inner.embedded.count("ccc") == 1


async def test_a_dead_cache_costs_time_only():
    inner, store = CountingEmbedder(), Cache("redis://127.0.0.1:9/0")
    cached = CachedEmbedder(inner, store)
    assert (await cached.embed(["a"], TextKind.QUERY)).tolist() == [[1, 1]]
    assert (await cached.embed([], TextKind.QUERY)).shape == (0, 2)
    with pytest.raises(Unavailable, match="cache does not answer"):
        await store.check()
    await store.close()

"""Rerankers: scores in the order of the texts, within the time that a call has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from cortex_contracts.errors import Permanent, Unavailable
from cortex_providers.embedder import ModelMismatch
from cortex_providers.reranker import Reranker, RerankerConfig, configured, open_reranker
from cortex_providers.tei import RERANKED_CHARACTERS
from cortex_runtime.settings import read
from cortex_runtime.settings_models import RerankerSettings
from cortex_testkit.tei_server import TEIServer, error, running, served, silent

QUERY = "who leads the atlas project"


@asynccontextmanager
async def opened(url: str, model: str = "") -> AsyncIterator[Reranker]:
    reranker = open_reranker("tei", RerankerConfig(url, model))
    try:
        yield reranker
    finally:
        await reranker.close()


def reranking(**changes: object) -> TEIServer:
    return TEIServer(model_id="BAAI/bge-reranker-v2-m3", kind="reranker", **changes)  # type: ignore[arg-type]


async def test_scores_come_in_the_order_of_the_texts_over_several_batches():
    texts = ["nothing of it", "omar leads the atlas project", "the project"] * 15
    async with running(reranking(max_client_batch_size=4)) as server, opened(server.url) as reranker:
        await reranker.open()
        await reranker.check()
        scores = await reranker.rerank(QUERY, texts, timeout_s=10)
        nothing = await reranker.rerank(QUERY, [], timeout_s=10)
    assert scores is not None
    assert nothing is not None
    assert scores.tolist() == pytest.approx([0, 0.8, 0.4] * 15)
    assert nothing.shape == (0,)
    assert max(server.batches("/rerank")) == 4


async def test_it_works_without_having_been_opened_and_with_the_model_that_is_named():
    async with running(reranking()) as server, opened(server.url, server.model_id) as reranker:
        scores = await reranker.rerank(QUERY, ["the"], timeout_s=10)
    assert scores is not None
    assert scores.tolist() == pytest.approx([0.2])


async def test_long_texts_are_cut():
    async with running(reranking()) as server, opened(server.url) as reranker:
        await reranker.rerank(QUERY, ["word " * 100_000] * 30, timeout_s=10)
    assert all(len(text) == RERANKED_CHARACTERS for _, body in server.requests for text in body["texts"])


async def test_another_model_and_an_embedder_are_refused():
    async with running(reranking()) as server, opened(server.url, "acme/other") as reranker:
        with pytest.raises(ModelMismatch, match="CORTEX_RERANKER_MODEL says 'acme/other'"):
            await reranker.open()
    async with running(TEIServer()) as server, opened(server.url) as reranker:
        with pytest.raises(ModelMismatch, match="CORTEX_RERANKER_URL serves a model of kind 'embedding'"):
            await reranker.rerank(QUERY, ["x"], timeout_s=10)


async def test_a_reranker_that_is_too_slow_for_the_call_is_unavailable_in_time():
    async with served(Starlette(routes=[Route("/info", silent)])) as url, opened(url) as reranker:
        async with asyncio.timeout(20):
            with pytest.raises(Unavailable, match=r"the reranker did not answer within 0\.1 s"):
                await reranker.rerank(QUERY, ["x"], timeout_s=0.1)


async def test_an_overloaded_reranker_is_given_up_when_the_call_has_no_more_time():
    async with running(reranking()) as server, opened(server.url) as reranker:
        await reranker.open()
        server.failures = [error(429, "Model is overloaded", "Overloaded", headers={"Retry-After": "5"})] * 3
        async with asyncio.timeout(3):
            with pytest.raises(Unavailable):
                await reranker.rerank(QUERY, ["x"], timeout_s=0.2)


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {},
        None,
        [{"index": 0}],
        [{"index": 5, "score": 1}, {"index": 0, "score": 1}],
        [{"index": 0, "score": 1}, {"index": 0, "score": 1}],
        [{"index": 0, "score": None}, {"index": 1, "score": 1}],
        [{"index": 0, "score": 1}, {"index": 1, "score": 1}, {"index": 2, "score": 1}],
    ],
)
async def test_an_answer_that_is_not_one_score_a_text_is_unavailable(answer: object):
    async with running(reranking()) as server, opened(server.url) as reranker:
        await reranker.open()
        server.failures = [JSONResponse(answer)]
        with pytest.raises(Unavailable, match="one score for every text"):
            await reranker.rerank(QUERY, ["a", "b"], timeout_s=10)


async def test_without_a_reranker_there_are_no_scores():
    reranker = open_reranker("none", RerankerConfig())
    await reranker.open()
    await reranker.check()
    assert await reranker.rerank(QUERY, ["x"], timeout_s=1) is None
    await reranker.close()


def test_an_unknown_driver_is_named_with_those_that_are_there():
    with pytest.raises(Permanent, match=r"no reranker driver 'magic' is installed \(there are: none, tei\)"):
        open_reranker("magic", RerankerConfig())


def test_a_configuration_never_shows_its_key():
    assert "hunter2" not in repr(RerankerConfig("http://x", "m", "hunter2"))


async def test_the_names_of_the_source_documents_choose_the_driver(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
):
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path_factory.mktemp("home")))
    assert await configured(read(RerankerSettings)).rerank(QUERY, ["x"], timeout_s=1) is None
    async with running(reranking()) as server:
        monkeypatch.setenv("TEI_RERANKER_URL", server.url)
        monkeypatch.setenv("TEI_RERANKER_MODEL", server.model_id)
        reranker = configured(read(RerankerSettings))
        assert reranker.model == server.model_id
        assert await reranker.rerank(QUERY, ["who"], timeout_s=10) is not None
        await reranker.close()
    monkeypatch.setenv("CORTEX_RERANKER_DRIVER", "none")
    assert configured(read(RerankerSettings)).model == ""
    monkeypatch.setenv("CORTEX_RERANKER_DRIVER", "tei")
    monkeypatch.delenv("TEI_RERANKER_URL")
    with pytest.raises(Permanent, match="CORTEX_RERANKER_URL: expected an address"):
        configured(read(RerankerSettings))

"""Both bundled models, served for real."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import numpy as np
import pytest

from cortex_infra import embedding_models, ports
from cortex_infra.embedding_queue import SLICE_TEXTS, Job
from cortex_infra.errors import SettingError
from cortex_infra.servers import embedder
from cortex_infra.servers.embedder import E5_SMALL, MODELS, SENTENCE_ENCODER, BundledModel
from cortex_infra.servers.running import RunningServer
from cortex_providers.embedder import EmbedderConfig, ModelMismatch, TextKind
from cortex_providers.openai import OpenAIEmbedder

KEY = "a-key"
BOTH = pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


async def start(model: BundledModel, folder: Path, stack: ExitStack) -> str:
    process = embedder.prepare(port=ports.choose(), api_key=KEY, model=model.name)
    server = stack.enter_context(RunningServer(process, folder / "logs"))
    await server.wait_ready()
    return process.url


@BOTH
async def test_a_served_model_tells_its_name_and_finds_answers_in_both_languages(
    model: BundledModel, folder: Path, stack: ExitStack
):
    url = await start(model, folder, stack)
    config = EmbedderConfig(url, model.name, model.dimensions, KEY)
    client = OpenAIEmbedder(config)
    await client.open()
    texts = [
        "Omar leads the Atlas project.",
        "Bananas are yellow.",
        "تقود سلمى مشروع النيل",
        "\ufdfa" * 60,
        "word " * 9000,
    ]
    passages = await client.embed(texts, TextKind.PASSAGE)
    questions = await client.embed(["Who leads Atlas?", "من يقود مشروع النيل؟"], TextKind.QUERY)
    await client.close()
    assert passages.shape == (5, model.dimensions)
    assert np.allclose(np.linalg.norm(passages, axis=1), 1.0, atol=1e-5)
    assert (questions @ passages.T).argmax(axis=1).tolist() == [0, 2]
    async with httpx.AsyncClient(timeout=20, trust_env=False) as anybody:
        health = (await anybody.get(f"{url.removesuffix('/v1')}/health")).json()
        metrics = (await anybody.get(f"{url.removesuffix('/v1')}/metrics")).text
    assert health == {"status": "ok", "model": model.name, "dimensions": model.dimensions}
    assert 'cortex_embedder_texts_total{lane="loads"} 5.0' in metrics.splitlines()


async def test_the_other_model_is_refused_by_its_name(folder: Path, stack: ExitStack):
    url = await start(SENTENCE_ENCODER, folder, stack)
    client = OpenAIEmbedder(EmbedderConfig(url, E5_SMALL.name, E5_SMALL.dimensions, KEY))
    with pytest.raises(ModelMismatch, match=f"no model '{E5_SMALL.name}' .there are: {SENTENCE_ENCODER.name}"):
        await client.open()
    await client.close()
    async with httpx.AsyncClient(timeout=20, trust_env=False, headers={"Authorization": f"Bearer {KEY}"}) as raw:
        wrong = await raw.post(f"{url}/embeddings", json={"input": "x", "dimensions": 384})
        right = await raw.post(f"{url}/embeddings", json={"input": "x", "dimensions": 512})
    assert (wrong.status_code, wrong.json()["error"]["message"]) == (400, "dimensions: expected 512, got 384")
    assert right.status_code == 200


async def test_the_sentence_encoder_is_the_same_in_slices_and_alone():
    model = embedding_models.load(SENTENCE_ENCODER.name)
    texts = [f"text number {number} of them" for number in range(3 * SLICE_TEXTS)]
    job = Job(model, texts, False)
    while not job.advance():
        pass
    vectors, tokens = job.result()
    assert np.allclose(vectors, np.concatenate([model.encode([text], False) for text in texts]), atol=1e-5)
    assert tokens == sum(model.token_count(text, False) for text in texts)
    job.finished.cancel()
    await asyncio.sleep(0)


@BOTH
def test_a_model_gives_the_same_vectors_to_several_threads_at_once(model: BundledModel):
    loaded = embedding_models.load(model.name)
    texts = [f"Omar leads project {number}. " * (1 + number % 7) for number in range(24)]
    alone = [loaded.encode([text], number % 2 == 0) for number, text in enumerate(texts)]
    with ThreadPoolExecutor(3) as threads:
        together = list(threads.map(lambda one: loaded.encode([texts[one]], one % 2 == 0), range(len(texts))))
    assert np.array_equal(np.concatenate(alone), np.concatenate(together))


def test_a_model_that_is_not_bundled_is_named_with_those_that_are():
    with pytest.raises(
        SettingError, match=r"CORTEX_EMBEDDER_MODEL: expected one of multilingual-e5-small-q4, universal"
    ):
        embedder.prepare(port=1, api_key=KEY, model="magic")

"""Queries, and passages that come alone, do not wait behind a load."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator

import numpy as np
import pytest

from cortex_infra import embedding_queue
from cortex_infra.embedding_models import Vectors
from cortex_infra.embedding_queue import (
    LOAD_NICENESS,
    SLICE_TEXTS,
    SLICE_TOKENS,
    TEXTS,
    TOKENS,
    WINDOW_CHARACTERS,
    WINDOW_TOKENS,
    EmbeddingQueue,
    QueueFull,
)


class CountingModel:
    """One token per word; the vector of a text is its length on the first axis and its words on the second."""

    dim = 2

    def __init__(self) -> None:
        self.calls: list[tuple[bool, list[str]]] = []
        self.threads: set[int] = set()
        self.counted: set[int] = set()
        self.gate = threading.Event()
        self.gate.set()

    def encode(self, texts: list[str], is_query: bool) -> Vectors:
        self.gate.wait(10)
        self.threads.add(threading.get_ident())
        self.calls.append((is_query, texts))
        if "poison" in texts:
            raise RuntimeError("the engine failed")
        rows: Vectors = np.array([[len(text), self.token_count(text, is_query)] for text in texts], dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def token_count(self, text: str, is_query: bool) -> int:
        self.counted.add(len(text))
        return max(1, len(text.split()))


@pytest.fixture
def model() -> CountingModel:
    return CountingModel()


@pytest.fixture
async def queue(model: CountingModel) -> AsyncIterator[EmbeddingQueue]:
    queue = EmbeddingQueue(model)
    worker = asyncio.create_task(queue.run())
    yield queue
    worker.cancel()
    await asyncio.wait({worker})


class HoldingModel(CountingModel):
    """Keeps what it is told to keep until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.held = {"load"}
        self.entered, self.go_on = threading.Semaphore(0), threading.Event()
        self.niceness: dict[str, int] = {}

    def encode(self, texts: list[str], is_query: bool) -> Vectors:
        kind = texts[0].split()[0]
        if sys.platform == "linux":
            self.niceness[kind] = os.getpriority(os.PRIO_PROCESS, 0)  # on Linux this is the thread
        if kind in self.held:
            self.entered.release()
            assert self.go_on.wait(10)
        return super().encode(texts, is_query)

    async def begun(self) -> None:
        """Wait until a slice is held."""
        assert await asyncio.to_thread(self.entered.acquire, timeout=10)


@pytest.fixture
async def holding() -> AsyncIterator[tuple[HoldingModel, EmbeddingQueue]]:
    model = HoldingModel()
    queue = EmbeddingQueue(model)
    worker = asyncio.create_task(queue.run())
    yield model, queue
    model.go_on.set()
    worker.cancel()
    await asyncio.wait({worker})


async def test_neither_a_query_nor_a_passage_alone_waits_for_the_slice_of_a_load(
    holding: tuple[HoldingModel, EmbeddingQueue],
) -> None:
    model, queue = holding
    load = queue.submit([f"load {number}" for number in range(20)], is_query=False)
    await model.begun()
    async with asyncio.timeout(10):
        await queue.submit(["query"], is_query=True)
        await queue.submit(["passage"], is_query=False)
        assert not load.done()
        model.go_on.set()
        vectors, tokens = await load
    assert vectors.shape == (20, 2)
    assert tokens == 40
    assert all(len(texts) <= SLICE_TEXTS for _, texts in model.calls)


async def test_a_query_does_not_wait_for_a_passage_that_comes_alone(
    holding: tuple[HoldingModel, EmbeddingQueue],
) -> None:
    model, queue = holding
    model.held = {"passage"}
    passage = queue.submit(["passage"], is_query=False)
    await model.begun()
    async with asyncio.timeout(10):
        await queue.submit(["query"], is_query=True)
    assert not passage.done()


async def test_loads_come_one_after_the_other(holding: tuple[HoldingModel, EmbeddingQueue]) -> None:
    model, queue = holding
    loads = [queue.submit([f"load {load}.{text}" for text in range(16)], is_query=False) for load in range(3)]
    await model.begun()
    model.go_on.set()
    async with asyncio.timeout(10):
        await asyncio.gather(*loads)
    given = [text for _, texts in model.calls for text in texts]
    assert given == [f"load {load}.{text}" for load in range(3) for text in range(16)]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no priority of its own")
async def test_only_a_load_gives_way_to_other_work(holding: tuple[HoldingModel, EmbeddingQueue]) -> None:
    model, queue = holding
    model.go_on.set()
    own = os.getpriority(os.PRIO_PROCESS, 0)
    await asyncio.gather(
        queue.submit(["load"] * 2, is_query=False),
        queue.submit(["query"], is_query=True),
        queue.submit(["passage"], is_query=False),
    )
    assert model.niceness == {"load": min(own + LOAD_NICENESS, 19), "query": own, "passage": own}


class SteppedModel(CountingModel):
    """Works on a slice only when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.permits = threading.Semaphore(0), threading.Semaphore(0)

    def encode(self, texts: list[str], is_query: bool) -> Vectors:
        self.calls.append((is_query, texts))
        self.entered.release()
        assert self.permits.acquire(timeout=10)
        return np.ones((len(texts), self.dim), dtype=np.float32)

    async def begun(self) -> list[str]:
        """The texts of the next slice, as soon as the model has them."""
        assert await asyncio.to_thread(self.entered.acquire, timeout=10)
        return self.calls[-1][1]

    async def step(self) -> list[str]:
        """Let the slice in the model be done; the texts of the one that follows."""
        self.permits.release()
        return await self.begun()


@pytest.fixture
async def stepped() -> AsyncIterator[tuple[SteppedModel, EmbeddingQueue]]:
    model = SteppedModel()
    queue = EmbeddingQueue(model)
    worker = asyncio.create_task(queue.run())
    yield model, queue
    worker.cancel()
    model.permits.release(1000)
    await asyncio.wait({worker})


async def test_a_long_passage_that_comes_alone_lets_short_ones_in(stepped: tuple[SteppedModel, EmbeddingQueue]) -> None:
    model, queue = stepped
    long = queue.submit(["word " * 12_000], is_query=False)
    await model.begun()
    short = queue.submit(["short"], is_query=False)
    assert await model.step() == ["short"]
    await model.step()
    async with asyncio.timeout(10):
        await short
    assert not long.done()


async def test_a_long_query_lets_short_ones_in(stepped: tuple[SteppedModel, EmbeddingQueue]) -> None:
    model, queue = stepped
    long = queue.submit([f"question {number}" for number in range(100)], is_query=True)
    await model.begun()
    short = queue.submit(["short"], is_query=True)
    assert await model.step() == ["short"]
    await model.step()
    async with asyncio.timeout(10):
        await short
    assert not long.done()


async def test_no_slice_holds_more_than_one_window_or_a_few_short_texts(
    model: CountingModel, queue: EmbeddingQueue
) -> None:
    sizes = [1, 40, 255, 256, 300, 509, 510, 511, 2000, 3, 3, 3, 3, 3, 3]
    await queue.submit(["w " * size for size in sizes], is_query=False)
    for _, texts in model.calls:
        tokens = [model.token_count(text, False) for text in texts]
        assert sum(tokens) <= (WINDOW_TOKENS if len(texts) == 1 else SLICE_TOKENS)
        assert len(texts) <= SLICE_TEXTS


async def test_tokens_are_not_counted_over_a_whole_long_text(model: CountingModel, queue: EmbeddingQueue) -> None:
    await queue.submit(["word " * 12_000], is_query=False)
    assert max(model.counted) <= WINDOW_CHARACTERS


async def test_vectors_come_in_the_order_of_the_texts_and_are_normalised(queue: EmbeddingQueue) -> None:
    texts = ["a", "bbbb bbbb", "cc cc cc"]
    vectors, _ = await queue.submit(texts, is_query=False)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors[:, 0] / vectors[:, 1], [1, 9 / 2, 8 / 3])


async def test_a_long_text_is_read_in_windows(model: CountingModel, queue: EmbeddingQueue) -> None:
    vectors, tokens = await queue.submit(["word " * 3 * WINDOW_TOKENS], is_query=False)
    assert vectors.shape == (1, 2)
    assert tokens == pytest.approx(3 * WINDOW_TOKENS, abs=4)
    assert all(model.token_count(text, False) <= WINDOW_TOKENS for _, texts in model.calls for text in texts)
    assert len(model.calls) >= 3


async def test_a_request_that_fails_leaves_the_queue_working(queue: EmbeddingQueue) -> None:
    with pytest.raises(RuntimeError):
        await queue.submit(["poison"], is_query=False)
    await queue.submit(["fine"], is_query=False)


async def test_an_abandoned_request_is_not_worked_on(model: CountingModel, queue: EmbeddingQueue) -> None:
    model.gate.clear()
    bulk = queue.submit(["passage"] * 40, is_query=False)
    bulk.cancel()
    model.gate.set()
    await queue.submit(["query"], is_query=True)
    await queue.submit(["passage"], is_query=False)
    assert len(model.calls) <= 3


async def test_what_each_lane_has_done_is_counted(queue: EmbeddingQueue) -> None:
    def counted() -> dict[str, float]:
        by_lane = [sample for metric in (TEXTS, TOKENS) for family in metric.collect() for sample in family.samples]
        return {f"{s.name} {s.labels['lane']}": s.value for s in by_lane if s.name.endswith("_total")}

    before = counted()
    await queue.submit(["one two", "three"], is_query=False)
    await queue.submit(["a query of five words"], is_query=True)
    with pytest.raises(RuntimeError):
        await queue.submit(["poison"], is_query=False)
    done = {name: value - before.get(name, 0) for name, value in counted().items()}
    assert {name: value for name, value in done.items() if value} == {
        "cortex_embedder_texts_total loads": 2,
        "cortex_embedder_tokens_total loads": 3,
        "cortex_embedder_texts_total queries": 1,
        "cortex_embedder_tokens_total queries": 5,
    }


async def test_too_many_waiting_requests_are_refused(
    model: CountingModel, queue: EmbeddingQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_queue, "MAX_WAITING", 2)
    model.gate.clear()
    jobs = [queue.submit(["a"], is_query=False), queue.submit(["b"], is_query=True)]
    with pytest.raises(QueueFull):
        queue.submit(["c"], is_query=True)
    model.gate.set()
    await asyncio.gather(*jobs)

"""Three lanes to one embedding model, each with a thread of its own: queries, passages that come alone, and loads.

A passage that comes alone is one that somebody waits for, as for a memory that is retained now; a load sends many at
once. No lane waits for another one. Loads have a low priority, so the processors go to the other lanes, and to the
other processes of the machine, whenever these want them.

Within a lane the work is done in slices: one window, or a few short texts. A short query waits for a slice of a long
one, and never for all of it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
from prometheus_client import Counter

from cortex_infra.embedding_models import Model, Vectors

SLICE_TEXTS: Final = 4
SLICE_TOKENS: Final = 256
WINDOW_TOKENS: Final = 256
"""A longer text is cut into windows of at most this, whose vectors are averaged.

The default model reads 512 at once; 256 take it 0.3 to 0.5 s of a processor. What the smaller windows cost is in ADR
0013.
"""
WINDOW_CHARACTERS: Final = 4096
"""A longer text is cut before its tokens are counted: counting 60,000 characters takes a tenth of a second by itself.
No window of 256 tokens is that long, but of runs of spaces."""
LOAD_NICENESS: Final = 5
"""A load gets a quarter of a processor that another thread wants as well; with 10 it would be a tenth, and where other
programs keep every processor busy its requests would run into the time limit of who sent them (30 s).

Measured on two cores under a load that never ends, seven queries a second, p95: 190 ms when a query waited for the
slice of a load, 75 ms with a thread of its own, 48 ms with a niceness of 10 too, 35 to 45 ms without a load."""
MAX_WAITING: Final = 256
"""Requests that may wait in all lanes together."""
SECONDS: Final = Counter("cortex_embedder_seconds", "Time that requests were worked on", ["lane"])
TEXTS: Final = Counter("cortex_embedder_texts", "Texts of the requests that were answered", ["lane"])
TOKENS: Final = Counter("cortex_embedder_tokens", "Tokens of the requests that were answered", ["lane"])


class QueueFull(Exception):
    """More requests wait than are accepted; trying again later can help."""


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a text that the model reads at once."""

    text_index: int
    text: str
    tokens: int


class Job:
    """One request on its way through the model."""

    def __init__(self, model: Model, texts: Sequence[str], is_query: bool) -> None:
        self.texts = len(texts)
        self._is_query = is_query
        self.finished: asyncio.Future[tuple[Vectors, int]] = asyncio.get_running_loop().create_future()
        self._model = model
        self._sums: Vectors = np.zeros((len(texts), model.dim), dtype=np.float32)
        self._tokens = 0
        self._windows = self._cut(texts)
        self._next: Window | None = None

    def advance(self) -> bool:
        """Embed the next slice (in the worker thread); True when nothing is left."""
        batch: list[Window] = []
        tokens = 0
        while (window := self._next or next(self._windows, None)) is not None:
            full = len(batch) == SLICE_TEXTS or tokens + window.tokens > SLICE_TOKENS
            if batch and full:
                break
            self._next = None
            batch.append(window)
            tokens += window.tokens
        self._next = window
        if batch:
            vectors = self._model.encode([window.text for window in batch], self._is_query)
            for window, vector in zip(batch, vectors, strict=True):
                self._sums[window.text_index] += window.tokens * vector
            self._tokens += tokens
        return self._next is None

    def result(self) -> tuple[Vectors, int]:
        """The vectors, (texts, dim) float32 and L2-normalised, and the number of tokens read."""
        norms = np.linalg.norm(self._sums, axis=1, keepdims=True)
        return self._sums / np.maximum(norms, 1e-12), self._tokens

    def _cut(self, texts: Sequence[str]) -> Iterator[Window]:
        for index, text in enumerate(texts):
            yield from self._halve(index, text)

    def _halve(self, index: int, text: str) -> Iterator[Window]:
        if len(text) <= WINDOW_CHARACTERS:
            tokens = self._model.token_count(text, self._is_query)
            if tokens <= WINDOW_TOKENS or len(text) < 2:
                yield Window(index, text, tokens)
                return
        middle = len(text) // 2
        space = text.find(" ", middle, middle + 200)
        cut = space if space > 0 else middle
        yield from self._halve(index, text[:cut])
        yield from self._halve(index, text[cut:])


class Lane:
    """Requests of one kind, and the thread that embeds them."""

    def __init__(self, name: str, *, in_turn: bool, niceness: int = 0) -> None:
        """`in_turn`: a slice of each request in turn, so that a short one does not wait for a long one; else one
        request after the other."""
        self._name = name
        self._in_turn = in_turn
        self._niceness = niceness
        self._jobs: deque[Job] = deque()
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        return len(self._jobs)

    def put(self, job: Job) -> None:
        """Add a request."""
        self._jobs.append(job)
        self._filled.set()

    async def run(self) -> None:
        """Work until cancelled."""
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, f"embedder-{self._name}", initializer=self._yield_to_others) as worker:
            while True:
                if not self._jobs:
                    self._filled.clear()
                    await self._filled.wait()
                    continue
                job = self._jobs[0]
                if job.finished.done():
                    self._jobs.popleft()
                    continue
                started = time.perf_counter()
                try:
                    done = await loop.run_in_executor(worker, job.advance)
                except Exception as error:  # the request fails, the queue goes on
                    if not job.finished.done():
                        job.finished.set_exception(error)
                    continue
                finally:
                    SECONDS.labels(self._name).inc(time.perf_counter() - started)
                if done and not job.finished.done():
                    vectors, tokens = job.result()
                    TEXTS.labels(self._name).inc(job.texts)
                    TOKENS.labels(self._name).inc(tokens)
                    job.finished.set_result((vectors, tokens))
                elif self._in_turn:
                    self._jobs.rotate(-1)

    def _yield_to_others(self) -> None:
        # Elsewhere this would be the priority of the whole process. The threads that the engine starts inherit it.
        if sys.platform == "linux":
            os.nice(self._niceness)


class EmbeddingQueue:
    """Owner of the model. `run` must be running for a request to finish."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._queries = Lane("queries", in_turn=True)
        self._alone = Lane("alone", in_turn=True)
        self._loads = Lane("loads", in_turn=False, niceness=LOAD_NICENESS)

    def submit(self, texts: Sequence[str], *, is_query: bool) -> asyncio.Future[tuple[Vectors, int]]:
        """Queue a request; cancel the future to give it up.

        Raises:
            QueueFull: too many wait already.
        """
        if len(self._queries) + len(self._alone) + len(self._loads) >= MAX_WAITING:
            raise QueueFull(f"more than {MAX_WAITING} requests are waiting")
        job = Job(self._model, texts, is_query)
        (self._queries if is_query else self._alone if len(texts) == 1 else self._loads).put(job)
        return job.finished

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as lanes:
            for lane in (self._queries, self._alone, self._loads):
                lanes.create_task(lane.run())

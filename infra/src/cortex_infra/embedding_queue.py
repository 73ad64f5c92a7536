"""Three lanes to one embedding model: queries, then passages that come alone, then bulk loads, which let the others in
after every small slice.

A passage that comes alone is one that somebody waits for, as for a memory that is retained now; a load sends many at
once. Whatever is loaded, a query waits for the slice that is being embedded and for the queries before it, and never
for the rest of a text or of a request. A slice is bounded: it is one window, or a few short texts.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np

from cortex_infra.embedding_models import Model, Vectors

SLICE_TEXTS: Final = 4
SLICE_TOKENS: Final = 256
WINDOW_TOKENS: Final = 256
"""A longer text is cut into windows of at most this, whose vectors are averaged.

A slice is what a query may have to wait for: 256 tokens take the default model 0.3 to 0.5 s of a processor. It reads
512 at once, and recall gives a query one second: behind windows of 510 a query waited up to 2.1 s on a busy machine,
behind these up to 0.3 s on a quiet one. What the smaller windows cost is in ADR 0013.
"""
WINDOW_CHARACTERS: Final = 4096
"""A longer text is cut before its tokens are counted: counting 60,000 characters takes a tenth of a second by itself.
No window of 256 tokens is that long, but of runs of spaces."""
MAX_WAITING: Final = 256
"""Requests that may wait in all lanes together."""


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


class EmbeddingQueue:
    """Owner of the model. `run` must be running for `embed` to finish."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._queries: deque[Job] = deque()
        self._alone: deque[Job] = deque()
        self._bulk: deque[Job] = deque()
        self._filled = asyncio.Event()

    def submit(self, texts: Sequence[str], *, is_query: bool) -> asyncio.Future[tuple[Vectors, int]]:
        """Queue a request; cancel the future to give it up.

        Raises:
            QueueFull: too many wait already.
        """
        if len(self._queries) + len(self._alone) + len(self._bulk) >= MAX_WAITING:
            raise QueueFull(f"more than {MAX_WAITING} requests are waiting")
        job = Job(self._model, texts, is_query)
        (self._queries if is_query else self._alone if len(texts) == 1 else self._bulk).append(job)
        self._filled.set()
        return job.finished

    async def run(self) -> None:
        """Work until cancelled: always the first lane that is not empty, a slice each in turn, but one load after the
        other."""
        loop = asyncio.get_running_loop()
        # One thread: the engine is not made for two, and uses all cores for one call.
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder") as worker:
            while True:
                lane = self._queries or self._alone or self._bulk
                if not lane:
                    self._filled.clear()
                    await self._filled.wait()
                    continue
                job = lane[0]
                if job.finished.done():
                    lane.popleft()
                    continue
                try:
                    done = await loop.run_in_executor(worker, job.advance)
                except Exception as error:  # the request fails, the queue goes on
                    if not job.finished.done():
                        job.finished.set_exception(error)
                    continue
                if done and not job.finished.done():
                    job.finished.set_result(job.result())
                elif lane is not self._bulk:
                    lane.rotate(-1)  # a long text is no reason for a short one to wait

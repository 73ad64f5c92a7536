"""Passages that somebody waits for are asked for one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from cortex_contracts.errors import Permanent
from cortex_ingest.awaited_passages import AT_ONCE, MAX_APART, AwaitedPassages
from cortex_providers.embedder import TextKind, Vectors


class LengthEmbedder:
    """The vector of a text is its length; it answers when `go_on` is set."""

    model = "length"

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.working = self.most = 0
        self.begun = asyncio.Semaphore(0)
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        assert kind is TextKind.PASSAGE
        self.calls.append(list(texts))
        self.working += 1
        self.most = max(self.most, self.working)
        self.begun.release()
        try:
            await asyncio.sleep(0)  # others get their turn, as while a server works
            await self.go_on.wait()
            if "refused" in texts:
                raise Permanent("refused")
            return np.array([[len(text)] for text in texts], dtype=np.float32).reshape(len(texts), 1)
        finally:
            self.working -= 1


async def test_each_passage_is_asked_for_alone_a_few_at_a_time_and_the_order_stays():
    embedder = LengthEmbedder()
    texts = ["x" * length for length in (9, 3, 7, 1, 4, 8)]
    vectors = await AwaitedPassages(embedder).embed(texts, TextKind.PASSAGE)
    assert vectors[:, 0].tolist() == [9, 3, 7, 1, 4, 8]
    assert sorted(embedder.calls) == sorted([text] for text in texts)
    assert embedder.most == AT_ONCE


@pytest.mark.parametrize("count", [0, 1, MAX_APART + 1])
async def test_none_one_and_very_many_are_one_call(count: int):
    embedder = LengthEmbedder()
    vectors = await AwaitedPassages(embedder).embed(["text"] * count, TextKind.PASSAGE)
    assert vectors.shape == (count, 1)
    assert embedder.calls == [["text"] * count]


async def test_what_fails_for_one_fails_for_all_and_nothing_goes_on():
    embedder = LengthEmbedder()
    with pytest.raises(Permanent):
        await AwaitedPassages(embedder).embed(["refused", *["text"] * 20], TextKind.PASSAGE)
    assert embedder.working == 0
    assert len(embedder.calls) < 20


async def test_who_goes_away_takes_the_work_along():
    embedder = LengthEmbedder()
    embedder.go_on.clear()
    waiting = asyncio.create_task(AwaitedPassages(embedder).embed(["a", "b", "c"], TextKind.PASSAGE))
    for _ in range(3):
        await embedder.begun.acquire()
    waiting.cancel()
    await asyncio.wait({waiting})
    assert embedder.working == 0

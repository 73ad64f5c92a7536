"""Texts become requests that a server takes, whatever it takes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_providers.model_server import BATCH_BYTES, Batches, BatchRefused


class Server:
    """Takes `count` texts of `size` bytes together, and no text that says "poison"."""

    def __init__(self, count: int, size: int = BATCH_BYTES) -> None:
        self.count, self.size = count, size
        self.taken: list[int] = []
        self.refused = 0

    async def send(self, texts: Sequence[str]) -> list[str]:
        if len(texts) > self.count or sum(len(text.encode()) for text in texts) > self.size or "poison" in texts:
            self.refused += 1
            raise BatchRefused("too much")
        self.taken.append(len(texts))
        return [text.upper() for text in texts]


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 100))
async def test_every_text_has_its_result_in_order(limit: int, size: int, count: int):
    server, batches = Server(limit), Batches(size)
    texts = [f"text {n}" for n in range(count)]
    assert await batches.map(texts, server.send) == [text.upper() for text in texts]
    assert all(0 < taken <= min(limit, size) for taken in server.taken)


async def test_what_a_server_takes_is_learnt_once():
    server, batches = Server(5), Batches(16)
    await batches.map(["x"] * 64, server.send)
    refused = server.refused
    await batches.map(["x"] * 64, server.send)
    assert (batches.size, server.refused) == (4, refused)


async def test_one_text_that_is_refused_fails_alone_and_teaches_nothing():
    server, batches = Server(16), Batches(16)
    with pytest.raises(BatchRefused):
        await batches.map(["x", "y", "poison", *"z" * 13], server.send)
    assert batches.size == 16


async def test_a_request_stays_below_the_limit_of_bytes():
    server, batches = Server(16, BATCH_BYTES), Batches(16)
    texts = ["م" * 60_000] * 16 + ["a" * (BATCH_BYTES + 1)]
    with pytest.raises(BatchRefused):
        await batches.map(texts, server.send)
    assert sum(server.taken) == 16
    assert server.refused == 1

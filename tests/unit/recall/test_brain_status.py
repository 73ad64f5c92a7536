"""The status asks the embedder now and then only, and counts of unreadable types are notes'."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.pages import BrainStatusRequest
from cortex_recall import brain_status
from cortex_recall.brain_status import Status
from cortex_store.page_overview import Counts

REQUEST = BrainStatusRequest(principal=Principal(org="o", subject="s"), details=True)


class Store:
    """A database whose counts are made up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def answer(value: Any) -> Any:
            return value

        overview = brain_status.page_overview
        monkeypatch.setattr(overview, "counts", lambda _: answer(Counts(3, 2, 4, 1, {"v": 3})))
        monkeypatch.setattr(overview, "tags", lambda _: answer({}))
        monkeypatch.setattr(overview, "types", lambda _: answer({"note": 1, "memo": 1, "person": 1}))
        monkeypatch.setattr(brain_status.vaults, "listed", lambda _: answer(()))

    @asynccontextmanager
    async def transaction(self, scope: Principal) -> AsyncIterator[Any]:
        yield None


class Embedder:
    def __init__(self) -> None:
        self.asked = 0
        self.trouble: Exception | None = None

    async def check(self) -> None:
        self.asked += 1
        if self.trouble is not None:
            raise self.trouble


class Model:
    def __init__(self) -> None:
        self.is_recorded = True

    async def fits(self) -> bool:
        return self.is_recorded


async def test_the_embedder_is_asked_now_and_then_only(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder, model = Embedder(), Model()
    status = Status(Store(monkeypatch), embedder, model)
    replies = await asyncio.gather(*(status.status(REQUEST) for _ in range(5)))
    assert all(reply.degraded == () for reply in replies)
    assert embedder.asked <= 5
    asked = embedder.asked
    assert (await status.status(REQUEST)).types == {"note": 2, "person": 1}
    assert embedder.asked == asked

    monkeypatch.setattr(brain_status, "RECHECK_S", 0.0)
    for trouble in (Unavailable("away"), TimeoutError()):
        embedder.trouble = trouble
        assert (await status.status(REQUEST)).degraded == ("the embedder is away: pages are searched by words only",)
    embedder.trouble = None
    assert (await status.status(REQUEST)).degraded == ()
    model.is_recorded = False
    [sentence] = (await status.status(REQUEST)).degraded
    assert "model was changed" in sentence

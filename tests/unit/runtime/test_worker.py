"""A background worker goes on through everything that passes, and through nothing that is a bug."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from cortex_contracts.errors import CortexError, Permanent, Unavailable
from cortex_runtime import worker
from cortex_runtime.worker import Worker


class Played(Worker):
    """Does what it is told, step by step; then it says that it idles."""

    trouble = "the work waits"

    def __init__(self, *steps: bool | Exception) -> None:
        super().__init__()
        self.left = list(steps)
        self.idle = asyncio.Event()

    async def step(self) -> bool:
        told = self.left.pop(0) if self.left else False
        if not self.left:
            self.idle.set()
        if isinstance(told, Exception):
            raise told
        return told


async def test_it_works_until_nothing_is_left_and_again_when_it_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "POLL_S", 3600.0)
    played = Played(True, True, False)
    task = asyncio.create_task(played.run())
    async with asyncio.timeout(10):
        await played.idle.wait()
        for _ in range(2):
            played.idle.clear()
            played.wake()
            await played.idle.wait()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()


async def test_it_finds_what_nobody_woke_it_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "POLL_S", 0.001)
    played = Played(False, False, False)
    task = asyncio.create_task(played.run())
    async with asyncio.timeout(10):
        await played.idle.wait()
    task.cancel()


@pytest.mark.parametrize("kind", [Unavailable, Permanent])
async def test_what_cannot_be_done_now_is_tried_again_and_its_reason_told_once(
    monkeypatch: pytest.MonkeyPatch, kind: type[CortexError]
) -> None:
    monkeypatch.setattr(worker, "POLL_S", 0.001)
    played = Played(kind("away"), kind("away"), kind("elsewhere"), False, kind("away"), False)
    with capture_logs() as told:
        task = asyncio.create_task(played.run())
        async with asyncio.timeout(10):
            await played.idle.wait()
    task.cancel()
    assert [(line["event"], line["reason"]) for line in told] == [
        ("the work waits", reason) for reason in ("away", "elsewhere", "away")
    ]


async def test_a_bug_ends_it() -> None:
    with pytest.raises(KeyError):
        await Played(KeyError("a bug")).run()

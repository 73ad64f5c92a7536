"""A model that is away is found out while nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from cortex_contracts.errors import Unavailable
from cortex_gateway.synthesis_backend import Backend
from cortex_gateway.synthesis_routing import Model
from cortex_providers.prose import Prompt, Prose


@dataclass
class Checked:
    """A writer whose checks the test decides."""

    fails: list[Exception | None] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    async def check(self) -> None:
        await self._call("check")

    async def wake(self) -> None:
        await self._call("wake")

    async def _call(self, name: str) -> None:
        self.calls.append(name)
        if self.fails and (error := self.fails.pop(0)):
            raise error

    def write(self, prompt: Prompt, limit_s: float) -> AbstractAsyncContextManager[Prose]:
        raise NotImplementedError

    async def close(self) -> None:
        self.calls.append("close")


@asynccontextmanager
async def running(writer: Checked, recheck_s: float | None = None) -> AsyncIterator[Backend]:
    backend = Backend(Model.OLLAMA, writer, recheck_s=recheck_s, first_pause_s=0.001, longest_pause_s=0.01)
    task = asyncio.create_task(backend.run())
    try:
        async with asyncio.timeout(10):
            yield backend
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(backend: Backend, available: bool) -> None:
    while backend.available is not available:
        backend.changed.clear()
        await backend.changed.wait()


async def test_a_model_is_not_there_before_its_first_check() -> None:
    backend = Backend(Model.OLLAMA, Checked())
    assert not backend.available
    async with running(Checked()) as checked:
        await until(checked, True)


async def test_a_failed_answer_takes_it_away_until_a_check_that_wakes_it() -> None:
    writer = Checked(fails=[None, Unavailable("asleep"), Unavailable("asleep"), ValueError("odd"), None])
    async with running(writer) as backend:
        await until(backend, True)
        backend.failed("broke off")
        assert not backend.available
        await until(backend, True)
    assert writer.calls == ["check", "wake", "wake", "wake", "wake"]


async def test_a_model_that_is_there_is_looked_at_again() -> None:
    writer = Checked(fails=[None, None, Unavailable("gone"), None])
    async with running(writer, recheck_s=0.001) as backend:
        await until(backend, True)
        await until(backend, False)
        await until(backend, True)
    assert writer.calls[:3] == ["check", "check", "check"]


async def test_one_short_wait_is_no_failure_two_in_a_row_are() -> None:
    async with running(Checked()) as backend:
        await until(backend, True)
        backend.late(whole=False)
        assert backend.available
        backend.succeeded()
        backend.late(whole=False)
        assert backend.available
        backend.late(whole=False)
        assert not backend.available
        await until(backend, True)
        backend.late(whole=True)
        assert not backend.available


async def test_the_pause_grows_with_failures_in_a_row_up_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Backend(Model.OLLAMA, Checked(), first_pause_s=0.5, longest_pause_s=30.0)
    monkeypatch.setattr("random.uniform", lambda low, high: (low + high) / 2)
    pauses = []
    for _ in range(9):
        backend.failed("again")
        pauses.append(backend._pause())
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    backend.succeeded()
    backend.failed("after it worked")
    assert backend._pause() == 0.5


async def test_it_is_a_resource_that_is_always_usable() -> None:
    writer = Checked(fails=[Unavailable("away")])
    backend = Backend(Model.OLLAMA, writer)
    await backend.open()
    await backend.check()
    await backend.close()
    assert writer.calls == ["close"]

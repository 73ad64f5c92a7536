"""Which task a cancel ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from cortex_runtime.calls import CANCELLED_EARLY, Calls

SUBJECT = "cortex.v1.rpc.engine.memory.ask"
ONE, TWO = "1" * 32, "2" * 32


class Server:
    """Works on calls until they are cancelled or released."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.released = asyncio.Event()

    async def begin(self, call: str | None, subject: str = SUBJECT) -> asyncio.Task[str]:
        begun = asyncio.Event()

        async def work() -> str:
            if not self.calls.begin(subject, call):
                begun.set()
                return "not begun"
            begun.set()
            try:
                await self.released.wait()
                return "done"
            finally:
                self.calls.end(subject, call)

        task = asyncio.create_task(work())
        await begun.wait()
        return task


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    one = Server()
    yield one
    one.released.set()


async def test_a_cancel_ends_its_call_and_no_other(server: Server) -> None:
    one, two, without = await server.begin(ONE), await server.begin(TWO), await server.begin(None)
    server.calls.cancel(SUBJECT, ONE)
    with pytest.raises(asyncio.CancelledError):
        await one
    server.released.set()
    assert (await two, await without) == ("done", "done")


async def test_the_same_id_on_another_subject_is_another_call(server: Server) -> None:
    one = await server.begin(ONE)
    server.calls.cancel("cortex.v1.rpc.engine.pages.ask", ONE)
    server.released.set()
    assert await one == "done"


async def test_a_call_that_was_cancelled_before_it_came_does_not_begin(server: Server) -> None:
    server.calls.cancel(SUBJECT, ONE)
    assert await (await server.begin(ONE)) == "not begun"
    server.released.set()
    assert await (await server.begin(ONE)) == "done"  # it was one call


async def test_a_second_call_with_the_id_of_another_is_not_cancelled_with_it(server: Server) -> None:
    first, second = await server.begin(ONE), await server.begin(ONE)
    server.calls.cancel(SUBJECT, ONE)
    with pytest.raises(asyncio.CancelledError):
        await first
    server.released.set()
    assert await second == "done"


async def test_the_end_of_a_call_is_not_the_end_of_another_with_its_id(server: Server) -> None:
    first = await server.begin(ONE)
    second = await server.begin(ONE)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    server.calls.cancel(SUBJECT, ONE)
    with pytest.raises(asyncio.CancelledError):
        await first


@pytest.mark.parametrize("call", ["", "x" * 32, "1" * 31, "1" * 33, "*"])
async def test_an_id_of_another_form_is_none(server: Server, call: str) -> None:
    server.calls.cancel(SUBJECT, call)
    task = await server.begin(call)
    server.calls.cancel(SUBJECT, call)
    server.released.set()
    assert await task == "done"


async def test_only_so_many_cancels_are_remembered(server: Server) -> None:
    for number in range(CANCELLED_EARLY + 1):
        server.calls.cancel(SUBJECT, f"{number:032x}")
    server.released.set()
    assert await (await server.begin(f"{0:032x}")) == "done"  # forgotten
    assert await (await server.begin(f"{CANCELLED_EARLY:032x}")) == "not begun"

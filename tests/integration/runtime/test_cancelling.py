"""Calls that their callers give up, over a real server."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from cortex_contracts.errors import ErrorCode, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.engine import EngineAskReply, EngineAskRequest, EngineStatus
from cortex_contracts.rpc.recall import GET, GetReply, GetRequest
from cortex_runtime import metrics
from cortex_runtime.bus import Bus
from cortex_runtime.rpc import CONCURRENCY
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer

ASK = engine.ask("memory")
PRINCIPAL = Principal(org="local", subject="tester")
UNKNOWN = "00000000-0000-4000-8000-000000000000"


class Recall:
    """A recall service that works on every question until it is released or cancelled."""

    def __init__(self, server: NatsServer) -> None:
        self.happened: Counter[str] = Counter()
        self.released = asyncio.Event()
        self.bus = Bus(server.url("recall"), "recall", "0.1.0")
        self.bus.serve(ASK, self.ask)
        self.bus.serve(GET, self.get)

    async def ask(self, request: EngineAskRequest) -> EngineAskReply:
        await self._work(request.query)
        return EngineAskReply(engine="memory", status=EngineStatus.UP)

    async def get(self, _: GetRequest) -> GetReply:
        await self._work("get")
        raise Unavailable("gone")

    async def _work(self, name: str) -> None:
        self.happened[f"{name} begun"] += 1
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.happened[f"{name} cancelled"] += 1
            raise
        self.happened[f"{name} done"] += 1

    async def until(self, what: str, times: int = 1) -> None:
        async def seen() -> int:
            return self.happened[what]

        await eventually(seen, lambda count: count >= times, within_s=30)


@asynccontextmanager
async def calling(server: NatsServer) -> AsyncIterator[tuple[Recall, Bus]]:
    recall, gateway = Recall(server), Bus(server.url("gateway"), "gateway", "0.1.0")
    await recall.bus.open()
    await gateway._broker.connect()
    try:
        yield recall, gateway
    finally:
        recall.released.set()
        await gateway.close()
        await recall.bus.close()


def question(query: str) -> EngineAskRequest:
    return EngineAskRequest(principal=PRINCIPAL, query=query)


def counted(outcome: str) -> float:
    return metrics.RPCS.labels(ASK.subject, outcome)._value.get()


async def gives_up(call: asyncio.Task[EngineAskReply]) -> None:
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_who_is_cancelled_cancels_its_handler_and_no_other(nats: NatsServer) -> None:
    before = counted("cancelled")
    async with calling(nats) as (recall, gateway):
        one = asyncio.create_task(gateway.request(ASK, question("one")))
        two = asyncio.create_task(gateway.request(ASK, question("two")))
        await recall.until("one begun")
        await recall.until("two begun")
        await gives_up(one)
        await recall.until("one cancelled")
        recall.released.set()
        assert (await two).status is EngineStatus.UP
    assert recall.happened["two cancelled"] == 0
    assert counted("cancelled") == before + 1


async def test_who_runs_out_of_time_cancels_its_handler(nats: NatsServer) -> None:
    async with calling(nats) as (recall, gateway):
        with pytest.raises(Unavailable) as late:
            await gateway.request(ASK, question("one"), timeout_s=1.0)
        assert late.value.code is ErrorCode.DEADLINE_EXCEEDED
        await recall.until("one cancelled")


async def test_a_call_that_waits_for_its_turn_never_begins_once_it_is_given_up(nats: NatsServer) -> None:
    async with calling(nats) as (recall, gateway):
        busy = [asyncio.create_task(gateway.request(ASK, question("busy"))) for _ in range(CONCURRENCY)]
        await recall.until("busy begun", CONCURRENCY)
        waiting = asyncio.create_task(gateway.request(ASK, question("waiting")))
        last = asyncio.create_task(gateway.request(ASK, question("last")))
        await gateway.client.flush()
        await gives_up(waiting)
        await gateway.client.flush()
        await gives_up(busy[0])  # its handler makes room, after the server has heard of both
        await recall.until("last begun")
        recall.released.set()
        await asyncio.gather(*busy[1:], last)
    assert recall.happened["waiting begun"] == 0


async def test_a_call_that_is_not_cancellable_goes_on_without_its_caller(nats: NatsServer) -> None:
    async with calling(nats) as (recall, gateway):
        with pytest.raises(Unavailable):
            await gateway.request(GET, GetRequest(principal=PRINCIPAL, memory_id=UNKNOWN), timeout_s=0.2)
        recall.released.set()
        await recall.until("get done")
    assert recall.happened["get cancelled"] == 0


async def test_every_replica_hears_a_cancel_and_the_one_with_the_call_ends_it(nats: NatsServer) -> None:
    other = Recall(nats)
    await other.bus.open()
    try:
        async with calling(nats) as (recall, gateway):
            calls = [asyncio.create_task(gateway.request(ASK, question("one"))) for _ in range(20)]

            async def begun() -> int:
                return recall.happened["one begun"] + other.happened["one begun"]

            async def cancelled() -> int:
                return recall.happened["one cancelled"] + other.happened["one cancelled"]

            await eventually(begun, lambda count: count == 20)
            for call in calls:
                await gives_up(call)
            await eventually(cancelled, lambda count: count == 20)
    finally:
        other.released.set()
        await other.bus.close()
    assert recall.happened["one cancelled"] == recall.happened["one begun"]


async def test_a_server_that_goes_on_after_cancels_answers_as_before(nats: NatsServer) -> None:
    async with calling(nats) as (recall, gateway):
        for _ in range(3):
            call = asyncio.create_task(gateway.request(ASK, question("one")))
            await recall.until("one begun", recall.happened["one cancelled"] + 1)
            await gives_up(call)
            await recall.until("one cancelled", recall.happened["one begun"])
        recall.released.set()
        replies = await asyncio.gather(*(gateway.request(ASK, question("more")) for _ in range(CONCURRENCY * 2)))
    assert {reply.status for reply in replies} == {EngineStatus.UP}

"""Who stops waiting for an answer stops the work of the engines, over every way in, and nobody else's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import nats
import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.permissions import inbox_prefix
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.ask import ASK, AskRequest, Question
from cortex_contracts.rpc.contract import Cancel
from cortex_contracts.rpc.engine import EngineAskReply, EngineAskRequest, EngineStatus, Hit
from cortex_runtime.bus import Bus
from cortex_testkit.nats_server import NatsServer

MakeHit = Callable[..., Hit]
BODY = {"query": "Is Hermes running?", "scope": ["memory"]}
STREAM = {"Accept": "text/event-stream"}


class Working:
    """An engine's work: it has begun, and ends when it is released or cancelled."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.released = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def __call__(self, request: EngineAskRequest) -> EngineAskReply:
        self.begun.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return EngineAskReply(engine="memory", status=EngineStatus.UP)


@pytest.fixture
def work(played: Any) -> Iterator[Working]:
    """What the engine `memory` works on; it ends with the test."""
    played["memory"].answer = working = Working()
    yield working
    working.released.set()


async def soon(event: asyncio.Event) -> None:
    async with asyncio.timeout(5):  # less than any limit: the work did not just run out of time
        await event.wait()


@asynccontextmanager
async def calling(server: NatsServer) -> AsyncIterator[Bus]:
    bus = Bus(server.url("operator"), "operator", "0.0.1")
    await bus._broker.connect()
    try:
        yield bus
    finally:
        await bus.close()


async def left(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["json", "stream"])
async def test_a_client_that_leaves_ends_the_work(gateway: Any, work: Working, headers: dict[str, str]) -> None:
    async with gateway.http() as http:
        asking = asyncio.create_task(http.post("/ask", json=BODY, headers=headers))
        await soon(work.begun)
        await left(asking)  # httpx closes the connection
        await soon(work.cancelled)


async def test_a_client_that_leaves_in_the_middle_of_a_stream_ends_what_is_left(
    gateway: Any, played: Any, work: Working, make_hit: MakeHit
) -> None:
    played["memory"].hits, played["memory"].answer = (make_hit(),), None
    played["pages"].answer = work
    async with gateway.http() as http:
        async with http.stream("POST", "/ask", json={**BODY, "scope": ["memory", "pages"]}, headers=STREAM) as response:
            async with asyncio.timeout(15):
                async for line in response.aiter_lines():
                    if line == "event: engine":
                        break
            await soon(work.begun)
        await soon(work.cancelled)


async def test_another_question_goes_on(gateway: Any, played: Any) -> None:
    works = {"one": Working(), "two": Working()}

    async def by_question(request: EngineAskRequest) -> EngineAskReply:
        return await works[request.query](request)

    played["memory"].answer = by_question
    async with gateway.http() as http, gateway.http() as other:
        leaving = asyncio.create_task(http.post("/ask", json={**BODY, "query": "one"}))
        staying = asyncio.create_task(other.post("/ask", json={**BODY, "query": "two"}))
        await soon(works["one"].begun)
        await soon(works["two"].begun)
        await left(leaving)
        await soon(works["one"].cancelled)
        works["two"].released.set()
        reply = (await staying).json()
    assert not works["two"].cancelled.is_set()
    assert reply["engines"][0]["status"] == "up"


async def test_an_engine_whose_time_is_over_is_told_so(start_gateway: Any, work: Working) -> None:
    async with start_gateway(CORTEX_GATEWAY_ENGINE_LIMIT_S="1") as gateway, gateway.http() as http:
        reply = (await http.post("/ask", json=BODY)).json()
        assert reply["engines"][0]["error"] == "no answer within 1000 ms"
        await soon(work.cancelled)


async def test_a_question_over_the_bus_is_cancelled_through_both_hops(
    gateway: Any, work: Working, nats_server: NatsServer
) -> None:
    principal = Principal(org="local", subject="agent-7")
    async with calling(nats_server) as bus:
        asking = asyncio.create_task(
            bus.request(ASK, AskRequest(principal=principal, question=Question(query="q", scope=("memory",))))
        )
        await soon(work.begun)
        await left(asking)
        await soon(work.cancelled)


async def test_a_cancel_of_something_else_or_of_nothing_cancels_nothing(
    gateway: Any, work: Working, nats_server: NatsServer
) -> None:
    subject = engine.ask("memory").cancel_subject
    async with calling(nats_server) as bus, gateway.http() as http:
        asking = asyncio.create_task(http.post("/ask", json=BODY))
        await soon(work.begun)
        for body in (b"", b"\xff", b"{}", b'{"call": "*"}', Cancel(call="0" * 32).model_dump_json().encode()):
            await bus.client.publish(subject, body)
        await bus.client.flush()
        work.released.set()
        reply = (await asking).json()
    assert reply["engines"][0]["status"] == "up"
    assert not work.cancelled.is_set()


async def test_an_engine_that_hears_no_cancels_replies_to_nobody_and_goes_on(
    gateway: Any, nats_server: NatsServer
) -> None:
    older = await nats.connect(nats_server.url("recall"), inbox_prefix=inbox_prefix("recall"))
    requests = await older.subscribe(engine.ask("memory").subject)
    await older.flush()
    try:
        async with gateway.http() as http:
            asking = asyncio.create_task(http.post("/ask", json=BODY))
            late = await requests.next_msg(timeout=20)
            await left(asking)
            await late.respond(b'{"result": {"engine": "memory", "status": "up"}}')
            asking = asyncio.create_task(http.post("/ask", json=BODY))
            await (await requests.next_msg(timeout=20)).respond(b'{"result": {"engine": "memory", "status": "up"}}')
            reply = (await asking).json()
    finally:
        await older.close()
    assert reply["engines"][0]["status"] == "up"


@pytest.mark.parametrize(
    ("transport", "mode"),
    [("http", "auto"), ("http", "legacy"), ("sse", "auto")],
    ids=["closed response", "notification", "sse"],
)
async def test_an_mcp_client_that_cancels_its_call_ends_the_work(
    gateway: Any, work: Working, connect: Any, transport: str, mode: str
) -> None:
    async with connect(gateway, transport, mode) as client:
        asking = asyncio.create_task(client.call_tool("darwin_ask", BODY))
        await soon(work.begun)
        await left(asking)  # in the newest protocol the client closes the response, before it sends a notification
        await soon(work.cancelled)


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["json", "stream"])
async def test_a_gateway_that_stops_says_so(start_gateway: Any, work: Working, headers: dict[str, str]) -> None:
    async with start_gateway(CORTEX_GATEWAY_ENGINE_LIMIT_S="30") as gateway, gateway.http() as http:
        asking = asyncio.create_task(http.post("/ask", json=BODY, headers=headers))
        await soon(work.begun)
        code = await asyncio.to_thread(gateway.stop)
        response: httpx.Response = await asking
    assert code == 0
    assert "the gateway stops" in response.text
    assert response.status_code == (200 if headers else 503)

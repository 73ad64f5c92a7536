"""What was acknowledged is remembered exactly once, whatever dies; and every service recovers by itself.

One system of real processes; each test kills something while captures flow, and works in a namespace of its own.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from nats.aio.client import Client

from cortex_contracts import headers
from cortex_contracts.errors import Unavailable
from cortex_testkit.eventually import eventually
from cortex_testkit.system import CACHE, NATS, POSTGRES, System, running_system

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

NUMBERS = itertools.count()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[System]:
    async with running_system() as started:
        yield started


@pytest.fixture
async def system(shared: System) -> System:
    """The system, whole, whatever the test before left of it."""
    await shared.restore()
    shared.namespace = f"test-{next(NUMBERS)}"
    return shared


async def acknowledged(system: System, client: Client, count: int, prefix: str) -> None:
    """Publish captures one after the other, each until it is acknowledged, as a publisher that loses nothing does."""
    for number in range(count):
        while True:
            try:
                await system.capture(client, f"{prefix}-{number}", f"{prefix} capture number {number}")
                break
            except Unavailable:
                continue


async def remembered_once(system: System, expected: int) -> None:
    """Every acknowledged capture is one memory with one event, and nothing more comes."""
    counts = await eventually(
        system.counts,
        lambda seen: seen["memories"] >= expected and not seen["waiting"],
        within_s=120,
        ignoring=(OSError,),
    )
    assert counts == {"memories": expected, "contents": expected, "events": expected, "waiting": 0}


async def told(system: System, question: str, what: str, of_both: str) -> Any:
    """The gateway's reply as soon as it says this of both engines: a machine that is busy may be late first."""

    async def ask() -> Any:
        return (await system.ask(question)).json()

    both = {"memory": of_both, "pages": of_both}
    return await eventually(
        ask, lambda reply: {one["engine"]: one[what] for one in reply["engines"]} == both, ignoring=(KeyError,)
    )


async def answers(system: System, question: str) -> None:
    """The gateway answers from the memories, and every engine is up."""
    reply = await told(system, question, "status", "up")
    assert reply["receipts"], reply


async def test_the_same_capture_delivered_ten_times_makes_one_memory(system: System):
    async with system.publisher() as client:
        for _ in range(5):
            await system.capture(client, "same", "The kettle is descaled on Fridays.")
        for number in range(5):
            # Past the stream's duplicate window, as a late redelivery or a replay comes: a new id for the stream,
            # the first one for the inbox.
            await system.capture(
                client, f"late-{number}", "The kettle is descaled on Fridays.", {headers.ORIGINAL_MESSAGE_ID: "same"}
            )
        await system.capture(client, "last", "The window is cleaned on Mondays.")
    await remembered_once(system, 2)


async def test_nats_is_away_for_thirty_seconds_while_captures_flow(system: System):
    pids = {name: system.pid(name) for name in system.services}
    async with system.publisher() as client:
        flow = asyncio.create_task(acknowledged(system, client, 60, "outage"))
        await eventually(system.counts, lambda seen: seen["memories"] >= 5)
        await system.outage(NATS, 30)
        await flow
    await remembered_once(system, 60)
    await system.all_ready()
    await answers(system, "outage capture number 7")
    assert {name: system.pid(name) for name in system.services} == pids


async def test_postgresql_restarts_while_captures_flow(system: System):
    async with system.publisher() as client:
        flow = asyncio.create_task(acknowledged(system, client, 60, "restart"))
        await eventually(system.counts, lambda seen: seen["memories"] >= 5)
        system.stop(POSTGRES)
        await system.unready("ingest")
        system.launch(POSTGRES)
        await system.ready(POSTGRES)
        await flow
    await remembered_once(system, 60)
    await system.all_ready()
    await answers(system, "restart capture number 7")


async def test_the_cache_dies_and_costs_time_only(system: System):
    async with system.publisher() as client:
        await acknowledged(system, client, 3, "cache")
        system.kill(CACHE)
        await acknowledged(system, client, 3, "without cache")
    await remembered_once(system, 6)
    await answers(system, "without cache capture number 2")
    await system.all_ready()
    system.launch(CACHE)
    await system.ready(CACHE)
    await answers(system, "cache capture number 1")


async def test_ingest_is_killed_in_the_middle_of_five_hundred_captures(system: System):
    async with system.publisher() as client:
        flow = asyncio.create_task(acknowledged(system, client, 500, "killed"))
        for kill_at in (50, 200):
            await eventually(system.counts, lambda seen, at=kill_at: seen["memories"] >= at, within_s=60)
            system.kill("ingest")
            system.launch("ingest")
        await flow
    await remembered_once(system, 500)
    await system.all_ready()
    await answers(system, "killed capture number 333")


async def test_the_embedder_dies_and_captures_are_remembered_all_the_same(system: System):
    async with system.publisher() as client:
        system.kill("embedder")
        await acknowledged(system, client, 5, "patient")
        await answers_without_vectors(system)
        system.launch("embedder")
        await system.ready("embedder")
    await remembered_once(system, 5)


async def answers_without_vectors(system: System) -> None:
    await told(system, "anything at all", "error", "answered without vectors")


async def test_a_killed_recall_is_down_and_the_answer_says_so(system: System):
    system.kill("recall")
    reply = (await system.ask("who is there")).json()
    assert [(engine["engine"], engine["status"]) for engine in reply["engines"]] == [
        ("memory", "down"),
        ("pages", "down"),
    ]
    assert reply["receipts"] == []
    system.launch("recall")
    await system.ready("recall")
    await told(system, "who is there", "status", "up")


async def test_sleep_sees_every_memory_once_even_if_it_is_killed(system: System):
    async with system.publisher() as client:
        await acknowledged(system, client, 20, "before")
        system.kill("sleep")
        await acknowledged(system, client, 20, "during")
        system.launch("sleep")
    await remembered_once(system, 40)
    await eventually(lambda: seen_by_sleep(system), lambda seen: seen == 40, within_s=60)


async def seen_by_sleep(system: System) -> int:
    import nats as nats_client

    from cortex_contracts.messages.base import Principal
    from cortex_contracts.permissions import OPERATOR, inbox_prefix
    from cortex_contracts.rpc.sleep import SLEEP_STATUS, SleepStatusRequest
    from cortex_runtime.rpc import call

    client = await nats_client.connect(system.installation.operator_url, inbox_prefix=inbox_prefix(OPERATOR))
    try:
        request = SleepStatusRequest(principal=Principal(org="local", subject="tester"))
        status = await call(client, SLEEP_STATUS, request, timeout_s=5)
        return sum(seen.events_seen for seen in status.namespaces if seen.namespace == system.namespace)
    except Unavailable:
        return -1
    finally:
        await client.close()

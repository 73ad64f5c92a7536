"""The sleep service as a process: it takes in each memory event once and says so."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import nats as nats_client
import pytest
from nats.aio.client import Client

from cortex_contracts import subjects
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import MemoryEvent
from cortex_contracts.permissions import OPERATOR, inbox_prefix
from cortex_contracts.rpc.sleep import SLEEP_STATUS, SleepStatus, SleepStatusRequest
from cortex_contracts.subjects import SLEEP_EVENT_PATTERN, MemoryOp
from cortex_runtime.bus import Bus
from cortex_store.ids import uuid7
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.process import RunningService, service_process


@pytest.fixture
async def sleep(nats: NatsServer, postgres: PostgresDatabase, tmp_path: Path) -> AsyncIterator[RunningService]:
    process = service_process(
        "sleep",
        CORTEX_NATS_URL=nats.url("sleep"),
        CORTEX_SLEEP_DATABASE_URL=postgres.sleep_url,
        CORTEX_CACHE_URL="redis://127.0.0.1:1/0",
    )
    with RunningService(process, tmp_path) as running:
        await running.wait_ready()
        yield running


@pytest.fixture
async def operator(nats: NatsServer) -> AsyncIterator[Client]:
    client = await nats_client.connect(nats.url(OPERATOR), inbox_prefix=inbox_prefix(OPERATOR))
    yield client
    await client.close()


@pytest.fixture
async def ingest(nats: NatsServer) -> AsyncIterator[Bus]:
    """The service that publishes memory events."""
    bus = Bus(nats.url("ingest"), "ingest", "0.1.0")
    await bus.open()
    yield bus
    await bus.close()


def event(op: MemoryOp = MemoryOp.RETAIN, org: str = "local", namespace: str = "demo") -> MemoryEvent:
    return MemoryEvent(event_id=uuid7(), op=op, org=org, namespace=namespace, occurred_at=datetime.now(UTC))


async def publish(bus: Bus, one: MemoryEvent, message_id: str | None = None) -> None:
    subject = subjects.memory_event(one.op, one.org, one.namespace)
    await bus.publish(subject, one, message_id=message_id or str(one.event_id))


async def seen(operator: Client, org: str = "local") -> dict[str, int]:
    request = SleepStatusRequest(principal=Principal(org=org, subject="tester"))
    reply = await operator.request(SLEEP_STATUS.subject, request.model_dump_json().encode(), timeout=20)
    status = SleepStatus.model_validate(json.loads(reply.data)["result"])
    return {one.namespace: one.events_seen for one in status.namespaces}


async def test_each_event_is_taken_in_once_per_namespace_and_org(sleep: RunningService, ingest: Bus, operator: Client):
    repeated = event()
    for number in range(3):
        # Past the stream's duplicate window: other message ids, the same event.
        await publish(ingest, repeated, f"again-{number}")
    await publish(ingest, event(namespace="other"))
    await publish(ingest, event(org="stranger"))
    await publish(ingest, event())
    assert await eventually(lambda: seen(operator), lambda found: found == {"demo": 2, "other": 1})
    assert await eventually(lambda: seen(operator, "stranger"), lambda found: found == {"demo": 1})


async def test_what_was_taken_in_is_told_on_the_bus(sleep: RunningService, ingest: Bus, operator: Client):
    heard = await operator.subscribe(SLEEP_EVENT_PATTERN)
    await operator.flush()
    await publish(ingest, event())
    message = await heard.next_msg(timeout=30)
    assert message.subject == "cortex.v1.evt.sleep.observe.local.demo"
    assert json.loads(message.data)["events_seen"] == 1


async def test_reading_is_not_something_to_sleep_on(sleep: RunningService, ingest: Bus, operator: Client):
    await publish(ingest, event(MemoryOp.RECALL))
    await publish(ingest, event(MemoryOp.FORGET))
    assert await eventually(lambda: seen(operator), bool) == {"demo": 1}


async def test_partitions_are_made_months_ahead(sleep: RunningService, postgres: PostgresDatabase):
    connection = await asyncpg.connect(postgres.migration_url)
    try:

        async def partitions() -> int:
            found: int = await connection.fetchval(
                "SELECT count(*) FROM pg_inherits WHERE inhparent = 'memories'::regclass"
            )
            return found

        # This month, six more, and the default one.
        await eventually(partitions, lambda count: count >= 8)
    finally:
        await connection.close()

"""The outgoing webhook: the sleep service, a real bus and database, and a receiver with every kind of answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import nats as nats_client
import pytest
from nats.aio.client import Client
from starlette.responses import Response

from cortex_contracts import subjects
from cortex_contracts.errors import Permanent, Retryable
from cortex_contracts.messages.dead_letter import DeadLetter
from cortex_contracts.messages.events import WakeEvent, WakeKind
from cortex_contracts.messages.memory import Visibility
from cortex_contracts.permissions import OPERATOR, inbox_prefix
from cortex_contracts.streams import EVENTS, SLEEP_WAKES
from cortex_runtime import dead_letters
from cortex_runtime.bus import Bus, Delivery
from cortex_sleep import webhook
from cortex_sleep.webhook import Webhook
from cortex_store import memories
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit import webhook_receiver
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.process import RunningService, service_process
from cortex_testkit.webhook_receiver import Receiver

KEYS = (webhook_receiver.KEY,)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    async with receiver.running():
        yield receiver


@pytest.fixture
async def sleep(
    receiver: Receiver, postgres: PostgresDatabase, sleep_settings: dict[str, str], tmp_path: Path
) -> AsyncIterator[RunningService]:
    settings = {
        "CORTEX_SLEEP_DATABASE_URL": postgres.sleep_url,
        "CORTEX_WAKE_WEBHOOK_URL": receiver.url,
        "CORTEX_WAKE_WEBHOOK_SECRETS": webhook_receiver.SECRET,
    }
    with RunningService(service_process("sleep", **sleep_settings, **settings), tmp_path) as running:
        await running.wait_ready()
        yield running


@pytest.fixture
async def bus(nats: NatsServer) -> AsyncIterator[Bus]:
    """The bus with the rights of sleep, which alone publishes wake events."""
    bus = Bus(nats.url("sleep"), "sleep", "0.1.0")
    await bus.open()
    yield bus
    await bus.close()


@pytest.fixture
async def operator(nats: NatsServer) -> AsyncIterator[Client]:
    client = await nats_client.connect(nats.url(OPERATOR), inbox_prefix=inbox_prefix(OPERATOR))
    yield client
    await client.close()


def event(**fields: Any) -> WakeEvent:
    given: dict[str, Any] = {
        "event_id": uuid7(),
        "org": "local",
        "namespace": "work",
        "reason": "what was known is not true any more: a newer memory says otherwise",
        "occurred_at": datetime.now(UTC),
        "kind": WakeKind.CONTRADICTION,
        "memory_id": uuid7(),
    }
    return WakeEvent(**given | fields)


async def publish(bus: Bus, one: WakeEvent, message_id: str | None = None) -> None:
    await bus.publish(subjects.wake_event(one.org, one.namespace), one, message_id=message_id or str(one.event_id))


async def letters(operator: Client) -> list[DeadLetter]:
    return [letter async for letter in dead_letters.browse(operator)]


async def received(receiver: Receiver, count: int) -> None:
    """Wait for so many messages at the receiver."""
    await eventually(lambda: asyncio.sleep(0, len(receiver.got)), lambda got: got >= count)


async def settled(operator: Client) -> bool:
    """Whether every wake event that its consumer knows was acknowledged or ended; it learns of one after its
    publisher."""
    info = await operator.jetstream().consumer_info(EVENTS.name, SLEEP_WAKES.name)
    return not info.num_pending and not info.num_ack_pending


async def test_a_wake_event_reaches_the_receiver_once(
    sleep: RunningService, receiver: Receiver, bus: Bus, operator: Client
) -> None:
    one, other = event(), event(org="theirs", kind=WakeKind.STALE)
    # Past the stream's duplicate window: other message ids, the same event.
    for number in range(3):
        await publish(bus, one, f"again-{number}")
    await publish(bus, other)
    await received(receiver, 2)
    await eventually(lambda: settled(operator))
    assert receiver.taken.keys() == {str(one.event_id), str(other.event_id)}
    message = receiver.taken[str(one.event_id)]
    assert message["type"] == "cortex.wake.contradiction"
    assert WakeEvent.model_validate(message["data"]) == one
    assert len({found["id"] for found in receiver.got}) == 2
    assert {found["content_type"] for found in receiver.got} == {"application/json"}
    assert await letters(operator) == []


async def test_a_receiver_that_fails_gets_the_same_message_again(
    sleep: RunningService, receiver: Receiver, bus: Bus, operator: Client
) -> None:
    receiver.answers = [
        Response(status_code=503),
        Response(status_code=429, headers={"retry-after": "0"}),
        # Followed, it would lead where nobody configured it to go.
        Response(status_code=307, headers={"location": "http://127.0.0.1:1/elsewhere"}),
    ]
    await publish(bus, one := event())
    await received(receiver, 4)
    await eventually(lambda: settled(operator))
    assert [found["id"] for found in receiver.got] == [str(one.event_id)] * 4
    assert len({json.dumps(found, sort_keys=True) for found in receiver.got}) == 1
    assert list(receiver.taken) == [str(one.event_id)]
    assert await letters(operator) == []


@pytest.mark.parametrize("status", [400, 410])
async def test_what_is_refused_is_a_dead_letter_at_once_and_can_be_replayed(
    sleep: RunningService, receiver: Receiver, bus: Bus, operator: Client, status: int
) -> None:
    receiver.answers = [Response(status_code=status)]
    await publish(bus, one := event())
    (letter,) = await eventually(lambda: letters(operator))
    assert (letter.consumer, letter.deliveries) == (SLEEP_WAKES.name, 1)
    assert letter.reason.endswith(f"the wake webhook answered with status {status}")
    assert webhook_receiver.TOKEN not in letter.reason
    await eventually(lambda: settled(operator))
    assert receiver.taken == {}
    await dead_letters.replay(operator, letter.id)
    await eventually(lambda: settled(operator))
    await eventually(lambda: asyncio.sleep(0, list(receiver.taken)), lambda ids: ids == [str(one.event_id)])
    assert await letters(operator) == []


async def test_a_receiver_that_is_away_gets_everything_when_it_is_back(
    nats: NatsServer,
    postgres: PostgresDatabase,
    sleep_settings: dict[str, str],
    bus: Bus,
    operator: Client,
    tmp_path: Path,
) -> None:
    receiver = Receiver()
    async with receiver.running():
        port = int(receiver.url.split(":")[2].split("/")[0])
    settings = {
        "CORTEX_SLEEP_DATABASE_URL": postgres.sleep_url,
        "CORTEX_WAKE_WEBHOOK_URL": receiver.url,
        "CORTEX_WAKE_WEBHOOK_SECRETS": webhook_receiver.SECRET,
    }
    async with AsyncExitStack() as stack:
        process = service_process("sleep", **sleep_settings, **settings)
        with RunningService(process, tmp_path / "first") as running:
            await running.wait_ready()
            events = [event() for _ in range(5)]
            for one in events:
                await publish(bus, one)

            async def tried() -> int:
                info = await operator.jetstream().consumer_info(EVENTS.name, SLEEP_WAKES.name)
                return int(info.num_redelivered or 0)

            await eventually(tried, lambda count: count > 0)
        # What was not taken survives the end of the service.
        await stack.enter_async_context(receiver.running(port))
        with RunningService(service_process("sleep", **sleep_settings, **settings), tmp_path / "second") as running:
            await running.wait_ready()
            await eventually(lambda: settled(operator), within_s=60)
    assert receiver.taken.keys() == {str(one.event_id) for one in events}
    assert all(webhook_receiver.TOKEN not in log.read_text() for log in tmp_path.rglob("*.log"))


async def test_without_a_receiver_nothing_piles_up(
    postgres: PostgresDatabase, sleep_settings: dict[str, str], bus: Bus, operator: Client, tmp_path: Path
) -> None:
    settings = {"CORTEX_SLEEP_DATABASE_URL": postgres.sleep_url}
    await publish(bus, event())
    with RunningService(service_process("sleep", **sleep_settings, **settings), tmp_path) as running:
        await running.wait_ready()
        await eventually(lambda: settled(operator))
    assert await letters(operator) == []


# Without a bus ---------------------------------------------------------------------------------------------------


def delivery(number: int) -> Delivery:
    return Delivery("cortex.v1.evt.wake.local.work", "m", EVENTS.name, 1, number, {})


async def test_tries_become_rarer_and_end_as_a_dead_letter_after_a_day(
    receiver: Receiver, sleep_database: Database
) -> None:
    hook = Webhook(receiver.url, KEYS, sleep_database)
    old, new = event(occurred_at=datetime.now(UTC) - timedelta(days=2)), event()
    # A message that waited for long because the database was away has all of its tries before it.
    for one, number in ((old, 1), (old, webhook.TRIES - 1), (new, webhook.TRIES)):
        receiver.answers = [Response(status_code=500)]
        with pytest.raises(Retryable, match="status 500") as failed:
            await hook.deliver(one, delivery(number))
        assert failed.value.delay_s is not None
        assert failed.value.delay_s <= 1 if number == 1 else failed.value.delay_s >= 450
    receiver.answers = [Response(status_code=500)]
    with pytest.raises(Permanent, match=r"given up after 100 tries: the wake webhook answered with status 500"):
        await hook.deliver(old, delivery(webhook.TRIES))
    await hook.close()


async def test_what_the_receiver_has_is_not_sent_again(
    receiver: Receiver, sleep_database: Database, postgres: PostgresDatabase
) -> None:
    hook = Webhook(receiver.url, KEYS, sleep_database)
    one = event()
    for number in (1, 2):
        await hook.deliver(one, delivery(number))
    assert len(receiver.got) == 1
    connection = await asyncpg.connect(postgres.sleep_url)
    try:
        assert await connection.fetchval("SELECT count(*) FROM inbox WHERE consumer = $1", webhook.CONSUMER) == 1
    finally:
        await connection.close()
    await hook.close()


@pytest.mark.parametrize("change", ["none", "corrected", "forgotten", "private", "gone"])
async def test_what_was_forgotten_or_made_private_while_it_waited_is_not_shown(
    receiver: Receiver, sleep_database: Database, change: str
) -> None:
    memory = NewMemory(
        id=uuid7(),
        namespace="work",
        content="المنفذ 8471 هو المنفذ الجديد",
        source_kind="manual",
        importance=0.8,
        valid_at=datetime.now(UTC),
        owner="me",
        visibility=Visibility.PRIVATE if change == "private" else Visibility.TEAM,
    )
    if change != "gone":
        async with sleep_database.transaction("local") as connection:
            await memories.insert(connection, memory)
            if change in ("corrected", "forgotten"):
                by = uuid7() if change == "corrected" else None
                await memories.invalidate(connection, memory.id, datetime.now(UTC), by)
    hook = Webhook(receiver.url, KEYS, sleep_database)
    await hook.deliver(event(memory_id=memory.id, preview=memory.content, entity="المنفذ"), delivery(1))
    (got,) = receiver.got
    shown = change in ("none", "corrected")
    assert (got["data"]["preview"], got["data"]["entity"]) == ((memory.content, "المنفذ") if shown else ("", None))
    await hook.close()


@pytest.mark.parametrize(
    ("url", "keys", "problem"),
    [
        ("http://127.0.0.1:1/x", (), "CORTEX_WAKE_WEBHOOK_URL is set, but CORTEX_WAKE_WEBHOOK_SECRETS is not"),
        ("ftp://127.0.0.1/x", KEYS, "CORTEX_WAKE_WEBHOOK_URL: expected an address"),
        ("http://me:word@127.0.0.1/x", KEYS, "CORTEX_WAKE_WEBHOOK_URL: expected an address"),
        ("http://[127.0.0.1/x", KEYS, "CORTEX_WAKE_WEBHOOK_URL: expected an address"),
        ("nowhere", KEYS, "CORTEX_WAKE_WEBHOOK_URL: expected an address"),
    ],
)
async def test_a_receiver_that_cannot_be_is_refused(
    sleep_database: Database, url: str, keys: tuple[bytes, ...], problem: str
) -> None:
    with pytest.raises(Permanent, match=problem) as refused:
        Webhook(url, keys, sleep_database)
    assert "word" not in str(refused.value)

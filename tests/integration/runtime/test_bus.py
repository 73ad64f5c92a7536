"""The bus against a real server: settle, dead letters, RPC, reconnect."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TypeVar
from uuid import uuid4

import nats as nats_client
import pytest
from nats.aio.client import Client

from cortex_contracts import headers, subjects
from cortex_contracts.errors import CortexError, ErrorCode, InvalidMessage, Permanent, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.commands import Capture, SyncVault
from cortex_contracts.messages.events import KeyEvent
from cortex_contracts.permissions import OPERATOR, inbox_prefix, publisher_user
from cortex_contracts.rpc.ingest import SYNC_STATUS, SyncStatus, SyncStatusRequest
from cortex_contracts.rpc.sleep import SLEEP_STATUS, SleepStatusRequest
from cortex_contracts.streams import CAPTURES, INGEST_CAPTURES, INGEST_SYNCS
from cortex_runtime import dead_letters, tracing
from cortex_runtime.bus import Bus, Delivery
from cortex_runtime.publishing import EXPECTED_STREAM, publish, room
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer

PRINCIPAL = Principal(org="local", subject="tester")


@asynccontextmanager
async def client(server: NatsServer, user: str) -> AsyncIterator[Client]:
    connection = await nats_client.connect(server.url(user), inbox_prefix=inbox_prefix(user))
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def opened(bus: Bus) -> AsyncIterator[Bus]:
    await bus.open()
    try:
        yield bus
    finally:
        await bus.close()


class Ingest:
    """An ingest service whose handler does what the content of a capture says."""

    def __init__(self, server: NatsServer) -> None:
        self.handled: list[tuple[str, int, str]] = []
        self.mended = False
        self.bus = Bus(server.url("ingest"), "ingest", "0.1.0")
        self.bus.consume(INGEST_CAPTURES, Capture, self.capture)
        self.bus.consume(INGEST_SYNCS, SyncVault, self.sync)
        self.bus.serve(SYNC_STATUS, self.status)

    async def capture(self, capture: Capture, delivery: Delivery) -> None:
        match capture.content:
            case "poison" if not self.mended:
                raise Permanent("nothing to remember")
            case "bug":
                raise KeyError("memory text that must stay inside")
            case "flaky" if delivery.deliveries < 3:
                raise Unavailable("the database is away")
        self.handled.append((capture.content, delivery.deliveries, delivery.message_id))

    async def sync(self, _: SyncVault, __: Delivery) -> None:
        raise AssertionError("no sync was asked for")

    async def status(self, request: SyncStatusRequest) -> SyncStatus:
        match request.vault:
            case "bug":
                raise RuntimeError("memory text that must stay inside")
            case "refused":
                raise Permanent("no such vault", code=ErrorCode.NOT_FOUND)
            case "long":
                return SyncStatus.model_construct(vault="long", synced_commit="c" * self.bus.client.max_payload)
        return SyncStatus(vault=request.vault, synced_commit="abc", last_sync=None)

    def contents(self) -> list[str]:
        return sorted(content for content, _, _ in self.handled)


async def send(server: NatsServer, *captures: tuple[str, str], org: str = "local") -> None:
    async with client(server, publisher_user(org)) as connection:
        for message_id, content in captures:
            body = Capture(namespace="demo", content=content).model_dump_json().encode()
            await publish(connection, subjects.capture(org, "chat"), body, message_id=message_id, more={})


async def letters(server: NatsServer, count: int) -> list[dead_letters.DeadLetter]:
    async with client(server, OPERATOR) as operator:

        async def read() -> list[dead_letters.DeadLetter]:
            return [letter async for letter in dead_letters.browse(operator)]

        return await eventually(read, lambda found: len(found) >= count)


async def test_poison_ends_in_the_dead_letters_with_its_reason_and_does_not_stop_the_rest(nats: NatsServer):
    async with opened((ingest := Ingest(nats)).bus):
        await send(nats, ("1", "one"), ("2", "poison"), ("3", "three"))
        found = await letters(nats, 1)
        await eventually(lambda: _value(ingest.contents()), lambda seen: seen == ["one", "three"])
    assert [(one.message_id, one.reason, one.deliveries) for one in found] == [
        ("2", "invalid_request: nothing to remember", 1)
    ]
    assert found[0].subject == subjects.capture("local", "chat")


async def test_a_body_that_is_no_message_is_a_dead_letter_that_keeps_its_bytes(nats: NatsServer):
    async with opened(Ingest(nats).bus), client(nats, publisher_user("local")) as publisher:
        subject = subjects.capture("local", "chat")
        await publish(publisher, subject, b"\xff not json", message_id="broken", more={})
        [letter] = await letters(nats, 1)
        async with client(nats, OPERATOR) as operator:
            _, body = await dead_letters.inspect(operator, letter.id)
    assert letter.reason.startswith("invalid_request") or letter.reason.startswith("invalid message")
    assert body == b"\xff not json"


async def test_an_outage_is_waited_for_and_the_work_is_done_once(nats: NatsServer):
    async with opened((ingest := Ingest(nats)).bus):
        await send(nats, ("f", "flaky"))
        await eventually(lambda: _value(ingest.handled), bool)
        async with client(nats, OPERATOR) as operator:
            await eventually(lambda: _left(operator), lambda left: left == 0)
    assert ingest.handled == [("flaky", 3, "f")]


async def test_an_unknown_failure_is_retried_to_its_limit_and_never_tells_its_text(nats: NatsServer):
    async with opened(Ingest(nats).bus):
        await send(nats, ("b", "bug"))
        [letter] = await letters(nats, 1)
    assert letter.deliveries == INGEST_CAPTURES.max_deliver
    assert "KeyError" in letter.reason
    assert "memory text" not in letter.reason


async def test_a_replayed_letter_keeps_its_identity_and_is_delivered_within_the_duplicate_window(nats: NatsServer):
    async with opened((ingest := Ingest(nats)).bus), client(nats, OPERATOR) as operator:
        await send(nats, ("2", "poison"))
        [letter] = await letters(nats, 1)
        ingest.mended = True
        await dead_letters.replay(operator, letter.id)
        await eventually(lambda: _value(ingest.handled), bool)
        assert await _letters(operator) == []
    assert ingest.handled == [("poison", 1, "2")]


async def test_a_purged_letter_is_gone_and_one_that_is_not_there_is_named(nats: NatsServer):
    async with opened(Ingest(nats).bus), client(nats, OPERATOR) as operator:
        await send(nats, ("2", "poison"))
        [letter] = await letters(nats, 1)
        assert await dead_letters.purge(operator, letter.id) == 1
        assert await _letters(operator) == []
        with pytest.raises(Permanent, match=f"there is no dead letter {letter.id}"):
            await dead_letters.replay(operator, letter.id)


async def test_the_same_message_published_ten_times_is_stored_once(nats: NatsServer):
    async with client(nats, publisher_user("local")) as connection:
        body = Capture(namespace="demo", content="x").model_dump_json().encode()
        answers = [
            await publish(connection, subjects.capture("local", "chat"), body, message_id="same", more={})
            for _ in range(10)
        ]
    assert {answer.sequence for answer in answers} == {1}
    assert [answer.duplicate for answer in answers] == [False] + [True] * 9


async def test_a_publisher_cannot_reach_another_orgs_captures(nats: NatsServer):
    async with client(nats, publisher_user("stranger")) as connection:
        with pytest.raises(Unavailable):
            await publish(connection, subjects.capture("local", "chat"), b"{}", message_id="1", more={})
    async with client(nats, OPERATOR) as operator:
        assert (await operator.jetstream().stream_info(CAPTURES.name)).state.messages == 0


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"\xff", b'{"vault": "UPPER", "principal": {}}'])
async def test_an_invalid_request_gets_an_error_reply(nats: NatsServer, body: bytes):
    async with opened(Ingest(nats).bus), client(nats, "gateway") as caller:
        reply = json.loads((await caller.request(SYNC_STATUS.subject, body, timeout=20)).data)
    assert reply["error"]["code"] == "invalid_request"
    assert reply["error"]["retryable"] is False
    assert "result" not in reply


async def test_errors_of_a_handler_reach_the_caller_as_their_kind_and_bugs_without_their_text(nats: NatsServer):
    async with opened(Ingest(nats).bus), opened(Bus(nats.url("gateway"), "gateway", "0.1.0")) as caller:
        answer = await caller.request(SYNC_STATUS, SyncStatusRequest(principal=PRINCIPAL, vault="v"))
        assert answer == SyncStatus(vault="v", synced_commit="abc", last_sync=None)
        with pytest.raises(Permanent, match="no such vault") as refused:
            await caller.request(SYNC_STATUS, SyncStatusRequest(principal=PRINCIPAL, vault="refused"))
        assert refused.value.code is ErrorCode.NOT_FOUND
        with pytest.raises(CortexError) as bug:
            await caller.request(SYNC_STATUS, SyncStatusRequest(principal=PRINCIPAL, vault="bug"))
        assert bug.value.code is ErrorCode.INTERNAL
        assert "memory text" not in bug.value.message


async def test_a_reply_that_no_message_holds_is_an_error_at_once(nats: NatsServer):
    async with opened(Ingest(nats).bus), opened(Bus(nats.url("gateway"), "gateway", "0.1.0")) as caller:
        with pytest.raises(Permanent, match=r"bytes, a message holds 1048576: ask for less") as refused:
            await caller.request(SYNC_STATUS, SyncStatusRequest(principal=PRINCIPAL, vault="long"), timeout_s=60)
        assert refused.value.code is ErrorCode.TOO_LARGE


@pytest.mark.parametrize("over", [-1, 0, 1, 100_000])
async def test_a_request_is_refused_from_the_first_byte_that_no_message_holds(nats: NatsServer, over: int):
    """The client counts no headers, and the server closes the connection of one that sends too much."""
    async with opened(Ingest(nats).bus), opened(Bus(nats.url("gateway"), "gateway", "0.1.0")) as caller:
        # A field that nobody reads makes the request as long as it has to be.
        class Padded(SyncStatusRequest):
            padding: str

        tracing.configure("test", "0.1.0")
        with tracing.span("test"):
            request = Padded(principal=PRINCIPAL, vault="v", padding="")
            request = request.model_copy(update={"padding": "x" * (_space(caller.client, request) + over)})
            if over <= 0:
                assert (await caller.request(SYNC_STATUS, request)).vault == "v"
            else:
                with pytest.raises(InvalidMessage, match="smaller batches") as refused:
                    await caller.request(SYNC_STATUS, request)
                assert refused.value.code is ErrorCode.TOO_LARGE
        assert caller.client.stats["reconnects"] == 0
        await caller.request(SYNC_STATUS, SyncStatusRequest(principal=PRINCIPAL, vault="v"))
        assert caller.client.stats["reconnects"] == 0


def _space(client: Client, request: SyncStatusRequest) -> int:
    return room(client, tracing.headers()) - len(request.model_dump_json().encode())


@pytest.mark.parametrize("over", [0, 1])
async def test_what_is_published_is_refused_from_the_first_byte_that_no_message_holds(nats: NatsServer, over: int):
    async with client(nats, "ingest") as ingest:
        subject, more = subjects.dead_letter("CAPTURES", "ingest-captures"), {"Some": "header"}
        sent = {**more, headers.MESSAGE_ID: "1", EXPECTED_STREAM: "DEAD_LETTERS"}
        body = b"x" * (room(ingest, sent) + over)
        if over:
            with pytest.raises(Permanent, match="larger than the server takes"):
                await publish(ingest, subject, body, message_id="1", more=more)
        else:
            await publish(ingest, subject, body, message_id="1", more=more)
        assert ingest.stats["reconnects"] == 0


async def test_a_stopped_service_is_known_to_be_down_at_once(nats: NatsServer):
    async with opened(Bus(nats.url("gateway"), "gateway", "0.1.0")) as caller:

        async def ask() -> float:
            started = time.perf_counter()
            with pytest.raises(Unavailable, match="no sleep service answers"):
                await caller.request(SLEEP_STATUS, SleepStatusRequest(principal=PRINCIPAL))
            return time.perf_counter() - started

        # The bound, not a benchmark: an answer from the server, not a time-out. A busy machine may be late.
        await eventually(ask, lambda took_s: took_s < 0.1)


async def test_requests_are_answered_side_by_side(nats: NatsServer):
    arrived, release = asyncio.Semaphore(0), asyncio.Event()

    async def wait(request: SyncStatusRequest) -> SyncStatus:
        arrived.release()
        await release.wait()
        return SyncStatus(vault=request.vault, synced_commit=None, last_sync=None)

    server = Bus(nats.url("ingest"), "ingest", "0.1.0")
    server.serve(SYNC_STATUS, wait)
    async with opened(server), opened(Bus(nats.url("gateway"), "gateway", "0.1.0")) as caller:
        async with asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(caller.request(SYNC_STATUS, SyncStatusRequest(principal=PRINCIPAL, vault="v")))
            async with asyncio.timeout(20):
                for _ in range(5):
                    await arrived.acquire()
            release.set()


async def test_a_service_is_found_by_discovery(nats: NatsServer):
    async with opened(Ingest(nats).bus), client(nats, OPERATOR) as operator:
        info = json.loads((await operator.request("$SRV.INFO.cortex-ingest", b"", timeout=20)).data)
    assert info["name"] == "cortex-ingest"
    assert [endpoint["subject"] for endpoint in info["endpoints"]] == [SYNC_STATUS.subject]


async def test_the_trace_of_a_caller_reaches_the_handler(nats: NatsServer):
    tracing.configure("test", "0.1.0")
    seen: list[str | None] = []

    async def remember(request: SyncStatusRequest) -> SyncStatus:
        seen.append(tracing.trace_id())
        return SyncStatus(vault=request.vault, synced_commit=None, last_sync=None)

    server = Bus(nats.url("ingest"), "ingest", "0.1.0")
    server.serve(SYNC_STATUS, remember)
    async with opened(server), opened(Bus(nats.url("gateway"), "gateway", "0.1.0")) as caller:
        with tracing.span("test"):
            expected = tracing.trace_id()
            await caller.request(SYNC_STATUS, SyncStatusRequest(principal=PRINCIPAL, vault="v"))
    assert seen == [expected]
    assert expected is not None


async def test_a_missing_consumer_is_a_reason_to_wait_and_not_to_crash(nats: NatsServer):
    async with client(nats, "provisioner") as provisioner:
        await provisioner.jetstream().delete_consumer(CAPTURES.name, INGEST_CAPTURES.name)
    bus = Ingest(nats).bus
    with pytest.raises(Unavailable, match="ingest-captures of CAPTURES is not provisioned"):
        await bus.open()
    await bus.close()


async def test_the_message_id_of_a_message_without_one_is_its_place(nats: NatsServer):
    async with opened((ingest := Ingest(nats)).bus), client(nats, publisher_user("local")) as publisher:
        body = Capture(namespace="demo", content="anonymous").model_dump_json().encode()
        ack = await publisher.jetstream().publish(subjects.capture("local", "chat"), body, stream=CAPTURES.name)
        await eventually(lambda: _value(ingest.handled), bool)
    assert ingest.handled[0][2] == f"CAPTURES:{ack.seq}"
    assert headers.MESSAGE_ID == "Nats-Msg-Id"


ValueT = TypeVar("ValueT")


async def _value(value: ValueT) -> ValueT:
    return value


async def _letters(operator: Client) -> list[dead_letters.DeadLetter]:
    return [letter async for letter in dead_letters.browse(operator)]


async def _left(operator: Client) -> int:
    return (await operator.jetstream().stream_info(CAPTURES.name)).state.messages


async def raw_publish(server: NatsServer, block: bytes) -> None:
    """Send bytes to the server as a publisher whose client keeps no rules."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    user = publisher_user("local")
    options = json.dumps({"user": user, "pass": server.passwords[user], "headers": True, "verbose": False})
    writer.write(f"CONNECT {options}\r\n".encode() + block + b"PING\r\n")
    await writer.drain()
    async with asyncio.timeout(30):
        while b"PONG" not in await reader.readline():
            pass
    writer.close()
    await writer.wait_closed()


def with_headers(headers_block: bytes, body: bytes) -> bytes:
    subject = subjects.capture("local", "chat").encode()
    return b"HPUB %s %d %d\r\n%s%s\r\n" % (
        subject,
        len(headers_block),
        len(headers_block) + len(body),
        headers_block,
        body,
    )


@pytest.mark.parametrize(
    "block",
    [
        with_headers(b"abcd", b"{}"),
        with_headers(b"\r\n", b"{}"),
        with_headers(b"NATS/1.0 \xff\xff\xff\r\n\r\n", b"{}"),
        with_headers(b"NATS/1.0\r\ncontent-type: application/json\r\n\r\n", b"{"),
        with_headers(b"NATS/1.0\r\ncontent-type: text/plain\r\n\r\n", b"\xff\xfe"),
        with_headers(b"NATS/1.0\r\nX(y): z\r\n\r\n", b"{}"),
        with_headers(b"NATS/1.0\r\n\r\n", b"[" * 200_000),
        with_headers(b"NATS/1.0\r\n\r\n", b'{"namespace": "demo", "content": ' + b"9" * 6000 + b"}"),
    ],
    ids=["no-block", "empty", "binary", "json-type", "text-type", "odd-name", "deep", "number"],
)
async def test_a_message_made_to_do_harm_becomes_a_dead_letter_and_the_rest_goes_on(nats: NatsServer, block: bytes):
    async with opened((ingest := Ingest(nats)).bus):
        await raw_publish(nats, block)
        await send(nats, ("after", "after"))
        await eventually(lambda: _value(ingest.contents()), lambda seen: seen == ["after"])
        await letters(nats, 1)
        async with client(nats, OPERATOR) as operator:
            await eventually(lambda: _left(operator), lambda left: left == 0)


async def test_a_message_that_would_not_fit_with_its_reason_is_refused_to_its_publisher(nats: NatsServer):
    async with client(nats, publisher_user("local")) as publisher:
        with pytest.raises(Permanent, match="larger than") as refused:
            await publish(publisher, subjects.capture("local", "chat"), b"x" * 1_000_000, message_id="1", more={})
    assert refused.value.code is ErrorCode.TOO_LARGE


async def test_a_publisher_cannot_choose_where_its_consumer_answers(nats: NatsServer):
    async with opened((ingest := Ingest(nats)).bus), client(nats, OPERATOR) as operator:
        heard = await operator.subscribe(subjects.EVENT_PATTERN)
        await operator.flush()
        async with client(nats, publisher_user("local")) as publisher:
            body = Capture(namespace="demo", content="one").model_dump_json().encode()
            victim = "cortex.v1.evt.memory.forget.stranger.demo"
            await publish(publisher, subjects.capture("local", "chat"), body, message_id="1", more={"reply_to": victim})
        await eventually(lambda: _value(ingest.contents()), bool)
        await eventually(lambda: _left(operator), lambda left: left == 0)
        await operator.flush()
        assert heard.pending_msgs == 0


async def test_every_replica_that_watches_hears_an_event_and_a_broken_one_stops_nobody(nats: NatsServer):
    heard: list[str] = []
    replicas = [Bus(nats.url("gateway"), "gateway", "0.1.0") for _ in range(2)]
    for bus in replicas:
        bus.watch(subjects.KEY_EVENT_PATTERN, KeyEvent, lambda event: heard.append(event.key_id))
    event = KeyEvent(event_id=uuid4(), org="local", key_id="k", revoked=True, occurred_at=datetime.now(UTC))
    async with opened(replicas[0]), opened(replicas[1]), opened(Bus(nats.url("ingest"), "ingest", "0.1.0")) as ingest:
        subject = subjects.key_event("local")
        await ingest.publish_raw(subject, b"no event", message_id="1", headers={})
        await ingest.tell(subject, event, message_id="2")
        await eventually(lambda: _value(heard), lambda keys: keys == ["k", "k"])
        # The outbox says it again, under the same id: it is stored once.
        assert (await ingest.publish(subject, event, message_id="2")).duplicate


async def test_nobody_is_told_by_a_bus_that_is_not_open_and_nothing_fails(nats: NatsServer):
    event = KeyEvent(event_id=uuid4(), org="local", key_id="k", revoked=True, occurred_at=datetime.now(UTC))
    await Bus(nats.url("ingest"), "ingest", "0.1.0").tell(subjects.key_event("local"), event, message_id="1")


async def test_a_connection_that_is_closed_for_good_ends_the_service_and_leaves_the_loop_free(nats: NatsServer):
    closed = asyncio.Event()
    bus = Bus(nats.url("ingest"), "ingest", "0.1.0", on_closed=closed.set)
    bus.consume(INGEST_CAPTURES, Capture, Ingest(nats).capture)
    async with opened(bus):
        await bus.client.close()
        async with asyncio.timeout(20):
            await closed.wait()
        # The pull loop has ended: timers still fire.
        async with asyncio.timeout(20):
            await asyncio.sleep(0.01)

"""The bus as a service sees it: publish facts, call and serve RPCs, consume work.

JetStream consumers run on FastStream with its acknowledgements switched to manual, so that `settle` alone decides;
RPC runs on the NATS services API, which gives discovery and statistics (ADR 0008 compares the two). The connection
reconnects for ever; one that is closed for good calls `on_closed`, and the service ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import urlsplit

import nats.errors
import nats.js.errors
from faststream import AckPolicy
from faststream.exceptions import IncorrectState
from faststream.nats import ConsumerConfig, JStream, NatsBroker, PullSub
from faststream.nats.annotations import NatsMessage
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import ValidationError

from cortex_contracts import headers
from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Message
from cortex_contracts.permissions import inbox_prefix
from cortex_contracts.rpc.contract import ReplyT, RequestT, Rpc
from cortex_contracts.streams import Consumer
from cortex_runtime import dead_letters, logs, metrics, tracing
from cortex_runtime.publishing import Published, publish
from cortex_runtime.rpc import RpcServer, call
from cortex_runtime.settle import Action, Settlement, describe, settle

SETTLE_TIMEOUT_S: Final = 2.0
FETCH_TIMEOUT_S: Final = 5
HEARTBEATS_PER_ACK_WAIT: Final = 3
CLOSE_TIMEOUT_S: Final = 15

MessageT = TypeVar("MessageT", bound=Message)
Handler = Callable[[MessageT, "Delivery"], Awaitable[None]]

log = logs.get(__name__)


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where a message came from and how often it has been delivered."""

    subject: str
    message_id: str
    """The publisher's id, or stream and sequence when it gave none: the key for the inbox."""
    stream: str
    sequence: int
    deliveries: int
    headers: Mapping[str, str]


class Bus:
    """One service's connection to NATS. Register handlers first, then `open`."""

    def __init__(self, url: str, user: str, version: str, on_closed: Callable[[], None] | None = None) -> None:
        self._inbox = inbox_prefix(urlsplit(url).username or user)
        self._on_closed = on_closed or (lambda: None)
        self._closing = False
        self._lost = False
        self._broker = _Broker(
            url,
            name=user,
            inbox_prefix=self._inbox,
            max_reconnect_attempts=-1,
            reconnect_time_wait=1,
            connect_timeout=2,
            ping_interval=10,
            max_outstanding_pings=2,
            closed_cb=self._closed,
            error_cb=self._connection_error,
            disconnected_cb=self._disconnected,
            reconnected_cb=self._reconnected,
            graceful_timeout=CLOSE_TIMEOUT_S,
            drain_timeout=5,
            logger=None,
            # The body is the contract's business: a decoder that fails would leave its message unsettled for ever.
            decoder=_undecoded,
        )
        self._rpc = RpcServer(user, version)
        self._consumers: list[Consumer] = []
        self._watches: list[tuple[str, Callable[[Msg], Awaitable[None]]]] = []

    @property
    def client(self) -> Client:
        """The NATS client beneath.

        Raises:
            Unavailable: the bus is not open.
        """
        try:
            return self._broker.connection
        except IncorrectState:
            raise Unavailable("the bus is not open") from None

    def serve(self, rpc: Rpc[RequestT, ReplyT], handler: Callable[[RequestT], Awaitable[ReplyT]]) -> None:
        """Answer an RPC, shared with the other replicas of the service."""
        self._rpc.add(rpc, handler)

    def consume(
        self,
        consumer: Consumer,
        model: type[MessageT],
        handler: Handler[MessageT],
        *,
        dead_body: Callable[[bytes], bytes] = bytes,
    ) -> None:
        """Work through a durable consumer, shared with the other replicas; `settle` decides each message's fate.

        The handler must be idempotent by `Delivery.message_id`. While it runs the server is told that it does.
        `dead_body` makes of a body what a dead letter may keep of it.
        """

        async def receive(message: NatsMessage) -> None:
            await self._process(consumer, model, handler, dead_body, message)

        self._consumers.append(consumer)
        self._broker.subscriber(
            consumer.filter_subject,
            stream=JStream(consumer.stream.name, declare=False),
            durable=consumer.name,
            pull_sub=PullSub(batch_size=consumer.batch, timeout=FETCH_TIMEOUT_S),
            config=ConsumerConfig(),
            inbox_prefix=f"{self._inbox}.".encode(),
            ack_policy=AckPolicy.MANUAL,
            # Whoever publishes must not choose a subject that we answer on.
            no_reply=True,
        )(receive)

    def watch(self, pattern: str, model: type[MessageT], heard: Callable[[MessageT], None]) -> None:
        """Hear what is published on `pattern`, in every replica and while it is connected only: what was said in
        between is not said again."""

        async def receive(message: Msg) -> None:
            try:
                said = model.model_validate_json(message.data)
            except ValidationError as error:
                log.warning("message not understood", subject=message.subject, reason=describe(error))
                return
            heard(said)

        self._watches.append((pattern, receive))

    async def open(self) -> None:
        """Connect, for as long as it takes, then start serving and consuming.

        Raises:
            Unavailable: a stream or consumer is missing: it has not been provisioned (yet).
        """
        await self._broker.connect()
        await self.check()
        await self._broker.start()
        for pattern, receive in self._watches:
            await self.client.subscribe(pattern, cb=receive)
        await self._rpc.start(self.client)

    async def check(self) -> None:
        """Is the connection up and is every consumer there?

        Raises:
            Unavailable: it is not; the message says what is missing.
        """
        client = self.client
        if not client.is_connected:
            raise Unavailable("NATS is not connected")
        for consumer in self._consumers:
            try:
                await client.jetstream().consumer_info(consumer.stream.name, consumer.name, timeout=2)
            except nats.js.errors.NotFoundError:
                raise Unavailable(f"consumer {consumer.name} of {consumer.stream.name} is not provisioned") from None
            except (nats.errors.Error, TimeoutError) as error:
                raise Unavailable(f"consumer {consumer.name} does not answer ({type(error).__name__})") from None

    async def close(self) -> None:
        """Stop fetching, let running handlers finish, flush and close."""
        self._closing = True
        if self._lost:
            return  # nothing can be flushed or drained any more
        await self._rpc.stop()
        await self._broker.stop()

    async def publish(self, subject: str, message: Message, *, message_id: str) -> Published:
        """Publish a fact or a piece of work and wait until the server has stored it.

        Repeats under the same id after a time-out, so the message is stored once inside the duplicate window.

        Raises:
            Unavailable: the server did not confirm in time; it may still have stored the message.
        """
        body = message.model_dump_json().encode()
        return await self.publish_raw(subject, body, message_id=message_id, headers=tracing.headers())

    async def publish_raw(self, subject: str, body: bytes, *, message_id: str, headers: Mapping[str, str]) -> Published:
        """`publish` for a body that is serialised already."""
        return await publish(self.client, subject, body, message_id=message_id, more=headers)

    async def tell(self, subject: str, message: Message, *, message_id: str) -> None:
        """Publish to whoever watches now, and wait for nobody. It may get lost: what must arrive goes through the
        outbox as well, under the same id, where it may stand behind others."""
        sent = {**tracing.headers(), headers.MESSAGE_ID: message_id}
        try:
            await self.client.publish(subject, message.model_dump_json().encode(), headers=sent)
        except (Unavailable, nats.errors.Error) as error:
            log.warning("not told at once", subject=subject, error=type(error).__name__)

    async def request(self, rpc: Rpc[RequestT, ReplyT], request: RequestT, *, timeout_s: float | None = None) -> ReplyT:
        """Call an RPC and return its result.

        Raises:
            Unavailable: nobody answers (at once), or not in time.
            CortexError: the error the service replied with.
        """
        return await call(self.client, rpc, request, timeout_s=timeout_s or rpc.timeout_s)

    async def _process(
        self,
        consumer: Consumer,
        model: type[MessageT],
        handler: Handler[MessageT],
        dead_body: Callable[[bytes], bytes],
        message: NatsMessage,
    ) -> None:
        raw = message.raw_message
        sent = dict(raw.headers or {})
        place = raw.metadata
        sequence = place.sequence.stream
        delivery = Delivery(
            raw.subject,
            dead_letters.identity(sent, place.stream, sequence),
            place.stream,
            sequence,
            place.num_delivered,
            sent,
        )
        with tracing.span(f"consume {consumer.name}", sent), metrics.consumed(consumer.name) as outcome:
            error: Exception | None = None
            beat = asyncio.create_task(self._heartbeat(message, consumer.ack_wait_s))
            try:
                await handler(model.model_validate_json(raw.data), delivery)
            except Exception as failure:  # edge: settle is the one place that tells failures apart
                error = failure
            finally:
                beat.cancel()
            decision = settle(error, delivery.deliveries, consumer.max_deliver)
            outcome.set(decision.action)
            if error is not None:
                known = decision.reason if not decision.reason.startswith("unexpected") else None
                log.warning(
                    "message not processed",
                    consumer=consumer.name,
                    message_id=delivery.message_id,
                    sequence=sequence,
                    deliveries=delivery.deliveries,
                    action=decision.action,
                    reason=decision.reason,
                    exc_info=None if known else error,
                )
            await self._apply(consumer, delivery, dead_body, message, decision)

    async def _apply(
        self,
        consumer: Consumer,
        delivery: Delivery,
        dead_body: Callable[[bytes], bytes],
        message: NatsMessage,
        decision: Settlement,
    ) -> None:
        """Tell the server. When it cannot be told it redelivers after `ack_wait`, and the inbox knows the message."""
        try:
            match decision.action:
                case Action.ACKNOWLEDGE:
                    await message.raw_message.ack_sync(timeout=SETTLE_TIMEOUT_S)
                case Action.RETRY:
                    await message.raw_message.nak(delay=decision.delay_s)
                case Action.DEAD_LETTER:
                    subject, more, message_id = dead_letters.letter(
                        consumer.stream.name,
                        consumer.name,
                        delivery.subject,
                        delivery.sequence,
                        delivery.deliveries,
                        decision.reason,
                        delivery.headers,
                    )
                    body = dead_body(message.raw_message.data)
                    await self.publish_raw(subject, body, message_id=message_id, headers=more)
                    await message.raw_message.term()
        except Exception as error:  # edge: a message that cannot be settled comes again, and must not stop the rest
            log.warning("settlement not confirmed", consumer=consumer.name, error=type(error).__name__)

    async def _heartbeat(self, message: NatsMessage, ack_wait_s: float) -> None:
        while True:
            await asyncio.sleep(ack_wait_s / HEARTBEATS_PER_ACK_WAIT)
            with suppress(nats.errors.Error):  # the server is away: it redelivers, and the inbox knows the message
                await message.raw_message.in_progress()

    async def _closed(self) -> None:
        if not self._closing:
            log.error("NATS connection closed for good")
            self._lost = True
            # Without this the pull loops would spin on a closed connection and keep the process from ending.
            for subscriber in self._broker.subscribers:
                subscriber.running = False
            self._on_closed()

    async def _disconnected(self) -> None:
        if not self._closing:
            log.warning("NATS disconnected; reconnecting until it answers")

    async def _reconnected(self) -> None:
        log.info("NATS reconnected")

    async def _connection_error(self, error: Exception) -> None:
        # While it (re)connects every attempt reports that nobody listens: said once, by whoever waits.
        with suppress(IncorrectState):
            if self._broker.connection.is_connected:
                log.warning("NATS error", error=type(error).__name__, detail=str(error)[:200])


async def _undecoded(message: NatsMessage) -> bytes:
    body: bytes = message.body
    return body


class _Client(Client):
    async def _process_headers(self, headers: bytes) -> dict[str, str] | None:
        """Read a message's headers; a block that is none must not end the read loop, and the connection with it."""
        try:
            found: dict[str, str] | None = await super()._process_headers(headers)
        except Exception:  # edge: whatever the parser thinks of somebody else's bytes
            return None
        return found


class _Broker(NatsBroker):
    async def _connect(self) -> Client:
        client = _Client()
        await client.connect(**self._connection_kwargs)
        self.config.connect(client)
        return client

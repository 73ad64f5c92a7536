"""Bring the streams and consumers of the bus to what the contracts say; nothing is ever deleted."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import nats
from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.errors import APIError, NotFoundError

from cortex_contracts.errors import CortexError
from cortex_contracts.streams import CONSUMERS, STREAMS, Consumer, Stream
from cortex_infra.errors import ProvisionError
from cortex_runtime.connection import connect_once

logger = logging.getLogger(__name__)

_TIMEOUT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was created or changed."""

    what: str
    """For example `stream EVENTS`."""
    differences: tuple[str, ...]
    """Empty if it was created."""

    def __str__(self) -> str:
        return f"{self.what}: {'; '.join(self.differences) or 'created'}"


async def provision(
    url: str, *, replicas: int = 1, streams: Sequence[Stream] = STREAMS, consumers: Sequence[Consumer] = CONSUMERS
) -> list[Change]:
    """Create what is missing and update what differs, as the provisioner; returns what was done.

    Raises:
        ProvisionError: the server refuses a setting; the message names the stream or consumer.
    """

    try:
        client = await connect_once(url, timeout_s=5.0)
    except CortexError as error:
        raise ProvisionError(f"the provisioner cannot connect: {error.message}") from error
    try:
        jetstream = client.jetstream(timeout=_TIMEOUT_S)
        changes = [await _stream(jetstream, stream, replicas) for stream in streams]
        changes += [await _consumer(jetstream, consumer, replicas) for consumer in consumers]
    finally:
        await client.close()
    done = [change for change in changes if change is not None]
    for change in done:
        logger.info("%s", change)
    return done


def stream_config(stream: Stream, replicas: int) -> StreamConfig:
    """The server's form of a stream."""
    return StreamConfig(
        name=stream.name,
        description=stream.description,
        subjects=list(stream.subjects),
        retention=RetentionPolicy(stream.retention.value),
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW if stream.discard_new else DiscardPolicy.OLD,
        max_age=stream.max_age.total_seconds() if stream.max_age else 0.0,
        max_bytes=stream.max_bytes,
        max_msg_size=stream.max_message_bytes,
        duplicate_window=stream.duplicate_window.total_seconds(),
        num_replicas=replicas,
        allow_direct=True,
    )


def consumer_config(consumer: Consumer, replicas: int) -> ConsumerConfig:
    """The server's form of a durable pull consumer.

    The server itself never gives up on a message: the settle rule of the services decides (see the contracts).
    """
    return ConsumerConfig(
        name=consumer.name,
        durable_name=consumer.name,
        description=consumer.description,
        filter_subject=consumer.filter_subject,
        ack_policy=AckPolicy.EXPLICIT,
        deliver_policy=DeliverPolicy.ALL,
        ack_wait=consumer.ack_wait_s,
        max_ack_pending=consumer.max_ack_pending,
        max_deliver=-1,
        num_replicas=replicas,
    )


async def _stream(jetstream: JetStreamContext, stream: Stream, replicas: int) -> Change | None:
    wanted = stream_config(stream, replicas)
    what = f"stream {stream.name}"
    try:
        found = (await jetstream.stream_info(stream.name)).config
    except NotFoundError:
        await _request(what, jetstream.add_stream(wanted))
        return Change(what, ())
    differences = _differences(wanted, found)
    if not differences:
        return None
    await _request(what, jetstream.update_stream(found.evolve(**_given(wanted))))
    return Change(what, differences)


async def _consumer(jetstream: JetStreamContext, consumer: Consumer, replicas: int) -> Change | None:
    wanted = consumer_config(consumer, replicas)
    what = f"consumer {consumer.name} of {consumer.stream.name}"
    try:
        found = (await jetstream.consumer_info(consumer.stream.name, consumer.name)).config
    except NotFoundError:
        await _request(what, jetstream.add_consumer(consumer.stream.name, wanted))
        return Change(what, ())
    differences = _differences(wanted, found)
    if not differences:
        return None
    await _request(what, jetstream.add_consumer(consumer.stream.name, found.evolve(**_given(wanted))))
    return Change(what, differences)


async def _request(what: str, request: Any) -> None:
    try:
        await request
    except APIError as error:
        raise ProvisionError(f"{what}: the server refuses it: {error.description}") from error
    except (nats.errors.Error, TimeoutError) as error:
        raise ProvisionError(f"{what}: no answer from the server ({type(error).__name__})") from error


def _given(config: StreamConfig | ConsumerConfig) -> dict[str, Any]:
    # `asdict` would turn nested configurations into plain mappings; ours have none.
    return {name: value for name, value in asdict(config).items() if value is not None}


def _differences(wanted: StreamConfig | ConsumerConfig, found: StreamConfig | ConsumerConfig) -> tuple[str, ...]:
    return tuple(
        f"{name} {getattr(found, name)!r} -> {value!r}"
        for name, value in _given(wanted).items()
        if (getattr(found, name) or None) != (value or None)
    )

"""Streams and consumers on a real NATS server."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import nats
import pytest
from nats.js import JetStreamContext

from cortex_contracts.permissions import PROVISIONER, USERS, inbox_prefix
from cortex_contracts.streams import CAPTURES, CONSUMERS, EVENTS, INGEST_CAPTURES, STREAMS, Retention
from cortex_infra import ports
from cortex_infra.errors import ProvisionError
from cortex_infra.provision import provision
from cortex_infra.servers import nats as nats_server
from cortex_infra.servers.running import RunningServer


@pytest.fixture
async def url(folder: Path) -> AsyncIterator[str]:
    port = ports.choose()
    process = nats_server.prepare(folder / "nats", port=port, passwords=dict.fromkeys(USERS, "pw"))
    with RunningServer(process, folder) as server:
        await server.wait_ready()
        yield nats_server.url(PROVISIONER, "pw", port)


@pytest.fixture
async def jetstream(url: str) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(url, inbox_prefix=inbox_prefix(PROVISIONER))
    yield client.jetstream()
    await client.close()


async def test_everything_is_made_once(url: str, jetstream: JetStreamContext) -> None:
    made = await provision(url)
    assert [str(change) for change in made][:1] == [f"stream {STREAMS[0].name}: created"]
    assert len(made) == len(STREAMS) + len(CONSUMERS)
    assert await provision(url) == []
    info = await jetstream.stream_info(CAPTURES.name)
    assert info.config.max_bytes == CAPTURES.max_bytes
    assert info.config.duplicate_window == CAPTURES.duplicate_window.total_seconds()
    consumer = await jetstream.consumer_info(CAPTURES.name, INGEST_CAPTURES.name)
    assert consumer.config.max_deliver == -1
    assert consumer.config.ack_wait == INGEST_CAPTURES.ack_wait_s


async def test_a_changed_setting_is_brought_over(url: str, jetstream: JetStreamContext) -> None:
    await provision(url)
    events = dataclasses.replace(EVENTS, max_age=timedelta(days=7))
    captures = dataclasses.replace(INGEST_CAPTURES, ack_wait_s=45.0, max_ack_pending=8)
    changes = await provision(url, streams=[events], consumers=[captures])
    assert [change.what for change in changes] == ["stream EVENTS", "consumer ingest-captures of CAPTURES"]
    assert "max_age" in str(changes[0])
    assert (await jetstream.stream_info("EVENTS")).config.max_age == 7 * 86_400
    consumer = await jetstream.consumer_info(CAPTURES.name, INGEST_CAPTURES.name)
    assert (consumer.config.ack_wait, consumer.config.max_ack_pending) == (45.0, 8)
    assert await provision(url, streams=[events], consumers=[captures]) == []


async def test_a_setting_the_server_does_not_change_is_named(url: str) -> None:
    await provision(url)
    with pytest.raises(ProvisionError, match="stream EVENTS: the server refuses it"):
        await provision(url, streams=[dataclasses.replace(EVENTS, retention=Retention.WORK_QUEUE)], consumers=[])


async def test_no_server_is_an_error_of_ours(folder: Path) -> None:
    with pytest.raises(ProvisionError, match="cannot connect: NATS does not answer"):
        await provision(nats_server.url(PROVISIONER, "pw", ports.choose()))


async def test_a_refused_user_is_told_apart_from_a_server_that_is_away(url: str) -> None:
    with pytest.raises(ProvisionError, match="NATS refuses this user"):
        await provision(url.replace("provisioner:", "provisioner:wrong-"))

"""Deliveries that come more than once: after an answer, beside each other, and after a failure."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol

import httpx
import nats as nats_client
import pytest
from nats.aio.client import Client

from cortex_contracts import subjects
from cortex_contracts.headers import MESSAGE_ID
from cortex_contracts.permissions import PROVISIONER, inbox_prefix
from cortex_contracts.streams import SYNCS
from cortex_testkit.nats_server import NatsServer


class Webhook(Protocol):
    deliver: Callable[..., Awaitable[httpx.Response]]


def push(name: str = "rasif/notes", after: str = "b" * 40) -> bytes:
    event = {"ref": "refs/heads/main", "before": "a" * 40, "after": after, "repository": {"full_name": name}}
    return json.dumps(event).encode()


@pytest.fixture
async def bus(nats: NatsServer) -> AsyncIterator[Client]:
    client = await nats_client.connect(nats.url(PROVISIONER), inbox_prefix=inbox_prefix(PROVISIONER))
    yield client
    await client.close()


async def queued(bus: Client) -> list[str]:
    """The ids of what is queued, in order."""
    js = bus.jetstream()
    state = (await js.stream_info(SYNCS.name)).state
    messages = [await js.get_msg(SYNCS.name, number) for number in range(max(state.first_seq, 1), state.last_seq + 1)]
    return [(message.headers or {})[MESSAGE_ID] for message in messages]


async def test_redeliveries_beside_each_other_queue_one_sync(webhook: Webhook, bus: Client) -> None:
    answers = await asyncio.gather(*(webhook.deliver(push(), delivery="d-1") for _ in range(12)))
    assert {answer.status_code for answer in answers} == {202}
    assert sorted(answer.json()["status"] for answer in answers) == ["duplicate"] * 11 + ["queued"]
    assert await queued(bus) == ["github:d-1:notes"]


async def test_deliveries_beside_each_other_are_all_queued(webhook: Webhook, bus: Client) -> None:
    answers = await asyncio.gather(*(webhook.deliver(push(), delivery=f"d-{number}") for number in range(12)))
    assert {answer.json()["status"] for answer in answers} == {"queued"}
    assert sorted(await queued(bus)) == sorted(f"github:d-{number}:notes" for number in range(12))


async def test_a_delivery_id_counts_whatever_comes_with_it(webhook: Webhook, bus: Client) -> None:
    # The sync goes to the head of the branch: what the second payload says would not change what it does.
    await webhook.deliver(push(), delivery="d-1")
    again = await webhook.deliver(push(after="c" * 40), delivery="d-1")
    assert (again.status_code, again.json()["status"]) == (202, "duplicate")
    ping = await webhook.deliver(b"{}", event="ping", delivery="d-1")
    assert ping.status_code == 200
    other = await webhook.deliver(push("rasif/twins"), delivery="d-1")
    assert other.json() == {"status": "queued", "vaults": ["twin", "other"]}
    assert len(await queued(bus)) == 3


async def test_a_delivery_that_could_not_be_queued_is_queued_when_it_comes_again(
    webhook: Webhook, bus: Client, nats: NatsServer
) -> None:
    await bus.jetstream().delete_stream(SYNCS.name)
    refused = await webhook.deliver(push(), delivery="d-1")
    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) > 0
    await nats.reset()
    statuses = [(await webhook.deliver(push(), delivery="d-1")).json()["status"] for _ in range(2)]
    assert statuses == ["queued", "duplicate"]
    assert await queued(bus) == ["github:d-1:notes"]


async def test_of_a_delivery_that_was_queued_in_part_the_rest_is_queued(
    webhook: Webhook, bus: Client, nats: NatsServer
) -> None:
    # The bus took the first command, and was away before it had the second.
    client = await nats_client.connect(nats.url("webhook"), inbox_prefix=inbox_prefix("webhook"))
    sent = {MESSAGE_ID: "github:d-1:twin"}
    await client.jetstream().publish(subjects.sync("local", "twin"), b"{}", stream=SYNCS.name, headers=sent)
    await client.close()
    answers = [await webhook.deliver(push("rasif/twins"), delivery="d-1") for _ in range(2)]
    assert [answer.json()["status"] for answer in answers] == ["queued", "duplicate"]
    assert await queued(bus) == ["github:d-1:twin", "github:d-1:other"]

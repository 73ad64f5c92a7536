"""GitHub deliveries through the real service and a real bus."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode

import httpx
import nats
import pytest

from cortex_contracts.headers import MESSAGE_ID
from cortex_contracts.messages.commands import SyncReason, SyncVault
from cortex_contracts.permissions import PROVISIONER, inbox_prefix
from cortex_contracts.streams import SYNCS
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer

BEFORE, AFTER = "a" * 40, "b" * 40
LIMIT = 25 * 1024 * 1024


class Webhook(Protocol):
    http: httpx.AsyncClient
    log: Path
    deliver: Callable[..., Awaitable[httpx.Response]]
    is_ready: Callable[[], Awaitable[bool]]


Start = Callable[[NatsServer], Awaitable[Webhook]]
Queued = Callable[[], Awaitable[list[tuple[str, str, SyncVault]]]]


def push(name: str = "rasif/notes", padding: int = 0, **changes: Any) -> bytes:
    event = {
        "ref": "refs/heads/main",
        "before": BEFORE,
        "after": AFTER,
        "deleted": False,
        "repository": {"full_name": name},
        "commits": [{"id": AFTER, "message": "x" * padding}],
    }
    return json.dumps(event | changes).encode()


@pytest.fixture
async def queued(nats_server: NatsServer) -> AsyncIterator[Queued]:
    """Reads what is queued: subject, message id, command."""
    client = await nats.connect(nats_server.url(PROVISIONER), inbox_prefix=inbox_prefix(PROVISIONER))

    async def read() -> list[tuple[str, str, SyncVault]]:
        js = client.jetstream()
        state = (await js.stream_info(SYNCS.name)).state
        found = []
        for sequence in range(max(state.first_seq, 1), state.last_seq + 1):
            raw = await js.get_msg(SYNCS.name, sequence)
            assert raw.subject
            found.append((raw.subject, (raw.headers or {})[MESSAGE_ID], SyncVault.model_validate_json(raw.data or b"")))
        return found

    yield read
    await client.close()


async def test_a_push_is_queued_in_milliseconds(webhook: Webhook, queued: Queued) -> None:
    numbers = itertools.count(1)

    async def deliver() -> float:
        started = time.perf_counter()
        answer = await webhook.deliver(push(), delivery=f"d-{next(numbers)}")
        took_s = time.perf_counter() - started
        assert (answer.status_code, answer.json()) == (202, {"status": "queued", "vaults": ["notes"]})
        return took_s

    # A machine that is busy may be late more than once.
    await eventually(deliver, lambda took_s: took_s < 0.25)
    command = SyncVault(reason=SyncReason.PUSH, branch="main", before=BEFORE, after=AFTER, delivery_id="d-1")
    assert (await queued())[0] == ("cortex.v1.cmd.sync.local.notes", "github:d-1:notes", command)


async def test_a_form_delivery_is_queued(webhook: Webhook, queued: Queued) -> None:
    form = urlencode({"payload": push().decode()}).encode()
    answer = await webhook.deliver(form, content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    assert len(await queued()) == 1


async def test_every_vault_of_the_repository_is_queued(webhook: Webhook, queued: Queued) -> None:
    answer = await webhook.deliver(push("RASIF/Twins"), delivery="d-2")
    assert answer.json() == {"status": "queued", "vaults": ["twin", "other"]}
    assert {message_id for _, message_id, _ in await queued()} == {"github:d-2:twin", "github:d-2:other"}


async def test_a_redelivery_is_accepted_and_queues_nothing(webhook: Webhook, queued: Queued) -> None:
    first = await webhook.deliver(push(), delivery="d-3")
    again = await webhook.deliver(push(), delivery="d-3")
    assert (first.status_code, first.json()["status"]) == (202, "queued")
    assert (again.status_code, again.json()["status"]) == (202, "duplicate")
    assert len(await queued()) == 1


async def test_both_secrets_work_during_a_rotation_and_no_other(webhook: Webhook) -> None:
    assert (await webhook.deliver(push(), secret="the-old-secret")).status_code == 202
    assert (await webhook.deliver(push(), secret="the-new-secret")).status_code == 202
    assert (await webhook.deliver(push(), secret="the-old-secret,the-new-secret")).status_code == 403


async def test_a_bad_or_missing_signature_is_refused(webhook: Webhook, queued: Queued) -> None:
    assert (await webhook.deliver(push(), secret="guessed")).status_code == 403
    sent = {"x-hub-signature-256": ""}
    assert (await webhook.http.post("/api/v1/brain/sync/webhook", content=push(), headers=sent)).status_code == 403
    assert (await webhook.http.post("/api/v1/brain/sync/webhook", content=push())).status_code == 403
    assert await queued() == []


async def test_what_asks_for_nothing_is_ignored_with_its_reason(webhook: Webhook, queued: Queued) -> None:
    for answer in (
        await webhook.deliver(push("someone/else")),
        await webhook.deliver(push(ref="refs/heads/draft")),
        await webhook.deliver(push(ref="refs/tags/v1")),
        await webhook.deliver(push(deleted=True, after="0" * 40)),
        await webhook.deliver(b'{"action": "opened"}', event="issues"),
    ):
        assert (answer.status_code, answer.json()["status"]) == (202, "ignored")
        assert answer.json()["reason"]
    assert await queued() == []


async def test_a_ping_is_answered(webhook: Webhook) -> None:
    assert (await webhook.deliver(b'{"zen": "Design for failure."}', event="ping")).status_code == 200


async def test_signed_nonsense_is_malformed(webhook: Webhook) -> None:
    assert (await webhook.deliver(b"{")).status_code == 400
    assert (await webhook.deliver(push(), content_type="text/plain")).status_code == 400
    assert (await webhook.deliver(push(), event="")).status_code == 400
    assert (await webhook.deliver(push(), delivery="a b")).status_code == 400


async def test_a_large_push_is_queued(webhook: Webhook, queued: Queued) -> None:
    body = push(padding=LIMIT - 1000)
    assert len(body) <= LIMIT
    assert (await webhook.deliver(body)).status_code == 202
    assert len(await queued()) == 1


async def test_an_oversized_body_is_refused_whether_or_not_its_length_is_announced(
    webhook: Webhook, queued: Queued
) -> None:
    body = push(padding=LIMIT)
    assert (await webhook.deliver(body)).status_code == 413

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 1 << 20):
            yield body[start : start + (1 << 20)]

    signed = {"x-hub-signature-256": f"sha256={'0' * 64}"}
    answer = await webhook.http.post("/api/v1/brain/sync/webhook", content=pieces(), headers=signed)
    assert answer.status_code == 413
    # Who does not even claim to know the secret is refused before the body is kept.
    answer = await webhook.http.post("/api/v1/brain/sync/webhook", content=pieces())
    assert answer.status_code == 403
    assert await queued() == []


async def test_when_the_bus_dies_github_is_told_to_come_again(
    start: Start, own_nats: tuple[NatsServer, ExitStack]
) -> None:
    server, stack = own_nats
    await server.reset()
    webhook = await start(server)
    await eventually(webhook.is_ready)
    await asyncio.to_thread(stack.close)
    started = time.perf_counter()
    answer = await webhook.deliver(push(), delivery="d-4")
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert time.perf_counter() - started < 10
    assert (await webhook.deliver(push(), secret="guessed")).status_code == 403
    assert not await webhook.is_ready()


async def test_before_the_bus_is_there_github_is_told_to_come_again(
    start: Start, own_nats: tuple[NatsServer, ExitStack]
) -> None:
    server, stack = own_nats
    await asyncio.to_thread(stack.close)
    webhook = await start(server)
    assert (await webhook.deliver(push())).status_code == 503


async def test_neither_bodies_nor_secrets_nor_signatures_are_logged(webhook: Webhook) -> None:
    body = push(padding=10, ref="refs/heads/sesame")
    for secret in ("the-old-secret", "guessed"):
        await webhook.deliver(body, secret=secret)
    await webhook.deliver(b'{"sesame": ', secret="the-old-secret")
    log = webhook.log.read_bytes()
    assert b"bad_signature" in log
    assert b"malformed" in log
    for hidden in (b"sesame", b"the-old-secret", b"the-new-secret", b"guessed", b"sha256="):
        assert hidden not in log

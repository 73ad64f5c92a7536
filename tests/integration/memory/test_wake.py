"""From a sentence that contradicts another to the person who should know: ingest, sleep and a receiver."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cortex_contracts.messages.events import WakeEvent
from cortex_contracts.messages.memory import Visibility, WriteDecision
from cortex_testkit.cache_server import CacheServer
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.process import RunningService, service_process
from cortex_testkit.webhook_receiver import SECRET, Receiver


@pytest.fixture
async def receiver(
    nats: NatsServer, postgres: PostgresDatabase, cache: CacheServer, tmp_path: Path
) -> AsyncIterator[Receiver]:
    """Where sleep sends what a person should know."""
    receiver, folder = Receiver(), tmp_path / "sleep"
    folder.mkdir()
    async with receiver.running():
        process = service_process(
            "sleep",
            CORTEX_HOME=str(folder),
            CORTEX_NATS_URL=nats.url("sleep"),
            CORTEX_SLEEP_DATABASE_URL=postgres.sleep_url,
            CORTEX_CACHE_URL=cache.url,
            CORTEX_SLEEP_AT="never",
            CORTEX_SLEEP_PRESSURE="0",
            CORTEX_WAKE_WEBHOOK_URL=receiver.url,
            CORTEX_WAKE_WEBHOOK_SECRETS=SECRET,
        )
        with RunningService(process, folder) as running:
            await running.wait_ready()
            yield receiver


async def test_a_contradiction_reaches_the_receiver_and_of_a_private_one_only_that_there_is_one(memory, receiver):
    old = await memory.retain("The invoice service listens on port 7001.", explicit=True)
    new = await memory.retain("The invoice service listens on port 7015.")
    hidden = await memory.retain("The letter service listens on port 4711.", visibility=Visibility.PRIVATE)
    changed = await memory.retain("The letter service listens on port 2902.", visibility=Visibility.PRIVATE)
    await memory.retain("The mail service listens on port 7015.")
    assert (new.decision, changed.decision) == (WriteDecision.UPDATE, WriteDecision.UPDATE)
    taken = await eventually(lambda: asyncio.sleep(0, dict(receiver.taken)), lambda found: len(found) == 2)
    told = {event.memory_id: event for event in (WakeEvent.model_validate(one["data"]) for one in taken.values())}
    open_one, private_one = told[new.memory_id], told[changed.memory_id]
    assert open_one.memory_ids == (old.memory_id,)
    assert open_one.preview == "The invoice service listens on port 7015."
    assert open_one.importance is not None
    assert open_one.importance >= 0.9
    assert private_one.memory_ids == (hidden.memory_id,)
    assert (private_one.preview, private_one.entity) == ("", None)
    # A number alone might stand in an id.
    assert not any(word in json.dumps(receiver.got) for word in ("port 2902", "letter"))

"""A memory that went cold is forgotten, restored and improved all the same, through services as they run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from cortex_contracts.errors import CortexError, ErrorCode
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import Visibility
from cortex_contracts.rpc.ingest import FORGET, IMPROVE, RESTORE, Changed, ImproveRequest, MemoryRequest
from cortex_contracts.rpc.recall import GET, GetRequest
from cortex_providers.cold_store import ColdStoreConfig
from cortex_sleep.demote import Demote
from cortex_sleep.demotion import Rules
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_store.database import Database
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.process import RunningService, service_process
from cortex_testkit.sleep_work import PlayedWork
from cortex_writing.announcements import Announcements

ME = Principal(org="local", subject="me")
YOU = Principal(org="local", subject="you", readable=("work",), writable=())


class Readers:
    """Nobody has cached anything."""

    async def bump(self, org: str, namespace: str) -> None: ...


@pytest.fixture
async def sleeping(memory, nats: NatsServer, tmp_path: Path) -> AsyncIterator[RunningService]:
    """Sleep beside ingest and recall."""
    folder = tmp_path / "sleep"
    folder.mkdir()
    process = service_process(
        "sleep",
        CORTEX_HOME=str(folder),
        CORTEX_NATS_URL=nats.url("sleep"),
        CORTEX_SLEEP_DATABASE_URL=memory.postgres.sleep_url,
        CORTEX_CACHE_URL="redis://127.0.0.1:1/0",
        CORTEX_SLEEP_AT="never",
        CORTEX_SLEEP_PRESSURE="0",
        CORTEX_COLD_STORE_WAREHOUSE=str(tmp_path / "cold"),
    )
    with ExitStack() as stack:
        running = stack.enter_context(RunningService(process, folder))
        await running.wait_ready()
        yield running


async def go_cold(memory, tmp_path: Path, count: int) -> None:
    """Demote everything there is."""
    database = Database(memory.postgres.sleep_url)
    await database.open()
    store = IcebergColdStore(ColdStoreConfig(str(tmp_path / "cold"), memory.postgres.sleep_url))
    work = PlayedWork(database, "local", "work", datetime.now(UTC) + timedelta(hours=1))
    demote = Demote(store, Announcements(lambda: None, Readers()), Rules(timedelta(0), timedelta(0), 1.0))
    await demote.run(work)
    await store.close()
    await database.close()
    assert work.counts == {"demoted": count}


async def change(memory, rpc, memory_id: UUID, principal: Principal = ME) -> Changed:
    changed: Changed = await memory.bus.request(rpc, MemoryRequest(principal=principal, memory_id=memory_id))
    return changed


async def refused(memory, rpc, memory_id: UUID, principal: Principal = ME) -> ErrorCode:
    with pytest.raises(CortexError) as error:
        await change(memory, rpc, memory_id, principal)
    return error.value.code


async def test_who_may_change_it_changes_it_wherever_it_is(memory, sleeping: RunningService, tmp_path: Path) -> None:
    lamp = (await memory.retain("The lamp in the hall is green.")).memory_id
    boat = (await memory.retain("The old boat lies in Tartus.")).memory_id
    crane = (await memory.retain("Nadia ordered the crane from Genoa.")).memory_id
    secret = (await memory.retain("My locker is the third one.", visibility=Visibility.PRIVATE)).memory_id
    await memory.embedded()
    assert (await change(memory, FORGET, boat)).changed
    assert await refused(memory, FORGET, uuid4()) is ErrorCode.NOT_FOUND
    await go_cold(memory, tmp_path, 4)
    assert await memory.contents("what colour has the lamp in the hall?") == []

    assert await refused(memory, FORGET, lamp, YOU) is ErrorCode.FORBIDDEN
    assert await refused(memory, FORGET, secret, Principal(org="local", subject="you")) is ErrorCode.NOT_FOUND
    assert await refused(memory, RESTORE, uuid4()) is ErrorCode.NOT_FOUND

    forgotten = await change(memory, FORGET, lamp)
    assert forgotten.changed
    assert forgotten.invalid_at is not None
    found = await memory.bus.request(GET, GetRequest(principal=ME, memory_id=lamp))
    assert ([one.op for one in found.history][-1], found.memory.invalid_at) == ("forget", forgotten.invalid_at)
    assert await memory.contents("what colour has the lamp in the hall?") == []

    assert (await change(memory, RESTORE, boat)).changed
    assert await memory.contents("where does the old boat lie?") == ["The old boat lies in Tartus."]

    nobody = uuid4()
    asked = ImproveRequest(principal=ME, memory_ids=(boat, crane, nobody))
    improved = await memory.bus.request(IMPROVE, asked)
    assert (improved.improved, improved.unknown) == (2, (nobody,))
    assert await memory.contents("who ordered the crane?") == ["Nadia ordered the crane from Genoa."]

    sleeping.stop()
    assert await refused(memory, FORGET, secret) is ErrorCode.UNAVAILABLE
    assert (await change(memory, FORGET, crane)).changed, "what is hot needs no cold tier"

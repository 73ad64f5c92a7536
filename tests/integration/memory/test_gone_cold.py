"""A memory goes to the cold tier while somebody has it in hand: nobody gets an error for it, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID

import pytest

from cortex_contracts.errors import CortexError, ErrorCode
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import WriteDecision
from cortex_contracts.rpc.ingest import FORGET, IMPROVE, RESTORE, ImproveRequest, MemoryRequest
from cortex_recall.access_log import AccessLog, Answered
from cortex_store import access, cold_batches, demotion, memories
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_testkit.eventually import eventually
from cortex_testkit.postgres_server import PostgresDatabase

ME = Principal(org="local", subject="me")


@asynccontextmanager
async def going(postgres: PostgresDatabase, *ids: UUID) -> AsyncIterator[None]:
    """The transaction that takes memories out of the hot tier; it commits at the end of the block."""
    sleeping = Database(postgres.sleep_url)
    await sleeping.open()
    batch, now = uuid7(), datetime.now(UTC)
    async with sleeping.transaction(ME) as connection:
        await cold_batches.begin(connection, batch, "work", len(ids), now, now)
        await cold_batches.close(connection, batch, None)
        assert await demotion.hold(connection, "work", ids) == sorted(ids)
        assert await demotion.remove(connection, batch, ids) == len(ids)
        yield
    await sleeping.close()


async def waits(postgres: PostgresDatabase, sessions: int) -> None:
    """Until so many sessions wait for a lock."""
    database = Database(postgres.runtime_url)
    await database.open()

    async def waiting() -> int:
        async with database.unscoped() as connection:
            found: int = await connection.fetchval(
                "SELECT count(DISTINCT pid) FROM pg_locks l WHERE NOT granted "
                "AND (database IS NULL OR database = (SELECT oid FROM pg_database WHERE datname = current_database()))"
            )
            return found

    await eventually(waiting, lambda count: count >= sessions)
    await database.close()


async def test_what_is_said_again_is_a_memory_of_its_own(memory) -> None:
    first = await memory.retain("The staging database runs on port 5433.")
    changed = await memory.retain("Mina works at Company A.")
    async with going(memory.postgres, first.memory_id, changed.memory_id):
        again = asyncio.create_task(memory.retain("The staging database runs on port 5433."))
        other = asyncio.create_task(memory.retain("Mina works at Company B now."))
        await waits(memory.postgres, 2)
    for kept in (await again, await other):
        assert (kept.decision, kept.superseded) == (WriteDecision.ADD, ())
    assert await memory.contents("staging database port") == ["The staging database runs on port 5433."]


async def test_who_changes_it_is_told_that_it_is_not_there(memory) -> None:
    there = [await memory.retain(f"The deploy key number {number} is blue.") for number in range(3)]
    forgotten, restored, improved = (one.memory_id for one in there)
    await memory.bus.request(FORGET, MemoryRequest(principal=ME, memory_id=restored))
    async with going(memory.postgres, forgotten, restored, improved):
        requests = [
            asyncio.create_task(memory.bus.request(FORGET, MemoryRequest(principal=ME, memory_id=forgotten))),
            asyncio.create_task(memory.bus.request(RESTORE, MemoryRequest(principal=ME, memory_id=restored))),
        ]
        improving = asyncio.create_task(
            memory.bus.request(IMPROVE, ImproveRequest(principal=ME, memory_ids=(improved,)))
        )
        await waits(memory.postgres, 3)
    for request in requests:
        with pytest.raises(CortexError) as refused:
            await request
        assert refused.value.code is ErrorCode.NOT_FOUND
    assert (await improving).unknown == (improved,)


async def test_recalls_of_others_are_counted_all_the_same(postgres: PostgresDatabase) -> None:
    database = Database(postgres.runtime_url)
    await database.open()
    goes, stays = uuid7(), uuid7()
    async with database.transaction(ME) as connection:
        for one in (goes, stays):
            await memories.insert(
                connection, memories.NewMemory(one, "work", "said", "chat", 0.5, datetime.now(UTC), owner="me")
            )
    log = AccessLog(database, lambda: None)
    running = asyncio.create_task(log.run())
    answered = Answered(ME, ((goes, "work"), (stays, "work")), 5)
    async with going(postgres, goes):
        log.note(answered)
        await waits(postgres, 1)

    async def counted() -> int:
        async with database.transaction(ME) as connection:
            return (await access.of_memory(connection, stays))[0]

    log.note(answered)
    assert await eventually(counted, lambda count: count >= 2) == 2
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await database.close()

"""What recall notes of a context: the one sentence that a memory of the answer cannot be true beside."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import Visibility
from cortex_recall.contradictions import MAX_WAITING, Contradictions, Heard
from cortex_store import memories
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.postgres_server import PostgresDatabase

ME = Principal(org="local", subject="me")
NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)
OLD = "The staging database listens on port 5432."
NEW = "The staging database listens on port 5433."


class Interrupted:
    """A database that is away now and then."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.away = False

    @asynccontextmanager
    async def transaction(self, scope: Principal) -> AsyncIterator[Connection]:
        if self.away:
            raise Unavailable("the database is away")
        async with self._database.transaction(scope) as connection:
            yield connection


@pytest.fixture
async def database(postgres: PostgresDatabase) -> AsyncIterator[Interrupted]:
    opened = Database(postgres.runtime_url)
    await opened.open()
    yield Interrupted(opened)
    await opened.close()


@pytest.fixture
def published() -> list[int]:
    return []


@pytest.fixture
def worker(database: Interrupted, published: list[int]) -> Contradictions:
    return Contradictions(database, lambda: published.append(1))


async def keep(database: Interrupted, content: str = OLD, principal: Principal = ME, **fields: Any) -> UUID:
    given: dict[str, Any] = {"namespace": "work", "owner": principal.subject, "source_kind": "chat"} | fields
    memory = NewMemory(id=uuid7(), content=content, importance=0.5, valid_at=NOW - timedelta(days=9), **given)
    async with database.transaction(principal) as connection:
        await memories.insert(connection, memory)
    return memory.id


async def noted(database: Interrupted, principal: Principal = ME) -> list[tuple[UUID, str, str | None]]:
    async with database.transaction(principal) as connection:
        rows = await connection.fetch("SELECT memory, statement, speaker FROM contradictions ORDER BY id")
    return [tuple(row) for row in rows]


async def hear(worker: Contradictions, context: str, *found: UUID, principal: Principal = ME) -> None:
    worker.note(Heard(principal, context, found, NOW))
    assert not await worker.step()


async def test_the_sentence_is_noted_once_with_who_said_it(database, worker, published) -> None:
    old = await keep(database, speaker="Mira")
    other = await keep(database, "The queue holds 10 messages.")
    context = f"Hello.\nMira: {NEW}\nWhat now?"
    for _ in range(2):
        await hear(worker, context, old, other)
    assert await noted(database) == [(old, NEW, "Mira")]
    assert published, "the outbox is woken"
    async with database.transaction(ME) as connection:
        events = await connection.fetch("SELECT memory_id, op, agent FROM memory_events")
    assert [tuple(row) for row in events] == [(old, "reconsolidate", "me")]


async def test_what_is_not_to_be_corrected_is_not_noted(database, worker) -> None:
    over, team, made = await keep(database), await keep(database), await keep(database, source_kind="sleep")
    part = await keep(database, document=uuid7())
    async with database.transaction(ME) as connection:
        await memories.invalidate(connection, over, NOW)
    await hear(worker, NEW, over, part, made, uuid7())
    hidden = await keep(database, visibility=Visibility.PRIVATE)
    await hear(worker, NEW, hidden, principal=Principal(org="local", subject="you"))
    reader = Principal(org="local", subject="reader", readable=("work",), writable=("own",))
    await hear(worker, NEW, team, principal=reader)
    assert await noted(database) == []
    assert await noted(database, reader) == []


async def test_a_later_claim_takes_back_an_earlier_one(database, worker) -> None:
    old = await keep(database)
    await hear(worker, f"{NEW} No, wait. {OLD}", old)
    assert await noted(database) == []
    await hear(worker, f"{NEW} No, wait. The staging database listens on port 5434.", old)
    assert [statement for _, statement, _ in await noted(database)] == ["The staging database listens on port 5434."]


async def test_i_is_whoever_says_it(database, worker) -> None:
    you = Principal(org="local", subject="you")
    mine, theirs = await keep(database, "I live in Graz."), await keep(database, "I live in Graz.", you)
    named = await keep(database, "I live in Graz.", speaker="Ada")
    await hear(worker, "I moved to Bonn.", mine, theirs, named)
    assert [memory for memory, _, _ in await noted(database)] == [mine]
    await hear(worker, "Ada: I moved to Bonn.", mine, theirs, named)
    assert (named, "I moved to Bonn.", "Ada") in await noted(database)
    assert theirs not in [memory for memory, _, _ in await noted(database)]


async def test_a_sentence_with_something_cut_out_corrects_nothing(database, worker) -> None:
    old = await keep(database, "The deploy token of staging is expired.")
    await hear(worker, "The deploy token of staging is <private>active</private>.", old)
    await hear(worker, "The deploy token of staging is active <private>, says Mira</private>.", old)
    assert await noted(database) == []


async def test_what_waits_survives_an_outage_and_is_bounded(database, worker) -> None:
    old = await keep(database)
    database.away = True
    worker.note(Heard(ME, NEW, (old,), NOW))
    with pytest.raises(Unavailable):
        await worker.step()
    database.away = False
    assert not await worker.step()
    assert len(await noted(database)) == 1
    for number in range(MAX_WAITING + 1):
        worker.note(Heard(ME, f"The staging database listens on port {number}.", (old,), NOW))
    while await worker.step():
        pass
    statements = [statement for _, statement, _ in await noted(database)]
    assert "The staging database listens on port 0." not in statements, "the oldest made room"
    assert len(statements) == 1 + MAX_WAITING

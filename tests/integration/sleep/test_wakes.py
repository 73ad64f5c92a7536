"""Wake events on the hot tier: contradictions, patterns and stale memories, each told once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import MemoryEvent, WakeEvent, WakeKind
from cortex_contracts.messages.memory import MemoryType, Visibility, WriteDecision
from cortex_contracts.subjects import MemoryOp
from cortex_runtime.bus import Delivery
from cortex_sleep import wake, wakes
from cortex_sleep.decay_phase import Decay
from cortex_sleep.wakes import Stale, Watch
from cortex_store import access, documents, entities, memories, occurrences
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.sleep_work import PlayedWork

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
ME = Principal(org="mine", subject="me")
DELIVERY = Delivery("s", "m", "EVENTS", 1, 1, {})


@pytest.fixture
async def hot(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    database = Database(postgres.runtime_url)
    await database.open()
    yield database
    await database.close()


def learned(at: datetime) -> UUID:
    """The id of a memory that was learned at that time."""
    return UUID(int=int(at.timestamp() * 1000) << 80 | uuid7().int & (1 << 80) - 1)


async def keep(hot: Database, content: str, days: float = 0, **fields: Any) -> UUID:
    """A memory that was learned so many days ago."""
    at = NOW - timedelta(days=days)
    given: dict[str, Any] = {
        "namespace": "work",
        "owner": "me",
        "source_kind": "manual",
        "importance": 0.8,
        "valid_at": at,
        "id": learned(at),
    } | fields
    memory = NewMemory(content=content, **given)
    async with hot.transaction(ME) as connection:
        await memories.insert(connection, memory)
    return memory.id


async def corrected(hot: Database, **fields: Any) -> MemoryEvent:
    """A memory that ended another one, as ingest tells of it."""
    old = await keep(hot, "The auth service listens on port 7001.", 10, **fields)
    new = await keep(hot, "The auth service listens on port 7015.", decision=WriteDecision.UPDATE, **fields)
    async with hot.transaction(ME) as connection:
        await memories.invalidate(connection, old, NOW, new)
        named = [entities.Named("auth service", "auth service", "service", "mention")]
        for one in (old, new):
            await entities.link(connection, one, "work", named)
    return MemoryEvent(
        event_id=uuid7(),
        op=MemoryOp.RETAIN,
        org="mine",
        namespace="work",
        memory_id=new,
        decision="update",
        superseded=(old,),
        occurred_at=NOW,
    )


async def told(postgres: PostgresDatabase) -> list[WakeEvent]:
    """The wake events that wait in the outbox, oldest first."""
    connection = await asyncpg.connect(postgres.sleep_url)
    try:
        rows = await connection.fetch("SELECT subject, body FROM outbox WHERE subject LIKE '%.evt.wake.%' ORDER BY id")
    finally:
        await connection.close()
    assert all(row["subject"].startswith("cortex.v1.evt.wake.") for row in rows)
    return [WakeEvent.model_validate(json.loads(row["body"])) for row in rows]


class Passed:
    """What goes on to the next in line, and how often somebody was woken."""

    def __init__(self, database: Database) -> None:
        self.events: list[MemoryEvent] = []
        self.commits = 0
        self.watch = Watch(database, self.committed, self.then)

    def committed(self) -> None:
        self.commits += 1

    async def then(self, event: MemoryEvent, _: Delivery) -> None:
        self.events.append(event)


async def test_a_contradiction_is_told_once_however_often_it_is_found(
    hot: Database, sleep_database: Database, postgres: PostgresDatabase
) -> None:
    passed, event = Passed(sleep_database), await corrected(hot)
    again = event.model_copy(update={"event_id": uuid7(), "op": MemoryOp.RECONSOLIDATE})
    for one in (event, event, again):
        await passed.watch.observe(one, DELIVERY)
    assert passed.events == [event, event, again]
    assert passed.commits == 1
    (found,) = await told(postgres)
    assert found.kind is WakeKind.CONTRADICTION
    assert (found.memory_id, found.memory_ids) == (event.memory_id, event.superseded)
    assert (found.entity, found.preview) == ("auth service", "The auth service listens on port 7015.")
    assert found.importance == pytest.approx(0.8)
    for org, rows in (("mine", 1), ("theirs", 0)):
        async with sleep_database.transaction(org) as connection:
            assert await connection.fetchval("SELECT count(*) FROM wakes") == rows


async def test_of_private_memories_only_ids_are_told(
    hot: Database, sleep_database: Database, postgres: PostgresDatabase
) -> None:
    event = await corrected(hot, visibility=Visibility.PRIVATE)
    await Passed(sleep_database).watch.observe(event, DELIVERY)
    (found,) = await told(postgres)
    assert found.memory_id == event.memory_id
    # A number alone might stand in an id.
    assert not any(words in found.model_dump_json() for words in ("port 7015", "listens", "auth"))


async def test_what_is_no_contradiction_passes_by(
    hot: Database, sleep_database: Database, postgres: PostgresDatabase
) -> None:
    passed, event = Passed(sleep_database), await corrected(hot)
    for change in (
        {"decision": "add"},
        {"superseded": ()},
        {"op": MemoryOp.FORGET},
        {"memory_id": uuid7()},
        # Another org has no such memory.
        {"org": "theirs"},
    ):
        await passed.watch.observe(event.model_copy(update=change), DELIVERY)
    assert len(passed.events) == 5
    assert await told(postgres) == []


async def test_a_forgotten_correction_is_not_told(
    hot: Database, sleep_database: Database, postgres: PostgresDatabase
) -> None:
    event = await corrected(hot)
    assert event.memory_id is not None
    async with hot.transaction(ME) as connection:
        await memories.invalidate(connection, event.memory_id, NOW)
    await Passed(sleep_database).watch.observe(event, DELIVERY)
    assert await told(postgres) == []


async def test_an_important_fact_of_several_memories_is_a_pattern(
    hot: Database, sleep_database: Database, postgres: PostgresDatabase
) -> None:
    sources = [await keep(hot, f"Deploy {n} failed because of the cache.", 5 - n) for n in range(4)]
    fact = await keep(hot, "Deploys fail because of the cache.", source_kind="sleep")
    slight = await keep(hot, "Deploys are on Fridays.", source_kind="sleep", importance=0.4)
    async with hot.transaction(ME) as connection:
        for one in (fact, slight):
            await documents.derived(connection, one, sources)
    passed = Passed(sleep_database)
    for one in (fact, slight, fact):
        made = MemoryEvent(
            event_id=uuid7(), op=MemoryOp.REFLECT, org="mine", namespace="work", memory_id=one, occurred_at=NOW
        )
        await passed.watch.observe(made, DELIVERY)
    (found,) = await told(postgres)
    assert (found.kind, found.memory_id, found.memory_ids) == (WakeKind.PATTERN, fact, tuple(sources))


async def test_a_namespace_tells_of_no_more_than_a_person_can_read_in_a_day(
    hot: Database, sleep_database: Database, postgres: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakes, "MOST_A_DAY", 3)
    one = await corrected(hot)
    found = wake.Wake(WakeKind.STALE, "work", "", "reason", one.memory_id or uuid7(), 0.5)
    async with sleep_database.transaction("mine") as connection:
        made = [
            await wakes.announce(connection, "mine", replace(found, key=str(n)), NOW + timedelta(hours=6 * n))
            for n in range(6)
        ]
        other = replace(found, namespace="play")
        assert await wakes.announce(connection, "mine", other, NOW)
    # The first is a day old when the fifth comes.
    assert made == [True, True, True, False, True, True]


async def test_important_memories_that_nobody_used_are_stale_once_until_they_are_used_again(
    hot: Database, sleep_database: Database, postgres: PostgresDatabase
) -> None:
    stale = await keep(hot, "The root password is in the safe.", wake.stale_after(0.9) + 1, importance=0.9)
    await keep(hot, "Not yet.", wake.stale_after(0.9) - 1, importance=0.9)
    await keep(hot, "Not important.", 900, importance=0.6)
    await keep(hot, "Not known for long.", 900, importance=0.9, id=learned(NOW - timedelta(days=1)))
    await keep(hot, "Only for a while.", 900, importance=0.9, memory_type=MemoryType.WORKING)
    ended = await keep(hot, "True once.", 900, importance=0.9)
    recalled, repeated = [await keep(hot, f"Used, {n}.", 900, importance=0.9) for n in range(2)]
    async with hot.transaction(ME) as connection:
        await memories.invalidate(connection, ended, NOW)
        await access.record(connection, {recalled: 1}, NOW - timedelta(days=30))
        again = occurrences.Occurrence(uuid7(), repeated, "chat", None, None, None, None, NOW, "said again")
        await occurrences.record(connection, again)
    step = Stale(lambda: None)
    for _ in range(2):
        await Decay(then=step.run).run(PlayedWork(sleep_database, "mine", "work", NOW))
    (found,) = await told(postgres)
    assert (found.kind, found.memory_id) == (WakeKind.STALE, stale)
    assert found.importance == pytest.approx(0.9)
    assert found.reason == "an important memory was not used for 340 days: is it still true?"

    async with hot.transaction(ME) as connection:
        await access.record(connection, {stale: 1}, NOW + timedelta(days=1))
    for days in (2, 300, 400, 401):
        await step.run(PlayedWork(sleep_database, "mine", "work", NOW + timedelta(days=days)))
    assert [one.memory_id for one in await told(postgres)].count(stale) == 2


async def test_a_dry_run_tells_nothing(hot: Database, sleep_database: Database, postgres: PostgresDatabase) -> None:
    await keep(hot, "The root password is in the safe.", 900, importance=0.9)
    await Decay(then=Stale(lambda: None).run).run(PlayedWork(sleep_database, "mine", "work", NOW, dry_run=True))
    assert await told(postgres) == []


@pytest.mark.parametrize("importance", [0.7, 0.75, 0.9, 1.0])
async def test_the_database_finds_stale_what_the_function_calls_stale(
    hot: Database, sleep_database: Database, postgres: PostgresDatabase, importance: float
) -> None:
    days = wake.stale_after(importance)
    await keep(hot, "Not yet.", days - 0.01, importance=importance)
    stale = await keep(hot, "By now.", days + 0.01, importance=importance)
    await Stale(lambda: None).run(PlayedWork(sleep_database, "mine", "work", NOW))
    assert [one.memory_id for one in await told(postgres)] == [stale]

"""Duplicates on the hot tier: what is there twice becomes one memory that was said twice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryType, Network, Visibility
from cortex_contracts.subjects import MemoryOp, SleepPhase
from cortex_sleep import deduplicate
from cortex_sleep.deduplicate import Deduplicate
from cortex_store import (
    access,
    consolidation,
    documents,
    endings,
    indexed_text,
    memories,
    memory_events,
    memory_index,
    occurrences,
    wordings,
)
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.crashes import Crashes
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.sleep_work import Killed, PlayedWork

SAID = datetime(2026, 5, 4, 12, tzinfo=UTC)
ME = Principal(org="mine", subject="me")
MODEL = "test-model"
QUEUE = "The queue retries three times before it gives up"


class Told:
    """Who is told that a namespace changed."""

    def __init__(self) -> None:
        self.namespaces: list[str] = []

    async def changed(self, org: str, namespaces: Iterable[str]) -> None:
        self.namespaces += namespaces


def vector(angle: float) -> list[float]:
    """Two of them are as near as the cosine of the difference of their angles."""
    return [float(np.cos(angle)), float(np.sin(angle)), *[0.0] * 382]


@pytest.fixture
async def hot(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    """The hot tier as the writers see it."""
    database = Database(postgres.runtime_url)
    await database.open()
    async with database.unscoped() as connection:
        await connection.execute("INSERT INTO database_settings VALUES ('embedding.model', $1)", MODEL)
    yield database
    await database.close()


@pytest.fixture
async def sleeping(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    database = Database(postgres.sleep_url)
    await database.open()
    yield database
    await database.close()


async def keep(
    hot: Database, content: str, angle: float | None = 0.0, principal: Principal = ME, **fields: Any
) -> UUID:
    given: dict[str, Any] = {
        "namespace": "work", "owner": principal.subject, "source_kind": "chat", "importance": 0.5, "valid_at": SAID,
        "session": "one",
    } | fields  # fmt: skip
    memory = NewMemory(**({"id": uuid7(), "content": content} | given))
    async with hot.transaction(principal) as connection:
        await memories.insert(connection, memory)
        embedding = None if angle is None else vector(angle)
        await memory_index.index(
            connection, memory.id, indexed_text.document(memory, memory.valid_at), embedding, MODEL
        )
    return memory.id


async def ends(hot: Database, *ids: UUID, principal: Principal = ME) -> list[UUID | None]:
    """What took the place of each memory; none: it is live."""
    async with hot.transaction(principal) as connection:
        found = await memories.by_ids(connection, ids)
    assert all((found[one].invalid_at is None) == (found[one].superseded_by is None) for one in ids)
    return [found[one].superseded_by for one in ids]


def work(sleeping: Database, **fields: Any) -> PlayedWork:
    return PlayedWork(sleeping, "mine", "work", **({"now": datetime.now(UTC)} | fields))


async def run(sleeping: Database, **fields: Any) -> int:
    """How many were merged by a run."""
    one = work(sleeping, **fields)
    await Deduplicate(Told()).run(one)
    return one.counts.get("merged", 0)


async def test_the_best_stays_and_has_said_what_the_others_said(hot: Database, sleeping: Database) -> None:
    first = await keep(hot, QUEUE, importance=0.7)
    again = await keep(
        hot, "the queue retries 3 times, before it gives up", 0.1, valid_at=SAID + timedelta(days=20), turn=4
    )
    other = await keep(hot, "The queue retries 5 times before it gives up")
    async with hot.transaction(ME) as connection:
        await access.record(connection, {again: 3}, SAID + timedelta(days=30))
        said = occurrences.Occurrence(uuid7(), again, "slack", "m1", None, None, None, SAID + timedelta(days=25), "x")
        await occurrences.record(connection, said)
    told = Told()
    one = work(sleeping)
    await Deduplicate(told).run(one)
    assert one.counts == {"merged": 1}
    assert told.namespaces == ["work"]
    assert await ends(hot, first, again, other) == [None, first, None]
    async with hot.transaction(ME) as connection:
        held = await occurrences.of_memory(connection, first)
        assert [(o.source_kind, o.turn, o.occurred_at) for o in held] == [
            ("slack", None, SAID + timedelta(days=25)),
            ("chat", 4, SAID + timedelta(days=20)),
        ]
        assert await access.of_memory(connection, first) == (3, SAID + timedelta(days=30))
        assert [m.id for m in await memories.chain(connection, again)] == [first, again]
        [event] = await memory_events.of_memory(connection, first)
        assert (event.op, event.agent, event.metadata["superseded"]) == (MemoryOp.RECONSOLIDATE, "cortex", 1)


async def test_what_sleep_made_of_a_merged_memory_ends_with_it(hot: Database, sleeping: Database) -> None:
    for readers in (Visibility.TEAM, Visibility.PRIVATE):
        first = await keep(hot, QUEUE, importance=0.7, visibility=readers)
        again = await keep(hot, QUEUE, visibility=readers)
        facts = [
            await keep(hot, "me: “The queue retries”", visibility=readers, source_kind=consolidation.SOURCE_KIND)
            for _ in range(2)
        ]
        async with hot.transaction(ME) as connection:
            for fact, source in zip(facts, (first, again), strict=True):
                await documents.derived(connection, fact, [source])
        assert await run(sleeping) == 1
        async with hot.transaction(ME) as connection:
            found = await memories.by_ids(connection, facts)
        assert [found[fact].invalid_at is None for fact in facts] == [True, False]


async def test_a_second_run_changes_nothing_and_what_comes_later_joins_the_best(
    hot: Database, sleeping: Database
) -> None:
    best, other = await keep(hot, QUEUE, importance=0.7), await keep(hot, QUEUE)
    assert [await run(sleeping), await run(sleeping)] == [1, 0]
    later = await keep(hot, f"{QUEUE}!")
    assert await run(sleeping, now=datetime.now(UTC) + timedelta(hours=2)) == 1
    much_later, most = await keep(hot, QUEUE), await keep(hot, QUEUE, importance=0.9)
    assert await run(sleeping, now=datetime.now(UTC) + timedelta(hours=4)) == 2
    assert await ends(hot, best, other, later, much_later, most) == [most, best, best, most, None]


async def test_only_those_with_the_same_readers_and_of_the_same_kind_are_compared(
    hot: Database, sleeping: Database
) -> None:
    you = Principal(org="mine", subject="you")
    kept = [
        await keep(hot, QUEUE),
        await keep(hot, QUEUE, visibility=Visibility.GLOBAL),
        await keep(hot, QUEUE, visibility=Visibility.PRIVATE),
        await keep(hot, QUEUE, namespace="other"),
        await keep(hot, QUEUE, network=Network.FACT),
        await keep(hot, QUEUE, memory_type=MemoryType.PROCEDURAL),
        await keep(hot, QUEUE, document=uuid7()),
        await keep(hot, QUEUE, source_kind=consolidation.SOURCE_KIND),
        await keep(hot, QUEUE, valid_at=datetime.now(UTC) + timedelta(days=1)),
        await keep(hot, QUEUE, invalid_at=SAID),
    ]
    theirs = await keep(hot, QUEUE, principal=you, visibility=Visibility.PRIVATE)
    announced = await keep(hot, QUEUE)
    async with hot.transaction(ME) as connection:
        await endings.announce(connection, announced, kept[0], datetime.now(UTC) + timedelta(days=3))
    assert await run(sleeping) == 0
    twice = await keep(hot, QUEUE, visibility=Visibility.PRIVATE)
    assert await run(sleeping) == 1
    assert await ends(hot, twice) == [kept[2]]
    assert await ends(hot, theirs, principal=you) == [None]


async def test_other_words_wait_for_their_vectors_and_are_then_compared(hot: Database, sleeping: Database) -> None:
    first = await keep(hot, QUEUE, importance=0.7)
    late = await keep(hot, "The queue retries 3 times before it gives up", None)
    far = await keep(hot, "The queue actually retries three times before it gives up", 1.0)
    # Long after both came in: what holds the mark back is the missing vector.
    now = datetime.now(UTC) + timedelta(hours=3)
    assert await run(sleeping, now=now) == 0
    async with hot.transaction(ME) as connection:
        await memory_index.add_vector(connection, late, vector(0.05), MODEL)
    assert await run(sleeping, now=now) == 1
    assert await ends(hot, first, late, far) == [None, first, None]


async def test_what_somebody_restored_stays(hot: Database, sleeping: Database) -> None:
    first, again = await keep(hot, QUEUE, importance=0.7), await keep(hot, QUEUE)
    assert await run(sleeping) == 1
    async with hot.transaction(ME) as connection:
        await memories.restore(connection, again)
        row = memory_events.MemoryEventRow(uuid7(), "work", MemoryOp.RESTORE, SAID, again, "me")
        await memory_events.record(connection, row)
    third = await keep(hot, QUEUE)
    assert await run(sleeping) == 1
    assert await ends(hot, first, again, third) == [None, None, first]


async def test_a_dry_run_counts_what_the_next_one_merges(hot: Database, sleeping: Database) -> None:
    ids = [await keep(hot, QUEUE, importance=importance) for importance in (0.7, 0.5, 0.6)]
    assert await run(sleeping, dry_run=True) == 2
    assert await ends(hot, *ids) == [None] * 3
    assert await run(sleeping) == 2


async def test_killed_anywhere_nothing_is_lost_and_nothing_merged_twice(
    hot: Database, sleeping: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deduplicate, "BATCH", 3)
    texts = ("The lift is out of order", "The lab door locks at 18:00", "Ana keeps the spare keys")
    for dies_in in range(1, 12):
        namespace = f"n{dies_in}"
        ids = [
            await keep(hot, text, importance=importance, namespace=namespace)
            for importance in (0.7, 0.5)
            for text in texts
        ]
        # An hour later: the mark moves past them.
        now = datetime.now(UTC) + timedelta(hours=1)
        with pytest.raises(Killed):
            await Deduplicate(Told()).run(PlayedWork(sleeping, "mine", namespace, now, dies_in=dies_in))
        await Deduplicate(Told()).run(PlayedWork(sleeping, "mine", namespace, now))
        assert await ends(hot, *ids) == [None, None, None, *ids[:3]]
        async with hot.transaction(ME) as connection:
            assert [len(await occurrences.of_memory(connection, one)) for one in ids] == [1, 1, 1, 0, 0, 0]


async def test_kill_9_of_the_service_merges_each_once(hot: Database, sleeping: Database, crashes: Crashes) -> None:
    local = Principal(org="local", subject="me")
    texts = ("The lift is out of order", "The lab door locks at 18:00", "Ana keeps the spare keys")
    ids = [await keep(hot, text, principal=local, importance=importance) for importance in (0.7, 0.5) for text in texts]

    async def nothing_is_half_done() -> None:
        ended = [by for by in await ends(hot, *ids, principal=local) if by is not None]
        async with hot.transaction(local) as connection:
            said = [one for one in ids for _ in await occurrences.of_memory(connection, one)]
        assert sorted(said) == sorted(ended)

    assert await crashes.through(SleepPhase.DEDUPLICATE, deaths=(3, 5), between=nothing_is_half_done) == 2
    assert await ends(hot, *ids, principal=local) == [None, None, None, *ids[:3]]
    await nothing_is_half_done()


async def test_another_org_sees_neither_marks_nor_wordings_nor_how_near_memories_are(
    hot: Database, sleeping: Database
) -> None:
    one, other = await keep(hot, QUEUE), await keep(hot, "The queue retries 3 times before it gives up")
    await run(sleeping, now=datetime.now(UTC) + timedelta(hours=1))
    for org, rows in (("mine", [1, 2, 0]), ("theirs", [0, 0, 0])):
        async with sleeping.transaction(org) as connection:
            cosines = await wordings.cosines(connection, [(one, other)])
            counts = [
                await connection.fetchval(f"SELECT count(*) FROM {table}")
                for table in ("sleep_marks", "memory_wordings")
            ]
        # One of the two has ended: what is not live is near to nothing.
        assert [*counts, len(cosines)] == rows

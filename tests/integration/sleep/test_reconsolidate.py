"""Reconsolidation on a real PostgreSQL: what recall noted is settled, what is stored side by side is compared."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import Visibility
from cortex_contracts.subjects import MemoryOp, SleepPhase
from cortex_sleep.reconsolidate import Reconsolidate
from cortex_store import (
    contradictions,
    documents,
    endings,
    indexed_text,
    memories,
    memory_events,
    memory_index,
    occurrences,
    sleep_marks,
)
from cortex_store.contradictions import Contradiction
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import Memory, NewMemory
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_writing.announcements import Announcements

ME = Principal(org="local", subject="me")
OTHER = Principal(org="local", subject="other")
BEGAN = datetime(2026, 3, 1, 9, tzinfo=UTC)


class Bumped:
    """Who is told that a namespace changed."""

    def __init__(self) -> None:
        self.namespaces: list[str] = []

    async def bump(self, org: str, namespace: str) -> None:
        self.namespaces.append(namespace)


@pytest.fixture
async def database(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    """What ingest and recall write with."""
    opened = Database(postgres.runtime_url)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
def bumped() -> Bumped:
    return Bumped()


@pytest.fixture
def phase(bumped: Bumped) -> Reconsolidate:
    return Reconsolidate(Announcements(lambda: None, bumped))


async def told(database: Database, content: str, days: float = 0, principal: Principal = ME, **fields: Any) -> UUID:
    """Store a statement as an import does, next to whatever is there."""
    memory = NewMemory(
        **(
            {
                "id": uuid7(),
                "namespace": "work",
                "content": content,
                "source_kind": "import",
                "importance": 0.4,
                "valid_at": BEGAN + timedelta(days=days),
                "owner": principal.subject,
            }
            | fields
        )
    )
    async with database.transaction(principal) as connection:
        await memories.insert(connection, memory)
        await memory_index.index(connection, memory.id, indexed_text.document(memory, memory.valid_at), None, None)
    return memory.id


async def noted(database: Database, memory: UUID, statement: str, days: float = 30, principal: Principal = ME) -> None:
    """What recall notes when a context contradicts a memory."""
    found = Contradiction(uuid7(), "work", memory, statement, None, BEGAN + timedelta(days=days))
    async with database.transaction(principal) as connection:
        assert await contradictions.record(connection, found)


async def row(database: Database, memory: UUID, principal: Principal = ME) -> Memory:
    async with database.transaction(principal) as connection:
        found = await memories.get(connection, memory)
    assert found is not None
    return found


async def chain(database: Database, memory: UUID, principal: Principal = ME) -> list[str]:
    async with database.transaction(principal) as connection:
        return [one.content for one in await memories.chain(connection, memory)]


async def outcomes(database: Database) -> list[str | None]:
    async with database.transaction(ME) as connection:
        rows = await connection.fetch("SELECT outcome, statement FROM contradictions ORDER BY id")
    assert all((one["outcome"] is None) == (one["statement"] != "") for one in rows), "a settled statement is forgotten"
    return [one["outcome"] for one in rows]


async def test_what_was_said_along_with_a_question_supersedes_the_memory(database, run_phase, phase, bumped) -> None:
    old = await told(database, "The staging database listens on port 5432.", speaker="Mira", importance=0.7)
    await noted(database, old, "The staging database listens on port 5433.")
    report = await run_phase(phase)
    assert report.counts == {"corrected": 1, "superseded": 0}
    ended = await row(database, old)
    assert ended.superseded_by is not None
    assert ended.invalid_at == BEGAN + timedelta(days=30)
    new = await row(database, ended.superseded_by)
    assert (new.content, new.source_kind, new.owner) == ("The staging database listens on port 5433.", "recall", "me")
    assert (new.visibility, new.valid_at, new.importance) == (Visibility.TEAM, ended.invalid_at, ended.importance)
    assert new.decision_reason == "said along with a question: the value changed from “5432” to “5433”"
    assert await outcomes(database) == ["corrected"]
    assert set(bumped.namespaces) == {"work"}
    async with database.transaction(ME) as connection:
        [event] = await memory_events.of_memory(connection, new.id)
    assert (event.op, event.metadata["decision"], event.metadata["superseded"]) == (
        MemoryOp.RECONSOLIDATE,
        "update",
        1,
    )
    assert (await run_phase(phase)).counts == {"superseded": 0}, "a second run has nothing to do"


async def test_a_chain_of_five_corrections_reads_in_order(database, run_phase, phase) -> None:
    latest = await told(database, "The retry limit is 1.")
    for value in range(2, 7):
        await noted(database, latest, f"The retry limit is {value}.", days=value)
        await run_phase(phase)
        found = (await row(database, latest)).superseded_by
        assert found is not None
        latest = found
    expected = [f"The retry limit is {value}." for value in range(1, 7)]
    assert await chain(database, latest) == expected
    states = [await row(database, one) for one in await _ids(database)]
    assert [(one.valid_at, one.invalid_at) for one in states] == [
        (BEGAN + timedelta(days=value if value > 1 else 0), BEGAN + timedelta(days=value + 1) if value < 6 else None)
        for value in range(1, 7)
    ]


async def _ids(database: Database) -> list[UUID]:
    async with database.transaction(ME) as connection:
        return [one["id"] for one in await connection.fetch("SELECT id FROM memories ORDER BY id")]


@pytest.mark.parametrize("order", [(1, 2, 3, 4, 5, 6), (6, 5, 4, 3, 2, 1), (3, 6, 1, 5, 2, 4)])
async def test_an_imported_chain_is_put_in_its_order_whatever_order_it_came_in(
    database, run_phase, phase, order
) -> None:
    ids = {value: await told(database, f"The retry limit is {value}.", days=value) for value in order}
    assert (await run_phase(phase)).counts == {"superseded": 5}
    rows = {value: await row(database, memory) for value, memory in ids.items()}
    assert {value: one.superseded_by for value, one in rows.items()} == {
        value: ids.get(value + 1) for value in range(1, 7)
    }
    assert {value: one.invalid_at for value, one in rows.items()} == {
        value: rows[value + 1].valid_at if value < 6 else None for value in range(1, 7)
    }
    assert await chain(database, ids[3]) == [f"The retry limit is {value}." for value in range(1, 7)]
    assert (await run_phase(phase)).counts == {"superseded": 0}


async def test_what_does_not_exclude_each_other_stays(database, run_phase, phase) -> None:
    statements = (
        "The staging database listens on port 5432.",
        "The production database listens on port 6432.",
        "Does the staging database listen on port 9999?",
        "Maybe the staging database listens on port 9998.",
        "We plan to move the staging database to port 9997.",
        "The staging database was on port 5000 until 2024.",
        "Ada: I live in Graz.",
    )
    for day, text in enumerate(statements):
        await told(database, text, days=day)
    await told(database, "I live in Graz.", days=8, speaker="Ada")
    await told(database, "I live in Bonn.", days=9, speaker="Omar")
    assert (await run_phase(phase)).counts == {"superseded": 0}
    assert {(await row(database, one)).invalid_at for one in await _ids(database)} == {None}


async def test_the_i_of_one_user_is_not_that_of_another(database, run_phase, phase) -> None:
    kept = [
        await told(database, "I live in Berlin.", speaker="user"),
        await told(database, "I live in Lyon."),
        await told(database, "I moved from Berlin to Cairo.", days=1, principal=OTHER, speaker="user"),
        await told(database, "I moved from Lyon to Cairo.", days=1, principal=OTHER),
        await told(database, "I moved from Berlin to Rome.", days=1, speaker="assistant"),
    ]
    assert (await run_phase(phase)).counts == {"superseded": 0}
    assert [(await row(database, one)).invalid_at for one in kept] == [None] * 5
    await told(database, "I moved from Berlin to Bern.", days=2, speaker="User")
    await told(database, "I moved from Lyon to Nice.", days=2)
    assert (await run_phase(phase)).counts == {"superseded": 2}
    assert [(await row(database, one)).invalid_at is None for one in kept] == [False, False, True, True, True]


async def test_of_two_at_the_same_moment_neither_wins(database, run_phase, phase) -> None:
    for value in (5, 6):
        await told(database, f"The retry limit is {value}.")
    assert (await run_phase(phase)).counts == {"superseded": 0}


async def test_readers_are_not_mixed(database, run_phase, phase) -> None:
    you = Principal(org="local", subject="you")
    mine = await told(database, "The retry limit is 1.", visibility=Visibility.PRIVATE)
    theirs = await told(database, "The retry limit is 2.", days=1, principal=you, visibility=Visibility.PRIVATE)
    team = await told(database, "The retry limit is 3.", days=2)
    elsewhere = await told(database, "The retry limit is 4.", days=3, namespace="other")
    assert (await run_phase(phase)).counts == {"superseded": 0}
    later = await told(database, "The retry limit is 5.", days=4, visibility=Visibility.PRIVATE)
    assert (await run_phase(phase)).counts == {"superseded": 1}
    assert (await row(database, mine)).superseded_by == later
    for untouched, who in ((theirs, you), (team, ME), (elsewhere, ME)):
        assert (await row(database, untouched, who)).invalid_at is None
    await noted(database, later, "The retry limit is 7.")
    await run_phase(phase)
    new = (await row(database, later)).superseded_by
    assert new is not None
    corrected = await row(database, new)
    assert (corrected.visibility, corrected.owner) == (Visibility.PRIVATE, "me")
    async with database.transaction(you) as connection:
        assert await memories.get(connection, new) is None


async def test_what_somebody_restored_stays(database, run_phase, phase) -> None:
    old = await told(database, "The retry limit is 1.")
    newer = await told(database, "The retry limit is 2.", days=1)
    async with database.transaction(ME) as connection:
        event = memory_events.MemoryEventRow(uuid7(), "work", MemoryOp.RESTORE, datetime.now(UTC), old)
        await memory_events.record(connection, event)
    assert (await run_phase(phase)).counts == {"superseded": 0}
    await noted(database, newer, "The retry limit is 3.", days=-1)
    await noted(database, old, "The retry limit is 3.", days=2)
    assert (await run_phase(phase)).counts == {"kept": 2, "superseded": 0}
    assert await outcomes(database) == ["kept", "kept"]
    assert [(await row(database, one)).invalid_at for one in (old, newer)] == [None, None]


async def test_what_was_said_is_there_already(database, run_phase, phase) -> None:
    old = await told(database, "The retry limit is 1.")
    known = await told(database, "The retry limit is 2.", days=1)
    await noted(database, old, "the retry limit is 2")
    report = await run_phase(phase)
    assert report.counts == {"repeated": 1, "superseded": 0}
    assert (await row(database, old)).superseded_by == known
    async with database.transaction(ME) as connection:
        [again] = await occurrences.of_memory(connection, known)
    assert (again.source_kind, again.occurred_at) == ("recall", BEGAN + timedelta(days=30))
    assert len(await _ids(database)) == 2


async def test_what_ended_in_the_meantime_is_gone_and_what_is_overtaken_is_kept(database, run_phase, phase) -> None:
    over = await told(database, "The retry limit is 1.")
    await noted(database, over, "The retry limit is 2.")
    async with database.transaction(ME) as connection:
        await memories.invalidate(connection, over, BEGAN)
    old = await told(database, "The cache holds 10 GB.")
    await noted(database, old, "The cache holds 20 GB.", days=2)
    newest = await told(database, "The cache holds 30 GB.", days=3)
    assert (await run_phase(phase)).counts == {"gone": 1, "kept": 1, "superseded": 1}
    assert (await row(database, old)).superseded_by == newest


async def test_what_sleep_made_ends_with_its_source_and_contradicts_nothing(database, run_phase, phase) -> None:
    source = await told(database, "The retry limit is 1.")
    fact = await told(database, "The retry limit is 1, says Mira.", source_kind="sleep", days=0)
    other = await told(database, "The retry limit is 4.", source_kind="sleep", days=20)
    async with database.transaction(ME) as connection:
        await documents.derived(connection, fact, [source])
    await told(database, "The retry limit is 2.", days=1)
    assert (await run_phase(phase)).counts == {"superseded": 1}
    assert (await row(database, fact)).invalid_at == BEGAN + timedelta(days=1)
    assert (await row(database, other)).invalid_at is None


async def test_what_is_announced_ends_what_it_replaces_on_its_day(database, run_phase, phase) -> None:
    old = await told(database, "The retry limit is 1.")
    ahead = datetime.now(UTC) + timedelta(days=40)
    new = await told(database, "The retry limit is 2.", valid_at=ahead)
    await run_phase(phase)
    assert (await row(database, old)).invalid_at is None
    async with database.transaction(ME) as connection:
        [found] = await connection.fetch("SELECT memory, superseded_by, at FROM announced_endings")
    assert tuple(found) == (old, new, ahead)
    assert endings.Ending(*found, "local", None).superseded_by == new


async def test_a_dry_run_counts_and_changes_nothing(database, run_phase, phase) -> None:
    old = await told(database, "The retry limit is 1.")
    await told(database, "The cache holds 10 GB.")
    await told(database, "The cache holds 20 GB.", days=1)
    await noted(database, old, "The retry limit is 2.")
    for _ in range(2):
        assert (await run_phase(phase, dry_run=True)).counts == {"corrected": 1, "superseded": 1}
    assert await outcomes(database) == [None]
    assert {(await row(database, one)).invalid_at for one in await _ids(database)} == {None}
    assert (await run_phase(phase)).counts == {"corrected": 1, "superseded": 1}


async def test_only_what_is_new_is_compared_again(database, sleep_database, run_phase, phase) -> None:
    for number in range(45):
        last = await told(database, f"The limit of service svc-{number} is {number}.", days=number)
    report = await run_phase(phase)
    assert (report.done, report.total) == (45, 45)
    async with sleep_database.transaction(ME) as connection:
        assert (await sleep_marks.get(connection, "work")).reconsolidated_to == last
    await told(database, "The limit of service svc-7 is 70.", days=50)
    report = await run_phase(phase)
    assert (report.done, report.total, report.counts) == (1, 1, {"superseded": 1})
    await told(database, "We talked for an hour. The limit of service svc-8 is 80 now.", days=51)
    await told(database, "What a day! We talked about old times.", days=52)
    report = await run_phase(phase)
    assert (report.done, report.total, report.counts) == (2, 2, {"superseded": 1})


async def test_killed_at_any_commit_it_corrects_once(database, crashes) -> None:
    for value in range(1, 6):
        await told(database, f"The retry limit is {value}.", days=value)
    for number in range(3):
        old = await told(database, f"The queue q-{number} holds 10 messages.")
        await noted(database, old, f"The queue q-{number} holds 20 messages.")
    assert await crashes.through(SleepPhase.RECONSOLIDATE, deaths=(1, 2, 3, 4, 6)) > 0
    rows = [await row(database, one) for one in await _ids(database)]
    assert sorted(one.content for one in rows if one.invalid_at is None) == [
        *(f"The queue q-{number} holds 20 messages." for number in range(3)),
        "The retry limit is 5.",
    ]
    assert len(rows) == 11
    assert await outcomes(database) == ["corrected"] * 3

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import numpy as np
import pytest

from cortex_contracts.messages.base import Assertion, Principal
from cortex_contracts.subjects import MemoryOp
from cortex_store import memories, memory_events, search, sleep_progress
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory, Visibility
from cortex_testkit.postgres_server import PostgresDatabase

NOW = datetime(2026, 5, 4, tzinfo=UTC)
ME = Principal(org="mine", subject="me")


def axis(number: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    vector = np.zeros(384, dtype=np.float32)
    vector[number] = 1.0
    return vector


def memory(content: str, *, namespace: str = "work", **fields: Any) -> NewMemory:
    given: dict[str, Any] = {"source_kind": "chat", "importance": 0.5, "valid_at": NOW, "embedding": None} | fields
    return NewMemory(id=uuid7(), namespace=namespace, content=content, **given)


async def found(connection: Connection, text: str, principal: Principal = ME, **options: Any) -> list[str]:
    candidates = await search.search_memories(connection, principal, text, options.pop("embedding", None), **options)
    return [candidate.memory.content for candidate in candidates]


async def test_a_memory_comes_back_as_it_was_given(database: Database) -> None:
    new = memory(
        "Retries: three times\n\n\tper call 'quoted' \\ back",
        owner="me",
        visibility=Visibility.PRIVATE,
        source_ref="thread-1",
        session="s",
        turn=4,
        speaker="Ada",
        assertions=(Assertion(subject="retry", attribute="count", value="3"),),
        metadata={"ключ": "قيمة"},
        embedding=axis(0),
    )
    async with database.transaction("mine") as connection:
        await memories.insert(connection, new)
        stored = await memories.get(connection, ME, new.id)
        assert await memories.get(connection, ME, uuid7()) is None
        assert await memories.counts(connection, ME) == (memories.NamespaceCount("work", 1, 1),)
        assert stored is not None
        stranger = Principal(org="mine", subject="someone else")
        assert await memories.latest(connection, ME) == stored.created_at
        assert await memories.latest(connection, stranger) is None
    for name in ("id", "content", "owner", "visibility", "source_ref", "session", "turn", "speaker", "assertions",
                 "metadata", "valid_at", "network", "memory_type"):  # fmt: skip
        assert getattr(stored, name) == getattr(new, name), name
    assert stored.tier == "hot"
    assert stored.invalid_at is None


async def test_arabic_is_found_with_and_without_tashkeel(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await memories.insert(connection, memory("كَتَبَ أَحْمَدُ الرِّسَالَةَ إلى المَدْرَسَة"))
        await memories.insert(connection, memory("ذهب احمد الى السوق"))
        for query in ("الرسالة", "الرِّسَالَة", "الرساله", "الرســالة"):
            assert await found(connection, query) == ["كَتَبَ أَحْمَدُ الرِّسَالَةَ إلى المَدْرَسَة"], query
        assert len(await found(connection, "أحمد")) == 2
        assert len(await found(connection, "إِلَى")) == 2


async def test_any_word_of_a_question_is_enough_and_more_words_rank_higher(database: Database) -> None:
    async with database.transaction("mine") as connection:
        for content in ("the deploy failed", "the deploy key of staging expired", "lunch was late"):
            await memories.insert(connection, memory(content))
        assert await found(connection, "which key does staging deploy with?") == [
            "the deploy key of staging expired",
            "the deploy failed",
        ]
        assert await found(connection, "?!") == []


async def test_both_ways_report_their_rank_and_score(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await memories.insert(connection, memory("alpha word", embedding=axis(0)))
        await memories.insert(connection, memory("beta", embedding=(axis(0) + axis(1)) / np.sqrt(2)))
        await memories.insert(connection, memory("gamma word word"))
        candidates = await search.search_memories(connection, ME, "word", axis(0).tolist())
    by_content = {candidate.memory.content: candidate for candidate in candidates}
    alpha, beta, gamma = by_content["alpha word"], by_content["beta"], by_content["gamma word word"]
    assert alpha.by_vector is not None
    assert alpha.by_vector.rank == 1
    assert alpha.by_vector.score == pytest.approx(1.0, abs=1e-3)
    assert beta.by_vector is not None
    assert beta.by_vector.rank == 2
    assert beta.by_vector.score == pytest.approx(0.7071, abs=1e-3)
    assert beta.by_words is None
    assert gamma.by_vector is None
    assert gamma.by_words is not None
    assert alpha.by_words is not None
    assert {gamma.by_words.rank, alpha.by_words.rank} == {1, 2}


async def test_what_is_invalid_or_cold_is_not_recalled_but_still_there(database: Database) -> None:
    old, cold = memory("retries three times", embedding=axis(0)), memory("retries once", embedding=axis(0))
    async with database.transaction("mine") as connection:
        await memories.insert(connection, old)
        await memories.insert(connection, cold)
        await connection.execute("UPDATE memories SET invalid_at = now() WHERE id = $1", old.id)
        await connection.execute("UPDATE memories SET tier = 'cold' WHERE id = $1", cold.id)
        assert await found(connection, "retries", embedding=axis(0)) == []
        assert await memories.get(connection, ME, old.id) is not None
        assert await memories.counts(connection, ME) == (memories.NamespaceCount("work", 2, 0),)


async def test_visibility_and_readable_namespaces_decide_what_exists(database: Database) -> None:
    rows = [
        memory("secret of ada", owner="ada", visibility=Visibility.PRIVATE),
        memory("secret of the team", namespace="team"),
        memory("secret of all", namespace="elsewhere", visibility=Visibility.GLOBAL),
    ]
    ada = Principal(org="mine", subject="ada")
    narrow = Principal(org="mine", subject="bob", readable=("work",))
    nobody = Principal(org="mine", subject="bob", readable=())
    async with database.transaction("mine") as connection:
        for row in rows:
            await memories.insert(connection, row)
        assert set(await found(connection, "secret", ada)) == {row.content for row in rows}
        assert set(await found(connection, "secret")) == {"secret of the team", "secret of all"}
        assert await found(connection, "secret", narrow) == ["secret of all"]
        assert await found(connection, "secret", nobody) == ["secret of all"]
        assert await found(connection, "secret", ada, namespaces=("team",)) == ["secret of the team"]
        assert await found(connection, "secret", narrow, namespaces=("team",)) == []
        assert await found(connection, "secret", ada, namespaces=()) == []
        assert await memories.get(connection, ME, rows[0].id) is None
        assert await memories.get(connection, narrow, rows[1].id) is None


async def test_a_narrow_scope_still_gets_its_neighbours_from_a_large_org(database: Database) -> None:
    random = np.random.default_rng(7)
    async with database.transaction("mine") as connection:
        for number in range(600):
            near = axis(0) + 0.01 * random.standard_normal(384).astype(np.float32)
            await memories.insert(connection, memory(f"noise {number}", namespace="big", embedding=near))
        await memories.insert(connection, memory("needle", namespace="small", embedding=axis(1)))
        await connection.execute("SET LOCAL enable_sort = off; SET LOCAL enable_seqscan = off")
        assert await found(connection, "", embedding=axis(0), namespaces=("small",)) == ["needle"]


async def test_a_content_of_the_greatest_size_is_stored(database: Database) -> None:
    content = " ".join(f"كلمة{number}" for number in range(18_000))[:200_000]
    async with database.transaction("mine") as connection:
        await memories.insert(connection, memory(content))
        assert await found(connection, "كلمة17") == [content]


async def test_an_importance_outside_the_unit_interval_is_a_bug_not_a_row(database: Database) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        async with database.transaction("mine") as connection:
            await memories.insert(connection, memory("x", importance=1.5))


async def test_events_of_a_memory_come_back_oldest_first(database: Database) -> None:
    memory_id = uuid7()
    later = memory_events.MemoryEventRow(uuid7(), "work", MemoryOp.FORGET, NOW, memory_id, "me", {"ms": 3})
    earlier = memory_events.MemoryEventRow(uuid7(), "work", MemoryOp.RETAIN, NOW - timedelta(days=1), memory_id)
    async with database.transaction("mine") as connection:
        await memory_events.record(connection, later)
        await memory_events.record(connection, earlier)
        assert await memory_events.of_memory(connection, memory_id) == (earlier, later)


async def test_sleep_counts_what_it_has_seen(postgres: PostgresDatabase) -> None:
    sleep = Database(postgres.sleep_url)
    await sleep.open()
    async with sleep.transaction("mine") as connection:
        await sleep_progress.advance(connection, "work", 2, NOW)
        await sleep_progress.advance(connection, "work", 1, NOW - timedelta(hours=1))
        await sleep_progress.advance(connection, "home", 1, NOW)
        assert await sleep_progress.progress(connection) == (
            sleep_progress.SleepProgress("home", 1, NOW),
            sleep_progress.SleepProgress("work", 3, NOW),
        )
    await sleep.close()

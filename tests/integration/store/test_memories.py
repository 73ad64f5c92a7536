from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import asyncpg
import numpy as np
import pytest

from cortex_contracts.messages.base import Assertion, Principal
from cortex_contracts.messages.memory import Visibility, WriteDecision
from cortex_contracts.subjects import MemoryOp
from cortex_store import (
    indexed_text,
    lexical,
    memories,
    memory_events,
    memory_index,
    sleep_progress,
    terms,
)
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.postgres_server import PostgresDatabase

NOW = datetime(2026, 5, 4, tzinfo=UTC)
ME = Principal(org="mine", subject="me")
MODEL = "test-model"


def axis(number: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    vector = np.zeros(384, dtype=np.float32)
    vector[number] = 1.0
    return vector


def memory(content: str, *, namespace: str = "work", **fields: Any) -> NewMemory:
    given: dict[str, Any] = {"source_kind": "chat", "importance": 0.5, "valid_at": NOW, "owner": "me"} | fields
    return NewMemory(namespace=namespace, content=content, **({"id": uuid7()} | given))


async def keep(database: Database, *new: NewMemory, embedding: Any = None, principal: Principal = ME) -> None:
    """Insert and index in one transaction, then count, as ingest does."""
    async with database.transaction(principal) as connection:
        for one in new:
            await memories.insert(connection, one)
            await memory_index.index(connection, one.id, indexed_text.document(one, one.valid_at), embedding, MODEL)
    async with database.unscoped() as connection:
        while await memory_index.fold(connection, 100):
            pass


async def found(
    database: Database, text: str, principal: Principal = ME, embedding: Any = None, **options: Any
) -> list[str]:
    """Contents of the candidates, best by words first."""
    async with database.transaction(principal) as connection:
        hashes = [lexical.term_hash(term) for term in terms.content_terms(text)]
        past = options.get("filter", memory_index.Filter()).as_of is not None
        known = await memory_index.statistics(connection, options.get("namespaces"), hashes, past=past)
        plan = lexical.plan(hashes, known.segments, known.memories, 5_000)
        query = memory_index.Query(plan.idfs, plan.steps, embedding, MODEL, options.pop("limit", 40), **options)
        candidates = sorted(await memory_index.search(connection, query), key=lambda c: (-c.lexical, c.id))
        rows = await memories.by_ids(connection, [candidate.id for candidate in candidates])
    return [rows[candidate.id].content for candidate in candidates]


@pytest.fixture(autouse=True)
async def recorded_model(database: Database) -> None:
    async with database.unscoped() as connection:
        await connection.execute("INSERT INTO database_settings VALUES ('embedding.model', $1)", MODEL)


async def test_a_memory_comes_back_as_it_was_given(database: Database) -> None:
    new = memory(
        "Retries: three times\n\n\tper call 'quoted' \\ back",
        visibility=Visibility.PRIVATE,
        source_ref="thread-1",
        session="s",
        turn=4,
        speaker="Ada",
        assertions=(Assertion(subject="retry", attribute="count", value="3"),),
        metadata={"ключ": "قيمة"},
        decision=WriteDecision.UPDATE,
        decision_reason="retries: 2 is now 3",
    )
    await keep(database, new, embedding=axis(0))
    async with database.transaction(ME) as connection:
        stored = await memories.get(connection, new.id)
        assert await memories.get(connection, uuid7()) is None
        assert await memories.counts(connection) == (memories.NamespaceCount("work", 1, 1),)
        assert stored is not None
        assert await memories.latest(connection) == stored.created_at
    async with database.transaction(Principal(org="mine", subject="someone else")) as connection:
        assert await memories.latest(connection) is None
    for name in ("id", "content", "owner", "visibility", "source_ref", "session", "turn", "speaker", "assertions",
                 "metadata", "valid_at", "network", "memory_type", "decision", "decision_reason"):  # fmt: skip
        assert getattr(stored, name) == getattr(new, name), name
    assert stored.tier == "hot"
    assert stored.invalid_at is None


async def test_arabic_is_found_with_and_without_tashkeel(database: Database) -> None:
    letter, market = "كَتَبَ أَحْمَدُ الرِّسَالَةَ إلى المَدْرَسَة", "ذهب احمد الى السوق"
    await keep(database, memory(letter), memory(market))
    for query in ("الرسالة", "الرِّسَالَة", "الرساله", "الرســالة", "رسالة"):
        assert await found(database, query) == [letter], query
    assert set(await found(database, "أحمد")) == {letter, market}


async def test_any_word_of_a_question_is_enough_and_more_words_rank_higher(database: Database) -> None:
    await keep(database, *map(memory, ("the deploy failed", "the deploy key of staging expired", "lunch was late")))
    assert await found(database, "which key does staging deploy with?") == [
        "the deploy key of staging expired",
        "the deploy failed",
    ]
    assert await found(database, "?!") == []


async def test_words_are_found_before_they_are_counted(database: Database) -> None:
    async with database.transaction(ME) as connection:
        new = memory("the zeppelin docks at nine")
        await memories.insert(connection, new)
        await memory_index.index(connection, new.id, indexed_text.document(new, NOW), None, None)
    assert await found(database, "zeppelin") == [new.content]


async def test_every_candidate_has_both_exact_scores(database: Database) -> None:
    alpha, beta, gamma = memory("alpha word"), memory("beta"), memory("gamma word word")
    await keep(database, alpha, embedding=axis(0))
    await keep(database, beta, embedding=(axis(0) + axis(1)) / np.sqrt(2))
    await keep(database, gamma)
    async with database.transaction(ME) as connection:
        word = lexical.term_hash("word")
        known = await memory_index.statistics(connection, None, [word])
        assert known.memories == 3
        plan = lexical.plan([word], known.segments, known.memories, 100)
        query = memory_index.Query(plan.idfs, plan.steps, axis(0), MODEL, 10)
        by_id = {candidate.id: candidate for candidate in await memory_index.search(connection, query)}
        foreign = memory_index.Query(plan.idfs, plan.steps, axis(0), "another model", 10)
        by_words = {candidate.id: candidate for candidate in await memory_index.search(connection, foreign)}
    assert by_id[alpha.id].cosine == pytest.approx(1.0, abs=1e-3)
    assert by_id[beta.id].cosine == pytest.approx(0.7071, abs=1e-3)
    assert by_id[beta.id].lexical == 0
    assert by_id[gamma.id].cosine is None
    for one in (alpha, gamma):
        impact = indexed_text.document(one, NOW).impacts[word]
        assert by_id[one.id].lexical == pytest.approx(lexical.idf(2, lexical.SMALLEST_STORE) * impact, rel=1e-5)
    assert set(by_words) == {alpha.id, gamma.id}
    assert by_words[alpha.id].cosine is None


async def test_what_is_invalid_or_cold_is_not_recalled_but_still_there(database: Database) -> None:
    old, cold = memory("retries three times"), memory("retries once")
    await keep(database, old, cold, embedding=axis(0))
    async with database.transaction(ME) as connection:
        assert await memories.invalidate(connection, old.id, NOW + timedelta(days=9))
        assert not await memories.invalidate(connection, old.id, NOW)
        await connection.execute("UPDATE memories SET tier = 'cold' WHERE id = $1", cold.id)
        assert await memories.get(connection, old.id) is not None
        assert await memories.counts(connection) == (memories.NamespaceCount("work", 2, 0),)
    assert await found(database, "retries", embedding=axis(0)) == []
    then = memory_index.Filter(as_of=NOW + timedelta(days=8))
    assert await found(database, "retries", embedding=axis(0), filter=then) == [old.content]
    for moment in (NOW - timedelta(days=1), NOW + timedelta(days=9)):
        assert await found(database, "retries", embedding=axis(0), filter=memory_index.Filter(as_of=moment)) == []
    async with database.transaction(ME) as connection:
        assert await memories.restore(connection, old.id)
        assert not await memories.restore(connection, cold.id)
    assert await found(database, "retries", embedding=axis(0)) == [old.content]


async def test_the_counts_of_terms_follow_what_happens_to_memories(database: Database) -> None:
    first, second = memory("zeppelin"), memory("zeppelin again")
    await keep(database, first, second)

    async def counted() -> tuple[int, int]:
        async with database.unscoped() as connection:
            await memory_index.fold(connection, 100)
        async with database.transaction(ME) as connection:
            known = await memory_index.statistics(connection, ["work"], [lexical.term_hash("zeppelin")])
        return known.memories, sum(segment.df for segment in known.segments)

    assert await counted() == (2, 2)
    async with database.transaction(ME) as connection:
        await memories.invalidate(connection, first.id, NOW)
    assert await counted() == (1, 1)
    async with database.transaction(ME) as connection:
        await memories.restore(connection, first.id)
        await memory_index.index(connection, second.id, indexed_text.document(second, NOW), None, None)
    assert await counted() == (2, 2)


async def test_visibility_and_readable_namespaces_decide_what_exists(database: Database) -> None:
    ada = Principal(org="mine", subject="ada")
    rows = [
        memory("secret of ada", owner="ada", visibility=Visibility.PRIVATE),
        memory("secret of the team", namespace="team"),
        memory("secret of all", namespace="elsewhere", visibility=Visibility.GLOBAL),
    ]
    await keep(database, *rows, principal=ada, embedding=axis(0))
    narrow = Principal(org="mine", subject="bob", readable=("work",))
    nobody = Principal(org="mine", subject="bob", readable=())
    for embedding in (None, axis(0)):
        assert set(await found(database, "secret", ada, embedding)) == {row.content for row in rows}
        assert set(await found(database, "secret", ME, embedding)) == {"secret of the team", "secret of all"}
        assert await found(database, "secret", narrow, embedding) == ["secret of all"]
        assert await found(database, "secret", nobody, embedding) == ["secret of all"]
        assert await found(database, "secret", ada, embedding, namespaces=("team",)) == ["secret of the team"]
        assert await found(database, "secret", narrow, embedding, namespaces=("team",)) == []
        assert await found(database, "secret", ada, embedding, namespaces=()) == []
    async with database.transaction(ME) as connection:
        assert await memories.get(connection, rows[0].id) is None
    async with database.transaction(narrow) as connection:
        assert await memories.get(connection, rows[1].id) is None


async def test_a_narrow_scope_still_gets_its_neighbours_from_a_large_org(
    database: Database, postgres: PostgresDatabase
) -> None:
    random = np.random.default_rng(7)
    for number in range(300):
        near = axis(0) + 0.01 * random.standard_normal(384).astype(np.float32)
        await keep(database, memory(f"noise {number}", namespace="big"), embedding=near)
    await keep(database, memory("needle", namespace="small"), embedding=axis(1))
    assert await found(database, "", embedding=axis(0), namespaces=("small",)) == ["needle"]


async def test_a_content_of_the_greatest_size_is_stored(database: Database) -> None:
    content = " ".join(f"كلمة{number}" for number in range(18_000))[:200_000]
    await keep(database, memory(content))
    assert await found(database, "كلمة17") == [content]


async def test_no_insert_fails_for_the_time_of_its_id(database: Database) -> None:
    def at(ms: int) -> UUID:
        return UUID(int=(ms << 80) | (0x7 << 76) | (0b10 << 62))

    far = [replace(memory(f"made at {ms}"), id=at(ms)) for ms in (0, 946_684_800_000, 4_102_444_800_000)]
    await keep(database, *far)
    async with database.transaction(ME) as connection:
        assert set(await memories.by_ids(connection, [one.id for one in far])) == {one.id for one in far}


async def test_partitions_are_made_ahead_and_take_over_what_the_default_one_holds(postgres: PostgresDatabase) -> None:
    sleep = Database(postgres.sleep_url)
    await sleep.open()
    late = memory("from the year 2030", id=UUID(int=(1_900_000_000_000 << 80) | (0x7 << 76) | (0b10 << 62)))
    async with sleep.transaction(ME) as connection:
        await memories.insert(connection, late)
        where = "SELECT tableoid::regclass::text FROM memories WHERE id = $1"
        assert await connection.fetchval(where, late.id) == "memories_default"
        assert await connection.fetchval("SELECT ensure_memory_partitions(now(), 60)") > 40
        assert await connection.fetchval("SELECT ensure_memory_partitions(now(), 60)") == 0
        assert await connection.fetchval(where, late.id) == "memories_203003"
        assert (await memories.by_ids(connection, [late.id]))[late.id].content == late.content
    await sleep.close()


async def test_a_chain_of_supersessions_reads_from_any_of_its_memories(database: Database) -> None:
    chain = [memory(f"retries {n} times", valid_at=NOW + timedelta(days=n)) for n in range(4)]
    await keep(database, *chain, memory("unrelated"))
    async with database.transaction(ME) as connection:
        for old, new in pairwise(chain):
            assert await memories.invalidate(connection, old.id, new.valid_at, new.id)
        for one in chain:
            assert [each.id for each in await memories.chain(connection, one.id)] == [each.id for each in chain]


async def test_an_importance_outside_the_unit_interval_is_a_bug_not_a_row(database: Database) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        async with database.transaction(ME) as connection:
            await memories.insert(connection, memory("x", importance=1.5))


async def test_events_of_a_memory_come_back_oldest_first(database: Database) -> None:
    memory_id = uuid7()
    later = memory_events.MemoryEventRow(uuid7(), "work", MemoryOp.FORGET, NOW, memory_id, "me", {"ms": 3})
    earlier = memory_events.MemoryEventRow(uuid7(), "work", MemoryOp.RETAIN, NOW - timedelta(days=1), memory_id)
    async with database.transaction(ME) as connection:
        await memory_events.record(connection, later)
        await memory_events.record(connection, earlier)
        assert await memory_events.of_memory(connection, memory_id) == (earlier, later)


async def test_sleep_counts_what_it_has_seen(postgres: PostgresDatabase) -> None:
    sleep = Database(postgres.sleep_url)
    await sleep.open()
    async with sleep.transaction(ME) as connection:
        await sleep_progress.advance(connection, "work", 2, NOW)
        await sleep_progress.advance(connection, "work", 1, NOW - timedelta(hours=1))
        await sleep_progress.advance(connection, "home", 1, NOW)
        assert await sleep_progress.progress(connection) == (
            sleep_progress.SleepProgress("home", 1, NOW),
            sleep_progress.SleepProgress("work", 3, NOW),
        )
    await sleep.close()

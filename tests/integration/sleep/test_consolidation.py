"""Consolidation on the hot tier: what several memories tell becomes one fact that quotes them, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

import asyncpg
import pytest

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryType, Network, Visibility
from cortex_contracts.subjects import MemoryOp, SleepPhase
from cortex_ingest.changes import Changes
from cortex_providers.engine import EngineText, read
from cortex_providers.summariser import Summary
from cortex_sleep.consolidation.phase import Consolidate
from cortex_store import consolidation, indexed_text, lexical, memories, memory_events, memory_index, terms
from cortex_store.database import Database
from cortex_store.embedding import check_embedding
from cortex_store.ids import uuid7
from cortex_store.memories import Memory, NewMemory
from cortex_testkit.crashes import Crashes
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.sleep_work import Killed, PlayedWork
from cortex_writing.announcements import Announcements
from cortex_writing.neighbourhood import Vector
from cortex_writing.ports import PassageEmbedder
from cortex_writing.remembering import remember

NOW = datetime.now(UTC)
ME = Principal(org="mine", subject="me")
OTHER = Principal(org="mine", subject="other")
MODEL = "multilingual-e5-small-q4"
BREAD = [1.0] + [0.0] * 383
MUSIC = [0.0, 1.0] + [0.0] * 382

OVEN = "I bought a stone oven for my sourdough bread yesterday."
BAKING = "I bake sourdough bread every Sunday morning."
MARKET = "I sell my sourdough bread at the harbour market."
VIOLIN = "I play the violin in a youth orchestra."


class Told:
    """Announcements that are counted."""

    def __init__(self) -> None:
        self.bumped: list[str] = []
        self.announcements = Announcements(lambda: None, self)

    async def bump(self, _: str, namespace: str) -> None:
        self.bumped.append(namespace)


@pytest.fixture
async def hot(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    """The hot tier as the writers see it."""
    database = Database(postgres.runtime_url)
    await database.open()
    async with database.unscoped() as connection:
        await check_embedding(connection, 384, MODEL)
    yield database
    await database.close()


@pytest.fixture
async def sleeping(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    database = Database(postgres.sleep_url)
    await database.open()
    yield database
    await database.close()


async def say(
    hot: Database,
    content: str,
    vector: Sequence[float] | None = BREAD,
    *,
    days: float = 10,
    principal: Principal = ME,
    **fields: Any,
) -> UUID:
    """Retain what Mara said so many days ago."""
    given: dict[str, Any] = {"namespace": "work", "source_kind": "chat", "speaker": "Mara", "importance": 0.4} | fields
    memory = NewMemory(
        id=uuid7(), content=content, valid_at=NOW - timedelta(days=days), owner=principal.subject, **given
    )
    async with hot.transaction(principal) as connection:
        await remember(
            connection,
            principal,
            memory,
            indexed_text.document(memory, memory.valid_at),
            Vector() if vector is None else Vector(vector, MODEL),
            read(EngineText(content, memory.speaker)),
        )
    return memory.id


async def forget(hot: Database, memory: UUID, principal: Principal = ME) -> None:
    changes = Changes(hot, cast("PassageEmbedder", None), Told().announcements)
    assert (await changes.forget(principal, memory)).changed


async def consolidate(sleeping: Database, summariser: Any = None, **fields: Any) -> PlayedWork:
    work = PlayedWork(sleeping, "mine", "work", NOW, **fields)
    await Consolidate(Told().announcements, summariser).run(work)
    return work


async def facts(hot: Database, principal: Principal = ME, *, live: bool = True) -> list[Memory]:
    """The facts that a principal reads, oldest first."""
    async with hot.transaction(principal) as connection:
        found = await connection.fetch("SELECT id FROM memories WHERE source_kind = 'sleep' ORDER BY id")
        rows = await memories.by_ids(connection, [row["id"] for row in found])
    return [row for row in rows.values() if row.invalid_at is None or not live]


async def sources(hot: Database, fact: UUID) -> set[UUID]:
    async with hot.transaction(ME) as connection:
        return set(await consolidation.sources(connection, fact))


def day(days: float) -> str:
    return (NOW - timedelta(days=days)).date().isoformat()


async def test_what_is_told_of_one_thing_becomes_a_fact_that_says_who_and_when(
    hot: Database, sleeping: Database
) -> None:
    oven = await say(hot, OVEN, days=12, importance=0.6)
    await say(hot, VIOLIN, MUSIC, days=11)
    baking = await say(hot, f"Hi Ines! {BAKING} How are you?", days=3)
    work = await consolidate(sleeping)
    assert work.counts == {"statements": 3, "made": 1, "remade": 0, "ended": 0, "summaries": 1}
    [fact] = await facts(hot)
    assert fact.content == f"Mara ({day(12)}): “{OVEN}”\nMara ({day(3)}): “{BAKING}”"
    assert (fact.network, fact.memory_type, fact.visibility) == (Network.FACT, MemoryType.SEMANTIC, Visibility.TEAM)
    assert (fact.owner, fact.source_kind, fact.speaker) == ("cortex", "sleep", None)
    assert fact.valid_at == NOW - timedelta(days=3), "it is as new as what it quotes"
    assert fact.importance == pytest.approx(0.6), "it matters as much as the most important of what it quotes"
    assert await sources(hot, fact.id) == {oven, baking}
    async with hot.transaction(ME) as connection:
        assert await consolidation.made_of(connection, oven) == (fact.id,)
        [event] = await memory_events.of_memory(connection, fact.id)
        assert event.op is MemoryOp.REFLECT


async def test_a_second_run_does_nothing(hot: Database, sleeping: Database) -> None:
    for content in (OVEN, BAKING, VIOLIN):
        await say(hot, content)
    await consolidate(sleeping)

    async def everything() -> list[Any]:
        async with sleeping.transaction(ME) as connection:
            tables = ("memories", "topics", "topic_memories", "memory_sources", "entities", "entity_sources", "outbox")
            return [sorted(map(str, await connection.fetch(f"SELECT * FROM {one}"))) for one in tables]

    before = await everything()
    told = Told()
    work = PlayedWork(sleeping, "mine", "work", NOW)
    await Consolidate(told.announcements).run(work)
    assert work.counts == {"statements": 0, "made": 0, "remade": 0, "ended": 0, "summaries": 0}
    assert await everything() == before
    assert told.bumped == []


async def test_a_topic_that_grows_replaces_its_fact(hot: Database, sleeping: Database) -> None:
    await say(hot, OVEN, days=12)
    await say(hot, BAKING, days=9)
    await consolidate(sleeping)
    [first] = await facts(hot)
    market = await say(hot, MARKET, days=2)

    assert (await consolidate(sleeping)).counts["remade"] == 1
    [second] = await facts(hot)
    assert second.content.splitlines()[-1] == f"Mara ({day(2)}): “{MARKET}”"
    assert len(second.content.splitlines()) == 3
    assert market in await sources(hot, second.id)
    async with hot.transaction(ME) as connection:
        assert [one.id for one in await memories.chain(connection, second.id)] == [first.id, second.id]


async def test_a_fact_ends_with_a_source_and_is_made_again_of_what_is_left(hot: Database, sleeping: Database) -> None:
    await say(hot, OVEN, days=12)
    baking = await say(hot, BAKING, days=9)
    market = await say(hot, MARKET, days=2)
    await consolidate(sleeping)
    [fact] = await facts(hot)
    await forget(hot, baking)
    assert await facts(hot) == [], "at once"
    async with hot.transaction(ME) as connection:
        assert await connection.fetchval("SELECT summary FROM entities WHERE key = 'mara'") is None, "at once as well"
        told = [event.op for event in await memory_events.of_memory(connection, fact.id)]
        assert told == [MemoryOp.REFLECT, MemoryOp.FORGET]
    await consolidate(sleeping)
    [fact] = await facts(hot)
    assert BAKING not in fact.content
    await forget(hot, market)
    await consolidate(sleeping)
    assert await facts(hot) == [], "one memory is no fact"
    async with hot.transaction(ME) as connection:
        assert await connection.fetchval("SELECT summary FROM entities WHERE key = 'mara'") is None


async def test_what_was_restored_is_quoted_again(hot: Database, sleeping: Database) -> None:
    await say(hot, OVEN, days=12)
    baking = await say(hot, BAKING, days=9)
    await say(hot, MARKET, days=2)
    await consolidate(sleeping)
    await forget(hot, baking)
    await consolidate(sleeping)
    async with hot.transaction(ME) as connection:
        assert await memories.restore(connection, baking)
    await consolidate(sleeping)
    [fact] = await facts(hot)
    assert BAKING in fact.content


async def test_a_fact_that_somebody_ends_does_not_come_back(hot: Database, sleeping: Database) -> None:
    await say(hot, OVEN, days=12)
    await say(hot, BAKING, days=9)
    await consolidate(sleeping)
    [fact] = await facts(hot)
    await forget(hot, fact.id)
    await consolidate(sleeping)
    await say(hot, MARKET, days=2)
    await consolidate(sleeping)
    assert await facts(hot) == []


async def test_what_is_contradicted_is_no_source(hot: Database, sleeping: Database) -> None:
    baking = await say(hot, BAKING, days=9)
    await say(hot, OVEN, days=8)
    await say(hot, MARKET, days=5)
    async with hot.transaction(ME) as connection:
        assert await memories.invalidate(connection, baking, NOW)
    await consolidate(sleeping)
    [fact] = await facts(hot)
    assert BAKING not in fact.content
    assert baking not in await sources(hot, fact.id)


async def test_jokes_questions_plans_and_what_was_taken_back_are_no_facts(hot: Database, sleeping: Database) -> None:
    await say(hot, BAKING, days=9)
    for number, content in enumerate(
        (
            "Do I bake sourdough bread on Mondays too?",
            "I will bake sourdough bread for the whole town.",
            "I ate forty loaves of sourdough bread today, lol.",
            "My sister said my sourdough bread is the best.",
        )
    ):
        await say(hot, content, days=8, session="s", turn=10 * number)
    await say(hot, "I own a sourdough bread factory in Porto.", days=7, session="t", turn=1)
    await say(hot, "You are joking, right?", days=7, session="t", turn=2, speaker="Ines")
    work = await consolidate(sleeping)
    assert work.counts["statements"] == 1
    assert await facts(hot) == []


async def test_a_fact_ends_when_what_it_quotes_is_taken_back_later(hot: Database, sleeping: Database) -> None:
    await say(hot, BAKING, days=9)
    await say(hot, MARKET, days=7, session="t", turn=1)
    await consolidate(sleeping)
    assert len(await facts(hot)) == 1
    await say(hot, "I was lying, scratch that.", days=7, session="t", turn=2)
    assert (await consolidate(sleeping)).counts["ended"] == 1
    assert await facts(hot) == []
    await say(hot, OVEN, days=5)
    await consolidate(sleeping)
    [fact] = await facts(hot)
    assert MARKET not in fact.content


async def test_readers_do_not_mix(hot: Database, sleeping: Database) -> None:
    private = {"visibility": Visibility.PRIVATE}
    await say(hot, OVEN)
    await say(hot, BAKING, **private)
    await say(hot, MARKET, visibility=Visibility.GLOBAL)
    await say(hot, MARKET.replace("sell", "give away"), principal=OTHER, **private)
    await consolidate(sleeping)
    assert await facts(hot) == [], "four readers, one memory each"

    await say(hot, "I burned my private sourdough bread on Friday.", **private)
    await consolidate(sleeping)
    [fact] = await facts(hot)
    assert (fact.visibility, fact.owner) == (Visibility.PRIVATE, "me")
    assert await facts(hot, OTHER) == []
    async with hot.transaction(ME) as connection:
        summaries = [row["summary"] for row in await connection.fetch("SELECT summary FROM entities")]
        assert not any(summary and ("burned" in summary or BAKING in summary) for summary in summaries)
    async with sleeping.transaction(ME) as connection:
        told = [row["body"] for row in await connection.fetch("SELECT convert_from(body, 'UTF8') AS body FROM outbox")]
    assert told
    assert not any("burned" in one or "bake" in one for one in told), "events are for all who read the namespace"


async def test_another_org_sees_nothing_of_it(hot: Database, sleeping: Database) -> None:
    await say(hot, OVEN)
    await say(hot, BAKING)
    await consolidate(sleeping)
    for org, there in (("mine", True), ("theirs", False)):
        async with sleeping.transaction(Principal(org=org, subject="me")) as connection:
            for table in ("topics", "topic_memories", "consolidation_progress", "entity_sources"):
                assert bool(await connection.fetchval(f"SELECT count(*) FROM {table}")) == there, table
            found = await connection.fetch("SELECT memory FROM topic_memories")
            assert bool(await consolidation.embeddings(connection, [row["memory"] for row in found])) == there


async def test_facts_do_not_make_words_common(hot: Database, sleeping: Database) -> None:
    """Whatever is made, remade and ended: what is told often is found as well as before."""

    async def counted() -> tuple[int, dict[int, int]]:
        async with hot.unscoped() as connection:
            while await memory_index.fold(connection, 500):
                pass
        async with hot.transaction(ME) as connection:
            words = [lexical.term_hash(term) for term in terms.content_terms(f"{OVEN} {BAKING} {MARKET}")]
            known = await memory_index.statistics(connection, ["work"], words)
        df: Counter[int] = Counter()
        for segment in known.segments:
            df[segment.term] += segment.df
        return known.memories, dict(df)

    said = [await say(hot, content) for content in (OVEN, BAKING)]
    before = await counted()
    await consolidate(sleeping)
    assert await counted() == before
    said.append(await say(hot, MARKET))
    before = await counted()
    await consolidate(sleeping)
    [fact] = await facts(hot)
    assert await counted() == before, "remade"
    await forget(hot, fact.id)
    assert await counted() == before, "ended"
    async with hot.transaction(ME) as connection:
        assert await memories.restore(connection, fact.id)
    assert await counted() == before, "restored"


async def test_two_speakers_are_two_topics(hot: Database, sleeping: Database) -> None:
    await say(hot, OVEN, speaker="Mara")
    await say(hot, BAKING, speaker="Ines")
    await consolidate(sleeping)
    assert await facts(hot) == []


async def test_two_users_and_an_assistant_are_not_one_person(hot: Database, sleeping: Database) -> None:
    await say(hot, OVEN, speaker="user")
    await say(hot, BAKING, speaker="user", principal=OTHER)
    await say(hot, MARKET, speaker="assistant")
    await say(hot, "I sold forty loaves of sourdough bread on Friday.", speaker="assistant")
    await consolidate(sleeping)
    assert await facts(hot) == []
    await say(hot, "I bake sourdough bread with olive oil on Mondays.", speaker="User")
    await consolidate(sleeping)
    [fact] = await facts(hot)
    assert [line.partition(" ")[0] for line in fact.content.splitlines()] == ["me", "me"]


async def test_what_is_known_of_an_entity_is_quoted_from_all_who_tell_of_it(hot: Database, sleeping: Database) -> None:
    await say(hot, "I met Ines Alves at the harbour market last Friday.", days=9)
    await say(hot, "I painted a boat with Ines Alves in the old harbour.", MUSIC, days=4, speaker="Omar")
    await consolidate(sleeping)
    async with hot.transaction(ME) as connection:
        summary = await connection.fetchval("SELECT summary FROM entities WHERE key = 'ines alves'")
    assert summary == (
        f"Mara ({day(9)}): “I met Ines Alves at the harbour market last Friday.”\n"
        f"Omar ({day(4)}): “I painted a boat with Ines Alves in the old harbour.”"
    )


async def test_a_memory_without_a_vector_is_waited_for_but_not_for_ever(hot: Database, sleeping: Database) -> None:
    await say(hot, OVEN)
    await say(hot, BAKING, None)
    await say(hot, MARKET)
    assert (await consolidate(sleeping)).counts["statements"] == 1
    late = PlayedWork(sleeping, "mine", "work", datetime.now(UTC) + timedelta(days=2))
    await Consolidate(Told().announcements).run(late)
    assert late.counts["statements"] == 2
    assert len(await facts(hot)) == 1


async def test_a_dry_run_changes_nothing(hot: Database, sleeping: Database) -> None:
    await say(hot, OVEN)
    await say(hot, BAKING)
    work = await consolidate(sleeping, dry_run=True)
    assert work.counts == {"statements": 2, "would_make": 1}
    assert await facts(hot) == []
    assert (await consolidate(sleeping)).counts["made"] == 1


async def test_killed_in_any_transaction_it_makes_each_fact_once(hot: Database, sleeping: Database) -> None:
    for content, vector in ((OVEN, BREAD), (BAKING, BREAD), (VIOLIN, MUSIC), (f"{VIOLIN[:-1]} with Ines.", MUSIC)):
        await say(hot, content, vector)
    for dies_in in range(1, 30):
        work = PlayedWork(sleeping, "mine", "work", NOW, dies_in=dies_in)
        try:
            await Consolidate(Told().announcements).run(work)
        except Killed:
            continue
        break
    else:
        pytest.fail("it never came to its end")
    found = await facts(hot, live=False)
    assert len(found) == 2
    assert [len(await sources(hot, one.id)) for one in found] == [2, 2]


async def test_a_service_that_is_killed_at_its_commits_makes_each_fact_once(hot: Database, crashes: Crashes) -> None:
    for content, vector in ((OVEN, BREAD), (BAKING, BREAD), (VIOLIN, MUSIC), (f"{VIOLIN[:-1]} with Ines.", MUSIC)):
        await say(hot, content, vector)
    dead = await crashes.through(SleepPhase.CONSOLIDATE, "mine", deaths=(3, 4, 5))
    assert dead == 3
    found = await facts(hot, live=False)
    assert len(found) == 2
    assert [len(await sources(hot, one.id)) for one in found] == [2, 2]


async def test_a_topic_whose_source_went_cold_keeps_its_fact(
    hot: Database, sleeping: Database, postgres: PostgresDatabase
) -> None:
    oven = await say(hot, OVEN, days=12)
    baking = await say(hot, BAKING, days=9)
    await consolidate(sleeping)
    [fact] = await facts(hot)
    owner = await asyncpg.connect(postgres.migration_url)
    await owner.execute("DELETE FROM memories WHERE id = $1", oven)
    await owner.close()
    await say(hot, MARKET, days=2)
    await consolidate(sleeping)
    assert [one.id for one in await facts(hot)] == [fact.id]
    assert await sources(hot, fact.id) == {oven, baking}
    await forget(hot, baking)
    await consolidate(sleeping)
    assert await facts(hot) == []


class Model:
    """A language model that sums up, or is away."""

    def __init__(self, answer: Summary | None) -> None:
        self.asked: list[Sequence[str]] = []
        self._answer = answer

    async def summarise(self, texts: Sequence[str], *, limit: int) -> Summary:
        self.asked.append(texts)
        if self._answer is None:
            raise Unavailable("away")
        return self._answer

    async def open(self) -> None: ...
    async def check(self) -> None: ...
    async def close(self) -> None: ...


async def test_a_language_model_sums_up_in_front_of_the_quotations(hot: Database, sleeping: Database) -> None:
    await say(hot, OVEN, days=12)
    await say(hot, BAKING, days=9)
    model = Model(Summary("Mara bakes sourdough bread in a stone oven.", (0, 1)))
    await consolidate(sleeping, model)
    [fact] = await facts(hot)
    first, *quoted = fact.content.splitlines()
    assert first == f"Mara ({day(12)} – {day(9)}): Mara bakes sourdough bread in a stone oven."
    assert len(quoted) == 2
    await consolidate(sleeping, model)
    assert len(model.asked) == 1, "nothing is asked about what did not change"


async def test_without_the_model_quotations_alone_tell(hot: Database, sleeping: Database) -> None:
    await say(hot, OVEN, days=12)
    await say(hot, BAKING, days=9)
    await consolidate(sleeping, Model(None))
    [fact] = await facts(hot)
    assert fact.content.splitlines()[0] == f"Mara ({day(12)}): “{OVEN}”"

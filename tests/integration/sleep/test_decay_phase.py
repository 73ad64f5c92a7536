"""Decay on the hot tier: what time and use make of importances, once a day, whatever kills it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import Visibility
from cortex_sleep import decay_phase
from cortex_sleep.decay import decayed
from cortex_sleep.decay_phase import Decay
from cortex_store import access, memories, occurrences
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.sleep_work import Killed, PlayedWork

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
ME = Principal(org="mine", subject="me")


@pytest.fixture
async def hot(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    """The hot tier as the writers see it."""
    database = Database(postgres.runtime_url)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
async def sleeping(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    database = Database(postgres.sleep_url)
    await database.open()
    yield database
    await database.close()


async def keep(hot: Database, days: float, importance: float = 0.5, **fields: Any) -> UUID:
    """A memory of something that was so many days ago."""
    given: dict[str, Any] = {"namespace": "work", "owner": "me", "source_kind": "chat"} | fields
    memory = NewMemory(
        id=uuid7(), content=str(uuid7()), importance=importance, valid_at=NOW - timedelta(days=days), **given
    )
    async with hot.transaction(ME) as connection:
        await memories.insert(connection, memory)
    return memory.id


async def worth(hot: Database, *ids: UUID) -> list[float]:
    async with hot.transaction(ME) as connection:
        found = await memories.by_ids(connection, ids)
    return [round(found[one].importance, 3) for one in ids]


def work(sleeping: Database, now: datetime = NOW, **fields: Any) -> PlayedWork:
    return PlayedWork(sleeping, "mine", "work", now, **fields)


async def test_noise_fades_first_and_what_is_used_or_salient_last(hot: Database, sleeping: Database) -> None:
    fresh, chat, asked = await keep(hot, 0), await keep(hot, 365), await keep(hot, 365, 0.9)
    recalled, repeated = await keep(hot, 365), await keep(hot, 365)
    async with hot.transaction(ME) as connection:
        await access.record(connection, {recalled: 3}, NOW - timedelta(days=100))
        again = occurrences.Occurrence(uuid7(), repeated, "chat", None, None, None, None, NOW, "said again")
        await occurrences.record(connection, again)
    one = work(sleeping)
    await Decay().run(one)
    assert one.counts == {"changed": 3}
    assert await worth(hot, fresh, chat, asked, recalled, repeated) == [
        0.5,
        round(decayed(0.5, age_days=365), 3),
        round(decayed(0.9, age_days=365), 3),
        round(decayed(0.5, age_days=365, idle_days=100, accesses=3), 3),
        0.5,
    ]


async def test_a_second_run_of_the_day_changes_nothing_and_the_next_day_a_little(
    hot: Database, sleeping: Database
) -> None:
    ids = [await keep(hot, days, importance) for days in (3, 40, 90) for importance in (0.1, 0.5)]
    await Decay().run(work(sleeping))
    first = await worth(hot, *ids)
    again = work(sleeping, NOW + timedelta(hours=11))
    await Decay().run(again)
    assert (await worth(hot, *ids), again.counts) == (first, {"changed": 0})
    later = await keep(hot, 90, 0.1)
    await Decay().run(work(sleeping, NOW + timedelta(hours=11)))
    assert await worth(hot, later) == [first[4]]
    for day in (*range(1, 399, 16), 399):
        await Decay().run(work(sleeping, NOW + timedelta(days=day)))
    # Small steps add up to what one step makes: decay starts from what a memory was worth when it was written.
    assert await worth(hot, *ids[4:]) == pytest.approx(
        [decayed(importance, age_days=489) for importance in (0.1, 0.5)], abs=decay_phase.LEAST
    )


async def test_a_use_brings_importance_back(hot: Database, sleeping: Database) -> None:
    one = await keep(hot, 700)
    await Decay().run(work(sleeping))
    assert await worth(hot, one) < [0.3]
    async with hot.transaction(ME) as connection:
        await access.record(connection, {one: 1}, NOW + timedelta(days=1))
    await Decay().run(work(sleeping, NOW + timedelta(days=1)))
    assert await worth(hot, one) == [0.5]


async def test_scoring_again_keeps_what_decay_took(hot: Database, sleeping: Database) -> None:
    one, fresh, nothing = await keep(hot, 365, 0.4), await keep(hot, 0, 0.4), await keep(hot, 0, 0.0)
    await Decay().run(work(sleeping))
    [before] = await worth(hot, one)
    async with hot.transaction(ME) as connection:
        for each in (one, fresh, nothing):
            await memories.raise_importance(connection, each, 0.3)
    assert await worth(hot, one, fresh, nothing) == [before, 0.4, 0.3]
    async with hot.transaction(ME) as connection:
        for each in (one, fresh):
            await memories.raise_importance(connection, each, 0.8)
    assert await worth(hot, one, fresh) == [pytest.approx(2 * before, abs=0.002), 0.8]
    await Decay().run(work(sleeping, NOW + timedelta(days=1)))
    assert await worth(hot, one) == [round(decayed(0.8, age_days=366), 3)]


async def test_only_live_memories_of_the_namespace_decay_and_chunks_of_documents_do_not(
    hot: Database, sleeping: Database
) -> None:
    ended = await keep(hot, 365, invalid_at=NOW)
    elsewhere, chunk = await keep(hot, 365, namespace="other"), await keep(hot, 365, document=uuid7())
    private = await keep(hot, 365, visibility=Visibility.PRIVATE)
    await Decay().run(work(sleeping))
    assert await worth(hot, ended, elsewhere, chunk) == [0.5] * 3
    assert await worth(hot, private) == [round(decayed(0.5, age_days=365), 3)]


async def test_a_dry_run_counts_and_changes_nothing(hot: Database, sleeping: Database) -> None:
    one = await keep(hot, 365)
    dry = work(sleeping, dry_run=True)
    await Decay().run(dry)
    assert (dry.counts, await worth(hot, one)) == ({"changed": 1}, [0.5])
    real = work(sleeping)
    await Decay().run(real)
    assert real.counts == {"changed": 1}


async def test_killed_anywhere_it_goes_on_where_it_was(
    hot: Database, sleeping: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decay_phase, "BATCH", 2)
    for dies_in in range(1, 6):
        namespace = f"n{dies_in}"
        ids = [await keep(hot, 365, namespace=namespace) for _ in range(7)]
        with pytest.raises(Killed):
            await Decay().run(PlayedWork(sleeping, "mine", namespace, NOW, dies_in=dies_in))
        resumed = PlayedWork(sleeping, "mine", namespace, NOW)
        await Decay().run(resumed)
        assert await worth(hot, *ids) == [round(decayed(0.5, age_days=365), 3)] * 7
        # The first transaction reads only; each of the others that committed stands.
        assert resumed.counts == {"changed": 7 - 2 * max(0, dies_in - 2)}


async def test_a_run_of_an_earlier_day_leaves_a_newer_one_alone(hot: Database, sleeping: Database) -> None:
    one = await keep(hot, 365)
    await Decay().run(work(sleeping, NOW + timedelta(days=200)))
    newer = await worth(hot, one)
    late = work(sleeping)
    await Decay().run(late)
    assert (await worth(hot, one), late.counts) == (newer, {})


async def test_what_comes_after_decay_is_called_last_and_not_in_a_dry_run(hot: Database, sleeping: Database) -> None:
    seen: list[bool] = []

    async def then(given: Any) -> None:
        seen.append(given.dry_run)

    await Decay(then).run(work(sleeping))
    await Decay(then).run(work(sleeping, dry_run=True))
    assert seen == [False]

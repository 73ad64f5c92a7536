"""The search over the files of the cold tier finds what comparing every memory finds, and nothing out of scope."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest

from cortex_contracts.errors import Unavailable
from cortex_providers.cold_memory import ColdMemory
from cortex_providers.cold_search import ColdFilter, ColdFound, ColdQuery, ColdReader, ColdScope
from cortex_providers.cold_store import Batch, ColdStoreConfig, Damaged
from cortex_sleep.iceberg import search as searching
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_store import lexical, terms
from cortex_store.lexical_index import DIMENSIONS
from cortex_testkit.archived import MODEL, EveryOne, archived, overlap, vector_of
from cortex_testkit.postgres_server import PostgresDatabase

WORDS = (
    "pump valve turbine harbour invoice deadline migration database backup release customer refund coffee garden "
    "مضخة صمام ميناء فاتورة موعد قاعدة نسخة إصدار عميل قهوة حديقة"
).split()
WORK = (ColdScope("work", True),)


def reader(
    *,
    org: str = "local",
    subject: str = "agent-1",
    scopes: Sequence[ColdScope] = WORK,
    hidden: Sequence[UUID] = (),
    thawed: Sequence[tuple[UUID, UUID]] = (),
) -> ColdReader:
    return ColdReader(org, subject, tuple(scopes), frozenset(hidden), frozenset(thawed))


def query(
    question: str, who: ColdReader | None = None, *, limit: int = 50, vector: bool = True, **narrowed: object
) -> ColdQuery:
    hashes = [lexical.term_hash(term) % DIMENSIONS for term in terms.content_terms(question)]
    return ColdQuery(
        reader=who or reader(),
        terms=tuple(hashes),
        vector=vector_of(question) if vector else None,
        model=MODEL,
        names=frozenset(),
        filter=ColdFilter(**narrowed),  # type: ignore[arg-type]
        limit=limit,
        limit_s=30.0,
    )


def said(count: int, seed: int = 1, *, days: float = 0.25) -> list[ColdMemory]:
    chance = random.Random(seed)
    first = datetime(2024, 1, 1, tzinfo=UTC)
    return [
        archived(
            seed * 1_000_000 + number,
            f"{' '.join(chance.choices(WORDS, k=chance.randint(4, 14)))} {number}",
            at=first + timedelta(days=days * number),
        )
        for number in range(count)
    ]


@pytest.fixture
async def store(postgres: PostgresDatabase, tmp_path: Path) -> AsyncIterator[IcebergColdStore]:
    opened = IcebergColdStore(ColdStoreConfig(warehouse=str(tmp_path / "cold"), database=postgres.sleep_url))
    await opened.open()
    yield opened
    await opened.close()


async def put(store: IcebergColdStore, memories: Sequence[ColdMemory], *, batch: UUID | None = None) -> UUID:
    known = Batch(batch or uuid4(), memories[0].org, memories[0].namespace)
    await store.append(known, memories, recorded=False)
    return known.id


async def searched(store: IcebergColdStore, asked: ColdQuery) -> ColdFound:
    return await (await store.look()).search(asked)


def ids(found: ColdFound) -> list[UUID]:
    return [one.id for one in found.candidates]


@pytest.mark.parametrize("question", ["the turbine in the harbour", "فاتورة العميل و موعد", "refund قهوة"])
async def test_what_comparing_every_memory_finds_is_found_with_the_same_scores(
    store: IcebergColdStore, question: str
) -> None:
    memories = said(1_200)
    for start in range(0, len(memories), 400):
        await put(store, memories[start : start + 400])
    found = await searched(store, query(question, limit=20))
    every = EveryOne(memories)
    by_words, by_meaning = every.by_words(question, 20), every.by_meaning(vector_of(question), 20)
    lexicals = {one.id: one.lexical for one in found.candidates}
    cosines = {one.id: one.cosine for one in found.candidates}
    assert found.rows == len(memories)
    assert found.complete
    # Equal scores at the edge may choose another of the equal ones; nothing better is missing.
    assert sorted(lexicals.values(), reverse=True)[:20] == pytest.approx([score for _, score in by_words], rel=1e-5)
    near = sorted((one for one in cosines.values() if one is not None), reverse=True)[:20]
    assert near == pytest.approx([score for _, score in by_meaning], abs=1e-5)
    assert overlap(ids(found), [one for one in by_words if one[1] > by_words[-1][1]]) == 1
    assert all(lexicals[one] == pytest.approx(score, rel=1e-5) for one, score in by_words if one in lexicals)


async def test_a_shortlist_by_signatures_holds_the_nearest_and_the_words_are_exact(
    store: IcebergColdStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories = said(3_000)
    await put(store, memories)
    monkeypatch.setattr(searching, "EXACT_BELOW", 0)
    every = EveryOne(memories)
    for question in ("turbine harbour coffee", "مضخة صمام", "customer refund deadline"):
        found = await searched(store, query(question, limit=20))
        assert overlap(ids(found), every.by_meaning(vector_of(question), 20)) >= 0.9
        best = sorted((one.lexical for one in found.candidates), reverse=True)[:20]
        assert best == pytest.approx([score for _, score in every.by_words(question, 20)], rel=1e-5)


async def test_files_and_row_groups_outside_of_the_time_are_not_read(store: IcebergColdStore) -> None:
    memories = said(360, days=1.0)  # a year
    await put(store, memories)
    march = {"since": datetime(2024, 3, 1, tzinfo=UTC), "until": datetime(2024, 4, 1, tzinfo=UTC)}
    found = await searched(store, query("turbine", **march))
    assert (found.files, found.files_read, found.rows) == (12, 1, 31)
    inside = [one for one in memories if march["since"] <= one.valid_at < march["until"]]
    assert set(ids(found)) <= {one.id for one in inside}
    assert len(found.candidates) == 31


async def test_only_what_the_reader_may_see_is_found_or_counted(store: IcebergColdStore) -> None:
    mine = archived(1, "my own turbine", visibility="private", owner="agent-1")
    theirs = archived(2, "their secret turbine", visibility="private", owner="agent-2")
    team = archived(3, "the turbine of the team")
    await put(store, [mine, theirs, team])
    elsewhere = archived(4, "turbine elsewhere", namespace="other")
    everybody = archived(5, "turbine for the org", namespace="other", visibility="global")
    await put(store, [elsewhere, everybody])
    await put(store, [archived(6, "turbine of another org", org="acme")])

    scopes = (*WORK, ColdScope("other", False))
    found = await searched(store, query("turbine", reader(scopes=scopes)))
    assert set(ids(found)) == {mine.id, team.id, everybody.id}
    assert found.rows == 3
    assert set(ids(await searched(store, query("turbine", reader(subject="agent-2"))))) == {theirs.id, team.id}
    assert not ids(await searched(store, query("turbine", reader(scopes=()))))
    stranger = reader(org="acme", subject="agent-1", scopes=WORK)
    assert [one.namespace for one in (await searched(store, query("turbine", stranger))).candidates] == ["work"]

    look = await store.look()
    assert await look.find(reader(), [theirs.id]) == {}
    found = await look.find(reader(scopes=scopes), [mine.id, theirs.id, elsewhere.id, everybody.id])
    assert {one.memory for one in found.values()} == {mine, everybody}
    assert await look.find(stranger, [team.id]) == {}
    assert await look.find(reader(), [uuid4()]) == {}


async def test_a_batch_that_is_not_the_cold_tiers_yet_is_not_seen(store: IcebergColdStore) -> None:
    done = archived(1, "turbine one")
    writing = archived(2, "turbine two")
    await put(store, [done])
    hidden = await put(store, [writing])
    found = await searched(store, query("turbine", reader(hidden=[hidden])))
    assert ids(found) == [done.id]
    assert found.rows == 1
    assert await (await store.look()).find(reader(hidden=[hidden]), [writing.id]) == {}


async def test_what_came_back_from_there_is_not_seen_and_what_went_again_is(store: IcebergColdStore) -> None:
    stays, back = archived(1, "turbine one"), archived(2, "turbine two")
    first = await put(store, [stays, back])
    again = await put(store, [back])
    who = reader(thawed=[(first, back.id)])
    found = await searched(store, query("turbine", who))
    assert (sorted(ids(found)), found.rows) == (sorted([stays.id, back.id]), 2)
    rows = await (await store.look()).find(who, [stays.id, back.id])
    assert {one: row.batch for one, row in rows.items()} == {stays.id: first, back.id: again}
    gone = reader(thawed=[(first, back.id), (again, back.id)])
    assert ids(await searched(store, query("turbine", gone))) == [stays.id]


async def test_a_question_may_be_narrowed(store: IcebergColdStore) -> None:
    at = datetime(2024, 3, 5, tzinfo=UTC)
    ended = archived(1, "turbine was red", at=at, invalid_at=at + timedelta(days=5))
    fact = archived(2, "turbine is blue", at=at, network="fact", memory_type="semantic", source_kind="manual")
    named = archived(3, "turbine is run by Layla Haddad", at=at, speaker="Omar", created_at=at + timedelta(days=1))
    later = archived(4, "turbine is gone", at=at + timedelta(days=9))
    await put(store, [ended, fact, named, later])

    async def only(**narrowed: object) -> set[UUID]:
        return set(ids(await searched(store, query("turbine", **narrowed))))

    assert await only() == {ended.id, fact.id, named.id, later.id}
    assert await only(as_of=at + timedelta(days=4)) == {ended.id, fact.id, named.id}
    assert await only(as_of=at + timedelta(days=5)) == {fact.id, named.id}
    assert await only(networks=("fact",)) == {fact.id}
    assert await only(types=("episodic",)) == {ended.id, named.id, later.id}
    assert await only(sources=("manual", "nothing")) == {fact.id}
    assert await only(entities=("layla haddad", "nobody")) == {named.id}
    assert await only(created_since=at + timedelta(hours=1)) == {named.id, later.id}
    assert await only(created_until=at + timedelta(hours=1)) == {ended.id, fact.id}


async def test_a_speaker_counts_more_than_somebody_who_is_named(store: IcebergColdStore) -> None:
    speaks = archived(1, "the pump runs", speaker="Omar")
    mentions = archived(2, "Omar Aziz repaired the pump")
    await put(store, [speaks, mentions])
    asked = query("pump")
    asked = ColdQuery(
        **{name: getattr(asked, name) for name in asked.__slots__ if name != "names"},
        names=frozenset(["omar", "omar aziz"]),
    )
    assert {one.id: one.named for one in (await searched(store, asked)).candidates} == {speaks.id: 2, mentions.id: 1}


async def test_vectors_of_another_model_are_not_compared_and_are_counted(store: IcebergColdStore) -> None:
    now = archived(1, "turbine now")
    other = archived(2, "turbine before", model="an-earlier-model")
    none = archived(3, "turbine never", model=None)
    await put(store, [now, other, none])
    found = await searched(store, query("turbine"))
    assert {one.id: one.cosine is None for one in found.candidates} == {now.id: False, other.id: True, none.id: True}
    assert found.other_model == 2
    by_words = await searched(store, query("turbine", vector=False))
    assert by_words.other_model == 0
    assert all(one.cosine is None for one in by_words.candidates)


async def test_rows_come_back_whole_and_in_the_order_they_are_asked_for(store: IcebergColdStore) -> None:
    memories = said(50)
    await put(store, memories[:25])
    await put(store, memories[25:])
    look = await store.look()
    found = await look.search(query("turbine harbour"))
    known = {one.id: one for one in memories}
    wanted = sorted(found.candidates, key=lambda one: one.lexical)
    assert await look.rows([one.ref for one in wanted]) == [known[one.id] for one in wanted]


async def test_a_look_stays_as_it_was(store: IcebergColdStore) -> None:
    first = archived(1, "turbine one")
    await put(store, [first])
    look = await store.look()
    await put(store, [archived(2, "turbine two")])
    assert ids(await look.search(query("turbine"))) == [first.id]


async def test_an_empty_store_has_no_answer(store: IcebergColdStore) -> None:
    found = await searched(store, query("turbine"))
    assert (found.candidates, found.rows, found.files, found.complete) == ((), 0, 0, True)
    assert found.best_lexical > 0


async def test_a_search_without_time_says_that_it_is_not_complete(store: IcebergColdStore) -> None:
    await put(store, said(40, days=10))
    asked = query("turbine")
    asked = ColdQuery(**{name: getattr(asked, name) for name in asked.__slots__ if name != "limit_s"}, limit_s=0.0)
    found = await searched(store, asked)
    assert not found.complete
    assert found.files_read == 0


async def test_who_waits_no_longer_ends_the_search(store: IcebergColdStore, monkeypatch: pytest.MonkeyPatch) -> None:
    await put(store, said(200, days=10))
    began, ended = threading.Event(), threading.Event()
    whole = searching._Search._look

    def slow(self: searching._Search, *given: object) -> None:
        began.set()
        if not self._clock._cancelled.wait(20):
            pytest.fail("nobody ended it")
        whole(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(searching._Search, "_look", slow)
    look = await store.look()
    running = asyncio.create_task(look.search(query("turbine")))
    await asyncio.to_thread(began.wait, 20)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    ended.set()


def test_a_clock_that_was_stopped_ends_what_asks_it() -> None:
    given_up = threading.Event()
    clock = searching.Clock(60.0, given_up)
    assert not clock.late()
    given_up.set()
    with pytest.raises(Unavailable):
        clock.late()


async def test_a_damaged_file_is_said_and_not_answered_from(store: IcebergColdStore, tmp_path: Path) -> None:
    await put(store, said(50, days=0))
    [file] = (tmp_path / "cold").rglob("*.parquet")
    data = bytearray(file.read_bytes())
    data[200:400] = bytes(np.random.default_rng(1).integers(0, 256, 200, dtype=np.uint8))
    file.write_bytes(bytes(data))
    look = await store.look()
    with pytest.raises(Damaged):
        await look.rows([one.ref for one in (await look.search(query("turbine"))).candidates])
    file.unlink()
    with pytest.raises(Damaged):
        await look.search(query("turbine"))

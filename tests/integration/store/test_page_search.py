"""Pages are found by words, by meaning and by name, within the vaults that one may read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import asyncpg
import numpy as np
import pytest

from cortex_contracts.messages.base import Principal
from cortex_store import memory_index, page_chunks, page_overview, page_search, pages
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.embedding import check_embedding
from cortex_store.errors import ModelChanged
from cortex_store.page_search import PageCandidate, PageQuestion
from cortex_store.pages import NewChunk, NewPage
from cortex_testkit.postgres_server import PostgresDatabase

MODEL = "test-model"


def axis(number: int, other: int | None = None) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A direction, or what lies between two, nearer to the first."""
    vector = np.zeros(384, dtype=np.float32)
    vector[number] = 1.0 if other is None else 0.8
    if other is not None:
        vector[other] = 0.6
    return vector


def page(slug: str, *texts: str, vault: str = "v", **fields: Any) -> NewPage:
    given: dict[str, Any] = {
        "path": f"{slug}.md",
        "title": slug.title(),
        "type": "note",
        "content_hash": b"hash",
        "body": "\n".join(texts),
        "chunks": tuple(NewChunk(text, ("Heading",), None) for text in texts or (slug,)),
    } | fields
    return NewPage(vault=vault, slug=slug, **given)


async def search(connection: Connection, text: str, embedding: Any = None, **more: Any) -> dict[str, PageCandidate]:
    """The best candidate of each page, by its slug."""
    found = await page_search.search(connection, PageQuestion(text, embedding, **more))
    best: dict[str, PageCandidate] = {}
    for one in sorted(found.candidates, key=lambda one: (one.lexical, one.cosine or 0.0, one.named)):
        best[one.slug] = one
    return best


async def by_words(connection: Connection, text: str, **more: Any) -> list[str]:
    found = await search(connection, text, **more)
    return sorted((slug for slug, one in found.items() if one.lexical > 0), key=lambda slug: -found[slug].lexical)


async def test_a_rare_word_counts_more_than_a_common_one_and_stems_count(database: Database) -> None:
    async with database.transaction("mine") as connection:
        for number in range(30):
            await pages.upsert(connection, page(f"p{number}", "the meeting about nothing"))
        await pages.upsert(connection, page("zebra", "we adopted two zebras"))
        await pages.upsert(connection, page("both", "a meeting about adopting a zebra"))
        assert (await by_words(connection, "adopt zebra meeting"))[:2] == ["both", "zebra"]
        assert set(await by_words(connection, "zebra")) == {"both", "zebra"}
        found = await page_search.search(connection, PageQuestion("zebra unheard"))
        assert len(found.idfs) == 2
        assert all(0 < one.lexical <= found.best_lexical for one in found.candidates)
    # The counts are folded in behind; nothing changes.
    async with database.unscoped() as connection:
        assert await memory_index.fold(connection, 1000) == 32
    async with database.transaction("mine") as connection:
        assert (await by_words(connection, "adopt zebra meeting"))[:2] == ["both", "zebra"]
        await pages.delete(connection, "v", "both")
        assert await by_words(connection, "adopt zebra") == ["zebra"]


async def test_words_of_title_and_headings_find_a_page_in_any_script(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("a", "نصٌّ عَرَبِيٌّ قصير 今天的会议讨论了项目预算", title="Mill Pond"))
        for query in ("pond", "عربي", "عَرَبِيّ", "heading", "预算"):
            assert await by_words(connection, query) == ["a"], query


async def test_a_page_without_text_is_found_by_its_title(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("empty", title="Quarterly Review", chunks=()))
        assert await by_words(connection, "quarterly") == ["empty"]


async def test_every_passage_that_is_best_some_way_comes_with_both_scores(database: Database) -> None:
    chunks = (
        NewChunk("intro about boats", ("Intro",), axis(0)),
        NewChunk("the founder story: founder, founder", ("Story",), axis(1)),
    )
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("a", chunks=chunks, tags=("t",)))
        await pages.upsert(connection, page("b", "a founder elsewhere"))
        found = await page_search.search(connection, PageQuestion("founder", axis(0, 1)))
        shown = await page_search.passages(connection, [one.chunk for one in found.candidates])
        scores = {shown[one.chunk].text: (one.lexical > 0, one.cosine) for one in found.candidates}
    assert scores == {
        "intro about boats": (False, pytest.approx(0.8, abs=1e-3)),
        "the founder story: founder, founder": (True, pytest.approx(0.6, abs=1e-3)),
        "a founder elsewhere": (True, None),
    }


@pytest.mark.parametrize("exact_below", [0, 1_000_000])
async def test_the_nearest_pages_come_whatever_the_way_they_are_looked_up(
    database: Database, monkeypatch: pytest.MonkeyPatch, exact_below: int
) -> None:
    monkeypatch.setattr(page_search, "EXACT_BELOW", exact_below)
    async with database.transaction("mine") as connection:
        for number in range(60):
            vault = ("v", "w")[number % 2]
            chunks = tuple(NewChunk(f"text {number}", (), axis(number, 200 + part)) for part in range(3))
            await pages.upsert(connection, page(f"p{number}", vault=vault, chunks=chunks))
    async with database.unscoped() as connection:
        await memory_index.fold(connection, 1000)
    async with database.transaction("mine") as connection:
        found = await search(connection, "", axis(7))
        assert max(found, key=lambda slug: found[slug].cosine or 0.0) == "p7"
        assert len(found) == 50
        narrowed = await search(connection, "", axis(7), vaults=("v",), limit=5)
        assert "p7" not in narrowed
        assert len(narrowed) == 5
    reader = Principal(org="mine", subject="r", readable=("w",))
    async with database.transaction(reader) as connection:
        found = await search(connection, "text", axis(8))
        assert len(found) == 30
        assert {one.vault for one in found.values()} == {"w"}


async def test_types_and_tags_narrow_in_any_case_and_unknown_ones_do_not(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("alice", "founder", type="person", tags=("Leadership", "Été")))
        await pages.upsert(connection, page("mill", "founder", type="company", tags=("leadership",)))
        await pages.upsert(connection, page("note", "founder", tags=("other",)))
        await pages.upsert(connection, replace(page("away", "founder", type="deal"), vault="w"))
        every = {"alice", "mill", "note", "away"}
        for given, expected in (
            ({"types": ("person",)}, {"alice"}),
            ({"types": ("PERSON", "company")}, {"alice", "mill"}),
            ({"tags": ("LEADERSHIP",)}, {"alice", "mill"}),
            ({"tags": ("e\u0301TE\u0301",)}, {"alice"}),
            ({"types": ("person",), "tags": ("leadership", "unheard")}, {"alice"}),
            ({"types": ("bogus",)}, every),
            ({"types": ("bogus",), "tags": ("unheard",)}, every),
            ({"types": ("bogus", "company")}, {"mill"}),
            ({"types": ("company",), "tags": ("other",)}, set()),
            ({"types": ("deal",), "vaults": ("v",)}, {"alice", "mill", "note"}),
        ):
            assert set(await by_words(connection, "founder", **given)) == expected, given
            nearest = await search(connection, "founder", axis(0), **given)
            assert set(nearest) == expected, given


async def test_a_page_is_named_by_its_title_alias_or_slug(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("mill-pond", "x", title="Mill Pond Research", aliases=("MPR",)))
        await pages.upsert(connection, page("other", "about mill pond research and MPR"))
        for question in ("mill pond research", "MPR", "mill-pond", "Mill Pond"):
            found = await search(connection, question)
            assert [slug for slug, one in found.items() if one.named] == ["mill-pond"], question
        assert not any(one.named for one in (await search(connection, "who is mill pond research")).values())


async def test_vectors_of_another_model_are_not_compared(database: Database) -> None:
    async with database.unscoped() as connection:
        await check_embedding(connection, 384, MODEL)
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("a", chunks=(NewChunk("boats", (), axis(0)),), model=MODEL))
        assert (await search(connection, "boats", axis(0), model=MODEL))["a"].cosine == pytest.approx(1.0)
        assert (await search(connection, "boats", axis(0), model="other"))["a"].cosine is None
    with pytest.raises(ModelChanged):
        async with database.transaction("mine") as connection:
            await pages.upsert(connection, page("a", model="other"))


async def test_stale_chunks_are_counted_and_embedded_later(database: Database) -> None:
    async with database.unscoped() as connection:
        await check_embedding(connection, 384, MODEL)
    async with database.transaction("mine") as connection:
        chunks = (NewChunk("boats", ("A", "B"), None), NewChunk("nets", (), axis(1)), NewChunk("oars", (), None))
        await pages.upsert(connection, page("a", title="A", chunks=chunks))
    async with database.unscoped() as connection:
        assert await page_chunks.orgs_with_stale(connection) == ("mine",)
    async with database.transaction("mine") as connection:
        assert (await page_overview.counts(connection)).stale == 2
        [first] = await page_chunks.stale(connection, 1)
        [second] = await page_chunks.stale(connection, 10, after=first.id)
        assert (first.text, second.text) == ("A › B\nboats", "A\noars")
        await pages.upsert(connection, page("b", "written over meanwhile"))
        gone = await page_chunks.stale(connection, 10, after=second.id)
        await pages.delete(connection, "v", "b")
        vectors = [(chunk.id, axis(2)) for chunk in (first, second, *gone)]
        assert await page_chunks.embed(connection, MODEL, vectors) == 2
        assert await page_chunks.embed(connection, MODEL, vectors) == 0
        assert (await page_overview.counts(connection)).stale == 0
        assert (await search(connection, "oars", axis(2)))["a"].cosine == pytest.approx(1.0)
        with pytest.raises(ModelChanged):
            await page_chunks.embed(connection, "other", vectors)
    async with database.unscoped() as connection:
        assert await page_chunks.orgs_with_stale(connection) == ()


async def test_chunks_from_before_their_words_were_indexed_are_found_after_a_while(
    postgres: PostgresDatabase, database: Database
) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("a", "boats", "nets"))
    owner = await asyncpg.connect(postgres.migration_url)
    await owner.execute("UPDATE chunks SET indexed = false")
    await owner.execute("DELETE FROM chunk_terms")
    await owner.close()
    async with database.unscoped() as connection:
        assert await page_chunks.orgs_without_words(connection) == ("mine",)
    async with database.transaction("mine") as connection:
        assert await by_words(connection, "nets") == []
        assert await page_chunks.index_missing(connection, 1) == 1
        assert await page_chunks.index_missing(connection, 10) == 1
        assert await page_chunks.index_missing(connection, 10) == 0
        assert await by_words(connection, "nets") == ["a"]

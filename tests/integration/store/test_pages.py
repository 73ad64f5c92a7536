from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cortex_store import links, pages, vaults
from cortex_store import page_search as search
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.errors import SlugTaken
from cortex_store.pages import NewChunk, NewPage


def axis(number: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    vector = np.zeros(384, dtype=np.float32)
    vector[number] = 1.0
    return vector


def page(slug: str, *texts: str, **fields: Any) -> NewPage:
    chunks = tuple(NewChunk(text, ("Heading",), None) for text in texts or (slug,))
    given: dict[str, Any] = {
        "chunks": chunks,
        "path": f"{slug}.md",
        "title": slug.title(),
        "type": "note",
        "content_hash": b"hash",
    } | fields
    return NewPage(vault="v", slug=slug, body="\n".join(texts), **given)


async def links_of(connection: Connection, slug: str) -> dict[str, str | None]:
    stored = await pages.get(connection, "v", slug)
    assert stored is not None
    return {link.target: link.slug for link in await links.from_page(connection, stored.id)}


async def test_a_page_comes_back_as_it_was_given(database: Database) -> None:
    new = page(
        "people/alice",
        "Alice founded Mill Pond.",
        tags=("Founder",),
        aliases=("Ali",),
        frontmatter={"born": "1990-01-01", "nested": {"a": [1, None, "ب"]}},
        commit="abc",
    )
    async with database.transaction("mine") as connection:
        write = await pages.upsert(connection, new)
        stored = await pages.get(connection, "v", "people/alice")
        assert await pages.list_keys(connection, "v") == (pages.PageKey("people/alice", "people/alice.md", b"hash"),)
    assert write.created
    assert stored is not None
    assert stored.id == write.id
    for name in ("vault", "slug", "path", "title", "type", "body", "content_hash", "tags", "aliases", "frontmatter"):
        assert getattr(stored, name) == getattr(new, name), name
    assert stored.commit == "abc"


async def test_writing_a_page_again_replaces_all_of_it(database: Database) -> None:
    async with database.transaction("mine") as connection:
        first = await pages.upsert(connection, page("a", "old words", "more", links=("b", "c")))
        before = await pages.get(connection, "v", "a")
        second = await pages.upsert(connection, page("a", "new words", links=("d",), title="Other"))
        after = await pages.get(connection, "v", "a")
        assert (second.created, second.id) == (False, first.id)
        assert await connection.fetchval("SELECT count(*) FROM chunks") == 1
        assert await links_of(connection, "a") == {"d": None}
        assert await search.search_pages(connection, "old", None) == ()
    assert before is not None
    assert after is not None
    assert after.created == before.created
    assert after.title == "Other"


async def test_two_files_never_share_a_slug(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("a", "first"))
        with pytest.raises(SlugTaken, match=r"'two/a\.md' and 'a\.md' both ask for the slug 'a'"):
            await pages.upsert(connection, page("a", "second", path="two/a.md"))
        stored = await pages.get(connection, "v", "a")
        assert stored is not None
        assert stored.body == "first"
    async with database.transaction("theirs") as connection:
        assert (await pages.upsert(connection, page("a", path="two/a.md"))).created


async def test_a_file_takes_over_a_page_without_one_and_a_rest_write_keeps_its_path(database: Database) -> None:
    async with database.transaction("mine") as connection:
        rest = await pages.upsert(connection, page("a", path=None))
        file = await pages.upsert(connection, page("a", path="a.md", commit="c1"))
        again = await pages.upsert(connection, page("a", path=None, title="Edited"))
        stored = await pages.get(connection, "v", "a")
    assert rest.id == file.id == again.id
    assert stored is not None
    assert (stored.path, stored.commit, stored.title) == ("a.md", "c1", "Edited")


async def test_a_file_with_a_new_slug_renames_its_page(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("source", links=("old-name", "new-name")))
        await pages.upsert(connection, page("old-name", path="file.md"))
        assert await links_of(connection, "source") == {"old-name": "old-name", "new-name": None}
        write = await pages.upsert(connection, page("new-name", path="file.md"))
        assert write.renamed_from == "old-name"
        assert write.created
        assert await pages.get(connection, "v", "old-name") is None
        assert await links_of(connection, "source") == {"old-name": None, "new-name": "new-name"}


async def test_links_find_a_page_by_slug_path_title_or_alias_in_any_case(database: Database) -> None:
    targets = ("people/alice", "Alice Smith", "ALI", "notes/Alice_S", "alice_s", "أليس", "Nobody")
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("source", links=targets))
        assert set((await links_of(connection, "source")).values()) == {None}
        alice = page("people/alice", path="notes/Alice_S.md", title="alice smith", aliases=("Ali", "أليس"))
        write = await pages.upsert(connection, alice)
        assert write.links_changed == 6
        resolved = await links_of(connection, "source")
        assert resolved == dict.fromkeys(targets, "people/alice") | {"Nobody": None}

        await pages.upsert(connection, replace(alice, aliases=("Ali",)))
        assert (await links_of(connection, "source"))["أليس"] is None

        assert await pages.delete(connection, "v", "people/alice")
        assert not await pages.delete(connection, "v", "people/alice")
        assert set((await links_of(connection, "source")).values()) == {None}
        assert await connection.fetchval("SELECT count(*) FROM links") == len(targets)


async def test_a_shared_name_leads_to_the_slug_first_and_to_the_next_page_when_it_goes(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("source", links=("Mercury",)))
        await pages.upsert(connection, page("planet", title="Mercury"))
        assert await links_of(connection, "source") == {"Mercury": "planet"}
        await pages.upsert(connection, page("mercury", title="The element"))
        assert await links_of(connection, "source") == {"Mercury": "mercury"}
        await pages.delete(connection, "v", "mercury")
        assert await links_of(connection, "source") == {"Mercury": "planet"}


async def test_links_stay_inside_their_vault(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("source", links=("target",)))
        await pages.upsert(connection, replace(page("target"), vault="other"))
        assert await links_of(connection, "source") == {"target": None}


async def test_pages_written_at_the_same_time_link_to_each_other(database: Database) -> None:
    async def write(number: int) -> None:
        async with database.transaction("mine") as connection:
            await pages.upsert(connection, page(f"p{number}", links=(f"p{(number + 1) % 8}",)))

    async with asyncio.TaskGroup() as group:
        for number in range(8):
            group.create_task(write(number))
    async with database.transaction("mine") as connection:
        assert await connection.fetchval("SELECT count(*) FROM links WHERE to_page IS NOT NULL") == 8


async def test_a_failed_write_leaves_the_page_as_it_was(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("a", "good"))
    broken = page("a", chunks=(NewChunk("bad", (), [1.0, 2.0]),))
    with pytest.raises(Exception, match="dimensions"):
        async with database.transaction("mine") as connection:
            await pages.upsert(connection, broken)
    async with database.transaction("mine") as connection:
        assert [hit.passage for hit in await search.search_pages(connection, "good", None)] == ["good"]


async def test_search_gives_a_page_once_with_its_best_passage(database: Database) -> None:
    chunks = (
        NewChunk("intro about boats", ("Intro",), axis(0)),
        NewChunk("the founder story: founder, founder", ("Story",), axis(1)),
    )
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("a", chunks=chunks, tags=("t",)))
        await pages.upsert(connection, page("b", "a founder elsewhere"))
        await pages.upsert(connection, page("c", "nothing"))
        by_words = await search.search_pages(connection, "founder", None)
        assert [(hit.slug, hit.heading_path) for hit in by_words] == [("a", ("Story",)), ("b", ("Heading",))]
        by_vector = await search.search_pages(connection, "", axis(0))
        assert [(hit.slug, hit.passage) for hit in by_vector] == [("a", "intro about boats")]
        both = await search.search_pages(connection, "founder", axis(1))
        assert [hit.slug for hit in both] == ["a", "b"]
        assert both[0].by_vector is not None
        assert both[0].by_words is not None
        assert (both[0].by_vector.rank, both[0].by_words.rank) == (1, 1)
        assert both[0].tags == ("t",)
        assert await search.search_pages(connection, "founder", axis(1), vaults=("other",)) == ()


async def test_a_page_is_found_by_its_title_and_in_arabic(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("a", "نصٌّ عَرَبِيٌّ قصير", title="Mill Pond"))
        for query in ("pond", "عربي", "عَرَبِيّ", "heading"):
            assert [hit.slug for hit in await search.search_pages(connection, query, None)] == ["a"], query


async def test_a_sync_that_failed_keeps_the_commit_of_the_last_good_one(database: Database) -> None:
    failure = vaults.PageFailure("a.md", "two files share a slug")
    async with database.transaction("mine") as connection:
        assert await vaults.get(connection, "v") is None
        assert await vaults.latest_sync(connection) is None
        await vaults.record_sync(connection, "v", vaults.SyncResult.OK, synced_commit="c1", pages_changed=7)
        state = await vaults.record_sync(
            connection, "v", vaults.SyncResult.PARTIAL, synced_commit=None, pages_changed=0, errors=(failure,)
        )
        assert await vaults.get(connection, "v") == state
        assert await vaults.latest_sync(connection) == state.last_sync
    assert (state.synced_commit, state.last_result, state.pages_changed) == ("c1", vaults.SyncResult.PARTIAL, 0)
    assert state.errors == (failure,)

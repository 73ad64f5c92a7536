from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cortex_store import links, page_search, pages, vaults
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


async def found(connection: Connection, text: str) -> list[str]:
    """The passages that have a word of `text`."""
    candidates = (await page_search.search(connection, page_search.PageQuestion(text))).candidates
    passages = await page_search.passages(connection, [one.chunk for one in candidates if one.lexical > 0])
    return sorted(passage.text for passage in passages.values())


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
        assert await found(connection, "old") == []
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


async def test_a_write_without_a_file_keeps_what_belongs_to_the_file(database: Database) -> None:
    of_file = page("a", content_hash=b"file", frontmatter={"status": "active", "effective_date": "2026-01-01"})
    edited = page("a", path=None, content_hash=b"rest", frontmatter={"sources": ["mail"]})
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, of_file)
        await pages.upsert(connection, edited)
        stored = await pages.get(connection, "v", "a")
        assert stored is not None
        assert (stored.content_hash, stored.frontmatter) == (b"file", {"status": "active", "sources": ["mail"]})
        # Git wins when the file changes.
        await pages.upsert(connection, replace(of_file, content_hash=b"changed"))
        stored = await pages.get(connection, "v", "a")
    assert stored is not None
    assert (stored.content_hash, stored.frontmatter) == (b"changed", of_file.frontmatter)


async def test_a_slug_is_found_in_the_default_vault_first(database: Database) -> None:
    async with database.transaction("mine") as connection:
        for vault in ("a", "b", "c"):
            await pages.upsert(connection, replace(page("same"), vault=vault))
        await pages.upsert(connection, replace(page("other"), vault="c"))

        async def vault_of(slug: str, vault: str | None, default: str) -> str | None:
            found = await pages.find(connection, slug, vault=vault, default=default)
            return None if found is None else found.vault

        assert await vault_of("same", None, "b") == "b"
        assert await vault_of("same", None, "z") == "a"
        assert await vault_of("same", "c", "b") == "c"
        assert await vault_of("other", None, "a") == "c"
        assert await vault_of("other", "a", "c") is None
        assert await vault_of("nope", None, "a") is None


async def test_a_page_of_megabytes_is_written_whole(database: Database) -> None:
    texts = [f"passage {number} {'word ' * 230}" for number in range(450)]
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("a", *texts))
        assert await connection.fetchval("SELECT count(DISTINCT ordinal) FROM chunks") == 450
        assert [text[:11] for text in await found(connection, "449")] == ["passage 449"]


async def test_a_name_of_any_length_is_stored(database: Database) -> None:
    endless = "ü" * 5000
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("a", title=endless, tags=(endless,), aliases=(endless,), links=(endless,)))
        assert await links_of(connection, "a") == {endless: "a"}


async def test_links_are_known_at_both_ends(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("a", links=("B", "b", "nowhere")))
        write = await pages.upsert(connection, page("b", links=("a",)))
        await pages.upsert(connection, page("c", links=("b",)))
        assert [link.slug for link in await links.to_page(connection, write.id)] == ["a", "c"]
        await pages.delete(connection, "v", "c")
        assert [link.slug for link in await links.to_page(connection, write.id)] == ["a"]


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
        assert await found(connection, "good") == ["good"]


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


async def test_a_running_sync_tells_how_far_it_is(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await vaults.progress(connection, "v", "c1", 0, 10)
        first = await vaults.get(connection, "v")
    assert first is not None
    assert (first.synced_commit, first.last_sync, first.last_result) == (None, None, None)
    assert first.progress is not None
    async with database.transaction("mine") as connection:
        await vaults.progress(connection, "v", "c1", 7, 10)
        await vaults.record_sync(connection, "b", vaults.SyncResult.OK, synced_commit="c", pages_changed=0)
        [other, second] = await vaults.listed(connection)
        assert other.progress is None
        assert second.progress == vaults.Progress("c1", 7, 10, first.progress.started_at)
    async with database.transaction("mine") as connection:
        await vaults.progress(connection, "v", "c2", 0, 3)
        third = await vaults.get(connection, "v")
        assert third is not None
        assert third.progress is not None
        assert third.progress.started_at > first.progress.started_at
        state = await vaults.record_sync(connection, "v", vaults.SyncResult.OK, synced_commit="c2", pages_changed=3)
        assert state.progress is None

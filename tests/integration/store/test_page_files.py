"""Pages and their files, against a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest

from cortex_contracts.messages.base import Principal
from cortex_store import page_files, pages
from cortex_store.database import Database
from cortex_store.embedding import check_embedding
from cortex_store.errors import SlugTaken
from cortex_store.pages import NewChunk, NewPage
from cortex_testkit.postgres_server import PostgresDatabase

ORG = "acme"
VECTOR = np.eye(1, 384, dtype=np.float32)[0]


def new_page(slug: str, path: str | None) -> NewPage:
    return NewPage(
        "notes",
        slug,
        path,
        "Title",
        "note",
        "body",
        b"hash",
        (NewChunk("said", ("Head",), VECTOR), NewChunk("x", (), None)),
    )


@pytest.fixture
async def database(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    """A database with one page."""
    database = Database(postgres.runtime_url)
    await database.open()
    async with database.transaction(ORG) as connection:
        await pages.upsert(connection, new_page("a", "a.md"))
    yield database
    await database.close()


async def test_a_page_that_was_released_goes_to_the_file_that_is_written_next_and_stays_the_same(
    database: Database,
) -> None:
    async with database.transaction(ORG) as connection:
        before = await pages.get(connection, "notes", "a")
        with pytest.raises(SlugTaken):
            await pages.upsert(connection, new_page("a", "b.md"))
        await page_files.release(connection, "notes", "a", "b.md")
        await pages.upsert(connection, new_page("a", "b.md"))
        after = await pages.get(connection, "notes", "a")
    assert before is not None
    assert after is not None
    assert (after.id, after.path) == (before.id, "b.md")


async def test_only_the_page_of_the_file_itself_is_deleted(database: Database) -> None:
    async with database.transaction(ORG) as connection:
        assert not await page_files.delete(connection, "notes", "a", "b.md")
        assert await page_files.delete(connection, "notes", "a", "a.md")
        assert not await page_files.delete(connection, "notes", "a", "a.md")


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        (ORG, True),
        ("other", False),
        (Principal(org=ORG, subject="writer", writable=("notes",)), True),
        (Principal(org=ORG, subject="reader", writable=("drafts",)), False),
        (Principal(org="other", subject="stranger"), False),
    ],
)
async def test_vectors_are_for_who_may_write_the_vault(database: Database, scope: str | Principal, found: bool) -> None:
    async with database.transaction(scope) as connection:
        known = await page_files.vectors(connection, "notes", ["a"], "model", 10)
        assert list(known) == (["Title › Head\nsaid"] if found else [])
        assert await page_files.vectors(connection, "notes", ["b"], "model", 10) == {}
        assert await page_files.vectors(connection, "drafts", ["a"], "model", 10) == {}
    if found:
        np.testing.assert_array_equal(np.asarray(known["Title › Head\nsaid"]), VECTOR)


async def test_vectors_of_another_model_are_none(database: Database) -> None:
    async with database.transaction(ORG) as connection:
        await check_embedding(connection, 384, "model")
        assert await page_files.vectors(connection, "notes", ["a"], "another", 10) == {}
        assert await page_files.vectors(connection, "notes", ["a"], "model", 0) == {}
        assert len(await page_files.vectors(connection, "notes", ["a"], "model", 10)) == 1

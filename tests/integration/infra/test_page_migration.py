"""The pages of an installation from before 0007 are found again, by meaning at once and by words a little later."""

from __future__ import annotations

from datetime import date

import asyncpg
import numpy as np
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from cortex_infra.bootstrap import RolePasswords, bootstrap
from cortex_infra.migrate import load, migrate
from cortex_ingest.page_words import PageWords
from cortex_store import memory_index, page_overview, page_search, pages
from cortex_store.database import Database
from cortex_store.page_search import PageQuestion
from cortex_testkit.postgres_server import PASSWORD, PostgresDatabase, PostgresServer

PAGE = """
INSERT INTO pages (id, vault, slug, path, title, type, tags, frontmatter, body, content_hash, created)
VALUES (gen_random_uuid(), $1, $2, $2 || '.md', $2, $3, '{Work,work,x}', $4::text::jsonb, 'boats', 'h',
    '2025-01-02 12:00Z')
RETURNING id
"""
CHUNK = """
INSERT INTO chunks (vault, page, ordinal, heading_path, text, search, embedding)
VALUES ($1, $2, $3, '{Heading}', $4, 'boats:1', $5)
"""


async def test_pages_from_before_are_found_again(postgres: PostgresDatabase, postgres_server: PostgresServer) -> None:
    name = f"before_{postgres.name}"
    await bootstrap(postgres_server.superuser_url, RolePasswords(PASSWORD, PASSWORD, PASSWORD), name)
    before = PostgresDatabase(name, postgres.host, postgres.port)
    await migrate(before.migration_url, load()[:6])
    vector = np.eye(1, 384, 5, dtype=np.float32)[0]
    connection = await asyncpg.connect(before.runtime_url)
    await register_vector(connection)
    for org in ("mine", "theirs"):
        async with connection.transaction():
            await connection.execute("SELECT set_config('cortex.org', $1, true)", org)
            for slug, kind, frontmatter in (
                ("boats", "person", '{"date": "2024-05-06T10:00:00"}'),
                ("odd", "memo", '{"date": "2024-99-99"}'),
            ):
                page = await connection.fetchval(PAGE, "notes", slug, kind, frontmatter)
                await connection.execute(CHUNK, "notes", page, 0, f"{slug} are adopted by puppies", HalfVector(vector))
                await connection.execute(CHUNK, "notes", page, 1, "without a vector", None)
            await connection.execute("INSERT INTO vaults (vault, synced_commit) VALUES ('notes', 'c')")
    await connection.close()

    await migrate(before.migration_url)
    database = Database(before.runtime_url)
    await database.open()
    try:
        async with database.transaction("mine") as bound:
            counts = await page_overview.counts(bound)
            assert (counts.pages, counts.chunks, counts.stale) == (2, 4, 2)
            days = await page_overview.timeline(bound, None, None, types=(), vault=None, limit=9)
            assert {one.slug: one.day for one in days} == {"boats": date(2024, 5, 6), "odd": date(2025, 1, 2)}
            assert [key.slug for key in await pages.list_keys(bound, "notes")] == ["boats", "odd"]
        words = PageWords(database)
        assert await words.step()
        assert not await words.step()
        async with database.unscoped() as unbound:
            assert await memory_index.fold(unbound, 100) == 8
        async with database.transaction("mine") as bound:
            found = (await page_search.search(bound, PageQuestion("adopt puppy", vector, types=("note",)))).candidates
            assert {(one.slug, one.lexical > 0, round(one.cosine or 0.0, 2)) for one in found} == {("odd", True, 1.0)}
            tagged = (await page_search.search(bound, PageQuestion("puppy", tags=("WORK",)))).candidates
            assert {one.slug for one in tagged} == {"boats", "odd"}
    finally:
        await database.close()

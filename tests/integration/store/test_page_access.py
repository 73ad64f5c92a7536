"""A vault is a namespace as far as access goes: whatever a statement forgot, one sees the pages one may read."""

from __future__ import annotations

import asyncpg
import pytest

from cortex_contracts.errors import ErrorCode
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ingest import Access
from cortex_store import grants, page_chunks, page_graph, page_overview, page_search, pages, vaults
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.errors import VaultForbidden
from cortex_store.page_search import PageQuestion
from cortex_store.pages import NewChunk, NewPage
from cortex_testkit.postgres_server import PostgresDatabase

VECTOR = [1.0, *[0.0] * 383]
TABLES = ("pages", "page_names", "chunks", "links", "vaults")

OWNER = Principal(org="mine", subject="owner")
READER = Principal(org="mine", subject="reader", readable=("open",), writable=())
WRITER = Principal(org="mine", subject="writer", readable=("open",), writable=("open",))
GRANTED = Principal(org="mine", subject="granted", readable=(), writable=())
NOBODY = Principal(org="mine", subject="nobody", readable=(), writable=())
OTHER_ORG = Principal(org="theirs", subject="owner")


def page(vault: str, slug: str) -> NewPage:
    chunks = (NewChunk(f"secret of {vault}", (), VECTOR), NewChunk("stale", (), None))
    return NewPage(vault, slug, f"{slug}.md", slug, "note", "body", b"h", chunks, ("home", "away"), tags=("t",))


@pytest.fixture
async def filled(database: Database) -> Database:
    async with database.transaction("mine") as connection:
        for vault in ("open", "shut"):
            await pages.upsert(connection, page(vault, "home"))
            await pages.upsert(connection, page(vault, f"only-{vault}"))
            await vaults.record_sync(connection, vault, vaults.SyncResult.OK, synced_commit="c", pages_changed=2)
    async with database.transaction(OWNER) as connection:
        await grants.put(connection, grants.Grant("shut", "granted", Access.READ))
    return database


async def everything(connection: Connection) -> set[str]:
    """Vaults that a transaction gets anything of, when every query has lost its scope."""
    seen = {row["vault"] for table in TABLES for row in await connection.fetch(f"SELECT vault FROM {table}")}
    for embedding in (VECTOR, None):
        found = await page_search.search(connection, PageQuestion("secret home", embedding, tags=("t",)))
        seen |= {one.vault for one in found.candidates}
    counts = await page_overview.counts(connection)
    assert set(counts.vaults) == seen
    assert (counts.pages, counts.chunks, counts.stale) == (2 * len(seen), 4 * len(seen), 2 * len(seen))
    assert counts.links == 2 * len(seen)
    assert {one.vault for one in await vaults.listed(connection)} == seen
    assert counts.stale == len(await page_chunks.stale(connection, 99)) == 2 * len(seen)
    assert len(await page_overview.timeline(connection, None, None, types=(), vault=None, limit=9)) == 2 * len(seen)
    return seen


@pytest.mark.parametrize(
    ("principal", "sees"),
    [
        (OWNER, {"open", "shut"}),
        (READER, {"open"}),
        (WRITER, {"open"}),
        (GRANTED, {"shut"}),
        (NOBODY, set()),
        (OTHER_ORG, set()),
    ],
    ids=["owner", "reader", "writer", "granted", "nobody", "other org"],
)
async def test_who_sees_what_when_every_query_forgets_its_scope(
    filled: Database, principal: Principal, sees: set[str]
) -> None:
    async with filled.transaction(principal) as connection:
        assert await everything(connection) == sees
        found = await pages.find(connection, "home", vault=None, default="shut")
        assert (found.vault if found else None) == ("shut" if "shut" in sees else "open" if sees else None)
        assert await pages.find(connection, "only-shut", vault="open", default="open") is None
        if found:
            node = page_graph.Node(found.id, found.slug, found.title, found.type, 0)
            graph = await page_graph.around(connection, node, 4)
            assert {one.slug for one in graph.nodes} == {"home", f"only-{found.vault}"}


async def test_a_sync_sees_every_vault_of_its_org_and_the_binding_ends_with_it(postgres: PostgresDatabase) -> None:
    database = Database(postgres.runtime_url, pool_size=1)
    await database.open()
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("open", "home"))
        assert await connection.fetchval("SELECT count(*) FROM pages") == 1
    for scope in (NOBODY, "theirs", None):
        async with database.transaction(scope) if scope else database.unscoped() as connection:
            for table in TABLES:
                assert await connection.fetchval(f"SELECT count(*) FROM {table}") == 0, (scope, table)
            if scope:
                assert not (await page_search.search(connection, PageQuestion("secret", VECTOR))).candidates
    await database.close()


@pytest.mark.parametrize("principal", [READER, GRANTED, NOBODY], ids=["reader", "granted reader", "nobody"])
async def test_who_may_not_write_a_vault_changes_nothing(filled: Database, principal: Principal) -> None:
    async with filled.transaction(principal) as connection:
        assert not await pages.may_write(connection, "open")
        with pytest.raises(VaultForbidden) as caught:
            await pages.upsert(connection, page("open", "new"))
        assert caught.value.code is ErrorCode.FORBIDDEN
        if await pages.get(connection, "open", "home"):
            with pytest.raises(VaultForbidden):
                await pages.delete(connection, "open", "home")
        else:
            assert not await pages.delete(connection, "open", "home")
        for table in TABLES:
            assert await connection.execute(f"UPDATE {table} SET vault = vault") == "UPDATE 0"
            assert await connection.execute(f"DELETE FROM {table}") == "DELETE 0"
        stale = await page_chunks.stale(connection, 99)
    if stale:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with filled.transaction(principal) as connection:
                await page_chunks.embed(connection, "m", [(stale[0].id, VECTOR)])
    for insert in (
        "INSERT INTO vaults (vault) VALUES ('open2')",
        "INSERT INTO pages (id, vault, slug, title, type, body, content_hash) "
        "VALUES (gen_random_uuid(), 'open2', 's', 't', 'note', '', '')",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with filled.transaction(principal) as connection:
                await connection.execute(insert)
    async with filled.transaction("mine") as connection:
        assert await everything(connection) == {"open", "shut"}


async def test_a_writer_writes_its_vault_and_no_other(filled: Database) -> None:
    async with filled.transaction(WRITER) as connection:
        assert await pages.may_write(connection, "open")
        assert (await pages.upsert(connection, page("open", "new"))).created
        assert await pages.delete(connection, "open", "home")
        await vaults.progress(connection, "open", "c2", 1, 2)
        with pytest.raises(VaultForbidden):
            await pages.upsert(connection, page("shut", "new"))
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with filled.transaction(WRITER) as connection:
            await connection.execute("UPDATE pages SET vault = 'shut'")
    async with filled.transaction(OWNER) as connection:
        assert [key.slug for key in await pages.list_keys(connection, "open")] == ["new", "only-open"]
        assert [key.slug for key in await pages.list_keys(connection, "shut")] == ["home", "only-shut"]


@pytest.mark.parametrize("role", ["runtime_url", "sleep_url"])
@pytest.mark.parametrize("table", ["chunk_terms", "chunk_vectors"])
async def test_the_side_tables_are_reached_through_the_functions_only(
    postgres: PostgresDatabase, role: str, table: str
) -> None:
    connection = await asyncpg.connect(getattr(postgres, role))
    try:
        for statement in (f"SELECT * FROM {table}", f"DELETE FROM {table}"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)
    finally:
        await connection.close()

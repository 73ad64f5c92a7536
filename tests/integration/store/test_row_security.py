"""An org sees its own rows and nothing else, whatever the statement forgot."""

from __future__ import annotations

from datetime import UTC, datetime

import asyncpg
import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.subjects import MemoryOp
from cortex_store import memories, memory_events, pages, search, sleep_progress, vaults
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.errors import UnsafeRole
from cortex_store.ids import uuid7
from cortex_testkit.postgres_server import PostgresDatabase, PostgresServer

NOW = datetime(2026, 5, 4, tzinfo=UTC)
VECTOR = [1.0, *[0.0] * 383]

ORG_TABLES = """
SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org'
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY 1
"""


async def fill(connection: Connection) -> None:
    memory = memories.NewMemory(uuid7(), "work", "the deploy key", "chat", 0.5, NOW, VECTOR)
    await memories.insert(connection, memory)
    event = memory_events.MemoryEventRow(uuid7(), "work", MemoryOp.RETAIN, NOW, memory.id)
    await memory_events.record(connection, event)
    page = pages.NewPage(
        "vault", "a", "a.md", "A", "note", "deploy", b"h", (pages.NewChunk("deploy", (), VECTOR),), ("b",)
    )
    await pages.upsert(connection, page)
    await vaults.record_sync(connection, "vault", vaults.SyncResult.OK, synced_commit="c", pages_changed=1)
    await connection.execute("INSERT INTO namespace_grants (agent, namespace) VALUES ('a', 'work')")


async def test_every_table_with_an_org_has_forced_row_security(database: Database) -> None:
    async with database.unscoped() as connection:
        tables = {row["name"]: row["forced"] for row in await connection.fetch(ORG_TABLES)}
    assert len(tables) == 9
    assert all(tables.values()), tables


async def test_a_stranger_and_an_unbound_transaction_see_no_row_of_any_table(
    postgres: PostgresDatabase, database: Database
) -> None:
    async with database.transaction("mine") as connection:
        await fill(connection)
    sleep = Database(postgres.sleep_url)
    await sleep.open()
    async with sleep.transaction("mine") as connection:
        await sleep_progress.advance(connection, "work", 3, NOW)
    await sleep.close()

    async def visible(connection: Connection) -> dict[str, int]:
        names = [row["name"] for row in await connection.fetch(ORG_TABLES)]
        return {name: await connection.fetchval(f"SELECT count(*) FROM {name}") for name in names}

    async with database.transaction("mine") as connection:
        assert all((await visible(connection)).values())
    async with database.transaction("theirs") as connection:
        assert not any((await visible(connection)).values())
        stranger = Principal(org="theirs", subject="s")
        assert await search.search_memories(connection, stranger, "deploy key", VECTOR) == ()
        assert await search.search_pages(connection, "deploy", VECTOR) == ()
        assert await pages.get(connection, "vault", "a") is None
        assert not await pages.delete(connection, "vault", "a")
        assert await connection.execute("UPDATE memories SET content = 'x'") == "UPDATE 0"
    async with database.unscoped() as connection:
        assert not any((await visible(connection)).values())


async def test_a_row_cannot_be_written_into_another_org_or_none(database: Database) -> None:
    insert = "INSERT INTO namespace_grants (org, agent, namespace) VALUES ('theirs', 'a', 'n')"
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with database.transaction("mine") as connection:
            await connection.execute(insert)
    with pytest.raises(asyncpg.PostgresError):
        async with database.unscoped() as connection:
            await connection.execute("INSERT INTO namespace_grants (agent, namespace) VALUES ('a', 'n')")


async def test_the_binding_ends_with_the_transaction(postgres: PostgresDatabase) -> None:
    database = Database(postgres.runtime_url, pool_size=1)
    await database.open()
    async with database.transaction("mine") as connection:
        await fill(connection)
    async with database.unscoped() as connection:
        assert await connection.fetchval("SELECT count(*) FROM memories") == 0
    await database.close()


async def test_an_org_is_one_token(database: Database) -> None:
    for org in ("", "a b", "*", "mine'; --"):
        with pytest.raises(ValueError, match="org must match"):
            async with database.transaction(org):
                pass


async def test_a_role_that_bypasses_row_security_is_refused(postgres_server: PostgresServer) -> None:
    database = Database(postgres_server.superuser_url)
    with pytest.raises(UnsafeRole, match="bypasses row security"):
        await database.open()
    await database.close()


@pytest.mark.parametrize(
    "statement", ["DELETE FROM memories", "UPDATE memory_events SET op = 'x'", "DELETE FROM memory_events"]
)
async def test_the_services_cannot_rewrite_history(database: Database, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with database.transaction("mine") as connection:
            await connection.execute(statement)

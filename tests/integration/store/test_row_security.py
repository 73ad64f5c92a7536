"""An org sees its own rows and nothing else, whatever the statement forgot."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryType, Network, Visibility
from cortex_contracts.rpc.ingest import Access
from cortex_contracts.rpc.keys import KeyDraft
from cortex_contracts.subjects import MemoryOp
from cortex_store import (
    access,
    access_keys,
    contradictions,
    documents,
    endings,
    entities,
    entity_relations,
    grants,
    indexed_text,
    memories,
    memory_events,
    memory_index,
    occurrences,
    operations,
    page_search,
    pages,
    sleep_progress,
    staged_parts,
    usage,
    vaults,
)
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.errors import UnsafeRole
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.postgres_server import PostgresDatabase, PostgresServer

NOW = datetime(2026, 5, 4, tzinfo=UTC)
VECTOR = [1.0, *[0.0] * 383]

ME = Principal(org="mine", subject="me")

ORG_TABLES = """
SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced,
    has_any_column_privilege(c.oid, 'SELECT') AS granted
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('org', 'scope')
WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace ORDER BY 1
"""


async def fill(connection: Connection, content: str = "the deploy key", **fields: Any) -> NewMemory:
    given: dict[str, Any] = {"namespace": "work", "owner": "me"} | fields
    memory = NewMemory(
        id=uuid7(), content=content, source_kind="chat", importance=0.5, valid_at=NOW, session="s", turn=1, **given
    )
    await memories.insert(connection, memory)
    await memory_index.index(connection, memory.id, indexed_text.document(memory, NOW), VECTOR, "test-model")
    return memory


async def fill_every_table(connection: Connection) -> None:
    memory = await fill(connection)
    named = [entities.Named(name.lower(), name, "person_or_thing", "mention") for name in ("Ada", "Atlas")]
    await entities.link(connection, memory.id, "work", named)
    related = entity_relations.Related("ada", "owns", "atlas")
    await entity_relations.put(connection, memory.id, "work", [related])
    await occurrences.record(
        connection, occurrences.Occurrence(uuid7(), memory.id, "chat", None, None, None, None, NOW, "said before")
    )
    await access.record(connection, {memory.id: 2}, NOW)
    kind = documents.Kind("me", Visibility.TEAM, "file", Network.FACT, MemoryType.SEMANTIC)
    await documents.create(connection, document := uuid7(), "work", "a.md", kind, {}, NOW)
    part = await fill(connection, "a part of it", document=document)
    await documents.add(connection, document, [documents.Place(part.id, 0, b"key", "")], NOW)
    await documents.derived(connection, part.id, [memory.id])
    await endings.announce(connection, memory.id, part.id, NOW)
    event = memory_events.MemoryEventRow(uuid7(), "work", MemoryOp.RETAIN, NOW, memory.id)
    await memory_events.record(connection, event)
    page = pages.NewPage(
        "vault", "a", "a.md", "A", "note", "deploy", b"h", (pages.NewChunk("deploy", (), VECTOR),), ("b",)
    )
    await pages.upsert(connection, page)
    await vaults.record_sync(connection, "vault", vaults.SyncResult.OK, synced_commit="c", pages_changed=1)
    await connection.execute("INSERT INTO namespace_grants (agent, namespace) VALUES ('a', 'work')")
    await operations.create(connection, uuid7(), ME, "improve", "{}", ["{}"], 1)
    await staged_parts.put(connection, uuid7(), 0, "a part")
    await access_keys.insert(connection, "0123456789ab", b"d" * 32, KeyDraft(subject="agent"))
    await usage.add(connection, [usage.Count(NOW.date(), "me", "chat", 1, 2, 3, 4)])
    said = contradictions.Contradiction(uuid7(), "work", memory.id, "the deploy key is old", None, NOW)
    assert await contradictions.record(connection, said)


async def test_every_table_with_an_org_has_forced_row_security(database: Database) -> None:
    async with database.unscoped() as connection:
        tables = {row["name"]: row["forced"] for row in await connection.fetch(ORG_TABLES)}
    assert {"memories", "memories_default", "memory_terms", "memory_vectors", "entities", "chunks"} <= set(tables)
    assert all(tables.values()), tables


async def test_a_stranger_and_an_unbound_transaction_see_no_row_of_any_table(
    postgres: PostgresDatabase, database: Database
) -> None:
    async with database.transaction(ME) as connection:
        await fill_every_table(connection)
    sleep = Database(postgres.sleep_url)
    await sleep.open()
    async with sleep.transaction("mine") as connection:
        await sleep_progress.advance(connection, "work", 3, NOW)
        await connection.execute(
            "INSERT INTO cold_successions (memory, superseded_by, namespace) VALUES ($1, $2, 'work')", uuid7(), uuid7()
        )
    await sleep.close()

    async def visible(connection: Connection) -> dict[str, int]:
        names = [row["name"] for row in await connection.fetch(ORG_TABLES) if row["granted"]]
        return {name: await connection.fetchval(f"SELECT count(*) FROM {name}") for name in names}

    async with database.transaction(ME) as connection:
        assert all((seen := await visible(connection)).values()), seen
    async with database.transaction(Principal(org="theirs", subject="me")) as connection:
        assert not any((await visible(connection)).values())
        assert not (await page_search.search(connection, page_search.PageQuestion("deploy", VECTOR))).candidates
        assert await pages.get(connection, "vault", "a") is None
        assert not await pages.delete(connection, "vault", "a")
        assert await connection.execute("UPDATE memories SET importance = 0") == "UPDATE 0"
    async with database.unscoped() as connection:
        assert not any((await visible(connection)).values())


async def everything(connection: Connection) -> set[str]:
    """What a transaction gets of memories when every query has lost its scope: no condition at all, every function
    asked for all there is."""
    contents = {row["content"] for row in await connection.fetch("SELECT content FROM memories")}
    words = "SELECT key FROM term_statistics(NULL, (SELECT array_agg(i) FROM generate_series(-9, 9) AS i), true)"
    assert await connection.fetch(words) is not None
    query = memory_index.Query({1: 1.0}, (), VECTOR, "test-model", 100, around=10)
    found = {candidate.id for candidate in await memory_index.search(connection, query)}
    found |= set(await memory_index.turns(connection, "work", "s", 0, 99))
    owner = "SELECT memory FROM search_memories(NULL, (SELECT array_agg(i) FROM generate_series(-99, 99) i), '{199}', "
    found |= {
        row["memory"]
        for row in await connection.fetch(f"{owner} '{{9}}', '{{1:1}}/1000000000', NULL, NULL, 100, 9, 0, NULL, NULL)")
    }
    readable = {row["id"] for row in await connection.fetch("SELECT id FROM memories")}
    assert found <= readable, "a function must not name what the rows do not show"
    others = (
        "document_chunks",
        "memory_sources",
        "memory_occurrences",
        "memory_entities",
        "entity_relations",
        "announced_endings",
        "memory_access",
        "index_backlog",
    )
    for table in others:
        rows = {row["memory"] for row in await connection.fetch(f"SELECT memory FROM {table}")}
        assert rows <= readable, table
    return contents


READER = Principal(org="mine", subject="reader", readable=(), writable=())
WRITER = Principal(org="mine", subject="writer", readable=(), writable=())
REVOKED = Principal(org="mine", subject="revoked", readable=(), writable=())
STRANGER = Principal(org="mine", subject="stranger", readable=("other",), writable=("other",))
OTHER_ORG = Principal(org="theirs", subject="me")
SHARED = {"of the team", "of the org"}


@pytest.mark.parametrize(
    ("principal", "sees", "writes"),
    [
        (ME, SHARED | {"of me"}, True),
        (READER, SHARED, False),
        (WRITER, SHARED, True),
        (STRANGER, {"of the org"}, False),
        (OTHER_ORG, set(), False),
        (REVOKED, {"of the org"}, False),
    ],
    ids=["owner", "granted reader", "granted writer", "stranger", "other org", "revoked"],
)
async def test_who_sees_and_writes_what_when_every_query_forgets_its_scope(
    database: Database, principal: Principal, sees: set[str], writes: bool
) -> None:
    async with database.transaction(ME) as connection:
        team = await fill(connection, "of the team")
        await fill(connection, "of the org", visibility=Visibility.GLOBAL)
        await fill(connection, "of me", visibility=Visibility.PRIVATE)
        for agent, rights in (("reader", Access.READ), ("writer", Access.WRITE), ("revoked", Access.WRITE)):
            await grants.put(connection, grants.Grant("work", agent, rights))
        await grants.put(connection, grants.Grant("work", "revoked", Access.NONE))

    async with database.transaction(principal) as connection:
        assert await everything(connection) == sees
        assert await memory_index.may_write(connection, "work") == (writes or principal is OTHER_ORG)
        assert await grants.owns(connection, "work") == (principal in (ME, OTHER_ORG))
        changed = await memories.invalidate(connection, team.id, NOW)
        assert changed == writes
    if not writes and principal is not OTHER_ORG:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.transaction(principal) as connection:
                await fill(connection, "forged")
    for statement in (
        "INSERT INTO namespace_grants (agent, namespace) VALUES ('stranger', 'work')",
        "UPDATE namespace_grants SET can_write = true",
        "DELETE FROM namespace_grants",
    ):
        if principal is ME:
            continue
        try:
            async with database.transaction(principal) as connection:
                await connection.execute(statement)
        except asyncpg.InsufficientPrivilegeError:
            pass
        async with database.transaction(ME) as connection:
            assert {(one.agent, one.access) for one in await grants.granted(connection, "work")} == {
                ("reader", Access.READ),
                ("writer", Access.WRITE),
            }


async def test_a_row_cannot_be_written_into_another_org_or_none(database: Database) -> None:
    insert = "INSERT INTO namespace_grants (org, agent, namespace) VALUES ('theirs', 'a', 'n')"
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with database.transaction(ME) as connection:
            await connection.execute(insert)
    with pytest.raises(asyncpg.PostgresError):
        async with database.unscoped() as connection:
            await connection.execute("INSERT INTO namespace_grants (agent, namespace) VALUES ('a', 'n')")


async def test_nobody_indexes_what_it_may_not_write(database: Database) -> None:
    async with database.unscoped() as connection:
        await connection.execute("INSERT INTO database_settings VALUES ('embedding.model', 'test-model')")
    async with database.transaction(ME) as connection:
        memory = await fill(connection)
    for principal in (STRANGER, OTHER_ORG, REVOKED):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.transaction(principal) as connection:
                await memory_index.index(connection, memory.id, indexed_text.document(memory, NOW), VECTOR, "m")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.transaction(principal) as connection:
                await memory_index.add_vector(connection, memory.id, VECTOR, "test-model")


@pytest.mark.parametrize("role", ["runtime_url", "sleep_url"])
@pytest.mark.parametrize("table", ["memory_terms", "memory_vectors", "past_terms", "past_vectors", "term_counts"])
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


async def test_the_binding_ends_with_the_transaction(postgres: PostgresDatabase) -> None:
    database = Database(postgres.runtime_url, pool_size=1)
    await database.open()
    async with database.transaction(ME) as connection:
        await fill(connection)
        await fill(connection, "for all", visibility=Visibility.GLOBAL)
    for scope in ("mine", None):
        async with database.transaction(scope) if scope else database.unscoped() as connection:
            assert await everything(connection) == set()
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

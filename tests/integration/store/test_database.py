"""The database goes away and comes back; settings of the database hold."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_store import memories
from cortex_store.database import Database
from cortex_store.embedding import check_embedding
from cortex_store.errors import EmbeddingMismatch
from cortex_store.ids import uuid7
from cortex_testkit.postgres_server import PostgresDatabase

NOW = datetime(2026, 5, 4, tzinfo=UTC)
ME = Principal(org="mine", subject="me")


async def remember(database: Database, content: str) -> None:
    async with database.transaction(ME) as connection:
        await memories.insert(connection, memories.NewMemory(uuid7(), "n", content, "chat", 0.5, NOW))


async def count(database: Database) -> int:
    async with database.transaction(ME) as connection:
        return sum(each.memories for each in await memories.counts(connection))


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_a_restart_of_postgresql_heals_by_itself(
    own_server: Any, own_postgres: PostgresDatabase, mode: str
) -> None:
    database = Database(own_postgres.runtime_url, connect_timeout_s=5, command_timeout_s=5)
    await database.open()
    async with asyncio.TaskGroup() as group:  # more than one pooled connection
        for number in range(5):
            group.create_task(remember(database, f"before {number}"))

    async def lose_the_connection() -> None:
        async with database.transaction(ME) as connection:
            await connection.execute("UPDATE memories SET importance = 1")
            await asyncio.to_thread(own_server.stop, mode)
            await connection.fetchval("SELECT 1")

    with pytest.raises(Unavailable):
        await lose_the_connection()
    for _ in range(3):
        with pytest.raises(Unavailable):
            await remember(database, "while it is away")
    with pytest.raises(Unavailable):
        await database.check()

    await asyncio.to_thread(own_server.start)
    await database.check()
    await asyncio.gather(*(remember(database, f"after {number}") for number in range(10)))
    assert await count(database) == 15
    async with database.transaction(ME) as connection:
        assert await connection.fetchval("SELECT count(*) FROM memories WHERE importance = 1") == 0
    await database.close()


@asynccontextmanager
async def connections_that_never_end(url: str) -> AsyncIterator[str]:
    """A way to the server on which everything arrives but the end of a connection."""
    server = urlsplit(url)
    pipes: list[asyncio.Task[None]] = []

    async def pipe(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                sink.write(data)
            await asyncio.Event().wait()
        finally:
            sink.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream_reader, upstream_writer = await asyncio.open_connection(server.hostname, server.port)
        pipes.append(asyncio.create_task(pipe(reader, upstream_writer)))
        pipes.append(asyncio.create_task(pipe(upstream_reader, writer)))

    listener = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    try:
        yield server._replace(netloc=f"{server.username}:{server.password}@127.0.0.1:{port}").geturl()
    finally:
        listener.close()
        for task in pipes:
            task.cancel()
        await asyncio.gather(*pipes, return_exceptions=True)


@pytest.mark.parametrize("used_by", ["statement", "commit", "next transaction"])
async def test_a_connection_that_is_said_to_end_and_has_not_ended_is_unavailable(
    postgres: PostgresDatabase, database: Database, used_by: str
) -> None:
    async with connections_that_never_end(postgres.runtime_url) as url:
        ending = Database(url, pool_size=1, connect_timeout_s=2)
        await ending.open()

        async def end(pid: int) -> None:
            async with database.unscoped() as other:
                assert await other.fetchval("SELECT pg_terminate_backend($1, 5000)", pid)

        async def use() -> None:
            async with ending.unscoped() as connection:
                pid = await connection.fetchval("SELECT pg_backend_pid()")
                if used_by != "next transaction":
                    await end(pid)
                if used_by == "statement":
                    await connection.execute("SELECT 1")
            if used_by == "next transaction":
                await end(pid)
                await ending.check()

        with pytest.raises(Unavailable):
            await use()
        await ending.check()
        await ending.close()


async def test_a_table_that_changes_its_type_costs_one_try(postgres: PostgresDatabase) -> None:
    """As `cortex reindex` and a migration do it: what a connection has prepared before does not work any more."""
    database = Database(postgres.runtime_url, pool_size=1)
    await database.open()
    owner = await asyncpg.connect(postgres.migration_url)
    await owner.execute("CREATE TABLE changing (value vector(2)); INSERT INTO changing VALUES ('[1,2]')")
    await owner.execute("GRANT SELECT ON changing TO PUBLIC")

    async def read() -> Any:
        async with database.unscoped() as connection:
            return await connection.fetchval("SELECT value FROM changing")

    assert len((await read()).to_list()) == 2
    for change in (
        "ALTER TABLE changing ALTER value TYPE halfvec(2)",
        "ALTER TABLE changing ADD more int",
        "ALTER TABLE changing ALTER value TYPE text",
    ):
        await owner.execute(change)
        try:
            await read()
        except Unavailable:
            await read()
    assert await read() == "[1,2]"
    await owner.close()
    await database.close()


async def test_open_fails_while_postgresql_is_away_and_works_afterwards(
    own_server: Any, own_postgres: PostgresDatabase
) -> None:
    database = Database(own_postgres.runtime_url)
    await asyncio.to_thread(own_server.stop)
    with pytest.raises(Unavailable):
        await database.open()
    await asyncio.to_thread(own_server.start)
    await database.open()
    await database.close()


async def test_a_port_where_nobody_listens_is_unavailable() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        database = Database(f"postgresql://u:secret@127.0.0.1:{reserved.getsockname()[1]}/x")
        with pytest.raises(Unavailable) as caught:
            await database.open()
    assert "secret" not in str(caught.value)
    await database.close()


async def test_a_server_that_never_answers_is_unavailable() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        database = Database(f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/x", connect_timeout_s=0.2)
        with pytest.raises(Unavailable, match="in time"):
            await database.open()
    await database.close()


async def test_a_database_without_the_schema_is_unavailable(postgres: PostgresDatabase) -> None:
    database = Database(postgres.runtime_url.rsplit("/", 1)[0] + "/postgres")
    with pytest.raises(Unavailable, match="no pgvector extension"):
        await database.open()
    await database.close()


async def test_a_statement_that_takes_too_long_is_unavailable_and_its_connection_recovers(
    postgres: PostgresDatabase,
) -> None:
    database = Database(postgres.runtime_url, pool_size=1, command_timeout_s=1.0)
    await database.open()
    with pytest.raises(Unavailable, match="in time"):
        async with database.transaction(ME) as connection:
            await connection.execute("SELECT pg_sleep(30)")
    assert await count(database) == 0
    await database.close()


async def test_a_deadlock_is_unavailable(database: Database) -> None:
    first_locked, second_locked = asyncio.Event(), asyncio.Event()

    async def lock(own: int, other: int, mine: asyncio.Event, theirs: asyncio.Event) -> str:
        try:
            async with database.transaction(ME) as connection:
                await connection.execute("SELECT pg_advisory_xact_lock($1)", own)
                mine.set()
                await asyncio.wait_for(theirs.wait(), 20)
                await connection.execute("SELECT pg_advisory_xact_lock($1)", other)
        except Unavailable as error:
            return error.message
        return "ok"

    outcomes = await asyncio.gather(lock(1, 2, first_locked, second_locked), lock(2, 1, second_locked, first_locked))
    assert sorted(outcomes) == ["PostgreSQL cannot work now (DeadlockDetectedError, SQLSTATE 40P01)", "ok"]


async def test_an_exhausted_pool_is_unavailable(postgres: PostgresDatabase) -> None:
    database = Database(postgres.runtime_url, pool_size=1, connect_timeout_s=1.0)
    await database.open()
    async with database.transaction(ME):
        with pytest.raises(Unavailable, match="in time"):
            async with database.transaction(ME):
                pass
    await database.close()


async def test_errors_of_statements_and_of_the_caller_stay_what_they_are(database: Database) -> None:
    with pytest.raises(asyncpg.UndefinedTableError):
        async with database.transaction(ME) as connection:
            await connection.execute("SELECT * FROM nowhere")
    with pytest.raises(FileNotFoundError):
        async with database.transaction(ME):
            raise FileNotFoundError("a page of a vault")
    with pytest.raises(BrokenPipeError):
        async with database.transaction(ME):
            raise BrokenPipeError("a socket of the caller")


async def test_an_error_in_the_block_rolls_back(database: Database) -> None:
    async def fail() -> None:
        async with database.transaction(ME) as connection:
            await memories.insert(connection, memories.NewMemory(uuid7(), "n", "x", "chat", 0.5, NOW))
            raise KeyError

    with pytest.raises(KeyError):
        await fail()
    assert await count(database) == 0


async def test_a_cancelled_transaction_rolls_back_and_frees_its_connection(postgres: PostgresDatabase) -> None:
    database = Database(postgres.runtime_url, pool_size=1)
    await database.open()
    inserted = asyncio.Event()

    async def hang() -> None:
        async with database.transaction(ME) as connection:
            await memories.insert(connection, memories.NewMemory(uuid7(), "n", "x", "chat", 0.5, NOW))
            inserted.set()
            await connection.execute("SELECT pg_sleep(30)")

    task = asyncio.create_task(hang())
    await asyncio.wait_for(inserted.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await count(database) == 0
    await database.close()


async def test_use_outside_open_and_close_is_a_bug(postgres: PostgresDatabase) -> None:
    database = Database(postgres.runtime_url)
    with pytest.raises(RuntimeError, match="not open"):
        await count(database)
    await database.open()
    await database.close()
    await database.close()
    with pytest.raises(RuntimeError, match="not open"):
        await count(database)


async def test_the_first_embedding_model_is_the_one_of_the_database(database: Database) -> None:
    async with database.unscoped() as connection:
        await check_embedding(connection, 384, "small")
        await check_embedding(connection, 384, "small")
        for dimension, model in ((384, "other"), (1024, "small")):
            with pytest.raises(EmbeddingMismatch, match="cortex reindex"):
                await check_embedding(connection, dimension, model)


async def test_a_wrong_dimension_is_refused_at_first_use_and_not_recorded(database: Database) -> None:
    with pytest.raises(EmbeddingMismatch, match="384 dimensions"):
        async with database.unscoped() as connection:
            await check_embedding(connection, 1024, "large")
    async with database.unscoped() as connection:
        await check_embedding(connection, 384, "small")

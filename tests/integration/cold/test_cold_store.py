"""The cold store on a folder, on the embedded S3 and on another S3: batches go in whole, and are proved."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from cortex_contracts.errors import CortexError, Permanent, Unavailable
from cortex_infra import ports
from cortex_providers.cold_memory import checksum
from cortex_providers.cold_store import Batch, BatchProof, ColdStoreConfig, open_store
from cortex_sleep.iceberg import columns, files
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_store import cold_batches
from cortex_store.database import Database
from cortex_testkit.cold_memories import cold_memory
from cortex_testkit.object_servers import ACCESS_KEY, READER_KEY, SECRET_KEY, ObjectServer
from cortex_testkit.postgres_server import PostgresDatabase

ROWS = [cold_memory(number) for number in range(1_000)]
Open = Callable[[ColdStoreConfig], Awaitable[IcebergColdStore]]
S3 = Callable[[str], ColdStoreConfig]
# What does not depend on where the files are.
ANYWHERE = pytest.mark.parametrize("config", ["folder"], indirect=True)


def batch(namespace: str = "work") -> Batch:
    return Batch(uuid4(), "local", namespace)


async def test_a_batch_comes_back_as_it_went_in(store: IcebergColdStore) -> None:
    first, second = batch(), batch()
    shuffled = ROWS[:600]
    random.Random(1).shuffle(shuffled)

    written = await store.append(first, shuffled, recorded=False)
    await store.append(second, ROWS[600:], recorded=False)

    assert written.files == len({row.valid_at.strftime("%Y-%m") for row in shuffled}) > 1
    assert await store.checksums(first) == {row.id: checksum(row) for row in ROWS[:600]}
    assert await store.checksums(second) == {row.id: checksum(row) for row in ROWS[600:]}
    assert await store.checksums(batch()) == {}
    status = await store.status("local")
    assert status.rows == 1_000
    assert status.files > written.files
    assert status.snapshots == 2


@ANYWHERE
async def test_rows_are_read_as_the_objects_that_were_written(store: IcebergColdStore) -> None:
    await store.append(batch(), ROWS, recorded=False)

    def everything(table):  # type: ignore[no-untyped-def]
        snapshot = table.snapshot()
        return [
            memory
            for file in snapshot.files
            for rows in files.batches(snapshot.table, file.path, 100)
            for memory in columns.memories(rows)
        ]

    assert sorted(await store.in_thread(everything), key=lambda row: row.id) == sorted(ROWS, key=lambda row: row.id)


async def test_rows_can_be_taken_out_again(store: IcebergColdStore) -> None:
    first, second = batch(), batch()
    await store.append(first, ROWS[:500], recorded=False)
    await store.append(second, ROWS[:500], recorded=False)
    gone = [row.id for row in ROWS[100:500]]

    assert await store.remove(first, [*gone, uuid4()]) == 400
    assert await store.remove(first, gone) == 0

    assert await store.checksums(first) == {row.id: checksum(row) for row in ROWS[:100]}
    assert len(await store.checksums(second)) == 500
    assert await store.remove(second, [row.id for row in ROWS]) == 500
    assert (await store.status("local")).rows == 100


async def test_writers_at_the_same_time_lose_nothing(config: ColdStoreConfig, opened: Open) -> None:
    """Two processes would do the same: each store has its own threads and connections."""
    stores = [await opened(config), await opened(config)]
    parts = {batch(): ROWS[first : first + 100] for first in range(0, 1_000, 100)}

    async with asyncio.timeout(90), asyncio.TaskGroup() as tasks:
        for number, (each, rows) in enumerate(parts.items()):
            tasks.create_task(stores[number % 2].append(each, rows, recorded=False))

    for each, rows in parts.items():
        assert BatchProof.of((await stores[0].checksums(each)).values()) == BatchProof.of(map(checksum, rows))
    assert (await stores[1].status("local")).rows == 1_000


@ANYWHERE
async def test_a_batch_that_was_given_up_is_never_committed(store: IcebergColdStore, sleep_database: Database) -> None:
    begun, unknown = batch(), batch()
    async with sleep_database.transaction("local") as connection:
        await cold_batches.begin(connection, begun.id, begun.namespace, 10, ROWS[0].valid_at, ROWS[9].valid_at)

    await store.append(begun, ROWS[:10])
    with pytest.raises(Unavailable, match="given up"):
        await store.append(unknown, ROWS[:10])

    assert len(await store.checksums(begun)) == 10
    assert await store.checksums(unknown) == {}


@ANYWHERE
async def test_who_gives_a_batch_up_waits_for_its_commit(store: IcebergColdStore, sleep_database: Database) -> None:
    """Whatever the order of the two, the one who takes over knows what is there."""
    for delay in (0.0, 0.02, 0.05, 0.1, 0.3):
        each = batch()
        async with sleep_database.transaction("local") as connection:
            await cold_batches.begin(connection, each.id, each.namespace, 10, ROWS[0].valid_at, ROWS[9].valid_at)
        writing = asyncio.create_task(store.append(each, ROWS[:10]))
        await asyncio.wait([writing], timeout=delay)
        async with sleep_database.transaction("local") as connection:
            await connection.execute("UPDATE cold_batches SET state = 'written' WHERE id = $1", each.id)
        there = await store.checksums(each)
        await asyncio.wait([writing])
        assert await store.checksums(each) == there
        assert (writing.exception() is None) == (len(there) == 10)


@ANYWHERE
async def test_a_writer_that_is_cancelled_has_ended(store: IcebergColdStore) -> None:
    each = batch()
    writing = asyncio.create_task(store.append(each, ROWS, recorded=False))
    await asyncio.wait([writing], timeout=0.01)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert await store.checksums(each) == {}


@ANYWHERE
async def test_a_batch_is_of_one_namespace_and_not_too_large(store: IcebergColdStore) -> None:
    with pytest.raises(Permanent, match="one namespace"):
        await store.append(batch(), [replace(ROWS[0], namespace="other")], recorded=False)
    with pytest.raises(Permanent, match="10000"):
        await store.append(batch(), ROWS[:1] * 10_001, recorded=False)
    assert (await store.append(batch(), [], recorded=False)).files == 0


@ANYWHERE
async def test_files_are_pruned_by_what_they_hold(store: IcebergColdStore) -> None:
    early = cold_memory(1, valid_at=datetime(2019, 12, 31, 23, 59, 59, 999_999, UTC))
    late = cold_memory(2, valid_at=datetime(2020, 1, 1, tzinfo=UTC))
    each = batch("a.b-c_d")
    await store.append(each, [replace(row, namespace=each.namespace) for row in (late, early)], recorded=False)

    files = sorted((await store.in_thread(lambda table: table.snapshot())).files, key=lambda file: file.month)

    assert [(file.org, file.namespace, file.month, file.rows) for file in files] == [
        ("local", "a.b-c_d", "2019-12", 1),
        ("local", "a.b-c_d", "2020-01", 1),
    ]
    assert files[0].first_valid_at == files[0].last_valid_at == early.valid_at
    assert all(file.may_hold(each.id) and not file.may_hold(UUID(int=1)) for file in files)


# What refuses, is away, or hangs ----------------------------------------------------------------------------------


def assert_shows_nothing(error: CortexError, config: ColdStoreConfig) -> None:
    shown = f"{error!r} {error} {error.__cause__!r} {config!r}"
    for secret in (SECRET_KEY, config.access_key, config.database, "@127.0.0.1"):
        assert not secret or secret not in shown


async def test_a_server_that_is_down_is_unavailable(s3: S3, opened: Open) -> None:
    config = s3(f"http://127.0.0.1:{ports.choose()}")
    store = await opened(config)
    for call in (store.append(batch(), ROWS, recorded=False), store.checksums(batch()), store.status("local")):
        with pytest.raises(Unavailable, match="away or slow") as refusal:
            await call
        assert_shows_nothing(refusal.value, config)


async def test_a_server_that_accepts_and_says_nothing_is_unavailable(s3: S3, opened: Open) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        config = replace(s3(f"http://127.0.0.1:{silent.getsockname()[1]}"), timeout_s=1.0)
        store = await opened(config)
        async with asyncio.timeout(30):
            with pytest.raises(Unavailable) as refusal:
                await store.append(batch(), ROWS[:10], recorded=False)
    assert_shows_nothing(refusal.value, config)


async def test_a_server_that_hangs_and_comes_back_was_not_touched(
    object_server: ObjectServer, s3: S3, opened: Open
) -> None:
    store = await opened(s3(object_server.url))
    before, during = batch(), batch()
    await store.append(before, ROWS[:10], recorded=False)

    os.kill(object_server.running.pid, signal.SIGSTOP)
    try:
        async with asyncio.timeout(60):
            with pytest.raises(Unavailable):
                await store.append(during, ROWS[10:20], recorded=False)
    finally:
        os.kill(object_server.running.pid, signal.SIGCONT)

    assert await store.checksums(during) == {}
    assert len(await store.checksums(before)) == 10
    await store.append(during, ROWS[10:20], recorded=False)
    assert len(await store.checksums(during)) == 10


@pytest.mark.parametrize(
    ("access_key", "secret_key"), [(READER_KEY, SECRET_KEY), (ACCESS_KEY, "wrong"), ("nobody", "x")]
)
async def test_a_server_that_refuses_is_permanent(
    object_server: ObjectServer, s3: S3, opened: Open, access_key: str, secret_key: str
) -> None:
    allowed = s3(object_server.url)
    before = batch()
    await (await opened(allowed)).append(before, ROWS[:10], recorded=False)
    refused = replace(allowed, access_key=access_key, secret_key=secret_key)
    store = await opened(refused)

    with pytest.raises(Permanent, match="refuses") as refusal:
        await store.append(batch(), ROWS[10:20], recorded=False)

    assert_shows_nothing(refusal.value, refused)
    assert (await (await opened(allowed)).status("local")).rows == 10


async def test_a_folder_that_cannot_be_made_is_permanent(
    postgres: PostgresDatabase, tmp_path: Path, opened: Open
) -> None:
    (tmp_path / "file").write_text("")
    store = await opened(ColdStoreConfig(warehouse=str(tmp_path / "file" / "cold"), database=postgres.sleep_url))
    with pytest.raises(Permanent, match="refuses"):
        await store.append(batch(), ROWS[:10], recorded=False)


async def test_a_database_that_is_away_is_unavailable(tmp_path: Path, opened: Open) -> None:
    url = f"postgresql://cortex_sleep:{SECRET_KEY}@127.0.0.1:{ports.choose()}/cortex"
    config = ColdStoreConfig(warehouse=str(tmp_path / "cold"), database=url)
    store = await opened(config)
    with pytest.raises(Unavailable, match="catalog") as refusal:
        await store.append(batch(), ROWS[:10], recorded=False)
    assert_shows_nothing(refusal.value, config)


async def test_credentials_are_in_no_file_and_no_table(
    object_server: ObjectServer, s3: S3, opened: Open, sleep_database: Database
) -> None:
    config = s3(object_server.url)
    store = await opened(config)
    await store.append(batch(), ROWS[:10], recorded=False)
    metadata = await store.in_thread(
        lambda table: table.snapshot().open(table.snapshot().table.metadata_location).read()
    )
    async with sleep_database.unscoped() as connection:
        rows = [tuple(row) for row in await connection.fetch("SELECT * FROM cold_catalog.iceberg_tables")]
    for secret in (ACCESS_KEY, SECRET_KEY):
        assert secret.encode() not in metadata
        assert secret not in repr(rows)


async def test_a_driver_that_is_not_installed_is_named(tmp_path: Path) -> None:
    with pytest.raises(Permanent, match=r"'delta'.*iceberg"):
        open_store("delta", ColdStoreConfig(warehouse=str(tmp_path), database=""))

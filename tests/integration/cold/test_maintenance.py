"""Upkeep of the cold table beside those who read and write it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from pyarrow import fs

from cortex_providers.cold_memory import ColdMemory, checksum
from cortex_providers.cold_store import Batch, ColdStoreConfig, Upkeep
from cortex_sleep.iceberg import columns, files, maintenance, planning
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_sleep.iceberg.table import ColdSnapshot, ColdTable
from cortex_store.database import Database
from cortex_testkit.cold_memories import cold_memory

Open = Callable[[ColdStoreConfig], Awaitable[IcebergColdStore]]

# All of one month.
ROWS = [cold_memory(number) for number in range(2, 602)]
UPKEEP = Upkeep(keep_snapshots=timedelta(days=3), orphan_age=timedelta(days=3))
SOON = timedelta(minutes=1)


def now() -> datetime:
    return datetime.now(UTC)


async def fill(store: IcebergColdStore, parts: int = 6) -> dict[Batch, list[ColdMemory]]:
    """Batches whose rows lie between those of the others, so that their files overlap."""
    batches = {Batch(uuid4(), "local", "work"): ROWS[first::parts] for first in range(parts)}
    for batch, rows in batches.items():
        await store.append(batch, rows, recorded=False)
    return batches


async def all_there(store: IcebergColdStore, batches: dict[Batch, list[ColdMemory]]) -> None:
    for batch, rows in batches.items():
        assert await store.checksums(batch) == {row.id: checksum(row) for row in rows}


def stored(table: ColdTable) -> list[str]:
    system, folder = table.warehouse.file_system()
    found = system.get_file_info(fs.FileSelector(folder, recursive=True))
    return sorted(each.path for each in found if each.type is fs.FileType.File)


@pytest.mark.parametrize("config", ["folder", "seaweedfs"], indirect=True)
async def test_small_files_become_one_with_every_row_in_order(store: IcebergColdStore) -> None:
    batches = await fill(store)
    before = await store.status("local")

    done = await store.maintain(UPKEEP, now())

    after = await store.status("local")
    assert before.small_files == done.files_joined == before.files
    assert after.files == after.months == done.files_made
    assert (after.rows, after.small_files) == (600, 0)
    await all_there(store, batches)
    for file in (await store.in_thread(lambda table: table.snapshot())).files:
        rows = await store.in_thread(lambda table, path=file.path: list(rows_of(table.snapshot(), path)))  # type: ignore[misc]
        assert rows == sorted(rows, key=lambda row: (row.valid_at, row.id))
    assert (await store.maintain(UPKEEP, now())).files_joined == 0


def rows_of(snapshot: ColdSnapshot, path: str) -> list[ColdMemory]:
    return [memory for rows in files.batches(snapshot.table, path, 100) for memory in columns.memories(rows)]


async def test_more_files_than_are_joined_at_once_become_one_in_the_end(folder: ColdStoreConfig, opened: Open) -> None:
    store = await opened(folder)
    batches = {}
    for number in range(planning.MOST + 5):
        batch = Batch(uuid4(), "local", "work")
        batches[batch] = [replace(ROWS[number], valid_at=datetime(2024, 5, 1 + number % 7, tzinfo=UTC))]
        await store.append(batch, batches[batch], recorded=False)
    done = await store.maintain(UPKEEP, now())
    assert done.files_joined >= planning.MOST
    # Fewer than are worth joining may be left.
    assert (await store.status("local")).files < planning.FEWEST
    await all_there(store, batches)


async def test_a_reader_that_began_before_finishes(folder: ColdStoreConfig, opened: Open) -> None:
    store = await opened(folder)
    await fill(store)
    snapshot = await store.in_thread(lambda table: table.snapshot())

    # Joined, and days later the state before is forgotten; the reader is still within its time.
    await store.maintain(UPKEEP, now())
    await store.maintain(UPKEEP, now() + timedelta(days=2))

    read = await asyncio.to_thread(lambda: [row for file in snapshot.files for row in rows_of(snapshot, file.path)])
    assert {row.id for row in read} == {row.id for row in ROWS}


@pytest.mark.parametrize("config", ["folder", "seaweedfs"], indirect=True)
async def test_what_was_replaced_goes_when_no_reader_needs_it(store: IcebergColdStore) -> None:
    batches = await fill(store)
    await store.maintain(UPKEEP, now())
    full = await store.in_thread(stored)

    late = await store.maintain(UPKEEP, now() + timedelta(days=4))

    left = await store.in_thread(stored)
    assert late.snapshots_expired == 6
    assert late.orphans_removed == len(set(full) - set(left)) > 6
    assert (await store.status("local")).snapshots == 1
    data = [path for path in left if path.endswith(".parquet")]
    assert len(data) == (await store.status("local")).files
    await all_there(store, batches)
    again = await store.maintain(UPKEEP, now() + timedelta(days=4))
    assert (again.files_joined, again.snapshots_expired) == (0, 0)


async def test_files_that_nothing_refers_to_go_after_the_interval(folder: ColdStoreConfig, opened: Open) -> None:
    store = await opened(folder)
    batches = await fill(store, 2)
    data = Path(folder.warehouse) / "cortex" / "memories" / "data"
    (data / "crashed.parquet").write_bytes(b"half a file")

    young = await store.maintain(replace(UPKEEP, orphan_age=timedelta()), now())
    assert young.orphans_removed == 0, "a write may be under way"
    old = await store.maintain(UPKEEP, now() + UPKEEP.orphan_age + SOON)

    assert not (data / "crashed.parquet").exists()
    assert old.orphan_bytes >= len(b"half a file")
    await all_there(store, batches)


async def test_writers_and_readers_go_on_during_maintenance(folder: ColdStoreConfig, opened: Open) -> None:
    store, writer = await opened(folder), await opened(folder)
    batches = await fill(store)
    more = {Batch(uuid4(), "local", "work"): [cold_memory(1_000 + 10 * n + i) for i in range(10)] for n in range(6)}
    removed = next(iter(batches))
    seen: list[int] = []

    async def write() -> None:
        for batch, rows in more.items():
            await writer.append(batch, rows, recorded=False)
        assert await writer.remove(removed, [row.id for row in batches[removed]]) == len(batches[removed])

    async def maintain() -> None:
        for _ in range(3):
            await store.maintain(UPKEEP, now())

    async def read() -> None:
        while len(seen) < 5:
            found = await writer.checksums(list(batches)[-1])
            seen.append(len(found))

    async with asyncio.timeout(120), asyncio.TaskGroup() as tasks:
        for job in (write, maintain, read):
            tasks.create_task(job())

    assert seen == [100] * 5
    await all_there(store, {**batches, **more, removed: []})
    assert (await store.status("local")).rows == 600 + 60 - 100


async def test_a_join_gives_way_to_whoever_was_first(folder: ColdStoreConfig, opened: Open) -> None:
    store = await opened(folder)
    batches = await fill(store)
    planned = await store.in_thread(maintenance.joins)
    gone = next(iter(batches))
    await store.remove(gone, [row.id for row in batches[gone]])
    before = await store.in_thread(stored)

    joined = [await store.in_thread(lambda table, each=each: maintenance.join(table, each)) for each in planned]  # type: ignore[misc]

    assert joined == [0] * len(planned)
    assert await store.in_thread(stored) == before
    await all_there(store, {**batches, gone: []})


async def test_maintenance_can_be_stopped_between_steps(folder: ColdStoreConfig, opened: Open) -> None:
    store = await opened(folder)
    batches = await fill(store)

    async def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await store.maintain(UPKEEP, now(), stop)
    await all_there(store, batches)


async def test_an_empty_store_needs_nothing(folder: ColdStoreConfig, opened: Open) -> None:
    store = await opened(folder)
    assert (await store.maintain(UPKEEP, now())).files_joined == 0
    assert (await store.status("local")).rows == 0
    assert UUID(int=0) not in await store.checksums(Batch(uuid4(), "local", "work"))


async def test_a_database_that_is_restored_finds_the_table_of_its_time(
    folder: ColdStoreConfig, opened: Open, sleep_database: Database
) -> None:
    """A dump names the metadata of its moment: two days of commits and upkeep later that is still there, and whole."""
    store = await opened(folder)
    batches = await fill(store)
    async with sleep_database.unscoped() as connection:
        dumped = await connection.fetchval("SELECT metadata_location FROM cold_catalog.iceberg_tables")
    for number in range(12):
        await store.append(Batch(uuid4(), "local", "work"), [cold_memory(2_000 + number)], recorded=False)
    await store.maintain(UPKEEP, now() + timedelta(days=2))
    await store.maintain(UPKEEP, now() + timedelta(days=2, hours=12))

    async with sleep_database.unscoped() as connection:
        await connection.execute("UPDATE cold_catalog.iceberg_tables SET metadata_location = $1", dumped)

    restored = await opened(folder)
    await all_there(restored, batches)
    assert (await restored.status("local")).rows == 600
    await restored.append(Batch(uuid4(), "local", "work"), [cold_memory(3_000)], recorded=False)
    assert (await restored.status("local")).rows == 601

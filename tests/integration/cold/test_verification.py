"""`cortex cold verify` finds what was damaged, deleted or changed, and nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from cortex_contracts.errors import Unavailable
from cortex_providers.cold_memory import ColdMemory, checksum
from cortex_providers.cold_store import (
    Batch,
    BatchProof,
    ColdStoreConfig,
    Damage,
    DamageKind,
    Known,
    Upkeep,
    Verification,
)
from cortex_sleep.iceberg import columns, files
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_sleep.iceberg.files import ColdFile
from cortex_sleep.iceberg.table import ColdTable
from cortex_testkit.cold_memories import cold_memory
from cortex_testkit.object_servers import ObjectServer

Open = Callable[[ColdStoreConfig], Awaitable[IcebergColdStore]]
S3 = Callable[[str], ColdStoreConfig]

ROWS = [cold_memory(number) for number in range(2, 202)]


def proof(rows: list[ColdMemory]) -> BatchProof:
    return BatchProof.of(map(checksum, rows))


@dataclass
class Filled:
    """A store with two batches of `local` and one of another org."""

    store: IcebergColdStore
    first: Batch
    second: Batch
    known: dict[UUID, BatchProof | None]

    async def verify(self, org: str = "local") -> Verification:
        async def known() -> Known:
            return dict(self.known)

        return await self.store.verify(org, known)

    async def files(self) -> list[ColdFile]:
        found = (await self.store.in_thread(lambda table: table.snapshot())).files
        return sorted(
            (file for file in found if file.org == "local"), key=lambda file: not file.may_hold(self.first.id)
        )


async def filled(store: IcebergColdStore) -> Filled:
    first, second, foreign = (Batch(uuid4(), org, "work") for org in ("local", "local", "other"))
    await store.append(first, ROWS[:100], recorded=False)
    await store.append(second, ROWS[100:], recorded=False)
    await store.append(foreign, [replace(ROWS[0], org="other")], recorded=False)
    return Filled(store, first, second, {first.id: proof(ROWS[:100]), second.id: proof(ROWS[100:])})


def path_of(file: ColdFile) -> Path:
    return Path(file.path.removeprefix("file://"))


def kinds(found: Verification) -> list[DamageKind]:
    assert found.damaged == len(found.damages)
    return sorted(damage.what for damage in found.damages)


async def test_what_is_whole_has_no_damage(store: IcebergColdStore) -> None:
    told: list[tuple[int, int]] = []

    async def tell(done: int, total: int) -> None:
        told.append((done, total))

    state = await filled(store)

    async def known() -> Known:
        return state.known

    found = await store.verify("local", known, tell)

    assert found == Verification(files=2, rows=200, batches=2, damaged=0, damages=())
    assert told == [(1, 2), (2, 2)]
    assert (await store.verify("nobody", known)).files == 0


@pytest.mark.parametrize("place", [0.02, 0.3, 0.6, 0.9, 0.999])
async def test_a_damaged_byte_is_found(folder: ColdStoreConfig, opened: Open, place: float) -> None:
    state = await filled(await opened(folder))
    damaged = (await state.files())[0]
    content = bytearray(path_of(damaged).read_bytes())
    content[int(len(content) * place)] ^= 0x10
    path_of(damaged).write_bytes(content)

    found = await state.verify()

    assert Damage(DamageKind.FILE_UNREADABLE, damaged.name, 100) in found.damages
    assert kinds(found) == [DamageKind.BATCH_DIFFERS, DamageKind.FILE_UNREADABLE]


async def test_every_damaged_byte_is_found_or_harmless(folder: ColdStoreConfig, opened: Open) -> None:
    """Bytes at hundred places: what verify does not find has changed no value."""
    state = await filled(await opened(folder))
    damaged = (await state.files())[0]
    whole = path_of(damaged).read_bytes()
    missed = []
    for place in range(7, len(whole), len(whole) // 40):
        path_of(damaged).write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        if not (await state.verify()).damaged:
            missed.append(place)
            assert await state.store.checksums(state.first) == {row.id: checksum(row) for row in ROWS[:100]}
    assert len(missed) < 10


async def test_a_missing_file_is_found(folder: ColdStoreConfig, opened: Open) -> None:
    state = await filled(await opened(folder))
    gone = (await state.files())[0]
    path_of(gone).unlink()

    found = await state.verify()

    assert found.damages == (
        Damage(DamageKind.FILE_MISSING, gone.name, 100),
        Damage(DamageKind.BATCH_DIFFERS, str(state.first.id), 100),
    )
    assert (found.rows, found.batches) == (100, 1)


async def test_a_file_that_was_cut_is_found(folder: ColdStoreConfig, opened: Open) -> None:
    state = await filled(await opened(folder))
    cut = (await state.files())[0]
    path_of(cut).write_bytes(path_of(cut).read_bytes()[:-9])
    assert kinds(await state.verify()) == [
        DamageKind.BATCH_DIFFERS,
        DamageKind.FILE_SIZE,
        DamageKind.FILE_UNREADABLE,
    ]


async def test_a_file_that_is_missing_on_s3_is_found(object_server: ObjectServer, s3: S3, opened: Open) -> None:
    state = await filled(await opened(s3(object_server.url)))
    gone = (await state.files())[0]
    await state.store.in_thread(
        lambda table: table.warehouse.file_system()[0].delete_file(gone.path.partition("://")[2])
    )
    assert kinds(await state.verify()) == [DamageKind.BATCH_DIFFERS, DamageKind.FILE_MISSING]


async def test_a_missing_row_is_found(folder: ColdStoreConfig, opened: Open) -> None:
    store = await opened(folder)
    state = await filled(store)
    await store.remove(state.second, [ROWS[150].id])

    found = await state.verify()

    assert found.damages == (Damage(DamageKind.BATCH_DIFFERS, str(state.second.id), 1),)
    assert found.rows == 199


async def test_a_changed_row_is_found(folder: ColdStoreConfig, opened: Open) -> None:
    """A valid file with another word in one row, put into the table by somebody."""
    state = await filled(await opened(folder))
    forged = (await state.files())[0]

    def forge(table: ColdTable) -> None:
        snapshot = table.snapshot()
        rows = next(iter(files.batches(snapshot.table, forged.path, 1_000))).to_pydict()
        rows["content"][7] = "We never agreed to that."
        schema = columns.arrow_schema(snapshot.table.schema())
        changed = columns.cast({name: rows[name] for name in schema.names}, schema)
        [written] = files.write(snapshot.table, changed)
        table.commits.replace([forged.entry], [written], {})

    victim = sorted(ROWS[:100], key=lambda row: (row.valid_at, row.id))[7]
    await state.store.in_thread(forge)

    found = await state.verify()

    assert found.damages == (
        Damage(DamageKind.ROW_CHANGED, f"work/{forged.month}", 1, (victim.id,)),
        Damage(DamageKind.BATCH_DIFFERS, str(state.first.id), 100),
    )


async def test_a_row_that_is_there_twice_is_found(folder: ColdStoreConfig, opened: Open) -> None:
    store = await opened(folder)
    state = await filled(store)
    again = Batch(uuid4(), "local", "work")
    await store.append(again, [ROWS[0]], recorded=False)

    assert kinds(await state.verify()) == [DamageKind.BATCH_UNKNOWN, DamageKind.ROW_TWICE]
    state.known[again.id] = proof([ROWS[0]])
    assert (await state.verify()).damages == (Damage(DamageKind.ROW_TWICE, "work/2024-02", 1, (ROWS[0].id,)),)


async def test_what_changes_meanwhile_is_no_damage(folder: ColdStoreConfig, opened: Open) -> None:
    store = await opened(folder)
    state = await filled(store)
    unsettled, fresh = Batch(uuid4(), "local", "work"), Batch(uuid4(), "local", "work")
    await store.append(unsettled, [cold_memory(500)], recorded=False)
    state.known[unsettled.id] = None
    asked = 0

    async def known() -> Known:
        nonlocal asked
        asked += 1
        if asked == 1:
            before = dict(state.known)
            await store.append(fresh, [cold_memory(501)], recorded=False)
            state.known[fresh.id] = proof([cold_memory(501)])
            return before
        return dict(state.known)

    assert (await store.verify("local", known)).damaged == 0
    assert asked == 2


async def test_joined_files_are_still_proved(folder: ColdStoreConfig, opened: Open) -> None:
    state = await filled(await opened(folder))
    for number in range(300, 304):
        batch = Batch(uuid4(), "local", "work")
        await state.store.append(batch, [cold_memory(number)], recorded=False)
        state.known[batch.id] = proof([cold_memory(number)])
    assert (await state.store.maintain(Upkeep(), datetime.now(UTC))).files_made == 1
    found = await state.verify()
    assert (found.damaged, found.files, found.batches) == (0, 1, 6)


async def test_a_store_that_goes_away_is_not_damage(object_server: ObjectServer, s3: S3, opened: Open) -> None:
    config = s3(object_server.url)
    state = await filled(await opened(config))
    away = await opened(replace(config, endpoint="http://127.0.0.1:9"))
    with pytest.raises(Unavailable):
        await Filled(away, state.first, state.second, state.known).verify()

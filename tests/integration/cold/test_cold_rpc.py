"""`cortex cold status` and `verify` as the service answers them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import pytest

from cortex_contracts.errors import Permanent
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.cold import (
    ColdStatusReply,
    ColdStatusRequest,
    ColdVerification,
    ColdVerifyRequest,
    VerificationState,
)
from cortex_providers.cold_memory import checksum
from cortex_providers.cold_store import Batch, BatchProof, ColdStoreConfig
from cortex_sleep.cold_rpc import ColdTier
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_store import cold_batches, cold_verifications
from cortex_store.database import Database
from cortex_testkit.cold_memories import cold_memory

Open = Callable[[ColdStoreConfig], Awaitable[IcebergColdStore]]

ROWS = [cold_memory(number) for number in range(2, 42)]
OPERATOR = Principal(org="local", subject="operator")


async def cold(database: Database, store: IcebergColdStore, *, org: str = "local") -> Batch:
    """A batch as demotion leaves it behind."""
    batch = Batch(uuid4(), org, "work")
    rows = [cold_memory(number, org=org) for number in range(2, 42)]
    async with database.transaction(org) as connection:
        await cold_batches.begin(connection, batch.id, "work", len(rows), rows[0].valid_at, rows[-1].valid_at)
    written = await store.append(batch, rows)
    async with database.transaction(org) as connection:
        await cold_batches.close(connection, batch.id, written.size_bytes)
        await cold_batches.finish(connection, batch.id, BatchProof.of(map(checksum, rows)).checksum)
    return batch


async def verified(tier: ColdTier, principal: Principal = OPERATOR) -> ColdVerification:
    asked = await tier.verify(ColdVerifyRequest(principal=principal))
    working = asyncio.create_task(tier.run())
    try:
        async with asyncio.timeout(60):
            while asked.state is VerificationState.RUNNING:
                await asyncio.sleep(0)
                asked = await tier.verify(ColdVerifyRequest(principal=principal, verification_id=asked.verification_id))
    finally:
        working.cancel()
        await asyncio.wait([working])
    return asked


async def status(tier: ColdTier) -> ColdStatusReply:
    return await tier.status(ColdStatusRequest(principal=OPERATOR))


async def test_the_cold_tier_tells_what_it_has_and_that_it_is_whole(
    folder: ColdStoreConfig, opened: Open, sleep_database: Database
) -> None:
    store = await opened(folder)
    tier = ColdTier(sleep_database, store)
    empty = await status(tier)
    await cold(sleep_database, store)
    await cold(sleep_database, store, org="other")

    found = await verified(tier)
    told = await status(tier)

    assert (empty.namespaces, empty.verification) == ((), None)
    assert (found.state, found.rows, found.batches, found.damaged) == (VerificationState.DONE, 40, 1, 0)
    assert told.verification == found
    assert [(one.namespace, one.rows, one.unfinished) for one in told.namespaces] == [("work", 40, 0)]
    assert told.table is not None
    assert (told.table.rows, told.table.files) == (40, 1)


async def test_damage_is_named(folder: ColdStoreConfig, opened: Open, sleep_database: Database) -> None:
    store = await opened(folder)
    batch = await cold(sleep_database, store)
    next(Path(folder.warehouse).rglob("*.parquet")).unlink()

    found = await verified(ColdTier(sleep_database, store))

    assert found.state is VerificationState.DONE
    assert [(one.what, one.rows) for one in found.damages] == [("file missing", 40), ("batch differs", 40)]
    assert found.damages[1].where == str(batch.id)


async def test_a_store_that_is_away_costs_its_part_only(
    folder: ColdStoreConfig, opened: Open, sleep_database: Database
) -> None:
    await cold(sleep_database, await opened(folder))
    away = await opened(ColdStoreConfig("s3://cold", folder.database, endpoint="http://127.0.0.1:9", timeout_s=1.0))
    tier = ColdTier(sleep_database, away)

    told = await status(tier)
    found = await verified(tier)

    assert told.table is None
    assert told.reason is not None
    assert "away" in told.reason
    assert told.namespaces[0].rows == 40
    assert (found.state, found.reason) == (VerificationState.FAILED, told.reason)


async def test_one_verification_at_a_time(folder: ColdStoreConfig, opened: Open, sleep_database: Database) -> None:
    tier = ColdTier(sleep_database, await opened(folder))
    first = await tier.verify(ColdVerifyRequest(principal=OPERATOR))
    assert (await tier.verify(ColdVerifyRequest(principal=OPERATOR))).verification_id == first.verification_id
    other = await tier.verify(ColdVerifyRequest(principal=Principal(org="other", subject="operator")))
    assert other.verification_id != first.verification_id


async def test_a_verification_that_died_is_told_as_failed(
    folder: ColdStoreConfig, opened: Open, sleep_database: Database
) -> None:
    tier = ColdTier(sleep_database, await opened(folder))
    first = await tier.verify(ColdVerifyRequest(principal=OPERATOR))
    async with sleep_database.transaction("local") as connection:
        silence = cold_verifications.SILENT_S + 1
        await connection.execute(
            "UPDATE cold_verifications SET beat_at = now() - make_interval(secs => $1)", float(silence)
        )
    told = await tier.verify(ColdVerifyRequest(principal=OPERATOR, verification_id=first.verification_id))
    assert told.state is VerificationState.FAILED
    again = await tier.verify(ColdVerifyRequest(principal=OPERATOR))
    assert (again.state, again.verification_id == first.verification_id) == (VerificationState.RUNNING, False)


async def test_only_who_may_read_everything_is_told(
    folder: ColdStoreConfig, opened: Open, sleep_database: Database
) -> None:
    tier = ColdTier(sleep_database, await opened(folder))
    narrow = Principal(org="local", subject="agent", readable=("work",))
    with pytest.raises(Permanent, match="everything"):
        await tier.status(ColdStatusRequest(principal=narrow))
    with pytest.raises(Permanent, match="everything"):
        await tier.verify(ColdVerifyRequest(principal=narrow))
    with pytest.raises(Permanent, match="no such"):
        await tier.verify(ColdVerifyRequest(principal=OPERATOR, verification_id=uuid4()))

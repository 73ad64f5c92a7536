"""Operations in the database: who sees them, who gets a lease, and what a lost lease is worth."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from cortex_contracts.errors import ErrorBody, ErrorCode
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.operations import OperationStatus
from cortex_ingest import operation_states
from cortex_store import operation_leases, operations
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.operation_leases import MOST_ATTEMPTS, Leased, LeaseLost

ME = Principal(org="mine", subject="me", readable=("work",), writable=("work",))
YOU = Principal(org="mine", subject="you")
SAME_NAME_ELSEWHERE = Principal(org="theirs", subject="me")
LONG = timedelta(minutes=5)
OVER = timedelta(seconds=-1)
"""A lease that has ended when it begins."""


async def started(database: Database, principal: Principal = ME, items: int = 2) -> UUID:
    operation_id = uuid7()
    async with database.transaction(principal) as connection:
        await operations.create(connection, operation_id, principal, "improve", "{}", ["{}"] * items, items)
    return operation_id


async def leased(
    database: Database, duration: timedelta = LONG, kinds: tuple[str, ...] = ("improve",)
) -> Leased | None:
    async with database.unscoped() as connection:
        return await operation_leases.lease(connection, kinds, "worker", uuid4(), duration)


async def surely_leased(database: Database, duration: timedelta = LONG) -> Leased:
    found = await leased(database, duration)
    assert found is not None
    return found


async def finished(database: Database, lease: Leased, item: int) -> None:
    async with database.transaction(lease.principal) as connection:
        await operation_leases.finish_item(connection, lease, item, "{}")


@pytest.mark.parametrize("stranger", [YOU, SAME_NAME_ELSEWHERE])
async def test_only_its_own_subject_sees_and_changes_an_operation(database: Database, stranger: Principal) -> None:
    operation_id = await started(database)
    lease = await surely_leased(database)
    async with database.transaction(stranger) as connection:
        assert await operations.get(connection, operation_id) is None
        assert await operations.listed(connection, None, None, None, 10) == ()
        assert await operations.outcomes(connection, operation_id, 10) == ()
        assert await operation_leases.waiting(connection, lease, 10) == ()
        assert await connection.execute("UPDATE operations SET status = 'queued'") == "UPDATE 0"
        assert await connection.execute("DELETE FROM operation_items") == "DELETE 0"
        with pytest.raises(LeaseLost):
            await operation_leases.hold(connection, lease)
    async with database.transaction(ME) as connection:
        assert [one.id for one in await operations.listed(connection, None, "improve", None, 10)] == [operation_id]
        assert len(await operation_leases.waiting(connection, lease, 10)) == 2


async def test_a_lease_binds_what_the_credential_allowed_at_the_start(database: Database) -> None:
    operation_id = await started(database)
    lease = await surely_leased(database)
    assert (lease.id, lease.principal.org, lease.principal.subject) == (operation_id, "mine", "me")
    assert (lease.principal.readable, lease.principal.writable) == (("work",), ("work",))


async def test_an_operation_is_leased_once_and_again_when_the_lease_has_ended(database: Database) -> None:
    operation_id = await started(database)
    assert await leased(database, kinds=("of a later version",)) is None
    first = await surely_leased(database, OVER)
    second = await surely_leased(database)
    assert first.id == second.id == operation_id
    assert await leased(database) is None
    await finished(database, second, 0)
    for item in (0, 1):
        with pytest.raises(LeaseLost):
            await finished(database, first, item)
    with pytest.raises(LeaseLost):
        await finished(database, second, 0)
    async with database.transaction(ME) as connection:
        found = await operations.get(connection, operation_id)
        assert found is not None
        assert (found.done, [one.item for one in await operation_leases.waiting(connection, second, 10)]) == (1, [1])


async def test_a_lease_that_is_kept_does_not_end(database: Database) -> None:
    await started(database)
    lease = await surely_leased(database, OVER)
    async with database.unscoped() as connection:
        await operation_leases.extend(connection, [lease.lease], LONG)
    assert await leased(database) is None
    async with database.transaction(ME) as connection:
        await operation_leases.hand_back(connection, lease)
    assert await leased(database) is not None


async def test_what_kills_every_worker_fails_and_progress_starts_the_count_again(database: Database) -> None:
    operation_id = await started(database)
    for _ in range(MOST_ATTEMPTS - 1):
        await surely_leased(database, OVER)
    await finished(database, await surely_leased(database, OVER), 0)
    for _ in range(MOST_ATTEMPTS - 1):
        await surely_leased(database, OVER)
    assert await leased(database) is None
    async with database.transaction(ME) as connection:
        found = await operations.get(connection, operation_id, lock=True)
        assert found is not None
        assert (found.status, found.done) == (OperationStatus.FAILED, 1)
        assert found.error == ErrorBody(
            code=ErrorCode.INTERNAL, message="its workers died 5 times at the same item", retryable=False
        )
        await operations.change(connection, operation_states.retry(found))
    assert (await surely_leased(database)).id == operation_id


async def test_who_has_fewer_running_comes_first(database: Database) -> None:
    mine = [await started(database) for _ in range(3)]
    yours = await started(database, YOU)
    assert [(await surely_leased(database)).id for _ in range(4)] == [mine[0], yours, mine[1], mine[2]]


async def test_progress_without_items_is_kept_under_the_lease(database: Database) -> None:
    operation_id = await started(database, items=0)
    lease = await surely_leased(database, OVER)
    async with database.transaction(ME) as connection:
        assert not await operation_leases.progress(connection, lease, 3, 9)
        locked = await operations.get(connection, operation_id, lock=True)
        assert locked is not None
        await operations.change(connection, operation_states.cancel(locked, datetime.now(UTC)))
        assert await operation_leases.progress(connection, lease, 4, 9)
    other = await surely_leased(database)
    assert other.cancel_requested
    async with database.transaction(ME) as connection:
        with pytest.raises(LeaseLost):
            await operation_leases.progress(connection, lease, 5, 9)

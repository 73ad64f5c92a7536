"""What a worker does to an operation: it gets a lease, names it in everything it writes, and tells how it goes.

A lease that was lost changes nothing any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from cortex_contracts.errors import ErrorBody
from cortex_contracts.messages.base import Principal
from cortex_store.connection import Connection, affected

MOST_ATTEMPTS: Final = 5
"""Leases that may end with their worker before an item is finished; then the operation fails."""


class LeaseLost(Exception):
    """Somebody else works on the operation: its lease had ended, and what was not committed by then is undone."""


@dataclass(frozen=True, slots=True)
class Leased:
    """An operation to work on, for the principal that started it. `request` is JSON."""

    id: UUID
    lease: UUID
    principal: Principal
    kind: str
    request: str
    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class Item:
    """One item that waits; `input` is JSON."""

    item: int
    input: str


LEASE: Final = """
SELECT id, org, subject, readable, writable, kind, request, cancel_requested FROM lease_operation($1, $2, $3, $4, $5)
"""
HELD: Final = "SELECT cancel_requested FROM operations WHERE id = $1 AND lease = $2 FOR NO KEY UPDATE"
HAND_BACK: Final = """
UPDATE operations SET status = 'queued', worker = NULL, lease = NULL, leased_until = NULL,
    attempts = greatest(attempts - 1, 0)
WHERE id = $1 AND lease = $2
"""
WAITING: Final = """
SELECT item, input FROM operation_items WHERE operation = $1 AND outcome IS NULL ORDER BY item LIMIT $2
"""
LIVE: Final = "namespace = $1 AND invalid_at IS NULL AND tier = 'hot'"
COUNT_LIVE: Final = f"SELECT count(*) FROM memories WHERE {LIVE}"  # noqa: S608 - constants
# The items before them tell how far it is: memories that were made after the operation are not its business.
ADD_LIVE: Final = f"""
WITH last AS (
    SELECT item, coalesce(input, outcome) ->> 'memory_id' AS memory FROM operation_items WHERE operation = $2
    ORDER BY item DESC LIMIT 1
)
INSERT INTO operation_items (operation, item, input)
SELECT $2, coalesce((SELECT item FROM last), -1) + row_number() OVER (ORDER BY id),
    jsonb_build_object('memory_id', id)
FROM memories WHERE {LIVE} AND id < $2 AND id > coalesce((SELECT memory FROM last)::uuid, uuid_floor('epoch'))
ORDER BY id LIMIT $3
"""  # noqa: S608 - constants
FINISH_ITEM: Final = """
UPDATE operation_items SET outcome = $3::text::jsonb, failed = $4, input = CASE WHEN $4 THEN input END
WHERE operation = $1 AND item = $2 AND outcome IS NULL
"""
COUNT: Final = """
UPDATE operations SET done = done + 1, total = greatest(total, done + 1), failed = failed + $3::boolean::integer,
    attempts = 1, error = NULL
WHERE id = $1 AND lease = $2 RETURNING cancel_requested
"""
ADD_OUTCOME: Final = "INSERT INTO operation_items (operation, item, outcome) VALUES ($1, 0, $2::text::jsonb)"
PROGRESS: Final = """
UPDATE operations SET total = $4, attempts = CASE WHEN done = $3 THEN attempts ELSE 1 END, done = $3, error = NULL
WHERE id = $1 AND lease = $2 RETURNING cancel_requested
"""
EXPLAIN: Final = "UPDATE operations SET error = $3::text::jsonb WHERE id = $1 AND lease = $2"


async def lease(
    connection: Connection, kinds: Sequence[str], worker: str, lease_id: UUID, duration: timedelta
) -> Leased | None:
    """The next operation of these kinds to work on, whoever started it. Needs no binding, as `extend` and `purge`."""
    row = await connection.fetchrow(LEASE, list(kinds), worker, lease_id, duration, MOST_ATTEMPTS)
    if row is None:
        return None
    principal = Principal(
        org=row["org"],
        subject=row["subject"],
        authenticated_by="operation",
        readable=row["readable"],
        writable=row["writable"],
    )
    return Leased(row["id"], lease_id, principal, row["kind"], row["request"], row["cancel_requested"])


async def extend(connection: Connection, leases: Sequence[UUID], duration: timedelta) -> None:
    """Keep the leases that were not lost for `duration` from now on."""
    await connection.execute("SELECT extend_operations($1, $2)", leases, duration)


async def purge(connection: Connection, age: timedelta, limit: int) -> int:
    """Delete operations that were finished `age` ago, with their items; how many of at most `limit` there were."""
    gone: int = await connection.fetchval("SELECT purge_operations($1, $2)", age, limit)
    return gone


async def hold(connection: Connection, leased: Leased) -> bool:
    """Is it to be cancelled? Until the transaction ends nobody else gets the lease.

    Raises:
        LeaseLost: somebody else works on it.
    """
    return _held(await connection.fetchval(HELD, leased.id, leased.lease))


async def hand_back(connection: Connection, leased: Leased) -> None:
    """Let somebody else go on at once."""
    await connection.execute(HAND_BACK, leased.id, leased.lease)


async def waiting(connection: Connection, leased: Leased, limit: int) -> tuple[Item, ...]:
    """The first items that are not finished."""
    rows = await connection.fetch(WAITING, leased.id, limit)
    return tuple(Item(row["item"], row["input"]) for row in rows)


async def count_live(connection: Connection, namespace: str) -> int:
    """How many live memories of the namespace the principal may read."""
    found: int = await connection.fetchval(COUNT_LIVE, namespace)
    return found


async def add_live(connection: Connection, leased: Leased, namespace: str, limit: int) -> int:
    """Add the next live memories of the namespace as items `{"memory_id"}`; how many there were.

    Raises:
        LeaseLost: somebody else works on it.
    """
    await hold(connection, leased)
    return affected(await connection.execute(ADD_LIVE, namespace, leased.id, limit))


async def finish_item(connection: Connection, leased: Leased, item: int, outcome: str, *, failed: bool = False) -> bool:
    """Record the outcome of an item in the transaction of its effect; is the operation to be cancelled?

    Raises:
        LeaseLost: somebody else works on it, or the item is finished: the transaction must be undone.
    """
    finished = await connection.execute(FINISH_ITEM, leased.id, item, outcome, failed)
    if not affected(finished):
        raise LeaseLost
    return _held(await connection.fetchval(COUNT, leased.id, leased.lease, failed))


async def finish_as_one(connection: Connection, leased: Leased, outcome: str) -> None:
    """Put one outcome in the place of all items; how many are done stays what `progress` said.

    Raises:
        LeaseLost: somebody else works on it.
    """
    await hold(connection, leased)
    await connection.execute("DELETE FROM operation_items WHERE operation = $1", leased.id)
    await connection.execute(ADD_OUTCOME, leased.id, outcome)


async def progress(connection: Connection, leased: Leased, done: int, total: int) -> bool:
    """Record how far an operation without items is; is it to be cancelled?

    Raises:
        LeaseLost: somebody else works on it.
    """
    return _held(await connection.fetchval(PROGRESS, leased.id, leased.lease, done, total))


async def explain(connection: Connection, leased: Leased, waits_for: ErrorBody) -> None:
    """Say what a running operation waits for; its next progress takes it back."""
    await connection.execute(EXPLAIN, leased.id, leased.lease, waits_for.model_dump_json())


def _held(cancel_requested: bool | None) -> bool:
    if cancel_requested is None:
        raise LeaseLost
    return cancel_requested

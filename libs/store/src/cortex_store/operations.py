"""Operations: work that outlives its request, and its items. The principal sees those that its subject started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from cortex_contracts.errors import ErrorBody
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.operations import OperationStatus
from cortex_store.connection import Connection, Row, affected


@dataclass(frozen=True, slots=True)
class Operation:
    """Some work and how far it is: `done` items are finished, `failed` of them without success."""

    id: UUID
    kind: str
    status: OperationStatus
    done: int
    failed: int
    total: int | None
    cancel_requested: bool
    error: ErrorBody | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an item, as JSON: an error if it `failed`."""

    item: int
    outcome: str
    failed: bool


COLUMNS: Final = (
    "o.id, o.kind, o.status, o.done, o.failed, o.total, o.cancel_requested, o.error, o.created_at, o.started_at, "
    "o.finished_at"
)
CREATE: Final = """
INSERT INTO operations (id, kind, queue, request, total, readable, writable)
VALUES ($1, $2, $3, $4::text::jsonb, $5, $6, $7)
"""
ADD_ITEMS: Final = """
INSERT INTO operation_items (operation, item, input)
SELECT $1, ordinality - 1, input::jsonb FROM unnest($2::text[]) WITH ORDINALITY AS given (input, ordinality)
"""
GET: Final = f"SELECT {COLUMNS} FROM operations o WHERE o.id = $1"  # noqa: S608 - constants
LIST: Final = f"""
SELECT {COLUMNS} FROM operations o
WHERE ($1::text IS NULL OR o.status = $1) AND ($2::text IS NULL OR o.kind = $2) AND ($3::uuid IS NULL OR o.id < $3)
ORDER BY o.id DESC LIMIT $4
"""  # noqa: S608 - constants
OPEN: Final = "SELECT count(*) FROM operations WHERE status IN ('queued', 'running')"
OUTCOMES: Final = """
SELECT item, outcome, failed FROM (
    (SELECT * FROM operation_items WHERE operation = $1 AND failed ORDER BY item LIMIT $2) UNION ALL
    (SELECT * FROM operation_items WHERE operation = $1 AND outcome IS NOT NULL AND NOT failed ORDER BY item LIMIT $2)
) first ORDER BY failed DESC, item LIMIT $2
"""
CHANGE: Final = """
UPDATE operations SET status = $2, done = $3, failed = $4, cancel_requested = $5, error = $6::text::jsonb,
    finished_at = $7, total = $8, attempts = CASE WHEN $2 = 'running' THEN attempts ELSE 0 END,
    worker = CASE WHEN $2 = 'running' THEN worker END, lease = CASE WHEN $2 = 'running' THEN lease END,
    leased_until = CASE WHEN $2 = 'running' THEN leased_until END
WHERE id = $1
"""
TRY_AGAIN: Final = """
UPDATE operation_items SET outcome = NULL, failed = false WHERE operation = $1 AND failed AND input IS NOT NULL
"""


async def create(
    connection: Connection,
    operation_id: UUID,
    principal: Principal,
    kind: str,
    request: str,
    inputs: Sequence[str],
    total: int | None,
    queue: str | None = None,
) -> None:
    """Queue an operation of the bound principal. `request` and `inputs` are JSON of what was redacted. Those of the
    same `queue` are worked on one after the other."""
    await connection.execute(CREATE, operation_id, kind, queue, request, total, principal.readable, principal.writable)
    if inputs:
        await connection.execute(ADD_ITEMS, operation_id, inputs)


async def get(connection: Connection, operation_id: UUID, *, lock: bool = False) -> Operation | None:
    """An operation of the bound subject; with `lock` it stays as it is until the transaction ends."""
    row = await connection.fetchrow(f"{GET} FOR UPDATE" if lock else GET, operation_id)
    return None if row is None else _operation(row)


async def listed(
    connection: Connection, status: OperationStatus | None, kind: str | None, before: UUID | None, limit: int
) -> tuple[Operation, ...]:
    """Operations of the bound subject, newest first."""
    return tuple(_operation(row) for row in await connection.fetch(LIST, status, kind, before, limit))


async def open_count(connection: Connection) -> int:
    """How many operations of the bound subject are queued or running."""
    found: int = await connection.fetchval(OPEN)
    return found


async def outcomes(connection: Connection, operation_id: UUID, limit: int) -> tuple[Outcome, ...]:
    """Items that are finished, in their order: those that failed first of all, if there are more than `limit`."""
    rows = await connection.fetch(OUTCOMES, operation_id, limit)
    found = (Outcome(row["item"], row["outcome"], row["failed"]) for row in rows)
    return tuple(sorted(found, key=lambda one: one.item))


async def change(connection: Connection, operation: Operation) -> None:
    """Write the state of an operation that was locked; in another status than running nobody holds a lease of it."""
    await connection.execute(
        CHANGE,
        operation.id,
        operation.status,
        operation.done,
        operation.failed,
        operation.cancel_requested,
        None if operation.error is None else operation.error.model_dump_json(),
        operation.finished_at,
        operation.total,
    )


async def try_again(connection: Connection, operation: Operation) -> Operation:
    """Let the failed items of a locked operation wait again; the operation as it is then, to be given to `change`."""
    again = affected(await connection.execute(TRY_AGAIN, operation.id))
    return replace(operation, done=operation.done - again, failed=operation.failed - again)


def _operation(row: Row) -> Operation:
    error = row["error"]
    return Operation(
        id=row["id"],
        kind=row["kind"],
        status=OperationStatus(row["status"]),
        done=row["done"],
        failed=row["failed"],
        total=row["total"],
        cancel_requested=row["cancel_requested"],
        error=None if error is None else ErrorBody.model_validate_json(error),
        created_at=row["created_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
    )

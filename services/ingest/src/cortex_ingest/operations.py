"""Operations: work that outlives its request. The verb of the work starts one; here it is seen, cancelled, retried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from cortex_contracts.errors import ErrorBody, ErrorCode, InvalidMessage, Permanent, Retryable
from cortex_contracts.messages.base import Message, Principal
from cortex_contracts.rpc import operations as rpc
from cortex_ingest import operation_states
from cortex_store import operations, staged_parts
from cortex_store.connection import Connection
from cortex_store.ids import uuid7
from cortex_store.operations import Operation, Outcome
from cortex_writing.ports import Transactions

MOST_OPEN: Final = 100
"""Operations of one subject that may be queued or running: each keeps what it was given."""
MOST_ITEMS: Final = 500
"""Outcomes in one reply: a message of 1 MiB holds them."""


class Operations:
    """The use cases behind the RPCs."""

    def __init__(self, database: Transactions, changed: Callable[[], None]) -> None:
        """`changed` is called when there may be something to work on."""
        self._database = database
        self._changed = changed

    async def start(
        self,
        principal: Principal,
        kind: str,
        request: Message,
        inputs: Sequence[Message] = (),
        total: int | None = None,
        *,
        queue: str | None = None,
        staged: tuple[UUID, int] | None = None,
    ) -> UUID:
        """Queue work and return its id. `request` and `inputs` are stored: they hold nothing that must not be. Work of
        the same `queue` is done in the order of its start. `staged`: an upload and its number of parts, for inputs.

        Raises:
            InvalidMessage: some of the parts are not there.
            Retryable: the subject has too many open operations.
            Unavailable: the database is away.
        """
        operation_id = uuid7()
        async with self._database.transaction(principal) as connection:
            if await operations.open_count(connection) >= MOST_OPEN:
                raise Retryable(f"{MOST_OPEN} operations are open: try again later", code=ErrorCode.RATE_LIMITED)
            texts = [one.model_dump_json() for one in inputs]
            await operations.create(
                connection, operation_id, principal, kind, request.model_dump_json(), texts, total, queue
            )
            if staged is not None and not await staged_parts.move(connection, staged[0], operation_id, staged[1]):
                raise InvalidMessage(f"expected the parts 0 to {staged[1] - 1} to be staged")
        self._changed()
        return operation_id

    async def get(self, request: rpc.OperationRequest) -> rpc.OperationReply:
        """How far an operation is, and what became of its items."""
        async with self._database.transaction(request.principal) as connection:
            found = await _known(connection, request.operation_id)
            outcomes = await operations.outcomes(connection, request.operation_id, MOST_ITEMS)
        return rpc.OperationReply(operation=_view(found), items=tuple(_item(one) for one in outcomes))

    async def listed(self, request: rpc.OperationsRequest) -> rpc.OperationsReply:
        """The operations of the subject, newest first."""
        async with self._database.transaction(request.principal) as connection:
            found = await operations.listed(connection, request.status, request.kind, request.before, request.limit)
        return rpc.OperationsReply(operations=tuple(_view(one) for one in found))

    async def cancel(self, request: rpc.OperationRequest) -> rpc.Operation:
        """End it after the item that it is at."""
        async with self._database.transaction(request.principal) as connection:
            operation = operation_states.cancel(
                await _known(connection, request.operation_id, lock=True), datetime.now(UTC)
            )
            await operations.change(connection, operation)
        return _view(operation)

    async def retry(self, request: rpc.OperationRequest) -> rpc.Operation:
        """Go on where it stopped, with the failed items again."""
        async with self._database.transaction(request.principal) as connection:
            operation = await _known(connection, request.operation_id, lock=True)
            if operation.status in operation_states.ENDS:
                operation = await operations.try_again(connection, operation)
            operation = operation_states.retry(operation)
            await operations.change(connection, operation)
        self._changed()
        return _view(operation)


async def _known(connection: Connection, operation_id: UUID, *, lock: bool = False) -> Operation:
    operation = await operations.get(connection, operation_id, lock=lock)
    if operation is None:
        raise Permanent("there is no such operation", code=ErrorCode.NOT_FOUND)
    return operation


def _view(operation: Operation) -> rpc.Operation:
    return rpc.Operation(
        operation_id=operation.id,
        kind=operation.kind,
        status=operation.status,
        done=operation.done,
        failed=operation.failed,
        total=operation.total,
        cancel_requested=operation.cancel_requested,
        error=operation.error,
        created_at=operation.created_at,
        started_at=operation.started_at,
        finished_at=operation.finished_at,
    )


def _item(outcome: Outcome) -> rpc.OperationItem:
    if outcome.failed:
        return rpc.OperationItem(item=outcome.item, error=ErrorBody.model_validate_json(outcome.outcome))
    return rpc.OperationItem.model_validate_json(outcome.outcome)

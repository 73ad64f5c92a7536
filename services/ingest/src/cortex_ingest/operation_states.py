"""The states of an operation. Pure functions.

    queued ──lease──▶ running ──▶ succeeded | failed | cancelled
       ▲ │               │                │
       │ └───cancel──────┼──▶ cancelled   │
       ├────hand back────┘                │
       └──────────────retry───────────────┘

A cancel of what runs is a request that its worker finds before the next item. A retry keeps what succeeded.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from cortex_contracts.errors import ErrorBody, ErrorCode, Permanent
from cortex_contracts.rpc.operations import OperationStatus
from cortex_store.operations import Operation

ENDS: Final = (OperationStatus.SUCCEEDED, OperationStatus.FAILED, OperationStatus.CANCELLED)


def cancel(operation: Operation, now: datetime) -> Operation:
    """An operation that somebody wants to end. Idempotent.

    Raises:
        Permanent: it has come to another end.
    """
    match operation.status:
        case OperationStatus.QUEUED:
            return replace(operation, status=OperationStatus.CANCELLED, finished_at=now, error=None)
        case OperationStatus.RUNNING:
            return replace(operation, cancel_requested=True)
        case OperationStatus.CANCELLED:
            return operation
    raise Permanent(f"the operation has {operation.status.value} already", code=ErrorCode.CONFLICT)


def retry(operation: Operation) -> Operation:
    """An operation that goes on where it stopped; its failed items, if it was let to try them again, are counted off
    before. What is queued or runs already stays as it is.

    Raises:
        Permanent: nothing is left to do, or its cancellation has not taken effect yet.
    """
    if operation.status not in ENDS:
        if operation.cancel_requested:
            raise Permanent("the operation is being cancelled: try again when it has stopped", code=ErrorCode.CONFLICT)
        return operation
    if operation.status is OperationStatus.SUCCEEDED and operation.done == operation.total:
        raise Permanent("the operation has succeeded already", code=ErrorCode.CONFLICT)
    return replace(operation, status=OperationStatus.QUEUED, cancel_requested=False, error=None, finished_at=None)


def finish(operation: Operation, now: datetime, *, stopped: bool = False, error: ErrorBody | None = None) -> Operation:
    """An operation that its worker is done with: everything is worked through, or it was `stopped` by a cancel, or it
    cannot go on for an `error`. It succeeds unless none of its items did."""
    if error is None and not stopped and operation.failed and operation.failed == operation.done:
        error = ErrorBody(
            code=ErrorCode.CONFLICT, message=f"none of the {operation.done} items succeeded", retryable=False
        )
    if error is not None:
        status = OperationStatus.FAILED
    else:
        status = OperationStatus.CANCELLED if stopped else OperationStatus.SUCCEEDED
    # What was counted at the start may have been more than there was when its turn came.
    total = operation.done if status is OperationStatus.SUCCEEDED else operation.total
    return replace(operation, status=status, total=total, error=error, finished_at=now, cancel_requested=stopped)

"""The operations of a principal's subject, and work that is left to them."""

from __future__ import annotations

from uuid import UUID

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ingest import IMPROVE, Improve, Improved, ImproveRequest
from cortex_contracts.rpc.operations import (
    CANCEL_OPERATION,
    OPERATION,
    OPERATIONS,
    RETRY_OPERATION,
    Operation,
    OperationReply,
    OperationRequest,
    OperationsQuestion,
    OperationsReply,
    OperationsRequest,
)
from cortex_runtime.bus import Bus


class Operations:
    """Calls the service that works on them.

    Every verb raises CortexError: not found for the principal, in conflict with what it is, or unavailable.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def improve(self, principal: Principal, wanted: Improve) -> Improved:
        """Extract, score and index memories again."""
        return await self._bus.request(IMPROVE, ImproveRequest(principal=principal, **dict(wanted)))

    async def get(self, principal: Principal, operation_id: UUID) -> OperationReply:
        """How far an operation is, and what became of its items."""
        return await self._bus.request(OPERATION, OperationRequest(principal=principal, operation_id=operation_id))

    async def listed(self, principal: Principal, question: OperationsQuestion) -> OperationsReply:
        """The operations there are, newest first."""
        return await self._bus.request(OPERATIONS, OperationsRequest(principal=principal, **dict(question)))

    async def cancel(self, principal: Principal, operation_id: UUID) -> Operation:
        """End an operation after the item that it is at."""
        return await self._bus.request(
            CANCEL_OPERATION, OperationRequest(principal=principal, operation_id=operation_id)
        )

    async def retry(self, principal: Principal, operation_id: UUID) -> Operation:
        """Go on with an operation where it stopped."""
        return await self._bus.request(
            RETRY_OPERATION, OperationRequest(principal=principal, operation_id=operation_id)
        )

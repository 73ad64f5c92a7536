"""REST: operations under `/api/v1/memory/operations`, and `improve`, which is mostly one."""

from __future__ import annotations

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Query, Response

from cortex_contracts.rpc.ingest import Improve, Improved
from cortex_contracts.rpc.operations import Operation, OperationReply, OperationsQuestion, OperationsReply
from cortex_gateway.memory_rest import PREFIX, STRICT, WRITES, Caller, accepted, background
from cortex_gateway.openapi import CREDENTIALS, RESPONSES, Responses, refusal
from cortex_gateway.operations import Operations

NAMED: Final[Responses] = {
    404: refusal("There is no such operation for this principal", "not_found", "no such operation")
}
CHANGED: Final[Responses] = {
    **NAMED,
    409: refusal("It has come to an end, or to another one, already", "conflict", "the operation has ended"),
}


class ListParameters(OperationsQuestion):
    """Which operations."""

    model_config = STRICT


class ImproveBody(Improve):
    """Which memories: ids, or a namespace in the background."""

    model_config = STRICT


def operations_router(operations: Operations) -> APIRouter:
    """The routes over `operations`; who calls them has been authenticated before."""
    routes = APIRouter(prefix=PREFIX, tags=["operations"], responses=RESPONSES, dependencies=CREDENTIALS)

    @routes.get("/operations", summary="The operations there are")
    async def listed(principal: Caller, question: Annotated[ListParameters, Query()]) -> OperationsReply:
        """Your operations, newest first; finished ones are kept for 30 days."""
        return await operations.listed(principal, question)

    @routes.get("/operations/{operation_id}", summary="How far an operation is", responses=NAMED)
    async def get(principal: Caller, operation_id: UUID) -> OperationReply:
        """The operation and what became of its items so far."""
        return await operations.get(principal, operation_id)

    @routes.post("/operations/{operation_id}/cancel", summary="Cancel an operation", responses=CHANGED)
    async def cancel(principal: Caller, operation_id: UUID) -> Operation:
        """It ends after the item that it is at; what is done stays. To cancel twice changes nothing."""
        return await operations.cancel(principal, operation_id)

    @routes.post("/operations/{operation_id}/retry", summary="Go on with an operation", responses=CHANGED)
    async def retry(principal: Caller, operation_id: UUID) -> Operation:
        """What failed, was cancelled, or has items that failed goes on where it stopped, with those items again."""
        return await operations.retry(principal, operation_id)

    @routes.post(
        "/improve",
        summary="Extract, score and index memories again",
        responses=WRITES | background(Improved),
        response_model=Improved,
    )
    async def improve(principal: Caller, wanted: ImproveBody) -> Improved | Response:
        """By the rules of today; a whole namespace in the background."""
        improved = await operations.improve(principal, wanted)
        return accepted(improved) if improved.operation_id else improved

    return routes

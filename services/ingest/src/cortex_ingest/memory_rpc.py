"""The RPCs that write memories: message in, use case, message out."""

from __future__ import annotations

from datetime import UTC, datetime

from cortex_contracts.errors import CortexError, InvalidMessage
from cortex_contracts.messages.memory import Retained
from cortex_contracts.rpc.ingest import (
    Backlog,
    BacklogRequest,
    BatchItem,
    Changed,
    Grant,
    Grants,
    GrantsRequest,
    Improved,
    ImproveRequest,
    MemoryRequest,
    RetainBatchReply,
    RetainBatchRequest,
    RetainRequest,
    ShareRequest,
)
from cortex_ingest.changes import Changes
from cortex_ingest.operation_kinds import ImproveKind, RetainBatchKind
from cortex_ingest.retain import Retain
from cortex_store import grants, memory_index
from cortex_writing.ports import Transactions


class MemoryRpc:
    """Serves `cortex.v1.rpc.ingest.*` but for the vaults."""

    def __init__(
        self,
        database: Transactions,
        retain: Retain,
        changes: Changes,
        dimension: int,
        batches: RetainBatchKind,
        improvements: ImproveKind,
    ) -> None:
        """`batches` and `improvements` take what is to be done in the background."""
        self._database = database
        self._retain = retain
        self._changes = changes
        self._dimension = dimension
        self._batches = batches
        self._improvements = improvements

    async def retain(self, request: RetainRequest) -> Retained:
        """Remember one statement."""
        retained = await self._retain.retain(request.principal, request.memory)
        assert retained is not None, "only a delivery can have had its effect before"
        return retained

    async def retain_batch(self, request: RetainBatchRequest) -> RetainBatchReply:
        """Remember many statements.

        Raises:
            InvalidMessage: the vectors do not fit the statements, the dimension, or name no model.
        """
        if request.background:
            return RetainBatchReply(items=(), operation_id=await self._batches.start(request))
        if request.vectors is not None:
            if len(request.vectors) != len(request.memories) or request.model is None:
                raise InvalidMessage("vectors: expected one for each memory, and the model that they come from")
            if any(len(vector) != self._dimension for vector in request.vectors):
                raise InvalidMessage(f"vectors: expected {self._dimension} numbers each")
        outcomes = await self._retain.retain_batch(
            request.principal,
            request.memories,
            embed=request.embed,
            decide=request.decide,
            vectors=request.vectors,
            model=request.model,
        )
        return RetainBatchReply(
            items=tuple(
                BatchItem(error=one.body()) if isinstance(one, CortexError) else BatchItem(retained=one)
                for one in outcomes
            )
        )

    async def forget(self, request: MemoryRequest) -> Changed:
        """A memory stops being true."""
        return await self._changes.forget(request.principal, request.memory_id)

    async def restore(self, request: MemoryRequest) -> Changed:
        """Undo a forget."""
        return await self._changes.restore(request.principal, request.memory_id)

    async def improve(self, request: ImproveRequest) -> Improved:
        """Extract, score and index memories again.

        Raises:
            InvalidMessage: neither or both of ids and a namespace are given, or a namespace not in the background.
        """
        if bool(request.memory_ids) == bool(request.namespace):
            raise InvalidMessage("expected memory_ids or a namespace")
        if request.background:
            return Improved(improved=0, operation_id=await self._improvements.start(request))
        if request.namespace is not None:
            raise InvalidMessage("a namespace is improved in the background: expected background to be true")
        return await self._changes.improve(request.principal, request.memory_ids)

    async def share(self, request: ShareRequest) -> Grant:
        """Grant an agent access to a namespace, or take it back."""
        grant = grants.Grant(request.namespace, request.agent, request.access)
        await self._changes.share(request.principal, grant)
        return Grant(namespace=grant.namespace, agent=grant.agent, access=grant.access)

    async def grants(self, request: GrantsRequest) -> Grants:
        """Who was granted what."""
        async with self._database.transaction(request.principal) as connection:
            found = await grants.granted(connection, request.namespace)
        return Grants(grants=tuple(Grant(namespace=one.namespace, agent=one.agent, access=one.access) for one in found))

    async def backlog(self, request: BacklogRequest) -> Backlog:
        """What waits to be embedded."""
        async with self._database.transaction(request.principal) as connection:
            waiting, oldest = await memory_index.backlog(connection)
        age = None if oldest is None else max(0.0, (datetime.now(UTC) - oldest).total_seconds())
        return Backlog(waiting=waiting, oldest_s=age)

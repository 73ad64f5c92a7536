"""The verbs of memory on behalf of a principal, for REST and MCP alike.

Who may read or write what is decided behind the bus, by the principal that goes with every call: nothing that a client
sends names another one.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryDraft, Retained
from cortex_contracts.rpc.contract import ReplyT, RequestT, Rpc
from cortex_contracts.rpc.ingest import (
    FORGET,
    GRANTS,
    RESTORE,
    RETAIN,
    RETAIN_BATCH,
    SHARE,
    Changed,
    Grant,
    Grants,
    GrantsRequest,
    MemoryRequest,
    RetainBatch,
    RetainBatchReply,
    RetainBatchRequest,
    RetainRequest,
    Share,
    ShareRequest,
)
from cortex_contracts.rpc.recall import (
    CONTEXT,
    GET,
    RECALL,
    ContextQuestion,
    ContextReply,
    ContextRequest,
    GetReply,
    GetRequest,
    RecallQuestion,
    RecallReply,
    RecallRequest,
)
from cortex_runtime.bus import Bus

HEADERS_BYTES: Final = 1_024
"""Room for the trace headers, which count towards the largest message that NATS takes."""


class Memory:
    """Calls the services that read and write the hot tier.

    Every verb raises CortexError: not found or forbidden for the principal, unavailable, or too large for a message.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def retain(self, principal: Principal, memory: MemoryDraft) -> Retained:
        """Remember one statement."""
        return await self._send(RETAIN, RetainRequest(principal=principal, memory=memory))

    async def retain_batch(self, principal: Principal, batch: RetainBatch) -> RetainBatchReply:
        """Remember many statements; each succeeds or fails on its own."""
        return await self._send(RETAIN_BATCH, RetainBatchRequest(principal=principal, **dict(batch)))

    async def recall(self, principal: Principal, question: RecallQuestion) -> RecallReply:
        """Memories that answer a query, best first."""
        return await self._bus.request(RECALL, RecallRequest(principal=principal, **dict(question)))

    async def context(self, principal: Principal, question: ContextQuestion) -> ContextReply:
        """What matters for a project, within a budget."""
        return await self._bus.request(CONTEXT, ContextRequest(principal=principal, **dict(question)))

    async def get(self, principal: Principal, memory_id: UUID) -> GetReply:
        """One memory with its provenance and its history."""
        return await self._bus.request(GET, GetRequest(principal=principal, memory_id=memory_id))

    async def forget(self, principal: Principal, memory_id: UUID) -> Changed:
        """A memory stops being true; nothing is deleted."""
        return await self._bus.request(FORGET, MemoryRequest(principal=principal, memory_id=memory_id))

    async def restore(self, principal: Principal, memory_id: UUID) -> Changed:
        """Undo a forget."""
        return await self._bus.request(RESTORE, MemoryRequest(principal=principal, memory_id=memory_id))

    async def share(self, principal: Principal, share: Share) -> Grant:
        """Grant an agent access to a namespace, or take it back."""
        return await self._bus.request(SHARE, ShareRequest(principal=principal, **dict(share)))

    async def grants(self, principal: Principal, namespace: str | None) -> Grants:
        """Who was granted what."""
        return await self._bus.request(GRANTS, GrantsRequest(principal=principal, namespace=namespace))

    async def _send(self, rpc: Rpc[RequestT, ReplyT], request: RequestT) -> ReplyT:
        """Call with a request that may be larger than a message: what is left to its defaults is written out, too."""
        size = len(request.model_dump_json().encode())
        limit = self._bus.client.max_payload - HEADERS_BYTES
        if size > limit:
            raise Permanent(
                f"expected at most {limit} bytes at once, got {size}: send it in smaller batches",
                code=ErrorCode.TOO_LARGE,
            )
        return await self._bus.request(rpc, request)

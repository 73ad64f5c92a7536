"""The verbs of memory on behalf of a principal, for REST and MCP alike.

Who may read or write what is decided behind the bus, by the principal that goes with every call: nothing that a client
sends names another one.
"""

from __future__ import annotations

from uuid import UUID

from cortex_contracts.errors import CortexError, ErrorCode, Permanent
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.documents import DocumentDraft, DocumentForgotten, DocumentRetained
from cortex_contracts.messages.memory import MemoryDraft, MemoryView, Retained
from cortex_contracts.rpc.archive import (
    CHAIN_ARCHIVED,
    GET_ARCHIVED,
    RECALL_ARCHIVE,
    ArchiveQuestion,
    ArchiveReply,
    ArchiveRequest,
)
from cortex_contracts.rpc.documents import (
    DOCUMENT,
    DOCUMENTS,
    FORGET_DOCUMENT,
    RETAIN_DOCUMENT,
    DocumentQuestion,
    DocumentReply,
    DocumentRequest,
    DocumentsQuestion,
    DocumentsReply,
    DocumentsRequest,
    ForgetDocumentRequest,
    RetainDocumentRequest,
)
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


class Memory:
    """Calls the services that read and write the hot tier, and sleep for the cold one.

    Every verb raises CortexError: not found or forbidden for the principal, unavailable, or too large for a message.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def retain(self, principal: Principal, memory: MemoryDraft) -> Retained:
        """Remember one statement."""
        return await self._bus.request(RETAIN, RetainRequest(principal=principal, memory=memory))

    async def retain_batch(self, principal: Principal, batch: RetainBatch) -> RetainBatchReply:
        """Remember many statements; each succeeds or fails on its own."""
        return await self._bus.request(RETAIN_BATCH, RetainBatchRequest(principal=principal, **dict(batch)))

    async def recall(self, principal: Principal, question: RecallQuestion) -> RecallReply:
        """Memories that answer a query, best first."""
        return await self._bus.request(RECALL, RecallRequest(principal=principal, **dict(question)))

    async def context(self, principal: Principal, question: ContextQuestion) -> ContextReply:
        """What matters for a project, within a budget."""
        return await self._bus.request(CONTEXT, ContextRequest(principal=principal, **dict(question)))

    async def get(self, principal: Principal, memory_id: UUID) -> GetReply:
        """One memory with its provenance and its history, wherever it is."""
        wanted = GetRequest(principal=principal, memory_id=memory_id)
        try:
            found = await self._bus.request(GET, wanted)
        except CortexError as error:
            if error.code is not ErrorCode.NOT_FOUND:
                raise
            return await self._archived(wanted, error)
        return found if found.chain_complete else await self._with_archived_chain(wanted, found)

    async def recall_archive(self, principal: Principal, question: ArchiveQuestion) -> ArchiveReply:
        """Memories of the cold tier that answer a query, best first."""
        return await self._bus.request(RECALL_ARCHIVE, ArchiveRequest(principal=principal, **dict(question)))

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

    async def retain_document(self, principal: Principal, document: DocumentDraft) -> DocumentRetained:
        """Remember a document, or its next text."""
        return await self._bus.request(RETAIN_DOCUMENT, RetainDocumentRequest(principal=principal, document=document))

    async def forget_document(self, principal: Principal, namespace: str, document_id: str) -> DocumentForgotten:
        """A document and what was derived from it stop being true."""
        request = ForgetDocumentRequest(principal=principal, namespace=namespace, document_id=document_id)
        return await self._bus.request(FORGET_DOCUMENT, request)

    async def document(self, principal: Principal, question: DocumentQuestion) -> DocumentReply:
        """A document and its text, as it is or was."""
        return await self._bus.request(DOCUMENT, DocumentRequest(principal=principal, **dict(question)))

    async def documents(self, principal: Principal, question: DocumentsQuestion) -> DocumentsReply:
        """Which documents there are."""
        return await self._bus.request(DOCUMENTS, DocumentsRequest(principal=principal, **dict(question)))

    async def _archived(self, wanted: GetRequest, missing: CortexError) -> GetReply:
        """A memory that the hot tier has not, its chain continued by what replaced it and is hot."""
        try:
            found = await self._bus.request(GET_ARCHIVED, wanted)
        except CortexError as error:
            if error.code is ErrorCode.NOT_FOUND:
                return await self._bus.request(GET, wanted)  # it may have come back in between
            told = f"{missing.message}, and the archive cannot be asked now"
            raise Permanent(told, code=ErrorCode.NOT_FOUND) from error
        cold = {one.memory_id for one in found.chain}
        later = next((one.superseded_by for one in found.chain if one.superseded_by not in (None, *cold)), None)
        if later is None:
            return found
        try:
            next_one = await self._bus.request(GET, GetRequest(principal=wanted.principal, memory_id=later))
        except CortexError:
            return found  # not the principal's to read, or away: the id is in the memory
        return found.model_copy(update={"chain": _in_order(*found.chain, *(next_one.chain or (next_one.memory,)))})

    async def _with_archived_chain(self, wanted: GetRequest, found: GetReply) -> GetReply:
        """A hot memory with what the cold tier has of its chain."""
        try:
            cold = (await self._bus.request(CHAIN_ARCHIVED, wanted)).memories
        except CortexError:
            return found
        return found.model_copy(
            update={
                "chain": _in_order(*(found.chain or (found.memory,)), *cold),
                "chain_archived": tuple(one.memory_id for one in cold),
                "chain_complete": True,
            }
        )


def _in_order(*links: MemoryView) -> tuple[MemoryView, ...]:
    """Links of a chain, each once, oldest first."""
    known = {one.memory_id: one for one in links}
    return tuple(sorted(known.values(), key=lambda one: (one.valid_at, one.memory_id)))

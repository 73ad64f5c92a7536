"""Long documents: staged part by part, then remembered in the background, the texts of one document in their order."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Final

from cortex_contracts.errors import ErrorCode, Retryable
from cortex_contracts.messages.base import Message
from cortex_contracts.messages.documents import DocumentDraft
from cortex_contracts.messages.memory import RedactionCounts, Visibility
from cortex_contracts.rpc.operations import (
    MOST_PARTS,
    OperationItem,
    OperationStarted,
    StagedDocument,
    StageDocumentRequest,
    StagedPart,
    StartDocumentRequest,
)
from cortex_ingest.documents import Documents
from cortex_ingest.intake import take_in_document
from cortex_ingest.operation_worker import Work
from cortex_ingest.operations import Operations
from cortex_ingest.write_access import require_write
from cortex_store import staged_parts
from cortex_writing.ports import Transactions

MOST_STAGED: Final = 4 * MOST_PARTS
"""Parts of one subject that may wait."""
ANY_TEXT: Final = "text"


class DocumentRequest(Message):
    """What a staged document is, redacted, and what was cut out of it so far."""

    document: StagedDocument
    redactions: RedactionCounts


class DocumentKind:
    """`retain_document`: its items are the parts of one text; its progress is counted in chunks."""

    name: Final = "retain_document"

    def __init__(self, database: Transactions, operations: Operations, documents: Documents) -> None:
        self._database = database
        self._operations = operations
        self._documents = documents

    async def stage(self, request: StageDocumentRequest) -> StagedPart:
        """Keep a part.

        Raises:
            Retryable: too many parts wait.
        """
        async with self._database.transaction(request.principal) as connection:
            if await staged_parts.count(connection) >= MOST_STAGED:
                raise Retryable(f"{MOST_STAGED} parts of documents wait", code=ErrorCode.RATE_LIMITED)
            await staged_parts.put(connection, request.upload_id, request.part, request.text)
        return StagedPart(upload_id=request.upload_id, part=request.part)

    async def start(self, request: StartDocumentRequest) -> OperationStarted:
        """Queue a document whose parts are all there.

        Raises:
            InvalidMessage: a part is missing, or the id cannot be stored.
            Permanent: the principal may not write the namespace.
            Retryable, Unavailable: as `Operations.start`.
        """
        # The text is looked at when its turn comes; what stands beside it is stored now.
        head, found = take_in_document(DocumentDraft(content=ANY_TEXT, **dict(request.document)))
        async with self._database.transaction(request.principal) as connection:
            await require_write(connection, head.namespace)
        # Private ones have names of their own.
        owner = request.principal.subject if head.visibility is Visibility.PRIVATE else ""
        fields = head.model_dump(exclude={"content"}) | {"occurred_at": head.occurred_at or datetime.now(UTC)}
        operation_id = await self._operations.start(
            request.principal,
            self.name,
            DocumentRequest(document=StagedDocument(**fields), redactions=_sum(request.redactions, found)),
            queue=f"document/{head.namespace}/{owner}/{head.document_id}",
            staged=(request.upload_id, request.parts),
        )
        return OperationStarted(operation_id=operation_id)

    async def step(self, work: Work) -> bool:
        """Remember the text, or what of it is not remembered yet."""
        parts = await work.waiting(MOST_PARTS)
        if not parts:
            return False
        given = DocumentRequest.model_validate_json(work.leased.request)
        content = "".join(json.loads(part.input) for part in parts)
        retained = await self._documents.retain(
            work.principal, DocumentDraft(content=content, **dict(given.document)), work.progress
        )
        counts = _sum(given.redactions, retained.redactions)
        await work.finished_as_one(OperationItem(item=0, document=retained.model_copy(update={"redactions": counts})))
        return False


def _sum(one: RedactionCounts, other: RedactionCounts) -> RedactionCounts:
    return RedactionCounts(
        private=one.private + other.private,
        credentials=one.credentials + other.credentials,
        injected=one.injected + other.injected,
    )

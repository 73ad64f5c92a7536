"""REST: documents under `/api/v1/memory/documents`. An id is the rest of the path: it may hold slashes."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Path, Query, Response

from cortex_contracts.messages.base import Timestamp, Token
from cortex_contracts.messages.documents import (
    DocumentDraft,
    DocumentForgotten,
    DocumentId,
    DocumentRetained,
    DocumentText,
)
from cortex_contracts.rpc.documents import DocumentQuestion, DocumentReply, DocumentsQuestion, DocumentsReply
from cortex_contracts.rpc.operations import OperationStarted
from cortex_gateway.long_documents import LONG_CHARS, LongDocuments
from cortex_gateway.memory import Memory
from cortex_gateway.memory_rest import PREFIX, STRICT, WRITES, Caller, accepted, background
from cortex_gateway.openapi import CREDENTIALS, RESPONSES, Responses, refusal

EXAMPLES: Final[dict[str, Any]] = {
    "file": {
        "summary": "A file in two languages",
        "value": {
            "namespace": "atlas",
            "content": "# Payments\n\nFailed ones are retried five times.\n\n# المدفوعات\n\nتعاد المحاولة خمس مرات.",
            "occurred_at": "2026-11-30T09:31:00+02:00",
            "metadata": {"author": "Salma"},
        },
    }
}
NAMED: Final[Responses] = {
    404: refusal("There is no such document for this principal", "not_found", "no such document")
}


class DocumentBody(DocumentText):
    """What the document says. What is private or a credential in it is cut out before anything else happens."""

    model_config = STRICT


class ListParameters(DocumentsQuestion):
    """Which documents."""

    model_config = STRICT


Id = Annotated[DocumentId, Path(description="The document's id; it may hold slashes")]
Namespace = Annotated[Token, Query(description="The project that it belongs to")]


def documents_router(memory: Memory, long_documents: LongDocuments) -> APIRouter:
    """The routes over `memory`; who calls them has been authenticated before."""
    routes = APIRouter(
        prefix=f"{PREFIX}/documents",
        tags=["documents"],
        responses=RESPONSES,
        dependencies=CREDENTIALS,
    )

    @routes.get("", summary="The documents there are")
    async def listed(principal: Caller, question: Annotated[ListParameters, Query()]) -> DocumentsReply:
        """By namespace and id, without their texts."""
        return await memory.documents(principal, question)

    @routes.put(
        "/{document_id:path}",
        summary="Remember a document, or its next text",
        responses=WRITES | background(OperationStarted),
        response_model=DocumentRetained,
    )
    async def put(
        principal: Caller,
        document_id: Id,
        body: Annotated[DocumentBody, Body(openapi_examples=EXAMPLES)],
        in_background: Annotated[bool, Query(alias="background", description="Do not wait for it")] = False,
    ) -> DocumentRetained | Response:
        """What did not change stays as it is; what is not in it any more stops being true. A text of more than 200,000
        characters is always remembered in the background: 202, and the operation tells when it is found."""
        draft = DocumentDraft(document_id=document_id, **dict(body))
        if not in_background and len(draft.content) <= LONG_CHARS:
            return await memory.retain_document(principal, draft)
        return accepted(await long_documents.start(principal, draft))

    @routes.get("/{document_id:path}", summary="A document", responses=NAMED)
    async def get(
        principal: Caller,
        document_id: Id,
        namespace: Namespace,
        as_of: Annotated[Timestamp | None, Query(description="The text that was true then")] = None,
        first: Annotated[int, Query(ge=0, description="`next` of the page before")] = 0,
    ) -> DocumentReply:
        """Its text in chunks, one after the other; a long one comes in pages."""
        question = DocumentQuestion(namespace=namespace, document_id=document_id, as_of=as_of, first=first)
        return await memory.document(principal, question)

    @routes.delete("/{document_id:path}", summary="A document stops being true", responses={**WRITES, **NAMED})
    async def forget(principal: Caller, document_id: Id, namespace: Namespace) -> DocumentForgotten:
        """With what was derived from it. Nothing is deleted: `as_of` shows it, and to put it again brings it back."""
        return await memory.forget_document(principal, namespace, document_id)

    return routes

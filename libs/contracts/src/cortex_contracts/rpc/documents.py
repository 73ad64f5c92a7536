"""Documents: ingest writes them, recall reads them."""

from __future__ import annotations

from pydantic import Field

from cortex_contracts.messages.base import Message, Principal, ShortText, Timestamp, Token
from cortex_contracts.messages.documents import (
    DocumentChunk,
    DocumentDraft,
    DocumentForgotten,
    DocumentId,
    DocumentRetained,
    DocumentView,
)
from cortex_contracts.rpc.contract import Rpc


class RetainDocumentRequest(Message):
    """Remember a document, or its next text. It is found when the reply has come."""

    principal: Principal
    document: DocumentDraft


class ForgetDocumentRequest(Message):
    """A document and what was derived from it stop being true."""

    principal: Principal
    namespace: Token
    document_id: DocumentId


class DocumentQuestion(Message):
    """A document and its text from a chunk on, as it is or as it was."""

    namespace: Token
    document_id: DocumentId
    as_of: Timestamp | None = Field(default=None, description="the text that was true then; none: the text that is")
    first: int = Field(default=0, ge=0, description="ordinal of the first chunk of the reply")


class DocumentRequest(DocumentQuestion):
    """A document and its text, for one principal."""

    principal: Principal


class DocumentReply(Message):
    """A document and as many of its chunks, in order, as fit into a message."""

    document: DocumentView
    chunks: tuple[DocumentChunk, ...]
    next: int | None = Field(default=None, description="pass it as `first` for the rest; none: this is the end")


class DocumentsQuestion(Message):
    """Which documents are there, by namespace and id?"""

    namespaces: tuple[Token, ...] | None = Field(default=None, max_length=64, description="none: all readable ones")
    prefix: ShortText = Field(default="", description="what the id begins with")
    offset: int = Field(default=0, ge=0, le=1_000_000)
    limit: int = Field(default=100, ge=1, le=500)


class DocumentsRequest(DocumentsQuestion):
    """Which documents are there, for one principal?"""

    principal: Principal


class DocumentsReply(Message):
    """Documents in the order of their namespaces and ids."""

    documents: tuple[DocumentView, ...]
    more: bool = Field(description="there are more behind these")


RETAIN_DOCUMENT = Rpc(
    "ingest", "retain_document", RetainDocumentRequest, DocumentRetained, 300.0, "Remember a document by difference."
)
FORGET_DOCUMENT = Rpc(
    "ingest", "forget_document", ForgetDocumentRequest, DocumentForgotten, 60.0, "A document stops being true."
)
DOCUMENT = Rpc("recall", "document", DocumentRequest, DocumentReply, 10.0, "A document and its text.")
DOCUMENTS = Rpc("recall", "documents", DocumentsRequest, DocumentsReply, 5.0, "Which documents there are.")

DOCUMENT_WRITES = (RETAIN_DOCUMENT, FORGET_DOCUMENT)
DOCUMENT_READS = (DOCUMENT, DOCUMENTS)

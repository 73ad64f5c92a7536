"""Operations: work that outlives its request. They are started by the RPC of the work itself (`background`)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from cortex_contracts.errors import ErrorBody
from cortex_contracts.messages.base import NO_NUL, Message, Principal, Timestamp, Token
from cortex_contracts.messages.documents import DocumentId, DocumentProperties, DocumentRetained
from cortex_contracts.messages.memory import RedactionCounts, Retained
from cortex_contracts.rpc.contract import Rpc


class OperationStatus(StrEnum):
    """Where an operation is; the last three are its ends."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Operation(Message):
    """Some work and how far it is. It succeeds even if some of its items failed: they are counted and told."""

    operation_id: UUID
    kind: Token = Field(description="the verb that started it")
    status: OperationStatus
    done: int = Field(ge=0, description="items that are finished, those that failed included")
    failed: int = Field(default=0, ge=0)
    total: int | None = Field(default=None, ge=0, description="none: not known yet")
    cancel_requested: bool = Field(default=False, description="it ends after the item that it is at")
    error: ErrorBody | None = Field(default=None, description="why it failed; while it runs, what it waits for")
    created_at: Timestamp
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None


class OperationItem(Message):
    """What became of one item: an error, what was retained, or the memory that was worked on."""

    item: int = Field(ge=0, description="its place in the request")
    retained: Retained | None = None
    document: DocumentRetained | None = None
    memory_id: UUID | None = None
    error: ErrorBody | None = None


class OperationRequest(Message):
    """One operation of the principal's subject."""

    principal: Principal
    operation_id: UUID


class OperationReply(Message):
    """An operation and what became of its items so far, in their order: those that failed, then as many others as fit
    into 500."""

    operation: Operation
    items: tuple[OperationItem, ...] = ()


class OperationsQuestion(Message):
    """Which operations?"""

    status: OperationStatus | None = None
    kind: Token | None = None
    limit: int = Field(default=50, ge=1, le=500)
    before: UUID | None = Field(default=None, description="only those started before this one, for the next page")


class OperationsRequest(OperationsQuestion):
    """Which operations of the principal's subject?"""

    principal: Principal


class OperationsReply(Message):
    """Operations, newest first."""

    operations: tuple[Operation, ...]


PART_CHARS = 150_000
"""Of a document in one message: at six bytes for each in JSON still below 1 MiB."""
MOST_PARTS = 64
"""Enough for the longest document, wherever it is cut."""


class StageDocumentRequest(Message):
    """A part of a document that one message cannot hold. The whole was redacted before it was cut: what stands on both
    sides of a cut cannot be seen in a part. Parts that are not used within an hour are forgotten."""

    principal: Principal
    upload_id: UUID = Field(description="chosen by the caller, the same for all parts")
    part: int = Field(ge=0, lt=MOST_PARTS)
    text: Annotated[str, StringConstraints(min_length=1, max_length=PART_CHARS, pattern=NO_NUL)]


class StagedPart(Message):
    """A part that waits for the others. To stage it again replaces it."""

    upload_id: UUID
    part: int


class StagedDocument(DocumentProperties):
    """What the staged parts, one after the other, are the text of."""

    document_id: DocumentId


class StartDocumentRequest(Message):
    """Remember a staged document in the background. Texts of one document are remembered in the order they started."""

    principal: Principal
    upload_id: UUID
    parts: int = Field(ge=1, le=MOST_PARTS)
    document: StagedDocument
    redactions: RedactionCounts = Field(default=RedactionCounts(), description="what was cut out before it was cut")


class OperationStarted(Message):
    """Work that was left to the background."""

    operation_id: UUID


OPERATION = Rpc("ingest", "operation", OperationRequest, OperationReply, 2.0, "How far an operation is.")
OPERATIONS = Rpc("ingest", "operations", OperationsRequest, OperationsReply, 2.0, "Which operations there are.")
CANCEL_OPERATION = Rpc(
    "ingest", "cancel_operation", OperationRequest, Operation, 2.0, "End an operation after the item that it is at."
)
RETRY_OPERATION = Rpc(
    "ingest", "retry_operation", OperationRequest, Operation, 2.0, "Go on with an operation where it stopped."
)
STAGE_DOCUMENT = Rpc("ingest", "stage_document", StageDocumentRequest, StagedPart, 10.0, "A part of a long document.")
START_DOCUMENT = Rpc(
    "ingest", "start_document", StartDocumentRequest, OperationStarted, 30.0, "Remember a staged document."
)

OPERATION_RPCS = (OPERATION, OPERATIONS, CANCEL_OPERATION, RETRY_OPERATION, STAGE_DOCUMENT, START_DOCUMENT)

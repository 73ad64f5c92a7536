"""What a document is on the bus: a long text under an id that its writer chooses, kept as chunks that are memories."""

from __future__ import annotations

import unicodedata
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from cortex_contracts.messages.base import Message, ShortText, Timestamp, Token
from cortex_contracts.messages.memory import LongText, MemoryType, Network, RedactionCounts, Visibility

MAX_DOCUMENT_CHARS = 8_000_000
"""Longest text of a document. One message of NATS holds 1 MiB of it."""


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


DocumentId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$"),
    AfterValidator(_composed),
]
"""A path, an address, a thread: one line, unique in its namespace."""


class DocumentProperties(Message):
    """What kind of document it is, and who may read it."""

    namespace: Token
    source_kind: Token = "document"
    occurred_at: Timestamp | None = Field(default=None, description="when this text became true; none: now")
    visibility: Visibility = Visibility.TEAM
    network: Network = Network.FACT
    memory_type: MemoryType = MemoryType.SEMANTIC
    explicit: bool = Field(default=False, description="somebody asked to remember this")
    metadata: dict[ShortText, LongText] = Field(default_factory=dict, max_length=32)


class DocumentText(DocumentProperties):
    """What a document says, and who may read it."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT_CHARS)]


class DocumentDraft(DocumentText):
    """A document to remember, or its next text: what did not change stays as it is. What is private or a credential in
    it is cut out before anything else happens."""

    document_id: DocumentId


class DocumentRetained(Message):
    """What a write did to a document."""

    document_id: DocumentId
    version: int = Field(ge=1, description="how many texts the document has had")
    content_hash: str = Field(description="SHA-256 of its text as it is stored, hexadecimal")
    chunks: int = Field(ge=1)
    added: int = Field(ge=0)
    kept: int = Field(ge=0)
    removed: int = Field(ge=0, description="chunks that are not in it any more; they stop being true")
    redactions: RedactionCounts = RedactionCounts()
    unchanged: bool = Field(description="it was so before")


class DocumentForgotten(Message):
    """The state of a document after it was forgotten; to have been forgotten already is no error."""

    document_id: DocumentId
    chunks: int = Field(ge=0, description="memories that stopped being true")
    derived: int = Field(default=0, ge=0, description="memories made of them that stopped being true with them")
    changed: bool


class DocumentView(Message):
    """A document without its text. `valid_at`: when its text became true."""

    document_id: DocumentId
    namespace: Token
    version: int
    content_hash: str
    chunks: int = Field(ge=0)
    chars: int = Field(ge=0)
    source_kind: str
    owner: str
    visibility: Visibility
    network: Network
    memory_type: MemoryType
    metadata: dict[str, str] = Field(default_factory=dict)
    valid_at: Timestamp
    created_at: Timestamp
    updated_at: Timestamp


class DocumentChunk(Message):
    """A part of a document: the texts of all, one after the other, are its text."""

    ordinal: int = Field(ge=0)
    memory_id: UUID
    headings: str = Field(default="", description="path of the headings that it stands under")
    text: str = Field(description="with the white space up to the next one")
    invalid_at: Timestamp | None = Field(default=None, description="the chunk was forgotten by itself")

"""The document RPCs: a document with its text, and which documents there are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.base import Message
from cortex_contracts.messages.documents import DocumentChunk, DocumentView
from cortex_contracts.rpc.documents import DocumentReply, DocumentRequest, DocumentsReply, DocumentsRequest
from cortex_recall.ports import Transactions
from cortex_store import documents
from cortex_store.documents import Chunk, Document
from cortex_store.indexed_text import HEADINGS

PAGE_CHUNKS: Final = 500
PAGE_BYTES: Final = 600_000
"""Of one reply as JSON; a message holds 1 MiB, and white space between two chunks may be longer than they are."""

MessageT = TypeVar("MessageT", bound=Message)


class Documents:
    """The use cases."""

    def __init__(self, database: Transactions) -> None:
        self._database = database

    async def document(self, request: DocumentRequest) -> DocumentReply:
        """A document that the principal may read, with its chunks from the first wanted one on.

        Raises:
            Permanent: there is none of this id for the principal, or there was none then.
            Unavailable: the hot tier cannot be read.
        """
        async with self._database.transaction(request.principal) as connection:
            found = await documents.find(connection, request.namespace, request.document_id)
            if found is None or (request.as_of is None and (found.forgotten_at is not None or not found.version)):
                raise Permanent("there is no such document", code=ErrorCode.NOT_FOUND)
            read = await documents.chunks(connection, found.id, request.as_of, request.first, PAGE_CHUNKS + 1)
        if not read and not request.first:
            raise Permanent("there was no such document then", code=ErrorCode.NOT_FOUND)
        page = _fit(map(_chunk, read[:PAGE_CHUNKS]))
        following = read[len(page)].ordinal if len(page) < len(read) else None
        return DocumentReply(document=_view(found), chunks=page, next=following)

    async def documents(self, request: DocumentsRequest) -> DocumentsReply:
        """The documents that the principal may read, by namespace and id.

        Raises:
            Unavailable: the hot tier cannot be read.
        """
        async with self._database.transaction(request.principal) as connection:
            found = await documents.listed(
                connection, request.namespaces, request.prefix, request.limit + 1, request.offset
            )
        page = _fit(map(_view, found[: request.limit]))
        return DocumentsReply(documents=page, more=len(page) < len(found))


def _fit(items: Iterable[MessageT]) -> tuple[MessageT, ...]:
    """The first of `items` that fit into a reply, one at least."""
    page: list[MessageT] = []
    left = PAGE_BYTES
    for one in items:
        left -= len(one.model_dump_json().encode())
        if page and left < 0:
            break
        page.append(one)
    return tuple(page)


def _view(document: Document) -> DocumentView:
    return DocumentView(
        document_id=document.document_id,
        namespace=document.namespace,
        version=document.version,
        content_hash=(document.content_hash or b"").hex(),
        chunks=document.chunks,
        chars=document.chars,
        source_kind=document.kind.source_kind,
        owner=document.kind.owner,
        visibility=document.kind.visibility,
        network=document.kind.network,
        memory_type=document.kind.memory_type,
        metadata=dict(document.metadata),
        valid_at=document.valid_at,
        created_at=document.created_at,
        updated_at=document.updated_at,
    )


def _chunk(chunk: Chunk) -> DocumentChunk:
    return DocumentChunk(
        ordinal=chunk.ordinal,
        memory_id=chunk.memory.id,
        headings=chunk.memory.metadata.get(HEADINGS, ""),
        text=chunk.memory.content + chunk.gap,
        invalid_at=chunk.memory.invalid_at,
    )

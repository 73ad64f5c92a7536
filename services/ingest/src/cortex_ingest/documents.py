"""Documents: long texts that are retained by difference, chunk by chunk, and forgotten with what was derived from them.

A chunk is a memory that nothing else retires and that retires nothing. New chunks are embedded and written in batches
that commit: they are found while the rest is worked on, and who comes again after a crash embeds what is still missing.
One last transaction makes them the text of the document and ends what is not in it any more.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from cortex_contracts.errors import ErrorCode, Permanent, Retryable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.documents import DocumentDraft, DocumentForgotten, DocumentRetained
from cortex_contracts.messages.memory import RedactionCounts, Visibility
from cortex_contracts.subjects import MemoryOp
from cortex_decision import importance
from cortex_ingest.intake import take_in_document
from cortex_ingest.segments import Segment, segments
from cortex_ingest.write_access import require_write
from cortex_providers.embedder import TextKind
from cortex_providers.engine import BuiltinEngine, Engine
from cortex_store import documents, entities, indexed_text
from cortex_store.connection import Connection
from cortex_store.documents import Document, Kind, Place, StoredPlace
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_writing import journal
from cortex_writing.announcements import Announcements
from cortex_writing.neighbourhood import Vector
from cortex_writing.ports import PassageEmbedder, Transactions
from cortex_writing.reading import Reader
from cortex_writing.remembering import remember

BATCH: Final = 64
"""Chunks that are embedded and committed together; a crash costs at most this much work."""

Progress = Callable[[int, int], Awaitable[None]]
"""Is told how many chunks of a document are done, and of how many."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A text that becomes the one of a document; `keys` are those of its segments."""

    document: UUID
    draft: DocumentDraft
    redactions: RedactionCounts
    segments: tuple[Segment, ...]
    keys: tuple[bytes, ...]
    valid_at: datetime


class Documents:
    """The use cases."""

    def __init__(
        self,
        database: Transactions,
        embedder: PassageEmbedder,
        announcements: Announcements,
        *,
        engine: Engine | None = None,
    ) -> None:
        """Without an engine the built-in one works."""
        self._database = database
        self._embedder = embedder
        self._announcements = announcements
        self._reader = Reader(engine or BuiltinEngine())

    async def retain(
        self, principal: Principal, draft: DocumentDraft, progress: Progress | None = None
    ) -> DocumentRetained:
        """Make `draft` what the document of its id says. Idempotent; after a failure it goes on where it was. Who
        writes one document at the same time waits for the other, and the last one stays.

        Raises:
            InvalidMessage: nothing is left of it, or its id cannot be stored.
            Permanent: the principal may not write the namespace.
            Retryable: the embedder or the database is away, or the document became somebody else's meanwhile; the
                batches before are written.
        """
        # Regular expressions over megabytes: not on the loop.
        clean, redactions = await asyncio.to_thread(take_in_document, draft)
        cut = await asyncio.to_thread(segments, clean.content)
        text, outcome = await self._open(principal, clean, redactions, cut)
        while not isinstance(outcome, DocumentRetained):
            for start in range(0, len(outcome), BATCH):
                if progress is not None:
                    await progress(len(cut) - len(outcome) + start, len(cut))
                await self._write(principal, text, outcome[start : start + BATCH])
            # What another one took away in the meantime is missing once more.
            outcome = await self._finish(principal, text)
        if progress is not None:
            await progress(len(cut), len(cut))
        return outcome

    async def forget(self, principal: Principal, namespace: str, document_id: str) -> DocumentForgotten:
        """A document and what was derived from it stop being true now; they stay, with their history. Idempotent.

        Raises:
            Permanent: there is no such document for the principal, or it may not write it.
        """
        touched = {namespace}
        async with self._database.transaction(principal) as connection:
            await documents.lock(connection, namespace, document_id)
            known = await documents.find(connection, namespace, document_id)
            if known is None:
                raise Permanent("there is no such document", code=ErrorCode.NOT_FOUND)
            await require_write(connection, namespace)
            now = datetime.now(UTC)
            changed = await documents.forget(connection, known.id, now)
            places = await documents.places(connection, known.id)
            await documents.arrange(connection, known.id, places, (), max(now, known.valid_at))
            ended, derived = await _end(connection, principal, namespace, places, now, touched)
        await self._announcements.changed(principal.org, touched)
        return DocumentForgotten(document_id=document_id, chunks=ended, derived=derived, changed=changed)

    async def _open(
        self, principal: Principal, draft: DocumentDraft, redactions: RedactionCounts, cut: tuple[Segment, ...]
    ) -> tuple[_Text, DocumentRetained | Sequence[int]]:
        """Make the document what the draft says but for its text; the reply if it has that already."""
        content_hash = _hash(draft)
        when = draft.occurred_at or datetime.now(UTC)
        async with self._database.transaction(principal) as connection:
            await require_write(connection, draft.namespace)
            await documents.lock(connection, draft.namespace, draft.document_id)
            known = await documents.find(
                connection, draft.namespace, draft.document_id, private=draft.visibility is Visibility.PRIVATE
            )
            if known is not None and _is_for_others(known, draft, principal):
                known = None
            kind = _kind(draft, principal, known)
            if known is None:
                new = uuid7()
                await documents.create(connection, new, draft.namespace, draft.document_id, kind, draft.metadata, when)
                places: tuple[StoredPlace, ...] = ()
                same = False
            else:
                new = known.id
                # A text does not become true before the one that it replaces, or while the document was forgotten.
                when = max(when, known.valid_at, known.forgotten_at or known.valid_at)
                same = (known.kind, known.metadata) == (kind, draft.metadata)
                if not same:
                    await documents.set_kind(connection, new, kind, draft.metadata)
                places = await documents.places(connection, new)
        if not same and known is not None:
            await self._announcements.changed(principal.org, (draft.namespace,))
        text = _Text(new, draft, redactions, cut, tuple(segment.key for segment in cut), when)
        is_there = known is not None and known.forgotten_at is None and known.content_hash == content_hash
        if known is None or not is_there or any(place.is_pending for place in places):
            missing = _missing(_matched(text, places))
            return text, missing or await self._finish(principal, text)
        return text, DocumentRetained(
            document_id=draft.document_id,
            version=known.version,
            content_hash=content_hash.hex(),
            chunks=known.chunks,
            added=0,
            kept=known.chunks,
            removed=0,
            redactions=redactions,
            unchanged=same,
        )

    async def _write(self, principal: Principal, text: _Text, batch: Sequence[int]) -> None:
        """Embed and write the chunks of these ordinals, as far as they are still missing."""
        draft = text.draft
        ids = {ordinal: uuid7() for ordinal in batch}
        new = {ordinal: _chunk(text, ordinal, ids[ordinal], _kind(draft, principal, None)) for ordinal in batch}
        vectors = await self._embedder.embed(
            [indexed_text.meaning(chunk, None) for chunk in new.values()], TextKind.PASSAGE
        )
        readings = await self._reader.read(list(new.values()))
        async with self._database.transaction(principal) as connection:
            current = await _current(connection, text)
            matched = _matched(text, await documents.places(connection, text.document))
            extractions = [reading.extraction for reading in readings]
            named = [one for extraction in extractions for one in extraction.entities]
            # All at once and sorted: two writers of the same names wait for each other instead of deadlocking.
            await entities.put(
                connection, draft.namespace, [entities.Named(one.key, one.name, one.kind, one.role) for one in named]
            )
            places = []
            for ordinal, vector, extraction in zip(batch, vectors, extractions, strict=True):
                if matched[ordinal] is not None:
                    continue
                chunk = _chunk(text, ordinal, ids[ordinal], current.kind)
                words = indexed_text.document(chunk, chunk.valid_at)
                embedding = Vector(vector, self._embedder.model)
                await remember(connection, principal, chunk, words, embedding, extraction)
                places.append(_place(text, ordinal, chunk.id))
            await documents.add(connection, text.document, places, None)
        await self._announcements.changed(principal.org, (draft.namespace,))

    async def _finish(self, principal: Principal, text: _Text) -> DocumentRetained | Sequence[int]:
        """Make the text that of the document, or tell which of its chunks are missing."""
        draft = text.draft
        touched = {draft.namespace}
        async with self._database.transaction(principal) as connection:
            current = await _current(connection, text)
            old = await documents.places(connection, text.document)
            matched = _matched(text, old)
            if missing := _missing(matched):
                return missing
            used = {place.id for place in matched if place is not None}
            gone = [place for place in old if place.id not in used]
            wanted = [_place(text, ordinal, place.memory) for ordinal, place in enumerate(matched) if place is not None]
            await documents.arrange(connection, text.document, old, wanted, text.valid_at)
            await _end(connection, principal, draft.namespace, gone, text.valid_at, touched)
            content_hash = _hash(draft)
            now = documents.Text(content_hash, len(draft.content), text.valid_at)
            version = await documents.set_text(connection, text.document, now)
            # A batch may have been written as another writer changed who may read the document.
            await documents.set_kind(connection, text.document, current.kind, current.metadata)
        await self._announcements.changed(principal.org, touched)
        added = sum(place is not None and place.is_pending for place in matched)
        return DocumentRetained(
            document_id=draft.document_id,
            version=version,
            content_hash=content_hash.hex(),
            chunks=len(matched),
            added=added,
            kept=len(matched) - added,
            removed=sum(not place.is_pending for place in gone),
            redactions=text.redactions,
            unchanged=False,
        )


async def _end(
    connection: Connection,
    principal: Principal,
    namespace: str,
    gone: Iterable[StoredPlace],
    at: datetime,
    touched: set[str],
) -> tuple[int, int]:
    """Chunks stop being true, and what was derived from them; how many of both. Adds to the namespaces `touched`."""
    sources = [place.memory for place in gone]
    ended = await documents.invalidate(connection, sources, at)
    derived = await documents.invalidate_derived(connection, sources, at)
    for memory_id, where in [*((one, namespace) for one in ended), *derived]:
        touched.add(where)
        await journal.record(connection, principal, MemoryOp.FORGET, where, memory_id)
    return len(ended), len(derived)


async def _current(connection: Connection, text: _Text) -> Document:
    """The document of a text as it is now; nobody else writes it until the transaction ends."""
    draft = text.draft
    await documents.lock(connection, draft.namespace, draft.document_id)
    for private in (draft.visibility is Visibility.PRIVATE, draft.visibility is not Visibility.PRIVATE):
        found = await documents.find(connection, draft.namespace, draft.document_id, private=private)
        if found is not None and found.id == text.document:
            return found
    raise Retryable("the document became somebody else's while it was written", code=ErrorCode.CONFLICT)


def _matched(text: _Text, places: Iterable[StoredPlace]) -> list[StoredPlace | None]:
    """The place of each segment that there is already: one that holds the same, in the order of both."""
    free: defaultdict[bytes, deque[StoredPlace]] = defaultdict(deque)
    for place in places:
        free[place.key].append(place)
    return [free[key].popleft() if free[key] else None for key in text.keys]


def _missing(matched: Sequence[StoredPlace | None]) -> Sequence[int]:
    return [ordinal for ordinal, place in enumerate(matched) if place is None]


def _place(text: _Text, ordinal: int, memory: UUID) -> Place:
    return Place(memory, ordinal, text.keys[ordinal], text.segments[ordinal].gap)


def _chunk(text: _Text, ordinal: int, memory_id: UUID, kind: Kind) -> NewMemory:
    draft, segment = text.draft, text.segments[ordinal]
    return NewMemory(
        id=memory_id,
        namespace=draft.namespace,
        content=segment.text,
        source_kind=kind.source_kind,
        importance=importance(
            math.nan,  # it is compared with nothing
            explicit=draft.explicit,
            source_kind=kind.source_kind,
            reference_age_days=max(0.0, (datetime.now(UTC) - text.valid_at).total_seconds() / 86_400),
        ),
        valid_at=text.valid_at,
        owner=kind.owner,
        visibility=kind.visibility,
        network=kind.network,
        memory_type=kind.memory_type,
        source_ref=draft.document_id,
        session=f"document:{text.document}",
        turn=ordinal,
        metadata={indexed_text.HEADINGS: segment.headings} if segment.headings else {},
        decision_reason="a part of a document",
        document=text.document,
    )


def _is_for_others(known: Document, draft: DocumentDraft, principal: Principal) -> bool:
    """Nobody takes somebody else's document for itself: a private one of that id is another one."""
    return draft.visibility is Visibility.PRIVATE and known.kind.owner != principal.subject


def _kind(draft: DocumentDraft, principal: Principal, known: Document | None) -> Kind:
    """A document stays its owner's, whoever writes it."""
    owner = principal.subject if known is None else known.kind.owner
    return Kind(owner, draft.visibility, draft.source_kind, draft.network, draft.memory_type)


def _hash(draft: DocumentDraft) -> bytes:
    return hashlib.sha256(draft.content.encode()).digest()

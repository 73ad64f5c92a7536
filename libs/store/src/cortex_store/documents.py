"""Documents: long texts whose chunks are memories, with the place that each chunk has and had in its document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from cortex_contracts.messages.memory import MemoryType, Network, Visibility
from cortex_store.connection import Connection, Row, affected
from cortex_store.memories import COLUMNS, Memory, from_row


@dataclass(frozen=True, slots=True)
class Kind:
    """What a document and all of its chunks have in common."""

    owner: str
    visibility: Visibility
    source_kind: str
    network: Network
    memory_type: MemoryType


@dataclass(frozen=True, slots=True)
class Document:
    """A document without its text. `version` counts its texts, 0: the first one is still being written; `valid_at`:
    when its text became true."""

    id: UUID
    namespace: str
    document_id: str
    kind: Kind
    metadata: Mapping[str, str]
    version: int
    content_hash: bytes | None
    chunks: int
    chars: int
    valid_at: datetime
    created_at: datetime
    updated_at: datetime
    forgotten_at: datetime | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chunk is in its document; `gap` is the white space after it, `key` the hash of what is indexed of it."""

    memory: UUID
    ordinal: int
    key: bytes
    gap: str


@dataclass(frozen=True, slots=True)
class StoredPlace(Place):
    """A place that no other has replaced. `is_pending`: of a text that is still being written."""

    id: int
    is_pending: bool


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk as it is read."""

    ordinal: int
    gap: str
    memory: Memory


@dataclass(frozen=True, slots=True)
class Text:
    """What a document says now."""

    content_hash: bytes
    chars: int
    valid_at: datetime


LOCK: Final = """
SELECT pg_advisory_xact_lock(
    hashtextextended('document/' || current_setting('cortex.org') || '/' || $1 || '/' || $2, 0)
)
"""
DOCUMENT: Final = """
d.id, d.namespace, d.document_id, d.owner, d.visibility, d.source_kind, d.network, d.memory_type, d.metadata, d.version,
d.content_hash, d.chars, d.valid_at, d.created_at, d.updated_at, d.forgotten_at,
(SELECT count(*) FROM document_chunks c WHERE c.document = d.id AND c.until IS NULL AND c.since IS NOT NULL) AS chunks
"""
# A private document and one of others can have the same id: then the one of the wanted kind, or the one that is live.
FIND: Final = f"""
SELECT {DOCUMENT} FROM documents d
WHERE d.org = current_setting('cortex.org') AND d.namespace = $1 AND d.document_id = $2
ORDER BY CASE WHEN $3::boolean IS NULL THEN d.forgotten_at IS NOT NULL ELSE (d.visibility = 'private') <> $3 END,
    d.visibility <> 'private'
LIMIT 1
"""  # noqa: S608 - constants
LIST: Final = f"""
SELECT {DOCUMENT} FROM documents d
WHERE d.org = current_setting('cortex.org') AND ($1::text[] IS NULL OR d.namespace = ANY ($1))
    AND starts_with(d.document_id, $2) AND d.version > 0 AND d.forgotten_at IS NULL
ORDER BY d.namespace, d.document_id COLLATE "C", d.private_to LIMIT $3 OFFSET $4
"""  # noqa: S608 - constants
CREATE: Final = """
INSERT INTO documents (
    id, owner, visibility, source_kind, network, memory_type, metadata, namespace, document_id, valid_at
)
VALUES ($1, $2, $3, $4, $5, $6, $7::text::jsonb, $8, $9, $10)
"""
SET_KIND: Final = """
UPDATE documents SET owner = $2, visibility = $3, source_kind = $4, network = $5, memory_type = $6,
    metadata = $7::text::jsonb, updated_at = now()
WHERE id = $1
"""
SET_KIND_OF_CHUNKS: Final = """
UPDATE memories SET owner = $2, visibility = $3, source_kind = $4, network = $5, memory_type = $6
WHERE document = $1
    AND (owner, visibility, source_kind, network, memory_type) IS DISTINCT FROM ($2, $3, $4, $5, $6)
"""
SET_TEXT: Final = """
UPDATE documents SET version = version + 1, content_hash = $2, chars = $3, valid_at = $4, forgotten_at = NULL,
    updated_at = now()
WHERE id = $1 RETURNING version
"""
FORGET: Final = "UPDATE documents SET forgotten_at = $2, updated_at = now() WHERE id = $1 AND forgotten_at IS NULL"
PLACES: Final = """
SELECT memory, ordinal, key, gap, id, since IS NULL AS is_pending FROM document_chunks
WHERE document = $1 AND until IS NULL ORDER BY since IS NULL, ordinal, id
"""
ADD: Final = """
INSERT INTO document_chunks (document, memory, ordinal, key, gap, since)
SELECT $1, memory, ordinal, key, gap, $6
FROM unnest($2::uuid[], $3::integer[], $4::bytea[], $5::text[]) AS p (memory, ordinal, key, gap)
"""
END: Final = "UPDATE document_chunks SET until = $2, since = coalesce(since, $2) WHERE id = ANY ($1)"
ADMIT: Final = "UPDATE document_chunks SET since = $2 WHERE id = ANY ($1)"
MOVE: Final = """
UPDATE memories m SET turn = p.turn FROM unnest($1::uuid[], $2::integer[]) AS p (memory, turn)
WHERE m.id = p.memory AND m.turn <> p.turn
"""
INVALIDATE: Final = """
UPDATE memories SET invalid_at = greatest($2, valid_at) WHERE id = ANY ($1) AND invalid_at IS NULL RETURNING id
"""
INVALIDATE_DERIVED: Final = "SELECT memory, namespace FROM invalidate_derived($1, $2)"
DERIVED: Final = "INSERT INTO memory_sources (memory, source) SELECT $1, unnest($2::uuid[]) ON CONFLICT DO NOTHING"
CHUNKS: Final = f"""
SELECT c.ordinal, c.gap, {COLUMNS} FROM document_chunks c JOIN memories m ON m.id = c.memory
WHERE c.document = $1 AND c.ordinal >= $3 AND c.since IS NOT NULL
    AND ($2::timestamptz IS NULL AND c.until IS NULL
        OR c.since <= $2 AND (c.until IS NULL OR c.until > $2))
ORDER BY c.ordinal LIMIT $4
"""  # noqa: S608 - constants


async def lock(connection: Connection, namespace: str, document_id: str) -> None:
    """Let one transaction at a time write the documents of this id."""
    await connection.execute(LOCK, namespace, document_id)


async def find(
    connection: Connection, namespace: str, document_id: str, *, private: bool | None = None
) -> Document | None:
    """The document of this id that the principal may read, forgotten or not; of two the `private` one or the other."""
    row = await connection.fetchrow(FIND, namespace, document_id, private)
    return None if row is None else _document(row)


async def listed(
    connection: Connection, namespaces: Sequence[str] | None, prefix: str, limit: int, offset: int
) -> tuple[Document, ...]:
    """The documents that the principal may read, not those that were forgotten, by namespace and id."""
    rows = await connection.fetch(LIST, None if namespaces is None else list(namespaces), prefix, limit, offset)
    return tuple(_document(row) for row in rows)


async def create(
    connection: Connection,
    new: UUID,
    namespace: str,
    document_id: str,
    kind: Kind,
    metadata: Mapping[str, str],
    valid_at: datetime,
) -> None:
    """Make a document that has no text yet; `new` is a UUIDv7."""
    await connection.execute(CREATE, new, *_columns(kind), json.dumps(dict(metadata)), namespace, document_id, valid_at)


async def set_kind(connection: Connection, document: UUID, kind: Kind, metadata: Mapping[str, str]) -> None:
    """Change what a document and all chunks that it has and had have in common, for instance who may read them."""
    await connection.execute(SET_KIND, document, *_columns(kind), json.dumps(dict(metadata)))
    await connection.execute(SET_KIND_OF_CHUNKS, document, *_columns(kind))


async def places(connection: Connection, document: UUID) -> tuple[StoredPlace, ...]:
    """The places that are not replaced, of the text that is true and then of one that is still being written, in
    order."""
    return tuple(StoredPlace(*row) for row in await connection.fetch(PLACES, document))


async def add(connection: Connection, document: UUID, new: Sequence[Place], since: datetime | None) -> None:
    """Give chunks their places, `since` none: in a text that is still being written."""
    if new:
        columns = [[getattr(one, name) for one in new] for name in ("memory", "ordinal", "key", "gap")]
        await connection.execute(ADD, document, *columns, since)


async def arrange(
    connection: Connection, document: UUID, old: Sequence[StoredPlace], wanted: Sequence[Place], at: datetime
) -> None:
    """Make `wanted` the places of the document from `at` on, where they have been `old`."""
    now = {place.memory: place for place in wanted}
    ended, admitted = [], []
    for place in old:
        new = now.get(place.memory)
        if new is None or (new.ordinal, new.gap) != (place.ordinal, place.gap):
            ended.append(place.id)
            continue
        del now[place.memory]
        if place.is_pending:
            admitted.append(place.id)
    await connection.execute(END, ended, at)
    await connection.execute(ADMIT, admitted, at)
    await add(connection, document, list(now.values()), at)
    await connection.execute(MOVE, [place.memory for place in wanted], [place.ordinal for place in wanted])


async def set_text(connection: Connection, document: UUID, text: Text) -> int:
    """The places are those of `text` now; returns the version."""
    version: int = await connection.fetchval(SET_TEXT, document, text.content_hash, text.chars, text.valid_at)
    return version


async def forget(connection: Connection, document: UUID, at: datetime) -> bool:
    """The document has no text any more; false: it had none."""
    return affected(await connection.execute(FORGET, document, at)) == 1


async def invalidate(connection: Connection, memories: Sequence[UUID], at: datetime) -> tuple[UUID, ...]:
    """Chunks stopped being true; returns those that were."""
    return tuple(row["id"] for row in await connection.fetch(INVALIDATE, list(memories), at))


async def invalidate_derived(
    connection: Connection, sources: Sequence[UUID], at: datetime
) -> tuple[tuple[UUID, str], ...]:
    """What was derived from memories that are not true any more stops being true, too; ids and namespaces of it."""
    rows = await connection.fetch(INVALIDATE_DERIVED, list(sources), at)
    return tuple((row["memory"], row["namespace"]) for row in rows)


async def derived(connection: Connection, memory: UUID, sources: Sequence[UUID]) -> None:
    """A memory was made of others: it goes when one of them goes with its document."""
    await connection.execute(DERIVED, memory, list(sources))


async def chunks(
    connection: Connection, document: UUID, as_of: datetime | None, first: int, limit: int
) -> tuple[Chunk, ...]:
    """Up to `limit` chunks from the ordinal `first` on, in order, of the text that is or was true."""
    rows = await connection.fetch(CHUNKS, document, as_of, first, limit)
    return tuple(Chunk(row["ordinal"], row["gap"], from_row(row)) for row in rows)


def _columns(kind: Kind) -> tuple[str, ...]:
    return kind.owner, kind.visibility, kind.source_kind, kind.network, kind.memory_type


def _document(row: Row) -> Document:
    return Document(
        id=row["id"],
        namespace=row["namespace"],
        document_id=row["document_id"],
        kind=Kind(
            row["owner"],
            Visibility(row["visibility"]),
            row["source_kind"],
            Network(row["network"]),
            MemoryType(row["memory_type"]),
        ),
        metadata=json.loads(row["metadata"]),
        version=row["version"],
        content_hash=row["content_hash"],
        chunks=row["chunks"],
        chars=row["chars"],
        valid_at=row["valid_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        forgotten_at=row["forgotten_at"],
    )

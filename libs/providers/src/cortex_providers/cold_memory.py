"""A memory as it goes cold: everything that is known of it in one row, and the checksum that proves it.

The checksum does not depend on how a store keeps a row: it is computed from the values, before they are written and
again after they were read.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

CHECKSUM_BYTES: Final = 32
_JSON: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class ColdOccurrence:
    """A further time that the memory was said."""

    id: UUID
    source_kind: str
    source_ref: str | None
    session: str | None
    turn: int | None
    speaker: str | None
    occurred_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class ColdEntity:
    """A name that the memory is linked to; `key` is the folded name, `role` is `speaker` or `mention`."""

    key: str
    name: str
    kind: str
    role: str


@dataclass(frozen=True, slots=True)
class ColdRelation:
    """What the memory says of how two of its entities stand to each other, by their keys."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class ColdMemory:
    """A memory with its provenance and what makes it findable. Times are aware and in UTC, in microseconds.

    `assertions` and `metadata` are JSON texts. `embedding`: the vector as little-endian 16-bit floats, and the model it
    comes from, or neither. `terms`: dimensions of the indexed terms (`lexical_index.sparse`: hash modulo 1,000,000,000)
    as little-endian 32-bit integers, rising, each once; `impacts`: their BM25 impacts as little-endian 32-bit floats in
    the same order; `folded` and `script` are `content` and `script` of the index row. A memory that was never indexed
    has no terms and no `script`.

    `occurrences` are ordered by id, `entities` by (role, key), `relations` by (subject, predicate, object), `sources`
    by id.
    """

    id: UUID
    org: str
    namespace: str
    owner: str | None
    visibility: str
    network: str
    memory_type: str
    content: str
    source_kind: str
    source_ref: str | None
    session: str | None
    turn: int | None
    speaker: str | None
    document: UUID | None
    assertions: str
    metadata: str
    importance: float
    base_importance: float | None
    valid_at: datetime
    invalid_at: datetime | None
    superseded_by: UUID | None
    created_at: datetime
    decision: str
    decision_reason: str
    access_count: int
    last_accessed_at: datetime | None
    occurrences: tuple[ColdOccurrence, ...]
    entities: tuple[ColdEntity, ...]
    relations: tuple[ColdRelation, ...]
    sources: tuple[UUID, ...]
    embedding: bytes | None
    embedding_model: str | None
    script: int | None
    folded: int | None
    terms: bytes
    impacts: bytes


def month_of(memory: ColdMemory) -> str:
    """The partition of a memory in its namespace: `YYYY-MM` of `valid_at` in UTC."""
    at = memory.valid_at.astimezone(UTC)
    return f"{at.year:04}-{at.month:02}"


def checksum(memory: ColdMemory) -> bytes:
    """SHA-256 of the canonical form of a memory, 32 bytes: a JSON array of its fields in their order without white
    space, then the bytes of `embedding`, `terms` and `impacts`, whose lengths the array tells. Ids are their hex
    digits, times are microseconds since 1970, `importance` is the number of its 32-bit float's bits."""
    written = _JSON.encode(
        (
            memory.id.hex,
            memory.org,
            memory.namespace,
            memory.owner,
            memory.visibility,
            memory.network,
            memory.memory_type,
            memory.content,
            memory.source_kind,
            memory.source_ref,
            memory.session,
            memory.turn,
            memory.speaker,
            _id(memory.document),
            memory.assertions,
            memory.metadata,
            _bits(memory.importance),
            _bits(memory.base_importance),
            _microseconds(memory.valid_at),
            _microseconds(memory.invalid_at),
            _id(memory.superseded_by),
            _microseconds(memory.created_at),
            memory.decision,
            memory.decision_reason,
            memory.access_count,
            _microseconds(memory.last_accessed_at),
            [
                (
                    o.id.hex,
                    o.source_kind,
                    o.source_ref,
                    o.session,
                    o.turn,
                    o.speaker,
                    _microseconds(o.occurred_at),
                    o.reason,
                )
                for o in memory.occurrences
            ],
            [(e.key, e.name, e.kind, e.role) for e in memory.entities],
            [(r.subject, r.predicate, r.object) for r in memory.relations],
            [source.hex for source in memory.sources],
            None if memory.embedding is None else len(memory.embedding),
            memory.embedding_model,
            memory.script,
            memory.folded,
            len(memory.terms),
            len(memory.impacts),
        )
    )
    digest = hashlib.sha256(written.encode())
    digest.update(memory.embedding or b"")
    digest.update(memory.terms)
    digest.update(memory.impacts)
    return digest.digest()


def combined(checksums: Iterable[bytes]) -> bytes:
    """The sum of checksums modulo 2^256, 32 bytes: the same in any order, and what is there twice counts twice."""
    return (sum(int.from_bytes(each) for each in checksums) % (1 << 256)).to_bytes(CHECKSUM_BYTES)


def without(total: bytes, one: bytes) -> bytes:
    """A combined checksum without one of those that are in it, 32 bytes."""
    return ((int.from_bytes(total) - int.from_bytes(one)) % (1 << 256)).to_bytes(CHECKSUM_BYTES)


def _occurrence(each: ColdOccurrence) -> tuple[object, ...]:
    at = _microseconds(each.occurred_at)
    said = (each.source_kind, each.source_ref, each.session, each.turn, each.speaker)
    return (each.id.hex, *said, at, each.reason)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def _microseconds(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND


def _bits(number: float | None) -> int | None:
    return None if number is None else int.from_bytes(struct.pack(">f", number))


def _id(value: UUID | None) -> str | None:
    return None if value is None else value.hex

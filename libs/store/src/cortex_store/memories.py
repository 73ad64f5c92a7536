"""Memories: the rows of what an org remembers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from cortex_contracts.messages.base import Assertion, Principal
from cortex_store import terms
from cortex_store.connection import Connection, Row
from cortex_store.embedding import Embedding, halfvec


class Visibility(StrEnum):
    """Who may read a memory: its owner, those who may read its namespace, or the whole org."""

    PRIVATE = "private"
    TEAM = "team"
    GLOBAL = "global"


class Network(StrEnum):
    """What kind of knowledge a memory is."""

    FACT = "fact"
    EXPERIENCE = "experience"
    OBSERVATION = "observation"
    BELIEF = "belief"


class MemoryType(StrEnum):
    """What kind of remembering a memory serves."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    WORKING = "working"


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to insert; `id` is a UUIDv7 (`ids.uuid7`). Without an `embedding` it is found by its words only."""

    id: UUID
    namespace: str
    content: str
    source_kind: str
    importance: float
    valid_at: datetime
    embedding: Embedding | None
    owner: str | None = None
    visibility: Visibility = Visibility.TEAM
    network: Network = Network.EXPERIENCE
    memory_type: MemoryType = MemoryType.EPISODIC
    source_ref: str | None = None
    session: str | None = None
    turn: int | None = None
    speaker: str | None = None
    assertions: tuple[Assertion, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as it is stored. `created_at`: when Cortex learned it; `valid_at`: when it became true."""

    id: UUID
    namespace: str
    content: str
    source_kind: str
    importance: float
    valid_at: datetime
    invalid_at: datetime | None
    superseded_by: UUID | None
    created_at: datetime
    owner: str | None
    visibility: Visibility
    network: Network
    memory_type: MemoryType
    source_ref: str | None
    session: str | None
    turn: int | None
    speaker: str | None
    assertions: tuple[Assertion, ...]
    metadata: Mapping[str, str]
    tier: str


@dataclass(frozen=True, slots=True)
class NamespaceCount:
    """How many memories a namespace has, and how many of them are live: hot and still true."""

    namespace: str
    memories: int
    live: int


COLUMNS: Final = (
    "m.id, m.namespace, m.content, m.source_kind, m.importance, m.valid_at, m.invalid_at, m.superseded_by, "
    "m.created_at, m.owner, m.visibility, m.network, m.memory_type, m.source_ref, m.session, m.turn, m.speaker, "
    "m.assertions, m.metadata, m.tier"
)
LIVE: Final = "m.invalid_at IS NULL AND m.tier = 'hot'"


def readable(subject: str, namespaces: str) -> str:
    """The condition that a principal may read memory `m`; the arguments are the parameters of the principal's subject
    and of its readable namespaces (null: all)."""
    return (
        f"(m.visibility <> 'private' OR m.owner = {subject}) AND "
        f"(m.visibility = 'global' OR {namespaces}::text[] IS NULL OR m.namespace = ANY({namespaces}))"
    )


INSERT: Final = """
INSERT INTO memories (
    id, namespace, content, content_hash, search, source_kind, importance, valid_at, embedding, owner, visibility,
    network, memory_type, source_ref, session, turn, speaker, assertions, metadata
) VALUES (
    $1, $2, $3, $4, $5::text::tsvector, $6, $7, $8, $9, $10, $11,
    $12, $13, $14, $15, $16, $17, $18::text::jsonb, $19::text::jsonb
)
"""
GET: Final = f"SELECT {COLUMNS} FROM memories m WHERE m.id = $1 AND {readable('$2', '$3')}"  # noqa: S608 - constants
LATEST: Final = f"SELECT max(m.created_at) FROM memories m WHERE {readable('$1', '$2')}"  # noqa: S608 - constants
COUNTS: Final = f"""
SELECT m.namespace, count(*) AS memories, count(*) FILTER (WHERE {LIVE}) AS live
FROM memories m WHERE {readable("$1", "$2")} GROUP BY m.namespace ORDER BY m.namespace
"""  # noqa: S608 - constants


async def insert(connection: Connection, memory: NewMemory) -> None:
    """Insert a memory into the bound org; its terms and its hash are made here."""
    await connection.execute(
        INSERT,
        memory.id,
        memory.namespace,
        memory.content,
        content_hash(memory.content),
        terms.document(memory.content),
        memory.source_kind,
        memory.importance,
        memory.valid_at,
        halfvec(memory.embedding),
        memory.owner,
        memory.visibility,
        memory.network,
        memory.memory_type,
        memory.source_ref,
        memory.session,
        memory.turn,
        memory.speaker,
        json.dumps([assertion.model_dump() for assertion in memory.assertions]),
        json.dumps(dict(memory.metadata)),
    )


async def get(connection: Connection, principal: Principal, memory_id: UUID) -> Memory | None:
    """A memory that the principal may read, live or not; none if there is no such memory for it."""
    row = await connection.fetchrow(GET, memory_id, principal.subject, principal.readable)
    return None if row is None else from_row(row)


async def counts(connection: Connection, principal: Principal) -> tuple[NamespaceCount, ...]:
    """How many memories the principal may read, per namespace, in alphabetical order."""
    rows = await connection.fetch(COUNTS, principal.subject, principal.readable)
    return tuple(NamespaceCount(row["namespace"], row["memories"], row["live"]) for row in rows)


async def latest(connection: Connection, principal: Principal) -> datetime | None:
    """When the newest memory that the principal may read was made; none if there is no memory."""
    made: datetime | None = await connection.fetchval(LATEST, principal.subject, principal.readable)
    return made


def content_hash(content: str) -> bytes:
    """SHA-256 of a content: what exact repeats are found by."""
    return hashlib.sha256(content.encode()).digest()


def from_row(row: Row) -> Memory:
    """The memory in a row that has `COLUMNS`."""
    return Memory(
        id=row["id"],
        namespace=row["namespace"],
        content=row["content"],
        source_kind=row["source_kind"],
        importance=row["importance"],
        valid_at=row["valid_at"],
        invalid_at=row["invalid_at"],
        superseded_by=row["superseded_by"],
        created_at=row["created_at"],
        owner=row["owner"],
        visibility=Visibility(row["visibility"]),
        network=Network(row["network"]),
        memory_type=MemoryType(row["memory_type"]),
        source_ref=row["source_ref"],
        session=row["session"],
        turn=row["turn"],
        speaker=row["speaker"],
        assertions=tuple(Assertion.model_validate(each) for each in json.loads(row["assertions"])),
        metadata=json.loads(row["metadata"]),
        tier=row["tier"],
    )

"""Memories: the rows of what an org remembers. What a transaction sees of them is what its principal may see."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from cortex_contracts.messages.base import Assertion
from cortex_contracts.messages.memory import MemoryType, Network, Visibility, WriteDecision
from cortex_store.connection import Connection, Row, affected


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to insert; `id` is a UUIDv7 (`ids.uuid7`) and tells when Cortex learned it. One that is inserted with
    `invalid_at` was true once and is not any more."""

    id: UUID
    namespace: str
    content: str
    source_kind: str
    importance: float
    valid_at: datetime
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
    decision: WriteDecision = WriteDecision.ADD
    decision_reason: str = ""
    invalid_at: datetime | None = None
    superseded_by: UUID | None = None
    document: UUID | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as it is stored. `created_at`: when Cortex learned it; `valid_at`: when it became true; `document`: it
    is a chunk of it (`documents`)."""

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
    decision: WriteDecision
    decision_reason: str
    tier: str
    document: UUID | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """What superseded what: hot memories that the principal may read, oldest first, and the ids of others, which are in
    the cold tier or not the principal's to read."""

    memories: tuple[Memory, ...]
    others: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class NamespaceCount:
    """How many memories a namespace has, and how many of them are live: hot and still true."""

    namespace: str
    memories: int
    live: int


COLUMNS: Final = (
    "m.id, m.namespace, m.content, m.source_kind, m.importance, m.valid_at, m.invalid_at, m.superseded_by, "
    "m.created_at, m.owner, m.visibility, m.network, m.memory_type, m.source_ref, m.session, m.turn, m.speaker, "
    "m.assertions, m.metadata, m.decision, m.decision_reason, m.tier, m.document"
)
LIVE: Final = "m.invalid_at IS NULL AND m.tier = 'hot'"

# created_at is the time of the id, so that the row lies in the partition of its month.
INSERT: Final = """
INSERT INTO memories (
    id, namespace, content, content_hash, source_kind, importance, valid_at, owner, visibility, network, memory_type,
    source_ref, session, turn, speaker, assertions, metadata, decision, decision_reason, invalid_at, superseded_by,
    document, created_at
) VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16::text::jsonb, $17::text::jsonb, $18, $19, $20,
    $21, $22, uuid_extract_timestamp($1)
)
"""
GET: Final = f"SELECT {COLUMNS} FROM memories m WHERE m.id = $1"  # noqa: S608 - constants
# Joined one by one: each id then visits the one partition of its month.
BY_IDS: Final = f"SELECT {COLUMNS} FROM unnest($1::uuid[]) AS wanted (id) JOIN memories m ON m.id = wanted.id"  # noqa: S608
LATEST: Final = "SELECT m.created_at FROM memories m ORDER BY m.id DESC LIMIT 1"
COUNTS: Final = f"""
SELECT m.namespace, count(*) AS memories, count(*) FILTER (WHERE {LIVE}) AS live
FROM memories m GROUP BY m.namespace ORDER BY m.namespace
"""  # noqa: S608 - constants
# In the order of ids, so that two who lock some of the same wait for each other instead of deadlocking.
LOCK: Final = "SELECT m.id FROM memories m WHERE m.id = ANY ($1) ORDER BY m.id FOR NO KEY UPDATE"
INVALIDATE: Final = """
UPDATE memories SET invalid_at = greatest($2, valid_at), superseded_by = $3 WHERE id = $1 AND invalid_at IS NULL
"""
END_EARLIER: Final = """
UPDATE memories SET invalid_at = greatest($2, valid_at), superseded_by = $3
WHERE id = $1 AND superseded_by IS NOT NULL AND invalid_at > $2
"""
RESTORE: Final = """
UPDATE memories SET invalid_at = NULL, superseded_by = NULL WHERE id = $1 AND invalid_at IS NOT NULL AND tier = 'hot'
"""
# What decay took of it (`base_importance`) stays taken, in the same proportion.
RAISE_IMPORTANCE: Final = """
UPDATE memories SET importance = least(
        importance * $2::real / nullif(coalesce(base_importance, importance), 0), $2::real
    ),
    base_importance = CASE WHEN base_importance IS NOT NULL THEN $2::real END
WHERE id = $1 AND coalesce(base_importance, importance) < $2::real
"""
CHAIN: Final = f"""
WITH RECURSIVE later AS (
    SELECT $1::uuid AS link
    UNION SELECT n.link FROM later l, LATERAL (
        SELECT m.superseded_by AS link FROM memories m WHERE m.id = l.link
        UNION ALL SELECT s.superseded_by FROM cold_successions s WHERE s.memory = l.link
    ) n WHERE n.link IS NOT NULL
), chain AS (
    SELECT link FROM later UNION SELECT p.link FROM chain c, LATERAL (
        SELECT m.id AS link FROM memories m WHERE m.superseded_by = c.link
        UNION ALL SELECT s.memory FROM cold_successions s WHERE s.superseded_by = c.link
    ) p
)
SELECT c.link, {COLUMNS} FROM chain c LEFT JOIN memories m ON m.id = c.link ORDER BY m.valid_at, c.link LIMIT 200
"""  # noqa: S608 - constants

OUTLINE: Final = f"""
WITH known AS MATERIALIZED (
    SELECT m.id, m.importance, m.invalid_at, m.source_kind = 'sleep' AS made FROM memories m
    WHERE m.tier = 'hot' AND m.document IS NULL AND ($1::text[] IS NULL OR m.namespace = ANY ($1))
        AND (m.invalid_at IS NULL AND ($2::timestamptz IS NULL OR m.id >= uuid_floor($2)) OR m.invalid_at >= $2)
)
SELECT {COLUMNS} FROM memories m WHERE m.id IN (
    (SELECT id FROM known WHERE NOT made ORDER BY id DESC LIMIT $3) UNION
    (SELECT id FROM known ORDER BY importance DESC, id DESC LIMIT $3) UNION
    (SELECT id FROM known WHERE made AND invalid_at IS NULL ORDER BY id DESC LIMIT $3 / 4) UNION
    (SELECT id FROM known WHERE NOT made AND invalid_at IS NOT NULL ORDER BY invalid_at DESC LIMIT $3)
) ORDER BY m.id
"""  # noqa: S608 - constants


async def insert(connection: Connection, memory: NewMemory) -> None:
    """Insert a memory into the bound org. It is found after `memory_index.index` only."""
    await connection.execute(
        INSERT,
        memory.id,
        memory.namespace,
        memory.content,
        content_hash(memory.content),
        memory.source_kind,
        memory.importance,
        memory.valid_at,
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
        memory.decision,
        memory.decision_reason,
        memory.invalid_at,
        memory.superseded_by,
        memory.document,
    )


async def get(connection: Connection, memory_id: UUID) -> Memory | None:
    """A memory that the principal may read, live or not; none if there is no such memory for it."""
    row = await connection.fetchrow(GET, memory_id)
    return None if row is None else from_row(row)


async def by_ids(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """The memories among `ids` that the principal may read, live or not."""
    return {row["id"]: from_row(row) for row in await connection.fetch(BY_IDS, list(ids))} if ids else {}


async def lock(connection: Connection, ids: Sequence[UUID]) -> frozenset[UUID]:
    """Keep memories as they are until the transaction ends, but for what it does itself; those that are there. Others
    are in the cold tier by now, or not the principal's to change."""
    return frozenset(row["id"] for row in await connection.fetch(LOCK, list(ids))) if ids else frozenset()


async def chain(connection: Connection, memory_id: UUID) -> tuple[Memory, ...]:
    """What a memory superseded and what superseded it, itself included, oldest first; at most 200."""
    return (await links(connection, memory_id)).memories


async def links(connection: Connection, memory_id: UUID) -> Chain:
    """The chain of a memory, of whichever tier, over both; at most 200."""
    rows = await connection.fetch(CHAIN, memory_id)
    return Chain(
        tuple(from_row(row) for row in rows if row["id"] is not None),
        tuple(row["link"] for row in rows if row["id"] is None),
    )


async def invalidate(connection: Connection, memory_id: UUID, at: datetime, superseded_by: UUID | None = None) -> bool:
    """A memory stopped being true at `at` (never before it became true); false if it had stopped already, or if the
    principal may not change it."""
    return affected(await connection.execute(INVALIDATE, memory_id, at, superseded_by)) == 1


async def end_earlier(connection: Connection, memory_id: UUID, at: datetime, superseded_by: UUID) -> None:
    """What is known to be superseded was superseded before that, by another one."""
    await connection.execute(END_EARLIER, memory_id, at, superseded_by)


async def restore(connection: Connection, memory_id: UUID) -> bool:
    """A memory is true again; false if it is already, is in the cold tier, or is not the principal's to change."""
    return affected(await connection.execute(RESTORE, memory_id)) == 1


async def raise_importance(connection: Connection, memory_id: UUID, importance: float) -> None:
    """Score a memory again: it is at least this important, as if it had been when it was written."""
    await connection.execute(RAISE_IMPORTANCE, memory_id, importance)


async def outline(
    connection: Connection, namespaces: Sequence[str] | None, since: datetime | None, limit: int
) -> tuple[Memory, ...]:
    """What a reader should know first: the `limit` newest and the `limit` most important live memories; with `since`,
    what was learned or stopped being true at or after it. Chunks of documents are not among them: one file would leave
    room for nothing else. Of the newest facts that sleep made there are a quarter as many beside."""
    rows = await connection.fetch(OUTLINE, None if namespaces is None else list(namespaces), since, limit)
    return tuple(from_row(row) for row in rows)


async def ensure_partitions(connection: Connection, months_ahead: int, since: datetime | None = None) -> int:
    """Make the partitions of this month, or that of `since`, and of the next ones; how many were new. Needs no binding,
    but sleep's role."""
    made: int = await connection.fetchval(
        "SELECT ensure_memory_partitions(coalesce($2, now()), $1)", months_ahead, since
    )
    return made


async def counts(connection: Connection) -> tuple[NamespaceCount, ...]:
    """How many memories the principal may read, per namespace, in alphabetical order."""
    rows = await connection.fetch(COUNTS)
    return tuple(NamespaceCount(row["namespace"], row["memories"], row["live"]) for row in rows)


async def latest(connection: Connection) -> datetime | None:
    """When the newest memory that the principal may read was made; none if there is no memory."""
    made: datetime | None = await connection.fetchval(LATEST)
    return made


def content_hash(content: str) -> bytes:
    """SHA-256 of a content."""
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
        decision=WriteDecision(row["decision"]),
        decision_reason=row["decision_reason"],
        tier=row["tier"],
        document=row["document"],
    )

"""Contradictions that recall found and sleep settles: what somebody said that makes a memory untrue."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import numpy as np

from cortex_extraction.folding import fold
from cortex_store.connection import Connection, affected
from cortex_store.embedding import Embedding
from cortex_store.memories import COLUMNS, LIVE, Memory, from_row

SLEEP: Final = "sleep"
"""The source of what sleep made of other memories: it stands and falls with these, and contradicts nothing itself."""


class Outcome(StrEnum):
    """What became of a contradiction."""

    CORRECTED = "corrected"
    """What was said is a memory now and supersedes the old one."""
    REPEATED = "repeated"
    """What was said was a memory already, which supersedes the old one."""
    KEPT = "kept"
    """The old one stays: it was restored since, something newer is known, or the rules see no contradiction."""
    GONE = "gone"
    """The old one had ended already."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Somebody (`subject`) said `statement` when asking, and `memory` of the namespace cannot be true any more."""

    id: UUID
    namespace: str
    memory: UUID
    statement: str
    speaker: str | None
    said_at: datetime
    subject: str = ""


RECORD: Final = """
INSERT INTO contradictions (id, namespace, memory, statement, said, speaker, said_at)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
"""
OPEN: Final = """
SELECT c.id, c.namespace, c.memory, c.statement, c.speaker, c.said_at, c.subject
FROM contradictions c JOIN memories m ON m.id = c.memory
WHERE c.namespace = $1 AND c.outcome IS NULL AND c.id > $2 ORDER BY c.id LIMIT $3
"""
SETTLE: Final = "UPDATE contradictions SET outcome = $2, statement = '' WHERE id = $1"
RESTORED: Final = """
SELECT EXISTS (SELECT FROM memory_events WHERE memory_id = $1 AND op = 'restore' AND occurred_at >= $2)
"""
HELD: Final = f"SELECT {COLUMNS} FROM memories m WHERE m.id = ANY ($1) ORDER BY m.id FOR UPDATE OF m"  # noqa: S608
_TOLD: Final = f"{LIVE} AND m.document IS NULL AND m.source_kind <> '{SLEEP}'"
AFTER: Final = f"""
SELECT {COLUMNS} FROM memories m
WHERE m.org = current_setting('cortex.org') AND m.namespace = $1 AND m.id > $2 AND {_TOLD} ORDER BY m.id LIMIT $3
"""  # noqa: S608 - constants
COUNT: Final = f"""
SELECT count(*) FROM memories m
WHERE m.org = current_setting('cortex.org') AND m.namespace = $1 AND m.id > $2 AND {_TOLD}
"""  # noqa: S608 - constants
_FIRST: Final = UUID(int=0)
VECTORS: Final = "SELECT w.id, v.embedding, v.model FROM unnest($1::uuid[]) AS w (id), memory_vector(w.id) AS v"


async def record(connection: Connection, found: Contradiction) -> bool:
    """Record one for the bound principal, who may write the namespace; false if it was recorded before."""
    said = int.from_bytes(hashlib.sha256(fold(found.statement).encode()).digest()[:8], "big", signed=True)
    status = await connection.execute(
        RECORD,
        found.id,
        found.namespace,
        found.memory,
        found.statement,
        said,
        found.speaker,
        found.said_at,
    )
    return affected(status) == 1


async def open_ones(connection: Connection, namespace: str, after: UUID, limit: int) -> tuple[Contradiction, ...]:
    """What is not settled yet, in the order in which it was found."""
    return tuple(Contradiction(*row) for row in await connection.fetch(OPEN, namespace, after, limit))


async def settle(connection: Connection, contradiction: UUID, outcome: Outcome) -> None:
    """Say what became of one; its statement is forgotten."""
    await connection.execute(SETTLE, contradiction, outcome)


async def restored_since(connection: Connection, memory: UUID, moment: datetime) -> bool:
    """Whether somebody has restored a memory at or after a moment: then it is true, whatever was known by then."""
    restored: bool = await connection.fetchval(RESTORED, memory, moment)
    return restored


async def held(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """The memories among `ids`, which nobody else changes until the transaction ends."""
    return {row["id"]: from_row(row) for row in await connection.fetch(HELD, list(ids))}


async def told_after(connection: Connection, namespace: str, last: UUID | None, limit: int) -> tuple[Memory, ...]:
    """The first `limit` live memories of a namespace behind `last`, by id: what was told, not what sleep made of it,
    and no chunks of documents."""
    return tuple(from_row(row) for row in await connection.fetch(AFTER, namespace, last or _FIRST, limit))


async def count_after(connection: Connection, namespace: str, last: UUID | None) -> int:
    """How many `told_after` gives in all."""
    count: int = await connection.fetchval(COUNT, namespace, last or _FIRST)
    return count


async def vectors(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, tuple[Embedding, str]]:
    """What live memories mean, and the model that says so; those that wait for their vector are missing."""
    rows = await connection.fetch(VECTORS, list(ids))
    return {row["id"]: (row["embedding"].to_numpy().astype(np.float32), row["model"]) for row in rows}

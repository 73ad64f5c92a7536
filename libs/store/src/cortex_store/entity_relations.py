"""Relations between entities, each with the memory that states it, and the hop over them and over shared names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection
from cortex_store.memory_index import Filter, filter_row

COMMON: Final = 32
"""Links to a name above which it leads nowhere: what so many share tells nothing, and costs the most."""
PATHS: Final = 200


@dataclass(frozen=True, slots=True)
class Related:
    """How two entities, by their folded names, stand to each other."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Path:
    """How one may come from a `hit` to a `memory`: both are about `name`, which `shared` memories are about; or a
    relation of `predicate` leads from `name` to `other`, which the memory and `other_shared` in all are about. So many
    `memories` are searched."""

    memory: UUID
    hit: UUID
    name: str
    shared: int
    predicate: str | None
    other: str | None
    other_shared: int | None
    memories: int


PUT: Final = """
INSERT INTO entity_relations (memory, subject, predicate, object)
SELECT $1, s.id, r.predicate, o.id FROM unnest($3::text[], $4::text[], $5::text[]) AS r (subject, predicate, object)
JOIN entities s ON s.org = current_setting('cortex.org') AND s.namespace = $2 AND s.key = r.subject
JOIN entities o ON o.org = current_setting('cortex.org') AND o.namespace = $2 AND o.key = r.object
ON CONFLICT DO NOTHING
"""
REMOVE: Final = "DELETE FROM entity_relations WHERE memory = $1"
OF_MEMORY: Final = """
SELECT s.name AS subject, r.predicate, o.name AS object FROM entity_relations r
JOIN entities s ON s.id = r.subject JOIN entities o ON o.id = r.object WHERE r.memory = $1 ORDER BY 1, 2, 3
"""
HOP: Final = f"""
SELECT memory, hit, name, shared, predicate, other, other_shared, memories
FROM hop_memories($1, $2, $3, $4, $5,
    {filter_row(6)})
"""  # noqa: S608 - constants


async def put(connection: Connection, memory_id: UUID, namespace: str, related: Sequence[Related]) -> None:
    """Record what a memory states; both ends must be entities of the namespace, others are left out."""
    if related:
        columns = [[getattr(one, field) for one in related] for field in ("subject", "predicate", "object")]
        await connection.execute(PUT, memory_id, namespace, *columns)


async def remove(connection: Connection, memory_id: UUID) -> None:
    """Forget what a memory states, before it is extracted again."""
    await connection.execute(REMOVE, memory_id)


async def of_memory(connection: Connection, memory_id: UUID) -> tuple[Related, ...]:
    """What a memory states, the ends by their names as they were spelt first, in alphabetical order."""
    return tuple(Related(*row) for row in await connection.fetch(OF_MEMORY, memory_id))


async def hop(
    connection: Connection,
    hits: Sequence[UUID],
    known: Sequence[UUID],
    namespaces: Sequence[str] | None,
    narrowed: Filter,
) -> tuple[Path, ...]:
    """At most `PATHS` paths from `hits` to memories that the principal finds in `namespaces` (none: all), without those
    `known`; the rarest names first."""
    rows = await connection.fetch(
        HOP,
        list(hits),
        list(known),
        None if namespaces is None else list(namespaces),
        COMMON,
        PATHS,
        *narrowed.parameters,
    )
    return tuple(Path(*row) for row in rows)

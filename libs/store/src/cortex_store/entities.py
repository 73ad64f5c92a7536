"""Entities: what memories name, and the links between both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection
from cortex_store.ids import uuid7


@dataclass(frozen=True, slots=True)
class Named:
    """Something that a memory names: `key` is its folded name, `role` is speaker or mention."""

    key: str
    name: str
    kind: str
    role: str


# Sorted, so that two writers of the same names wait for each other instead of deadlocking.
PUT: Final = """
INSERT INTO entities (id, namespace, key, name, kind)
SELECT id, $1, key, name, kind FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) AS e (id, key, name, kind)
ORDER BY key ON CONFLICT (org, namespace, key) DO NOTHING
"""
LINK: Final = """
INSERT INTO memory_entities (memory, entity, role)
SELECT $1, e.id, n.role FROM unnest($3::text[], $4::text[]) AS n (key, role)
JOIN entities e ON e.org = current_setting('cortex.org') AND e.namespace = $2 AND e.key = n.key
ON CONFLICT DO NOTHING
"""
UNLINK: Final = "DELETE FROM memory_entities WHERE memory = $1"
WITH_KEYS: Final = """
SELECT id FROM entities
WHERE org = current_setting('cortex.org') AND key = ANY ($1) AND ($2::text[] IS NULL OR namespace = ANY ($2))
"""
OF_MEMORY: Final = """
SELECT DISTINCT e.name FROM memory_entities l JOIN entities e ON e.id = l.entity WHERE l.memory = $1 ORDER BY e.name
"""


async def put(connection: Connection, namespace: str, named: Sequence[Named]) -> None:
    """Make the entities that are new. Who links many memories in one transaction does this for all of them first."""
    by_key = {one.key: one for one in named}
    ids = [uuid7() for _ in by_key]
    names, kinds = [one.name for one in by_key.values()], [one.kind for one in by_key.values()]
    await connection.execute(PUT, namespace, ids, list(by_key), names, kinds)


async def link(connection: Connection, memory_id: UUID, namespace: str, named: Sequence[Named]) -> None:
    """Link a memory to what it names; new entities are made."""
    if not named:
        return
    await put(connection, namespace, named)
    await connection.execute(LINK, memory_id, namespace, [one.key for one in named], [one.role for one in named])


async def unlink(connection: Connection, memory_id: UUID) -> None:
    """Forget what a memory names, before it is extracted again."""
    await connection.execute(UNLINK, memory_id)


async def with_keys(connection: Connection, keys: Sequence[str], namespaces: Sequence[str] | None) -> tuple[UUID, ...]:
    """Entities with one of these folded names in the namespaces that the principal may read among `namespaces`."""
    rows = await connection.fetch(WITH_KEYS, list(keys), None if namespaces is None else list(namespaces))
    return tuple(row["id"] for row in rows)


async def of_memory(connection: Connection, memory_id: UUID) -> tuple[str, ...]:
    """The names of what a memory names, in alphabetical order."""
    return tuple(row["name"] for row in await connection.fetch(OF_MEMORY, memory_id))

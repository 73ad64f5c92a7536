"""Grants: what agents may do in namespaces beyond their own credentials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cortex_contracts.rpc.ingest import Access
from cortex_store.connection import Connection, Row


@dataclass(frozen=True, slots=True)
class Grant:
    """One grant."""

    namespace: str
    agent: str
    access: Access


PUT: Final = """
INSERT INTO namespace_grants (agent, namespace, can_read, can_write) VALUES ($1, $2, true, $3)
ON CONFLICT (org, agent, namespace) DO UPDATE SET can_read = true, can_write = excluded.can_write
"""
REVOKE: Final = "DELETE FROM namespace_grants WHERE agent = $1 AND namespace = $2"
LIST: Final = """
SELECT namespace, agent, can_write FROM namespace_grants
WHERE bound_to('readable', namespace) AND ($1::text IS NULL OR namespace = $1) ORDER BY namespace, agent
"""
OF_AGENT: Final = "SELECT namespace, agent, can_write FROM namespace_grants WHERE agent = $1 ORDER BY namespace"
OWNS: Final = "SELECT bound_to('owned', $1)"


async def owns(connection: Connection, namespace: str) -> bool:
    """May the principal share the namespace? Only what its credential itself may write, not what it was granted."""
    owned: bool = await connection.fetchval(OWNS, namespace)
    return owned


async def put(connection: Connection, grant: Grant) -> None:
    """Set what an agent may do; the principal must own the namespace."""
    if grant.access is Access.NONE:
        await connection.execute(REVOKE, grant.agent, grant.namespace)
    else:
        await connection.execute(PUT, grant.agent, grant.namespace, grant.access is Access.WRITE)


async def granted(connection: Connection, namespace: str | None) -> tuple[Grant, ...]:
    """The grants of a namespace (none: of every one) that the principal may read."""
    return tuple(_grant(row) for row in await connection.fetch(LIST, namespace))


async def of_agent(connection: Connection, agent: str) -> tuple[Grant, ...]:
    """The grants of an agent in the bound org."""
    return tuple(_grant(row) for row in await connection.fetch(OF_AGENT, agent))


def _grant(row: Row) -> Grant:
    return Grant(row["namespace"], row["agent"], Access.WRITE if row["can_write"] else Access.READ)

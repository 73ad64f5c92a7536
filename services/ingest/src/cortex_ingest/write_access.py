"""Write access: asked for before a text goes anywhere, and again in the transaction that writes."""

from __future__ import annotations

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_store import memory_index, pages
from cortex_store.connection import Connection
from cortex_store.errors import VaultForbidden


async def require_write(connection: Connection, namespace: str) -> None:
    """Raises Permanent when the bound principal may not write the namespace."""
    if not await memory_index.may_write(connection, namespace):
        raise Permanent(f"no access to write the namespace {namespace!r}", code=ErrorCode.FORBIDDEN)


async def require_vault(connection: Connection, vault: str) -> None:
    """Raises VaultForbidden when the bound principal may not write the vault."""
    if not await pages.may_write(connection, vault):
        raise VaultForbidden(vault)

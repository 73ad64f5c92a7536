"""Keys of agents. Only their digests are stored, and nobody reads those back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import asyncpg

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.keys import MAX_KEYS_LISTED, Key, KeyDraft, Role
from cortex_store.connection import Connection, Row

COLUMNS: Final = "id, subject, role, readable, writable, created_by, created_at, expires_at, revoked_at, last_used_at"
INSERT: Final = f"""
INSERT INTO access_keys (id, digest, subject, role, readable, writable, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
RETURNING {COLUMNS}
"""  # noqa: S608 - constants
LIST: Final = f"""
SELECT {COLUMNS} FROM access_keys ORDER BY revoked_at IS NOT NULL, created_at DESC, id LIMIT {MAX_KEYS_LISTED}
"""  # noqa: S608 - constants
GET: Final = f"SELECT {COLUMNS} FROM access_keys WHERE id = $1"  # noqa: S608 - constants
REVOKE: Final = "UPDATE access_keys SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL"
RESOLVE: Final = "SELECT * FROM resolve_access_key($1)"
TOUCH: Final = "SELECT touch_access_keys($1, $2)"


@dataclass(frozen=True, slots=True)
class Resolved:
    """Whose key it is, and until when."""

    key_id: str
    principal: Principal
    expires_at: datetime | None


async def insert(connection: Connection, key_id: str, digest: bytes, draft: KeyDraft) -> Key | None:
    """Remember a key of the bound org, made by the bound subject; none: its id or digest is taken."""
    row = (key_id, digest, draft.subject, draft.role, draft.readable, draft.writable, draft.expires_at)
    try:
        async with connection.transaction():
            made = await connection.fetchrow(INSERT, *row)
    except asyncpg.UniqueViolationError:
        return None
    assert made is not None, "an insert returns its row"
    return _key(made)


async def listed(connection: Connection) -> tuple[Key, ...]:
    """The keys of the bound org: those that were not revoked first, the newest first."""
    return tuple(_key(row) for row in await connection.fetch(LIST))


async def get(connection: Connection, key_id: str) -> Key | None:
    """A key of the bound org."""
    row = await connection.fetchrow(GET, key_id)
    return None if row is None else _key(row)


async def revoke(connection: Connection, key_id: str) -> bool:
    """End a key of the bound org; false: it is not there or has ended before."""
    return bool(await connection.execute(REVOKE, key_id) != "UPDATE 0")


async def resolve(connection: Connection, digest: bytes) -> Resolved | None:
    """Whose key has this digest, in any org; none: nobody's, or it does not work any more. Needs no binding.

    The lookup takes a time that depends on the digest, of which a caller can choose no part without knowing the key.
    """
    row = await connection.fetchrow(RESOLVE, digest)
    if row is None or not row["works"]:
        return None
    principal = Principal(
        org=row["org"],
        subject=row["subject"],
        role=row["role"],
        authenticated_by=f"key:{row['id']}",
        readable=row["readable"],
        writable=row["writable"],
    )
    return Resolved(row["id"], principal, row["expires_at"])


async def touch(connection: Connection, used: Mapping[str, datetime]) -> None:
    """Keys (by id, of any org) were used last at these times. Needs no binding."""
    await connection.execute(TOUCH, list(used), list(used.values()))


def _key(row: Row) -> Key:
    return Key(
        key_id=row["id"],
        subject=row["subject"],
        role=Role(row["role"]),
        readable=row["readable"],
        writable=row["writable"],
        created_by=row["created_by"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        last_used_at=row["last_used_at"],
    )

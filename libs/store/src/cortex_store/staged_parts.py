"""Parts of a long text that wait for the rest of it. The text was redacted before it was cut."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection, affected

PUT: Final = """
INSERT INTO staged_parts (upload, part, text) VALUES ($1, $2, $3)
ON CONFLICT (org, subject, upload, part) DO UPDATE SET text = excluded.text, staged_at = now()
"""
MOVE: Final = """
WITH taken AS (DELETE FROM staged_parts WHERE upload = $1 RETURNING part, text)
INSERT INTO operation_items (operation, item, input) SELECT $2, part, to_jsonb(text) FROM taken WHERE part < $3
"""


async def put(connection: Connection, upload: UUID, part: int, text: str) -> None:
    """Keep a part for the bound subject, in the place of an earlier one of the same number."""
    await connection.execute(PUT, upload, part, text)


async def count(connection: Connection) -> int:
    """How many parts of the bound subject wait."""
    found: int = await connection.fetchval("SELECT count(*) FROM staged_parts")
    return found


async def move(connection: Connection, upload: UUID, operation_id: UUID, parts: int) -> bool:
    """Make the parts below `parts` the items of an operation; false if some are not there: undo the transaction."""
    return affected(await connection.execute(MOVE, upload, operation_id, parts)) == parts


async def purge(connection: Connection, age: timedelta) -> None:
    """Delete the parts of everybody that have waited for `age`. Needs no binding."""
    await connection.execute("SELECT purge_staged_parts($1)", age)

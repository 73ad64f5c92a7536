"""The inbox: a message has its effect once, however often it is delivered (ADR 0003)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncpg import Connection
    from asyncpg.pool import PoolConnectionProxy

CLAIM = """
INSERT INTO inbox (consumer, message_id) VALUES ($1, $2)
ON CONFLICT DO NOTHING RETURNING true
"""
SEEN = "SELECT EXISTS (SELECT FROM inbox WHERE consumer = $1 AND message_id = $2)"


async def claim(connection: Connection | PoolConnectionProxy, consumer: str, message_id: str) -> bool:
    """Take the message for this transaction; false means that its effect is committed already.

    Call it first in the transaction of the effect: both commit or neither does. A concurrent claim of the same id
    waits until the first transaction ends.
    """
    return bool(await connection.fetchval(CLAIM, consumer, message_id))


async def seen(connection: Connection | PoolConnectionProxy, consumer: str, message_id: str) -> bool:
    """Whether the effect of the message is committed. For an effect outside of the database, which no transaction
    holds: ask, do it, then `claim`."""
    return bool(await connection.fetchval(SEEN, consumer, message_id))

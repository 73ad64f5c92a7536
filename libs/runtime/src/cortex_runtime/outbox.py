"""The outbox: an event is published if and only if the transaction that caused it committed (ADR 0003).

The relay publishes rows in the order they were written, with the row's id as message id, and deletes a row once the
server has acknowledged it. A crash between the two publishes it again under the same id: readers see it once.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Protocol

from cortex_contracts.messages.base import Message
from cortex_runtime import tracing
from cortex_runtime.worker import Worker

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from asyncpg import Connection
    from asyncpg.pool import PoolConnectionProxy

    from cortex_runtime.publishing import Published

BATCH: Final = 100

ENQUEUE = "INSERT INTO outbox (subject, message_id, headers, body) VALUES ($1, $2, $3::text::jsonb, $4)"
TAKE = """
SELECT id, subject, message_id, headers::text AS headers, body FROM outbox
WHERE writer = current_user ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
"""
DELETE = "DELETE FROM outbox WHERE id = ANY($1::bigint[])"


class Transactions(Protocol):
    """What the relay needs of a database."""

    def unscoped(self) -> AbstractAsyncContextManager[PoolConnectionProxy]:
        """A transaction that is bound to no org: it sees infrastructure tables only."""
        ...


class RawPublisher(Protocol):
    """What the relay needs of the bus."""

    async def publish_raw(self, subject: str, body: bytes, *, message_id: str, headers: dict[str, str]) -> Published:
        """Publish stored bytes and wait for the server's acknowledgement."""
        ...


async def enqueue(
    connection: Connection | PoolConnectionProxy, subject: str, message_id: str, message: Message
) -> None:
    """Write an event into the transaction that causes it; the relay publishes it after the commit."""
    body = message.model_dump_json().encode()
    await connection.execute(ENQUEUE, subject, message_id, json.dumps(tracing.headers()), body)


class OutboxRelay(Worker):
    """Publishes what transactions of its own database role left in the outbox: another role's events are for another
    NATS user. Any number of relays may run; each row goes out through one."""

    trouble = "outbox waits"

    def __init__(self, database: Transactions, bus: RawPublisher) -> None:
        super().__init__()
        self._database = database
        self._bus = bus

    async def step(self) -> bool:
        """Publish up to `BATCH` rows, oldest first; says whether there may be more.

        Raises:
            Unavailable: the database or the bus is away; rows that were not acknowledged stay.
        """
        async with self._database.unscoped() as connection:
            rows = await connection.fetch(TAKE, BATCH)
            for row in rows:
                await self._bus.publish_raw(
                    row["subject"], row["body"], message_id=row["message_id"], headers=json.loads(row["headers"])
                )
            if rows:
                await connection.execute(DELETE, [row["id"] for row in rows])
        return len(rows) == BATCH

"""A connection that holds a lock for as long as it lives: who loses the lock loses the transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import asyncpg

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_store.connection import Connection, bind, connection_failures, transaction_on

ALONE_TIMEOUT_S: Final = 3600.0
"""Building an index again, or vacuuming a table, of tens of millions of rows."""


class LockedConnection:
    """Made by `Database.locked`; not to be kept beyond its block."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    @property
    def is_lost(self) -> bool:
        """Whether it is known that the connection is gone, and the lock with it."""
        return self._connection.is_closed()

    @asynccontextmanager
    async def transaction(self, principal: Principal) -> AsyncIterator[Connection]:
        """A transaction that is bound to a principal; it commits when the block ends well.

        Raises:
            RuntimeError: there is one already: one at a time.
            Unavailable: the connection is gone and the lock with it, or the database gave up.
        """
        if self.is_lost:
            # asyncpg has nothing left that could be asked whether a transaction is open.
            raise Unavailable("the connection to PostgreSQL that held the lock is gone")
        if self._connection.is_in_transaction():
            raise RuntimeError("expected no transaction on the locked connection, and there is one")
        async with transaction_on(self._connection):
            await bind(self._connection, principal)
            yield self._connection

    async def alone(self, statement: str) -> None:
        """Run a statement that allows no transaction around it, such as VACUUM.

        Raises:
            Unavailable: as for `transaction`.
        """
        with connection_failures(self._connection):
            await self._connection.execute(statement, timeout=ALONE_TIMEOUT_S)

"""Connections to PostgreSQL, and what their failures mean."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

import asyncpg

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy
    from asyncpg.transaction import Transaction

BIND_ORG: Final = "SELECT set_config('cortex.org', $1, true), set_config('cortex.vaults', '*', true)"
BIND_PRINCIPAL: Final = "SELECT bind_principal($1, $2, $3, $4)"

ROLLBACK_TIMEOUT_S: Final = 2.0
CONNECTION_LOST: Final = (
    TimeoutError,
    OSError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)

# PostgreSQL appendix A; a class of states is what its codes begin with.
UNAVAILABLE_CLASSES: Final = (
    "08",  # connection exceptions
    "53",  # out of connections, memory or disk
    "57P",  # shutting down, starting up
    "58",  # the server's own I/O failed
)
UNAVAILABLE_STATES: Final = (
    "25006",  # read-only: a standby that has not been promoted yet
    "25P03",  # idle in transaction for too long
    "25P04",  # transaction took too long
    "40001",  # serialization failure
    "40P01",  # deadlock
    "55P03",  # lock not available
    "57014",  # statement cancelled, usually by its time limit
    "23503",  # foreign key: the memory that a row is about went to the cold tier a moment ago
)


Connection: TypeAlias = "asyncpg.Connection | PoolConnectionProxy"
"""A connection inside a transaction of `Database`."""
Row: TypeAlias = asyncpg.Record
"""One result row, read by column name."""


@contextmanager
def connection_failures(connection: Connection | None = None) -> Iterator[None]:
    """Turn failures of the connection to PostgreSQL into `Unavailable`; errors of statements and of callers pass,
    except that a `TimeoutError` counts as PostgreSQL's: do no other I/O in a transaction.

    Without a `connection` the block connects: then every failure of the operating system counts, and so does a login
    that is refused, because the database may not be set up yet.
    """
    try:
        yield
    except asyncpg.InvalidCachedStatementError as error:
        # A migration or a reindexing came after the statement was prepared. asyncpg has forgotten it by now.
        raise Unavailable("the tables of PostgreSQL have just changed") from error
    except asyncpg.PostgresError as error:
        state = error.sqlstate or ""
        if connection is None or state in UNAVAILABLE_STATES or state.startswith(UNAVAILABLE_CLASSES):
            raise Unavailable(f"PostgreSQL cannot work now ({type(error).__name__}, SQLSTATE {state})") from error
        raise
    except asyncpg.InterfaceError as error:
        # asyncpg reports a connection that died under it like a misuse of its API.
        if connection is None or _is_gone(connection):
            raise Unavailable("the connection to PostgreSQL is gone") from error
        raise
    except asyncpg.InternalClientError as error:
        # The server said that it ends the connection and has not closed it yet: asyncpg neither counts it as closed
        # nor can use it.
        raise Unavailable("the connection to PostgreSQL is ending") from error
    except TimeoutError as error:
        raise Unavailable("PostgreSQL did not answer in time") from error
    except OSError as error:
        # With a connection that lives, it was the caller's own file or socket.
        if connection is None or _is_gone(connection):
            raise Unavailable(f"cannot reach PostgreSQL ({error.strerror or type(error).__name__})") from error
        raise


@asynccontextmanager
async def transaction_on(connection: Connection) -> AsyncIterator[None]:
    """A transaction on this connection; it commits when the block ends well.

    Raises:
        Unavailable: as for `connection_failures`; whether a commit in flight happened is not known.
    """
    with connection_failures(connection):
        transaction = connection.transaction()
        await transaction.start()
        try:
            yield
        except BaseException:
            await _roll_back(transaction, connection)
            raise
        await transaction.commit()


async def bind(connection: Connection, scope: str | Principal) -> None:
    """Bind the transaction at hand to a principal, or to an org only."""
    if isinstance(scope, str):
        await connection.execute(BIND_ORG, scope)
    else:
        await connection.execute(BIND_PRINCIPAL, scope.org, scope.subject, scope.readable, scope.writable)


async def _roll_back(transaction: Transaction, connection: Connection) -> None:
    """Undo a transaction. What ended it, a cancellation above all, must not be replaced by a rollback that fails: then
    the connection goes, and the server rolls back by itself."""
    try:
        async with asyncio.timeout(ROLLBACK_TIMEOUT_S):
            await transaction.rollback()
    except CONNECTION_LOST:
        connection.terminate()


def _is_gone(connection: Connection) -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:  # the pool took it back: it was closed under its user
        return True


def affected(command_tag: str) -> int:
    """How many rows a statement touched, from its command tag."""
    return int(command_tag.rsplit(" ", 1)[-1])

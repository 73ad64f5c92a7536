"""The database: a pool of connections, and transactions that are bound to a principal or to an org."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import asyncpg
from pgvector.asyncpg import register_vector

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.subjects import token
from cortex_store.connection import CONNECTION_LOST, bind, connection_failures, transaction_on
from cortex_store.errors import UnsafeRole
from cortex_store.locked_connection import LockedConnection

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

ROLE: Final = "SELECT rolname, rolsuper OR rolbypassrls AS unsafe FROM pg_roles WHERE rolname = current_user"
IS_MIGRATED: Final = "SELECT to_regclass('database_settings') IS NOT NULL"

SESSION: Final = {
    # Scopes filter the candidates of a vector search; without iterative scans a narrow scope would come back empty.
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "200",
    # Every query of the hot tier is short; compiling one costs more than running it.
    "jit": "off",
}
"""Settings of every connection (values: pgvector README, "Iterative index scans"; pg-hybrid measurements)."""

LOCKED_SESSION: Final = {
    # Who holds a lock and dies gives it up at once: also in the midst of a statement, and, when the machine is gone and
    # nobody closes the connection, after half a minute.
    "client_connection_check_interval": "2s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "4",
    # Background work has time, and whoever recalls meanwhile wants a processor.
    "max_parallel_workers_per_gather": "0",
}
TRY_LOCK: Final = "SELECT pg_try_advisory_lock(sleep_lock($1, $2))"


class Database:
    """PostgreSQL as one login role sees it. A resource of a service: `open`, `check`, `close`.

    A connection that dies is replaced by the next transaction; the transaction that loses it raises `Unavailable`.
    """

    def __init__(
        self,
        url: str,
        *,
        application_name: str = "cortex",
        pool_size: int = 10,
        connect_timeout_s: float = 5.0,
        command_timeout_s: float = 10.0,
    ) -> None:
        self._url = url
        self._application_name = application_name
        self._pool_size = pool_size
        self._connect_timeout_s = connect_timeout_s
        self._command_timeout_s = command_timeout_s
        self._pool: asyncpg.Pool | None = None

    async def open(self) -> None:
        """Make the pool and check it; may be called again after it failed.

        Raises:
            Unavailable: the database cannot be reached or is not migrated yet.
            UnsafeRole: the login role bypasses row security.
        """
        if self._pool is None:
            # No connection is kept for its own sake: a pool that starts empty opens in any state of the server.
            self._pool = await asyncpg.create_pool(
                self._url,
                min_size=0,
                max_size=self._pool_size,
                timeout=self._connect_timeout_s,
                command_timeout=self._command_timeout_s,
                server_settings={"application_name": self._application_name, **SESSION},
                init=_prepare,
                # A transaction leaves nothing behind: bindings and settings are local to it, locks end with it.
                reset=_nothing,
            )
        await self.check()

    async def check(self) -> None:
        """One round trip.

        Raises:
            Unavailable: the database cannot be reached or is not migrated yet.
            UnsafeRole: the login role bypasses row security.
        """
        async with self.unscoped() as connection:
            if not await connection.fetchval(IS_MIGRATED):
                raise Unavailable("the database has no Cortex schema yet; run `python -m cortex_infra migrate`")

    async def close(self) -> None:
        """Close every connection; one that hangs is dropped."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            async with asyncio.timeout(self._connect_timeout_s):
                await pool.close()
        except CONNECTION_LOST:
            pool.terminate()

    @asynccontextmanager
    async def transaction(self, scope: str | Principal) -> AsyncIterator[PoolConnectionProxy]:
        """A transaction bound to a principal, or to an org only; it commits when the block ends well.

        It sees and writes what the principal may, grants included, of memories and of pages: a vault is a namespace.
        Bound to an org only, as a sync is, it sees no memory and every page.

        Raises:
            ValueError: the org is not a valid token.
            Unavailable: the database is away or gave up; whether a commit in flight happened is not known, so what
                runs again must be idempotent.
        """
        token(scope if isinstance(scope, str) else scope.org, "org")
        async with self.unscoped() as connection:
            await bind(connection, scope)
            yield connection

    @asynccontextmanager
    async def unscoped(self) -> AsyncIterator[PoolConnectionProxy]:
        """A transaction that is bound to no org: it sees tables without an org only.

        Raises:
            Unavailable: as for `transaction`.
        """
        pool = self._pool
        if pool is None:
            raise RuntimeError("the database is not open: call open() first, and nothing after close()")
        with connection_failures():
            connection = await pool.acquire(timeout=self._connect_timeout_s)
        try:
            async with transaction_on(connection):
                yield connection
        finally:
            await _release(pool, connection, self._command_timeout_s)

    @asynccontextmanager
    async def locked(
        self, org: str, namespace: str, command_timeout_s: float
    ) -> AsyncIterator[LockedConnection | None]:
        """A connection of its own that holds the lock of the background work on a namespace until the block ends; none
        while somebody else holds it. The lock is the session's: needs a connection to the server itself or through a
        pooler that pools sessions.

        Raises:
            Unavailable: the database is away.
        """
        with connection_failures():
            connection: asyncpg.Connection = await asyncpg.connect(
                self._url,
                timeout=self._connect_timeout_s,
                command_timeout=command_timeout_s,
                server_settings={"application_name": f"{self._application_name}-run", **SESSION, **LOCKED_SESSION},
            )
        try:
            with connection_failures():
                await _prepare(connection)
                holds = await connection.fetchval(TRY_LOCK, org, namespace)
            yield LockedConnection(connection) if holds else None
        finally:
            try:
                async with asyncio.timeout(self._connect_timeout_s):
                    await connection.close()
            except CONNECTION_LOST:
                connection.terminate()


async def _prepare(connection: asyncpg.Connection) -> None:
    """Check the role of a new connection and teach it the vector types."""
    role = await connection.fetchrow(ROLE)
    assert role is not None, "the current role exists"
    if role["unsafe"]:
        raise UnsafeRole(
            f"the role {role['rolname']!r} bypasses row security and would see every org; "
            "use a login role without SUPERUSER and BYPASSRLS, such as cortex_runtime"
        )
    try:
        await register_vector(connection)
    except ValueError as error:
        raise Unavailable("the database has no pgvector extension in its schema public yet") from error


async def _nothing(connection: asyncpg.Connection) -> None:
    """Nothing of a connection is reset when it goes back into the pool; asyncpg would take a round trip for it."""


async def _release(pool: asyncpg.Pool, connection: PoolConnectionProxy, timeout_s: float) -> None:
    """Give a connection back; one that cannot be reset is dropped, and the outcome of the block stands."""
    try:
        await pool.release(connection, timeout=timeout_s)
    except CONNECTION_LOST:
        # release() has terminated it already; the pool makes a new one when it is needed.
        return

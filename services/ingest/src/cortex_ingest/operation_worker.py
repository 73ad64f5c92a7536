"""The worker: leases operations and works through them, a few at once, in every replica.

An item's outcome commits with its effect and under the lease, so that each item has its effect once, whoever works. A
worker that is stopped hands its leases back; those of one that died end by themselves. What is away is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol
from uuid import UUID, uuid4

from cortex_contracts.errors import CortexError, ErrorBody
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.operations import OperationItem
from cortex_ingest import operation_states
from cortex_runtime import logs
from cortex_runtime.rpc import error_body
from cortex_runtime.worker import Worker
from cortex_store import operation_leases, operations, staged_parts
from cortex_store.connection import Connection
from cortex_store.operation_leases import Item, Leased, LeaseLost
from cortex_writing.ports import Transactions, Unscoped

AT_ONCE: Final = 2
"""Operations that one replica works on at a time; more would wait for the same embedder."""
LEASE: Final = timedelta(seconds=10)
"""After it another worker takes over what a dead one held."""
EXTEND_S: Final = 3.0
"""A third of the lease: two extensions may fail."""
WAITS_S: Final = (1.0, 2.0, 5.0, 10.0)
"""Before what could not be done is tried again; then always the last."""
HAND_BACK_S: Final = 2.0
KEEP: Final = timedelta(days=30)
"""For which finished operations can be looked at."""
KEEP_STAGED: Final = timedelta(hours=1)
PURGE_S: Final = 600.0
PURGE_BATCH: Final = 100

log = logs.get(__name__)


class Database(Transactions, Unscoped, Protocol):
    """What the worker needs of a database."""


class Stopped(Exception):
    """Somebody cancelled the operation: the transaction of the item at hand is undone, and nothing more is begun."""


class Work:
    """One leased operation, as its kind sees it."""

    def __init__(self, database: Transactions, leased: Leased) -> None:
        self._database = database
        self.leased = leased

    @property
    def principal(self) -> Principal:
        """On whose behalf."""
        return self.leased.principal

    async def waiting(self, limit: int) -> tuple[Item, ...]:
        """The first items that are not finished; none: everything is."""
        async with self._database.transaction(self.principal) as connection:
            return await operation_leases.waiting(connection, self.leased, limit)

    async def finished(self, connection: Connection, outcome: OperationItem) -> None:
        """An item succeeded: call it last in the transaction of its effect.

        Raises:
            Stopped, LeaseLost: it must not have an effect; let it pass, so that the transaction is undone.
        """
        if await operation_leases.finish_item(connection, self.leased, outcome.item, outcome.model_dump_json()):
            raise Stopped

    async def finished_as_one(self, outcome: OperationItem) -> None:
        """All items together have one outcome.

        Raises:
            LeaseLost: as for `finished`.
        """
        async with self._database.transaction(self.principal) as connection:
            await operation_leases.finish_as_one(connection, self.leased, outcome.model_dump_json())

    async def progress(self, done: int, total: int) -> None:
        """Tell how far work is that is not counted in items.

        Raises:
            Stopped, LeaseLost: it must not go on; let it pass.
        """
        async with self._database.transaction(self.principal) as connection:
            if await operation_leases.progress(connection, self.leased, done, total) and done < total:
                raise Stopped

    async def failed(self, item: int, error: ErrorBody) -> None:
        """An item cannot succeed; the operation goes on."""
        async with self._database.transaction(self.principal) as connection:
            await operation_leases.finish_item(connection, self.leased, item, error.model_dump_json(), failed=True)


class Kind(Protocol):
    """A kind of work."""

    async def step(self, work: Work) -> bool:
        """Do the next piece of the work; false when there is none. May be repeated after any failure.

        Raises:
            CortexError: retryable: it is tried again, for as long as it takes; otherwise the operation fails.
            Stopped, LeaseLost: as `Work.finished` raised it.
        """
        ...


class OperationWorker(Worker):
    """Works on the operations of `kinds`."""

    trouble = "operations wait"

    def __init__(self, database: Database, name: str, kinds: Mapping[str, Kind]) -> None:
        """`name` tells people which replica it is."""
        super().__init__()
        self._database = database
        self._name = name
        self._kinds = kinds
        self._held: set[UUID] = set()

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_leases())
            group.create_task(self._purge())
            for _ in range(AT_ONCE):
                group.create_task(super().run())

    async def step(self) -> bool:
        """Work on one operation until it is finished; says whether there was one."""
        async with self._database.unscoped() as connection:
            leased = await operation_leases.lease(connection, tuple(self._kinds), self._name, uuid4(), LEASE)
        if leased is not None:
            await self._work(leased)
        return leased is not None

    async def _work(self, leased: Leased) -> None:
        self._held.add(leased.lease)
        log.info("operation is worked on", operation=str(leased.id), kind=leased.kind)
        try:
            await self._until_finished(Work(self._database, leased))
        except LeaseLost:
            log.warning("operation was taken over", operation=str(leased.id))
        except asyncio.CancelledError:
            await self._hand_back(leased)
            raise
        finally:
            self._held.discard(leased.lease)

    async def _until_finished(self, work: Work) -> None:
        kind = self._kinds[work.leased.kind]
        failures = 0
        stopped, failed = False, None
        while True:
            try:
                if not stopped and failed is None:
                    stopped = await self._is_cancelled(work)
                    if not stopped and await kind.step(work):
                        failures = 0
                        continue
                return await self._finish(work, stopped=stopped, error=failed)
            except LeaseLost:
                raise
            except Stopped:
                stopped = True
            except Exception as error:  # edge: whatever a kind raises, the worker goes on
                if not isinstance(error, CortexError) or not error.retryable:
                    if failed is not None:
                        raise  # not even that can be recorded
                    failed = error_body(error, f"operation {work.leased.kind}")
                    continue
                failures += 1
                if failures == 1:
                    log.warning("operation waits", operation=str(work.leased.id), reason=error.message)
                await self._explain(work, error)
                await asyncio.sleep(WAITS_S[min(failures, len(WAITS_S)) - 1])

    async def _is_cancelled(self, work: Work) -> bool:
        async with self._database.transaction(work.principal) as connection:
            return await operation_leases.hold(connection, work.leased)

    async def _finish(self, work: Work, *, stopped: bool, error: ErrorBody | None) -> None:
        async with self._database.transaction(work.principal) as connection:
            operation = await operations.get(connection, work.leased.id, lock=True)
            await operation_leases.hold(connection, work.leased)
            assert operation is not None, "what is held is there"
            done = operation_states.finish(operation, datetime.now(UTC), stopped=stopped, error=error)
            await operations.change(connection, done)
        log.info(
            "operation is finished",
            operation=str(work.leased.id),
            kind=work.leased.kind,
            status=done.status.value,
            done=done.done,
            failed=done.failed,
        )

    async def _explain(self, work: Work, error: CortexError) -> None:
        """Tell who asks what it waits for; while the database is away nobody asks."""
        try:
            async with self._database.transaction(work.principal) as connection:
                await operation_leases.explain(connection, work.leased, error.body())
        except CortexError:
            return

    async def _hand_back(self, leased: Leased) -> None:
        try:
            async with asyncio.timeout(HAND_BACK_S), self._database.transaction(leased.principal) as connection:
                await operation_leases.hand_back(connection, leased)
        except (CortexError, TimeoutError) as error:
            log.warning("lease ends by itself", operation=str(leased.id), reason=type(error).__name__)

    async def _keep_leases(self) -> None:
        while True:
            await asyncio.sleep(EXTEND_S)
            if not self._held:
                continue
            try:
                async with self._database.unscoped() as connection:
                    await operation_leases.extend(connection, list(self._held), LEASE)
            except CortexError as error:
                log.warning("leases not extended", reason=error.message)

    async def _purge(self) -> None:
        while True:
            try:
                async with self._database.unscoped() as connection:
                    await staged_parts.purge(connection, KEEP_STAGED)
                    if await operation_leases.purge(connection, KEEP, PURGE_BATCH) == PURGE_BATCH:
                        continue
            except CortexError as error:
                log.warning("old operations stay for now", reason=error.message)
            await asyncio.sleep(PURGE_S)

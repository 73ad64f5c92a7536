"""The driver: calls of the cold store carried into worker threads, where its libraries are imported at first use."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

from cortex_providers.cold_memory import ColdMemory
from cortex_providers.cold_search import ColdLook
from cortex_providers.cold_store import (
    Batch,
    ColdStatus,
    ColdStoreConfig,
    Known,
    Pause,
    Progress,
    Upkeep,
    Upkept,
    Verification,
    Written,
)

if TYPE_CHECKING:
    from cortex_sleep.iceberg.planning import Join
    from cortex_sleep.iceberg.table import ColdTable
    from cortex_sleep.iceberg.verification import Reading

THREADS: Final = 4
"""A search, a batch, maintenance and one more for who asks how it stands."""
T = TypeVar("T")


class IcebergColdStore:
    """A cold store in an Iceberg table. Opening it touches nothing."""

    def __init__(self, config: ColdStoreConfig) -> None:
        self._config = config
        self._table: ColdTable | None = None
        self._making = threading.Lock()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="cold")

    async def open(self) -> None:
        """Nothing yet: a process that never uses the cold tier shall not pay for it."""

    async def check(self) -> None:
        """Can the table be read? Raises Unavailable or Permanent when not."""
        await self.in_thread(lambda table: table.warehouse.table())

    async def close(self) -> None:
        """End the threads and let the connections go."""
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)
        if self._table is not None:
            await asyncio.to_thread(self._table.warehouse.close)

    async def append(self, batch: Batch, rows: Sequence[ColdMemory], *, recorded: bool = True) -> Written:
        """Add a batch, all or none."""
        given_up = threading.Event()
        return await self.in_thread(
            lambda table: table.append(batch, rows, recorded=recorded, given_up=given_up.is_set), given_up
        )

    async def checksums(self, batch: Batch) -> Mapping[UUID, bytes]:
        """The rows of a batch, read back."""
        return await self.in_thread(lambda table: table.checksums(batch))

    async def remove(self, batch: Batch, ids: Sequence[UUID]) -> int:
        """Take rows out again."""
        return await self.in_thread(lambda table: table.remove(batch, ids))

    async def status(self, org: str) -> ColdStatus:
        """What an org has."""
        return await self.in_thread(lambda table: table.status(org))

    async def look(self) -> ColdLook:
        """The table as it is now, to search in."""

        def made(table: ColdTable) -> ColdLook:
            from cortex_sleep.iceberg.look import IcebergLook

            return IcebergLook(self.in_thread, table.snapshot())

        return await self.in_thread(made)

    async def maintain(self, upkeep: Upkeep, now: datetime, pause: Pause | None = None) -> Upkept:
        """Join, expire, remove."""
        joined = made = 0
        # What is joined may be joined again; who is overtaken by others finds its plan outdated and goes on.
        while planned := await self.in_thread(_joins):
            before = made
            for each in planned:
                count = await self.in_thread(partial(_join, planned=each))
                joined, made = joined + count, made + bool(count)
                if pause is not None:
                    await pause()
            if made == before:
                break
        expired = await self.in_thread(partial(_expire, now=now, keep=upkeep.keep_snapshots))
        if pause is not None:
            await pause()
        orphans, size_bytes = await self.in_thread(partial(_remove_orphans, now=now, age=upkeep.orphan_age))
        return Upkept(joined, made, expired, orphans, size_bytes)

    async def verify(
        self, org: str, known: Callable[[], Awaitable[Known]], progress: Progress | None = None
    ) -> Verification:
        """Read everything again."""
        before = await known()
        reading = await self.in_thread(partial(_reading, org=org))
        after = await known()
        reading.leave_out(after)
        for number, _ in enumerate(reading.files, start=1):
            await self.in_thread(lambda _: reading.read_next())
            if progress is not None:
                await progress(number, len(reading.files))
        return reading.verdict(before, after)

    async def in_thread(self, call: Callable[[ColdTable], T], given_up: threading.Event | None = None) -> T:
        """Run a blocking call on the table. When the caller is cancelled, `given_up` is set and the call still awaited:
        what happens in its thread cannot be left to happen later."""
        running = asyncio.get_running_loop().run_in_executor(self._pool, lambda: call(self._opened()))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            if given_up is not None:
                given_up.set()
            await asyncio.wait([running])
            running.exception()
            raise

    def _opened(self) -> ColdTable:
        with self._making:
            if self._table is None:
                from cortex_sleep.iceberg.table import ColdTable

                # It tells of every file that it opens, and with its warnings come texts of servers.
                logging.getLogger("pyiceberg").setLevel(logging.ERROR)
                self._table = ColdTable(self._config)
            return self._table


# Imported in the thread that needs it.


def _joins(table: ColdTable) -> Sequence[Join]:
    from cortex_sleep.iceberg import maintenance

    return maintenance.joins(table)


def _join(table: ColdTable, planned: Join) -> int:
    from cortex_sleep.iceberg import maintenance

    return maintenance.join(table, planned)


def _expire(table: ColdTable, now: datetime, keep: timedelta) -> int:
    from cortex_sleep.iceberg import maintenance

    return maintenance.expire(table, now, keep)


def _remove_orphans(table: ColdTable, now: datetime, age: timedelta) -> tuple[int, int]:
    from cortex_sleep.iceberg import maintenance

    return maintenance.remove_orphans(table, now, age)


def _reading(table: ColdTable, org: str) -> Reading:
    from cortex_sleep.iceberg.verification import Reading

    return Reading(table.snapshot(), org)

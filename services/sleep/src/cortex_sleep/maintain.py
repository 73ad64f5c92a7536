"""The phase that keeps the store in shape: months ahead of time, empty ones gone, everything findable or waiting to be,
indexes that shrink after memories went cold, and the upkeep of the cold tier.

What is there once for all namespaces is done by one worker at a time, and only when there is something to do: the cold
tier once a day, indexes when a fifth of a table has gone.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import UTC
from typing import Final

from cortex_contracts.errors import Unavailable
from cortex_contracts.subjects import SleepPhase
from cortex_providers.cold_store import ColdStore, Upkeep
from cortex_runtime import logs
from cortex_sleep.partitions import MONTHS_AHEAD
from cortex_sleep.phase import Work
from cortex_sleep.upkeep import LEAST_REMOVED, empty_before, worn
from cortex_store import memories, upkeep
from cortex_store.upkeep import TableState

COLD: Final = "cold tier"
REQUEUED: Final = 5_000
"""Memories that begin to wait for their vectors at a time: ingest embeds a few tens a second."""
GENTLY: Final = (
    # VACUUM stops for 2 ms after every few pages it read, as autovacuum does (PostgreSQL 18 documentation, 19.10.4), an
    # index is built by one process within a bounded memory.
    "SET vacuum_cost_delay = '2ms'",
    "SET max_parallel_maintenance_workers = 0",
    "SET maintenance_work_mem = '256MB'",
    # A new index waits for every transaction that is older: not for one that was left open.
    "SET lock_timeout = '60s'",
)

log = logs.get(__name__)


class Maintain:
    """Does what is due; `store` is the cold tier, none: there is none."""

    phase = SleepPhase.MAINTAIN

    def __init__(self, store: ColdStore | None, cold: Upkeep, least_removed: int = LEAST_REMOVED) -> None:
        self._store = store
        self._cold = cold
        self._least_removed = least_removed

    async def run(self, work: Work) -> None:
        """Do it.

        Raises:
            Unavailable: the database or the cold tier is away; what does not need it was done.
            Permanent: the cold tier refuses.
        """
        counts: Counter[str] = Counter()
        await self._namespace(work, counts)
        await work.report(1, **counts)
        async with work.transaction() as connection:
            held = await upkeep.lock(connection)
        if held:
            try:
                await self._everything(work, counts)
            finally:
                # With the connection the lock is gone as well.
                with suppress(Unavailable):
                    async with work.transaction() as connection:
                        await upkeep.unlock(connection)
        await work.report(5, 5, **counts)

    async def _namespace(self, work: Work, counts: Counter[str]) -> None:
        """Once a day look for memories that nobody can find and nobody works on; say how many are worked on."""
        today = work.now.astimezone(UTC).date()
        async with work.transaction() as connection:
            checked = await upkeep.checked_on(connection, work.namespace)
            if checked is None or checked < today:
                found = await upkeep.queue_unindexed(connection, work.namespace, REQUEUED, count_only=work.dry_run)
                counts["requeued"] = found
                if found < REQUEUED and not work.dry_run:
                    await upkeep.checked(connection, work.namespace, today)
            counts["waiting"] = await upkeep.waiting(connection, work.namespace)

    async def _everything(self, work: Work, counts: Counter[str]) -> None:
        await self._partitions(work, counts)
        await work.report(2, **counts)
        async with work.transaction() as connection:
            due = worn(await upkeep.tables(connection), self._least_removed)
            if not work.dry_run:
                counts["unfinished"] = await upkeep.drop_unfinished_indexes(connection)
        if due and not work.dry_run:
            for setting in GENTLY:
                await work.alone(setting)
        for table in due:
            await work.report(3, **counts)
            if not work.dry_run and not await self._rebuild(work, table):
                break  # it is in use, or the connection is gone: then the next transaction says so
            counts["rebuilt"] += 1
        await work.report(4, **counts)
        await self._cold_tier(work, counts)

    async def _partitions(self, work: Work, counts: Counter[str]) -> None:
        before = empty_before(work.now)
        async with work.transaction() as connection:
            if not work.dry_run:
                counts["partitions"] = await memories.ensure_partitions(connection, MONTHS_AHEAD, work.now)
            empty = await upkeep.empty_partitions(connection, before)
        for name in empty:
            dropped = work.dry_run
            if not dropped:
                async with work.transaction() as connection:
                    dropped = await upkeep.drop_partition(connection, name, before)
            if not dropped:
                break  # it is in use: later
            counts["dropped"] += 1

    async def _rebuild(self, work: Work, table: TableState) -> bool:
        """Indexes first: they are made of what is there, and VACUUM then has less to clean. One by one: what a killed
        worker leaves of the index of a TOAST table, which is part of a whole table, sleep could not drop."""
        try:
            for index in table.indexes:
                await work.alone(f"REINDEX INDEX CONCURRENTLY {index}")
            await work.alone(f"VACUUM (ANALYZE) {table.name}")
        except Unavailable as error:
            log.warning("indexes stay as they are for now", table=table.name, reason=error.message)
            async with work.transaction() as connection:
                await upkeep.drop_unfinished_indexes(connection)
            return False
        async with work.transaction() as connection:
            await upkeep.rebuilt(connection, table.name, table.removed, work.now)
        log.info("indexes built again", table=table.name, rows=table.rows, size_before=table.size_bytes)
        return True

    async def _cold_tier(self, work: Work, counts: Counter[str]) -> None:
        async with work.transaction() as connection:
            last = await upkeep.done_at(connection, COLD)
        today = work.now.astimezone(UTC).date()
        if self._store is None or work.dry_run or (last is not None and last.astimezone(UTC).date() >= today):
            return

        async def pause() -> None:
            await work.report(4, **counts)

        kept = await self._store.maintain(self._cold, work.now, pause)
        counts.update(
            files_joined=kept.files_joined,
            files_made=kept.files_made,
            snapshots_expired=kept.snapshots_expired,
            orphans_removed=kept.orphans_removed,
        )
        async with work.transaction() as connection:
            await upkeep.done(connection, COLD, work.now)

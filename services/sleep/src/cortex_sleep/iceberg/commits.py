"""Changes of the table: one at a time over all processes, and none that its worker has lost the right to.

Iceberg's catalogs compare and swap: of two commits from one state one fails, writes its manifests again and tries
again. An advisory lock of PostgreSQL around the commit alone lets them queue instead. The lock's transaction also holds
the record of a batch, so that whoever takes over from a worker that went silent decides about the batch after its last
commit, and none comes later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import psycopg
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table
from pyiceberg.table.update.snapshot import ExpireSnapshots

from cortex_contracts.errors import Unavailable
from cortex_providers.cold_store import Batch
from cortex_sleep.iceberg import files
from cortex_sleep.iceberg.catalog import Warehouse

TRIES: Final = 4
"""Of one commit: other programs than ours (a compaction by Spark) do not take the lock."""
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
_HOLD: Final = "SELECT hold_cold_batch(%s, %s)"


class GivenUp(Unavailable):
    """The batch is not this worker's any more: nothing of it was committed, and nothing will be."""


@dataclass(frozen=True, slots=True)
class Commits:
    """Commits to the table of a warehouse. `database`: DSN of sleep's database; `timeout_s` bounds the waiting."""

    warehouse: Warehouse
    database: str
    timeout_s: float

    def append(self, added: Sequence[DataFile], batch: Batch, *, recorded: bool) -> Table:
        """Add files; with `recorded` only if the batch is still being written by the record of the database.

        Raises:
            GivenUp: it is not.
        """

        def change(table: Table) -> None:
            summary = {"cortex.demotion": str(batch.id)}
            with table.transaction() as transaction, transaction.update_snapshot(summary).merge_append() as producer:
                for file in added:
                    producer.append_data_file(file)

        return self._commit(change, added, batch if recorded else None)

    def replace(self, removed: Sequence[DataFile], added: Sequence[DataFile], summary: Mapping[str, str]) -> Table:
        """Put files in the place of others.

        Raises:
            ValidationException: one of the others is not in the table any more.
        """

        def change(table: Table) -> None:
            with table.transaction() as transaction, transaction.update_snapshot(dict(summary)).overwrite() as producer:
                for file in removed:
                    producer.delete_data_file(file)
                for file in added:
                    producer.append_data_file(file)

        return self._commit(change, added, None)

    def expire(self, snapshots: Sequence[int]) -> Table:
        """Forget snapshots; the current one stays."""

        def change(table: Table) -> None:
            known = {each.snapshot_id for each in table.metadata.snapshots}
            expiry: ExpireSnapshots = table.maintenance.expire_snapshots()
            expiry.by_ids([each for each in snapshots if each in known]).commit()

        return self._commit(change, (), None)

    def _commit(self, change: Callable[[Table], None], added: Sequence[DataFile], held: Batch | None) -> Table:
        with self._alone(held):
            for attempt in range(1, TRIES + 1):
                table = self.warehouse.table()
                try:
                    change(table)
                    break
                except CommitFailedException:
                    if attempt == TRIES:
                        raise
            files.settle(table, added)
            return table

    @contextmanager
    def _alone(self, held: Batch | None) -> Iterator[None]:
        """No other process of ours commits meanwhile, and nobody gives up the batch."""
        with self.connection() as connection, connection.transaction():
            connection.execute(_LOCK, (f"cortex.cold_store/{self.warehouse.location}",))
            if held is not None:
                row = connection.execute(_HOLD, (held.org, held.id)).fetchone()
                if row is None or not row[0]:
                    raise GivenUp(f"the batch {held.id} was given up by somebody else: it is not written")
            yield

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
        """A connection of sleep's role of its own, whose statements end."""
        limit_ms = round(self.timeout_s * 1_000)
        with psycopg.connect(
            self.database,
            application_name="cortex-sleep-cold",
            connect_timeout=max(2, round(self.timeout_s)),
            tcp_user_timeout=limit_ms,
            options=f"-c statement_timeout={limit_ms}",
        ) as connection:
            yield connection

"""What a cold store does with its table: add a batch, read it back, take rows out again, tell how it stands.

Everything here blocks and belongs into a worker thread; errors are `faults`' errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import pyarrow as pa
from pyiceberg.exceptions import ValidationException
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_providers.cold_memory import ColdMemory, checksum
from cortex_providers.cold_store import (
    MAX_BATCH,
    Batch,
    ColdStatus,
    ColdStoreConfig,
    Damaged,
    Written,
)
from cortex_sleep.iceberg import columns, files, planning
from cortex_sleep.iceberg.catalog import Warehouse
from cortex_sleep.iceberg.commits import Commits, GivenUp
from cortex_sleep.iceberg.faults import translated
from cortex_sleep.iceberg.files import ColdFile, Manifests

LOCK_WAIT_S: Final = 60.0
"""How long a commit may wait for those of others; one takes 0.2 s in a folder and 0.5 s on the
embedded S3, measured on two busy cores."""
_TRIES: Final = 3
"""Of a rewrite whose files others joined meanwhile."""


@dataclass(frozen=True, slots=True)
class ColdSnapshot:
    """The table at one moment: what is read of it stays as it was, whatever is changed meanwhile."""

    table: Table
    files: tuple[ColdFile, ...]

    def open(self, path: str) -> pa.NativeFile:
        """A file of it, to read from any place in it."""
        return self.table.io.new_input(path).open(seekable=True)


class ColdTable:
    """The table of one configuration; made once per process, for all of its worker threads."""

    def __init__(self, config: ColdStoreConfig) -> None:
        self.warehouse = Warehouse(config)
        self.commits = Commits(self.warehouse, config.database, LOCK_WAIT_S)
        self.manifests = Manifests()

    def snapshot(self) -> ColdSnapshot:
        """The table as it is now."""
        with translated():
            table = self.warehouse.table()
            return ColdSnapshot(table, self.manifests.files(table))

    def append(
        self, batch: Batch, rows: Sequence[ColdMemory], *, recorded: bool, given_up: Callable[[], bool]
    ) -> Written:
        """Add the rows of a batch; `given_up` is asked before anything of it can be seen."""
        if len(rows) > MAX_BATCH or any((row.org, row.namespace) != (batch.org, batch.namespace) for row in rows):
            raise Permanent(f"a batch is up to {MAX_BATCH} memories of one namespace", code=ErrorCode.INVALID_REQUEST)
        if not rows:
            return Written(0, 0)
        with translated():
            table = self.warehouse.table()
            written = files.write(table, columns.table(batch.id, rows, table.schema()))
            try:
                if given_up():
                    raise GivenUp(f"the batch {batch.id} was given up before it was committed")
                self.commits.append(written, batch, recorded=recorded)
            except GivenUp:
                # Of any other failure one cannot always say whether the commit came to pass, so the files stay: those
                # that nothing refers to are orphans, and go later.
                files.discard(table, written)
                raise
        return Written(len(written), sum(file.file_size_in_bytes for file in written))

    def checksums(self, batch: Batch) -> dict[UUID, bytes]:
        """The checksum of every row of a batch, computed from what is read back."""
        found: dict[UUID, bytes] = {}
        with translated():
            table = self.warehouse.table()
            for file in self.holding(table, batch):
                for rows in files.batches(table, file.path, columns.ROWS):
                    for memory in columns.memories(columns.of_batch(rows, batch.id)):
                        if memory.id in found:
                            raise Damaged(f"the batch {batch.id} holds a memory twice", code=ErrorCode.CONFLICT)
                        found[memory.id] = checksum(memory)
        return found

    def remove(self, batch: Batch, ids: Sequence[UUID]) -> int:
        """Take rows of a batch out again."""
        unwanted = frozenset(ids)
        with translated():
            for attempt in range(1, _TRIES + 1):
                table = self.warehouse.table()
                removed, written, count = self._without(table, batch, unwanted)
                if not removed:
                    return 0
                try:
                    self.commits.replace(removed, written, {"cortex.removed-from": str(batch.id)})
                    return count
                except ValidationException:
                    files.discard(table, written)
                    if attempt == _TRIES:
                        raise
        raise AssertionError("the last try returns or raises")

    def status(self, org: str) -> ColdStatus:
        """What an org has, from the metadata alone."""
        with translated():
            table = self.warehouse.table()
            known = [file for file in self.manifests.files(table) if file.org == org]
            snapshot = table.current_snapshot()
        joined = [name for group in planning.joins(known) for name in group.paths]
        return ColdStatus(
            location=table.location(),
            rows=sum(file.rows for file in known),
            files=len(known),
            size_bytes=sum(file.size_bytes for file in known),
            months=len({(file.namespace, file.month) for file in known}),
            small_files=len(joined),
            snapshots=len(table.metadata.snapshots),
            last_change_at=None if snapshot is None else datetime.fromtimestamp(snapshot.timestamp_ms / 1_000, UTC),
        )

    def holding(self, table: Table, batch: Batch) -> list[ColdFile]:
        """The files in which rows of a batch may be."""
        return [
            file
            for file in self.manifests.files(table)
            if (file.org, file.namespace) == (batch.org, batch.namespace) and file.may_hold(batch.id)
        ]

    def _without(
        self, table: Table, batch: Batch, unwanted: frozenset[UUID]
    ) -> tuple[list[DataFile], list[DataFile], int]:
        """The files that hold unwanted rows, files with their other rows, and how many rows are unwanted."""
        removed: list[DataFile] = []
        written: list[DataFile] = []
        count = 0
        for file in self.holding(table, batch):
            hits = sum(
                row in unwanted
                for rows in files.batches(table, file.path, columns.ROWS, ("id", "demotion"))
                for row in columns.ids(columns.of_batch(rows, batch.id).column("id"))
            )
            if not hits:
                continue
            removed.append(file.entry)
            count += hits
            if hits < file.rows:
                partition = {"org": file.org, "namespace": file.namespace, "month": file.month}
                kept = _kept(table, file.path, batch.id, unwanted)
                written.append(files.write_sorted(table, partition, kept))
        return removed, written, count


def _kept(table: Table, path: str, demotion: UUID, unwanted: frozenset[UUID]) -> Iterator[pa.RecordBatch]:
    for rows in files.batches(table, path, columns.ROWS):
        keys = zip(columns.ids(rows.column("id")), columns.ids(rows.column("demotion")), strict=True)
        yield rows.filter(pa.array([not (key in unwanted and of == demotion) for key, of in keys], pa.bool_()))

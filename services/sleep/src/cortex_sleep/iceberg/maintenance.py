"""Upkeep of the table: join small files, forget old snapshots, remove what nothing refers to.

Readers and writers go on meanwhile. A join replaces files in a commit of its own, under the lock, and gives way if one
of them changed. Whoever reads an older snapshot finds its files until the snapshot has been replaced for
`keep_snapshots`.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs
from pyiceberg.exceptions import ValidationException
from pyiceberg.manifest import ManifestFile
from pyiceberg.table import Table

from cortex_sleep.iceberg import columns, files, layout, planning
from cortex_sleep.iceberg.faults import translated
from cortex_sleep.iceberg.files import ColdFile
from cortex_sleep.iceberg.planning import Join, KnownSnapshot, StoredFile
from cortex_sleep.iceberg.table import ColdTable

_Key = tuple[datetime, bytes]


def joins(table: ColdTable) -> list[Join]:
    """What is to be joined now."""
    return planning.joins(table.snapshot().files)


def join(table: ColdTable, planned: Join) -> int:
    """Join the files of one plan; how many files it replaced: 0 when others changed them first."""
    with translated():
        snapshot = table.snapshot()
        known = {file.path: file for file in snapshot.files}
        if not all(path in known for path in planned.paths):
            return 0
        old = [known[path] for path in planned.paths]
        partition = {"org": planned.org, "namespace": planned.namespace, "month": planned.month}
        made = files.write_sorted(snapshot.table, partition, merged(snapshot.table, old))
        try:
            if made.record_count != sum(file.rows for file in old):
                raise AssertionError("a join keeps every row")
            table.commits.replace([file.entry for file in old], [made], {"cortex.joined": str(len(old))})
        except (ValidationException, AssertionError) as error:
            files.discard(snapshot.table, [made])
            if isinstance(error, AssertionError):
                raise
            return 0
        return len(old)


def expire(table: ColdTable, now: datetime, keep: timedelta) -> int:
    """Forget the snapshots that no reader needs; how many."""
    with translated():
        metadata = table.warehouse.table().metadata
        known = [
            KnownSnapshot(
                each.snapshot_id,
                datetime.fromtimestamp(each.timestamp_ms / 1_000, UTC),
                each.snapshot_id == metadata.current_snapshot_id,
            )
            for each in metadata.snapshots
        ]
        gone = planning.expired(known, now, keep)
        if gone:
            table.commits.expire(gone)
        return len(gone)


def remove_orphans(table: ColdTable, now: datetime, age: timedelta) -> tuple[int, int]:
    """Remove the files of the table's folder that nothing refers to; how many, and their bytes."""
    with translated():
        # Listed before the table is asked: what is committed meanwhile is referred to.
        system, folder = table.warehouse.file_system()
        stored = list(_listed(system, folder))
        gone = planning.orphans(stored, _referred(table), now, age)
        for file in gone:
            system.delete_file(file.path)
        return len(gone), sum(file.size_bytes for file in gone)


def merged(table: Table, sources: list[ColdFile]) -> Iterator[pa.RecordBatch]:
    """The rows of sorted files in the order of all of them. A file is opened when its first row is due."""
    waiting = [(file.first_valid_at, number, file) for number, file in enumerate(sources)]
    heapq.heapify(waiting)
    open_files: list[_Source] = []
    while waiting or open_files:
        frontier = min((source.last for source in open_files), default=None)
        while waiting and (frontier is None or waiting[0][0] <= frontier[0]):
            source = _Source(files.batches(table, heapq.heappop(waiting)[2].path, columns.ROWS))
            if source.next():
                open_files.append(source)
                frontier = source.last if frontier is None else min(frontier, source.last)
        if frontier is None:
            continue
        # Every row up to here is in a batch that is at hand.
        parts = [part for source in open_files if (part := source.take(frontier)).num_rows]
        yield from files.in_order(pa.Table.from_batches(parts)).to_batches()
        open_files = [source for source in open_files if source.rest.num_rows or source.next()]


class _Source:
    """A sorted file that is being merged: the batch at hand, and its last key."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self.rest: pa.RecordBatch
        self.last: _Key

    def next(self) -> bool:
        """Get the next batch; false at the end."""
        for batch in self._batches:
            if batch.num_rows:
                self.rest, self.last = batch, _key(batch, batch.num_rows - 1)
                return True
        return False

    def take(self, frontier: _Key) -> pa.RecordBatch:
        """The rows up to a key; the others stay."""
        count = self.rest.num_rows
        if self.last > frontier:
            times = self.rest.column("valid_at")
            count = pc.sum(pc.less_equal(times, pa.scalar(frontier[0], times.type))).as_py()
            while count and _key(self.rest, count - 1) > frontier:
                count -= 1
        taken, self.rest = self.rest.slice(0, count), self.rest.slice(count)
        return taken


def _key(batch: pa.RecordBatch, row: int) -> _Key:
    return batch.column("valid_at")[row].as_py(), batch.column("id").storage[row].as_py()


def _listed(system: fs.FileSystem, folder: str) -> Iterator[StoredFile]:
    for found in system.get_file_info(fs.FileSelector(folder, recursive=True)):
        if found.type is fs.FileType.File:
            yield StoredFile(found.path, found.size, found.mtime)


def _referred(table: ColdTable) -> frozenset[str]:
    """Paths of all that any snapshot of the table refers to, and of its metadata."""
    current = table.warehouse.table()
    urls = {current.metadata_location, *(entry.metadata_file for entry in current.metadata.metadata_log)}
    urls |= {each.statistics_path for each in current.metadata.statistics}
    manifests: dict[str, ManifestFile] = {}
    for snapshot in current.metadata.snapshots:
        urls.add(snapshot.manifest_list)
        manifests |= {each.manifest_path: each for each in snapshot.manifests(current.io)}
    urls |= set(manifests)
    for manifest in manifests.values():
        urls |= {entry.data_file.file_path for entry in manifest.fetch_manifest_entry(current.io, discard_deleted=True)}
    return frozenset(url.partition("://")[2] for url in urls)


assert layout.SORT_COLUMNS == ("valid_at", "id"), "the keys of a merge"

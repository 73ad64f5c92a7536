"""One look at the table: searches, and rows in whole, of the snapshot that was chosen when it began."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import closing
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

import numpy as np
import pyarrow as pa

from cortex_providers.cold_memory import ColdMemory
from cortex_providers.cold_search import ColdFilter, ColdFound, ColdQuery, ColdReader, ColdRef, ColdRow
from cortex_sleep.iceberg import columns
from cortex_sleep.iceberg.faults import translated
from cortex_sleep.iceberg.scan import DataFile, Files, OpenFile, needed, of_file, rows_of, visible
from cortex_sleep.iceberg.search import search

EVERYTHING: Final = ColdFilter()

T = TypeVar("T")


class Threads(Protocol):
    """Runs what blocks in a worker thread (`IcebergColdStore.in_thread`)."""

    def __call__(self, call: Callable[[Any], T], given_up: threading.Event | None = None) -> Awaitable[T]:
        """The result of `call`; when the caller is given_up, `given_up` is set."""
        ...


class Snapshot(Files, Protocol):
    """The table at one moment."""

    @property
    def files(self) -> Sequence[DataFile]:
        """What it consists of."""
        ...


class IcebergLook:
    """See `ColdLook`."""

    def __init__(self, in_thread: Threads, snapshot: Snapshot) -> None:
        self._in_thread = in_thread
        self._snapshot = snapshot

    async def search(self, query: ColdQuery) -> ColdFound:
        """See `ColdLook.search`."""
        return await self._run(lambda given_up: search(self._snapshot, self._snapshot.files, query, given_up))

    async def rows(self, refs: Sequence[ColdRef]) -> list[ColdMemory]:
        """See `ColdLook.rows`."""
        known = {file.path: file for file in self._snapshot.files}
        return await self._run(lambda _: _rows(self._snapshot, known, refs))

    async def find(self, reader: ColdReader, ids: Collection[UUID]) -> dict[UUID, ColdRow]:
        """See `ColdLook.find`."""
        scopes = {scope.namespace: scope.readable for scope in reader.scopes}
        sought = {
            file.path: (file, {one for one in ids if file.first_id <= one <= file.last_id})
            for file in self._snapshot.files
            if file.org == reader.org and file.namespace in scopes
        }

        def find(given_up: threading.Event) -> dict[UUID, ColdRow]:
            found: dict[UUID, ColdRow] = {}
            for file, wanted in sought.values():
                wanted -= found.keys()
                if wanted and not given_up.is_set():
                    found |= _found(self._snapshot, file, scopes[file.namespace], reader, wanted)
            return found

        return await self._run(find)

    async def _run(self, work: Callable[[threading.Event], T]) -> T:
        given_up = threading.Event()

        def run(_: object) -> T:
            with translated():
                return work(given_up)

        return await self._in_thread(run, given_up)


def _rows(table: Files, files: dict[str, DataFile], refs: Sequence[ColdRef]) -> list[ColdMemory]:
    groups: dict[tuple[str, int], list[int]] = {}
    for ref in refs:
        groups.setdefault((ref.path, ref.group), []).append(ref.row)
    found: dict[ColdRef, ColdMemory] = {}
    for (path, group), chosen in groups.items():
        rows = sorted(chosen)
        memories = columns.memories(_whole(table, files[path], group, rows))
        found |= {ColdRef(path, group, row): memory for row, memory in zip(rows, memories, strict=True)}
    return [found[ref] for ref in refs]


def _whole(table: Files, file: DataFile, group: int, rows: Sequence[int]) -> pa.RecordBatch:
    """Rows (rising) of a row group with every column."""
    with closing(OpenFile(table, file, few_values=())) as opened:
        taken = opened.taken(group, np.array(rows, dtype=np.int64), opened.columns)
    return taken.combine_chunks().to_batches()[0]


def _found(
    table: Files, file: DataFile, readable: bool, reader: ColdReader, wanted: Collection[UUID]
) -> dict[UUID, ColdRow]:
    """Those of a file that are wanted and that the reader may see."""
    reader = of_file(reader, file)
    names = tuple(dict.fromkeys(("id", *needed(EVERYTHING, reader))))
    places: dict[int, list[int]] = {}
    with closing(OpenFile(table, file)) as opened:
        for group in opened.groups(EVERYTHING):
            if not any(opened.may_have(group, one) for one in wanted):
                continue
            first = 0
            for batch in opened.batches(group, names):
                if rows := rows_of(batch.column("id"), wanted):
                    mask = visible(batch, EVERYTHING, reader, readable=readable)
                    places.setdefault(group, []).extend(first + row for row in rows if mask is None or mask[row])
                first += batch.num_rows
    found: dict[UUID, ColdRow] = {}
    for group, at in places.items():
        if at:
            whole = _whole(table, file, group, at)
            brought, written = columns.ids(whole.column("demotion")), whole.column("checksum").to_pylist()
            for memory, batch_id, checksum in zip(columns.memories(whole), brought, written, strict=True):
                found[memory.id] = ColdRow(memory, batch_id, checksum)
    return found

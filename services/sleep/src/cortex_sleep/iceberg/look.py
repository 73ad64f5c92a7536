"""One look at the table: searches, and rows in whole, of the snapshot that was chosen when it began."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

import numpy as np

from cortex_providers.cold_memory import ColdMemory
from cortex_providers.cold_search import ColdFilter, ColdFound, ColdQuery, ColdReader, ColdRef
from cortex_sleep.iceberg import columns
from cortex_sleep.iceberg.faults import translated
from cortex_sleep.iceberg.scan import DataFile, Files, OpenFile, needed, rows_of, visible
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

    async def find(self, reader: ColdReader, memory_id: UUID) -> ColdMemory | None:
        """See `ColdLook.find`."""
        scopes = {scope.namespace: scope.readable for scope in reader.scopes}
        files = [
            file
            for file in self._snapshot.files
            if file.org == reader.org and file.namespace in scopes and file.first_id <= memory_id <= file.last_id
        ]
        return await self._run(lambda given_up: _find(self._snapshot, files, scopes, reader, memory_id, given_up))

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
        with closing(OpenFile(table, files[path], few_values=())) as opened:
            taken = opened.taken(group, np.array(rows, dtype=np.int64), opened.columns)
        memories = columns.memories(taken.combine_chunks().to_batches()[0])
        found |= {ColdRef(path, group, row): memory for row, memory in zip(rows, memories, strict=True)}
    return [found[ref] for ref in refs]


def _find(
    table: Files,
    files: Sequence[DataFile],
    scopes: dict[str, bool],
    reader: ColdReader,
    memory_id: UUID,
    given_up: threading.Event,
) -> ColdMemory | None:
    wanted = ("id", *needed(EVERYTHING, reader))
    for file in files:
        if given_up.is_set():
            return None
        with closing(OpenFile(table, file)) as opened:
            for group in opened.groups(EVERYTHING):
                if not opened.may_have(group, memory_id):
                    continue
                first = 0
                for batch in opened.batches(group, wanted):
                    for row in rows_of(batch.column("id"), memory_id):
                        mask = visible(batch, EVERYTHING, reader, readable=scopes[file.namespace])
                        if mask is None or mask[row]:
                            return _rows(table, {file.path: file}, [ColdRef(file.path, group, first + row)])[0]
                    first += batch.num_rows
    return None

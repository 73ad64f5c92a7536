"""The data files of the table: which there are, what each of them holds, and how one is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.conversions import from_bytes
from pyiceberg.io.pyarrow import (
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
)
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestContent, ManifestFile
from pyiceberg.partitioning import PartitionFieldValue, PartitionKey
from pyiceberg.table import Table

from cortex_contracts.errors import ErrorCode
from cortex_providers.cold_store import Damaged
from cortex_sleep.iceberg import columns, layout

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MANIFESTS: Final = 10_000
"""Manifests that are remembered: their contents never change."""


@dataclass(frozen=True, slots=True)
class ColdFile:
    """A data file of one namespace and month. `path` is its URL; of its columns `id`, `valid_at` and `demotion`
    it knows the least and the greatest value."""

    path: str
    org: str
    namespace: str
    month: str
    rows: int
    size_bytes: int
    first_id: UUID
    last_id: UUID
    first_valid_at: datetime
    last_valid_at: datetime
    first_demotion: UUID
    last_demotion: UUID
    entry: DataFile
    """What Iceberg knows of it."""

    @property
    def name(self) -> str:
        """Its path below the data of the table."""
        return "/".join(self.path.split("/")[-4:])

    def may_hold(self, demotion: UUID) -> bool:
        """Can rows of a batch be in it?"""
        return self.first_demotion <= demotion <= self.last_demotion


class Manifests:
    """Reads manifests once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[ColdFile, ...]] = {}

    def files(self, table: Table) -> tuple[ColdFile, ...]:
        """The data files of the table's current snapshot, in no order.

        Raises:
            Damaged: somebody else wrote what this driver does not read: deletes, another format or partitioning.
        """
        snapshot = table.current_snapshot()
        if snapshot is None:
            return ()
        found: list[ColdFile] = []
        for manifest in snapshot.manifests(table.io):
            if manifest.content is not ManifestContent.DATA:
                raise Damaged("the cold table has delete files: this version cannot read them", code=ErrorCode.CONFLICT)
            if manifest.manifest_path not in self._known:
                while len(self._known) >= _MANIFESTS:
                    self._known.pop(next(iter(self._known)), None)
                self._known[manifest.manifest_path] = _read(table, manifest)
            found.extend(self._known[manifest.manifest_path])
        return tuple(found)


def _read(table: Table, manifest: ManifestFile) -> tuple[ColdFile, ...]:
    schema = table.schema()
    key, valid_at, demotion = (schema.find_field(name) for name in ("id", "valid_at", "demotion"))

    def bound(bounds: Any, field: Any) -> Any:
        return from_bytes(field.field_type, bounds[field.field_id])

    found = []
    for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
        file = entry.data_file
        org, namespace, month = (str(file.partition[i]) for i in range(3))
        low, high = file.lower_bounds, file.upper_bounds
        found.append(
            ColdFile(
                path=file.file_path,
                org=org,
                namespace=namespace,
                month=month,
                rows=file.record_count,
                size_bytes=file.file_size_in_bytes,
                first_id=_id(bound(low, key)),
                last_id=_id(bound(high, key)),
                first_valid_at=_moment(bound(low, valid_at)),
                last_valid_at=_moment(bound(high, valid_at)),
                first_demotion=_id(bound(low, demotion)),
                last_demotion=_id(bound(high, demotion)),
                entry=file,
            )
        )
    return tuple(found)


def reader(table: Table, path: str) -> pq.ParquetFile:
    """A data file to read from; close it. What is asked for of a row group comes in one request, or few, and pages are
    checked against their CRC."""
    return pq.ParquetFile(
        table.io.new_input(path).open(seekable=True), pre_buffer=True, page_checksum_verification=True
    )


def batches(table: Table, path: str, rows: int, names: Iterable[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a data file, so many at a time, in their order; of these columns, none: all. One row group of it is
    in memory, as it is in the file."""
    wanted = None if names is None else list(names)
    with reader(table, path) as file:
        for group in range(file.num_row_groups):
            yield from file.iter_batches(rows, row_groups=[group], columns=wanted)


def write(table: Table, rows: pa.Table) -> list[DataFile]:
    """Write rows, one file per namespace and month; nobody sees them before they are committed."""
    written: list[DataFile] = []
    try:
        partitions = rows.group_by(list(layout.PARTITION_COLUMNS)).aggregate([]).to_pylist()
        for partition in sorted(partitions, key=lambda each: tuple(each.values())):
            # All at once: each filter copies what it lets through.
            chosen = rows.filter(reduce(and_, (pa.compute.field(name) == value for name, value in partition.items())))
            written.append(write_sorted(table, partition, iter(in_order(chosen).to_batches())))
    except BaseException:
        discard(table, written)
        raise
    return written


def discard(table: Table, written: Iterable[DataFile]) -> None:
    """Delete files that were never committed; what cannot be deleted now is an orphan and goes later."""
    for file in written:
        try:
            table.io.delete(file.file_path)
        except OSError:
            continue


def settle(table: Table, written: Iterable[DataFile]) -> None:
    """Have a local disk keep the files of a commit through a loss of power; S3 keeps what it acknowledged."""
    snapshot = table.current_snapshot()
    if not table.location().startswith("file://") or snapshot is None:
        return
    manifests = [m.manifest_path for m in snapshot.manifests(table.io) if m.added_snapshot_id == snapshot.snapshot_id]
    paths = {
        Path(url.removeprefix("file://"))
        for url in (*(f.file_path for f in written), *manifests, snapshot.manifest_list, table.metadata_location)
    }
    folders = {folder for path in paths for folder in path.parents}
    for path in sorted(paths) + sorted(folders, reverse=True):
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except OSError:
            continue  # a folder above the warehouse that is not ours to open
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_sorted(table: Table, partition: dict[str, str], rows: Iterator[pa.RecordBatch]) -> DataFile:
    """Write rows of one namespace and month that come in the order of `SORT_COLUMNS` as one file."""
    schema = table.schema()
    key = PartitionKey(
        field_values=[PartitionFieldValue(field, partition[field.name]) for field in table.spec().fields],
        partition_spec=table.spec(),
        schema=schema,
    )
    path = table.location_provider().new_data_location(f"{uuid4()}.parquet", key)
    arrow = columns.arrow_schema(schema)
    output = table.io.new_output(path)
    try:
        with output.create() as stream:
            paths = tuple(parquet_path_to_id_mapping(schema))
            with pq.ParquetWriter(
                stream, arrow, sorting_columns=_sorting(arrow), **layout.parquet_options(paths)
            ) as writer:
                for group in _groups(rows, arrow):
                    writer.write_table(group, row_group_size=layout.ROW_GROUP_ROWS)
        metadata = writer.writer.metadata
    except BaseException:
        discard(table, [_Unfinished(path)])  # type: ignore[list-item]
        raise
    statistics = data_file_statistics_from_parquet_metadata(
        parquet_metadata=metadata,
        stats_columns=compute_statistics_plan(schema, table.metadata.properties),
        parquet_column_mapping=parquet_path_to_id_mapping(schema),
    )
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=key.partition,
        file_size_in_bytes=len(output),
        sort_order_id=table.sort_order().order_id,
        spec_id=table.spec().spec_id,
        equality_ids=None,
        key_metadata=None,
        **statistics.to_serialized_dict(),
    )


@dataclass(frozen=True, slots=True)
class _Unfinished:
    file_path: str


def _groups(rows: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Rows in tables of `ROW_GROUP_ROWS`, the last one smaller."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in rows:
        while count + batch.num_rows >= layout.ROW_GROUP_ROWS:
            head = layout.ROW_GROUP_ROWS - count
            yield pa.Table.from_batches([*waiting, batch.slice(0, head)]).cast(schema)
            waiting, count, batch = [], 0, batch.slice(head)
        if batch.num_rows:
            waiting.append(batch)
            count += batch.num_rows
    if waiting:
        yield pa.Table.from_batches(waiting).cast(schema)


def in_order(rows: pa.Table) -> pa.Table:
    """Rows by `SORT_COLUMNS`; ids sort by their bytes."""
    keys = pa.table({name: _key(rows.column(name)) for name in layout.SORT_COLUMNS})
    order = [(name, "ascending") for name in layout.SORT_COLUMNS]
    return rows.take(pa.compute.sort_indices(keys, sort_keys=order))


def _key(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    stored = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    return stored.cast(pa.binary())


def _sorting(schema: pa.Schema) -> list[pq.SortingColumn]:
    # Columns of lists have several leaves: the two that are sorted by come before all lists.
    return [pq.SortingColumn(schema.get_field_index(name)) for name in layout.SORT_COLUMNS]


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)


def _id(value: Any) -> UUID:
    return value if isinstance(value, UUID) else UUID(bytes=bytes(value))

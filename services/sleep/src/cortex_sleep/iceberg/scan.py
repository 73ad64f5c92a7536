"""Reads the files of a search piece by piece: what is outside of its scope is passed over by what files and row groups
say of themselves, and every row by who may see it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol, TypeAlias
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from cortex_providers.cold_search import ColdFilter, ColdReader

Mask: TypeAlias = NDArray[np.bool_]

PIECE_ROWS: Final = 8_192
"""Rows that are looked at together, whatever the size of a row group."""
BUFFER_BYTES: Final = 4 * 1024 * 1024
"""Of a column that is read at once: a row group that another program wrote may hold gigabytes."""
FEW_VALUES: Final = ("visibility", "owner", "network", "memory_type", "source_kind", "embedding_model")
"""Columns with few different values, which stay numbers of a dictionary when they are read."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class DataFile(Protocol):
    """What the table tells of a file."""

    @property
    def path(self) -> str:
        """Where it is."""
        ...

    @property
    def org(self) -> str:
        """Whose it is."""
        ...

    @property
    def namespace(self) -> str:
        """Of every row."""
        ...

    @property
    def rows(self) -> int:
        """How many it has."""
        ...

    @property
    def first_valid_at(self) -> datetime | None:
        """The earliest of its rows."""
        ...

    @property
    def last_valid_at(self) -> datetime | None:
        """The latest of its rows."""
        ...

    @property
    def first_id(self) -> UUID:
        """The least of its rows."""
        ...

    @property
    def last_id(self) -> UUID:
        """The greatest of its rows."""
        ...


class Files(Protocol):
    """Where files are read."""

    def open(self, path: str) -> Any:
        """A file for `pyarrow.parquet`."""
        ...


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one row group. `first`: which of the group is its first one; `visible`: which are in scope, none: all."""

    group: int
    first: int
    batch: pa.RecordBatch
    visible: Mask | None

    @property
    def in_scope(self) -> int:
        """How many rows are in scope."""
        return self.batch.num_rows if self.visible is None else int(np.count_nonzero(self.visible))


class OpenFile:
    """A data file that is read."""

    def __init__(self, files: Files, file: DataFile, few_values: Sequence[str] = FEW_VALUES) -> None:
        self._source = files.open(file.path)
        self._parquet = pq.ParquetFile(
            self._source,
            read_dictionary=list(few_values),
            buffer_size=BUFFER_BYTES,
            pre_buffer=False,
            page_checksum_verification=True,
        )
        self._metadata = self._parquet.metadata
        self._leaves = _leaves(self._metadata)
        self.columns = tuple(self._parquet.schema_arrow.names)
        self.bytes_read = 0

    def close(self) -> None:
        """Let it go."""
        self._parquet.close()
        self._source.close()

    def groups(self, narrowed: ColdFilter) -> Iterator[int]:
        """The row groups that may hold rows of the time that a search is narrowed to."""
        for group in range(self._metadata.num_row_groups):
            known = self._statistics(group, "valid_at")
            if known is None or may_hold(narrowed, known.min, known.max):
                yield group

    def batches(self, group: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """A row group in pieces, with some of its columns."""
        self._count(group, columns)
        yield from self._parquet.iter_batches(
            batch_size=PIECE_ROWS, row_groups=[group], columns=list(columns), use_threads=False
        )

    def may_have(self, group: int, memory_id: UUID) -> bool:
        """May a memory be in a row group?"""
        known = self._statistics(group, "id")
        return known is None or known.min_raw <= memory_id.bytes <= known.max_raw

    def taken(self, group: int, rows: NDArray[np.int64], columns: Sequence[str]) -> pa.Table:
        """Some rows (rising) of a row group."""
        first, parts = 0, []
        for batch in self.batches(group, columns):
            inside = rows[(rows >= first) & (rows < first + batch.num_rows)] - first
            if len(inside):
                parts.append(batch.take(pa.array(inside)))
            first += batch.num_rows
        return pa.Table.from_batches(parts)

    def _count(self, group: int, columns: Sequence[str]) -> None:
        self.bytes_read += sum(
            self._metadata.row_group(group).column(leaf).total_compressed_size
            for column in columns
            for leaf in self._leaves.get(column, ())
        )

    def _statistics(self, group: int, column: str) -> pq.Statistics | None:
        leaves = self._leaves.get(column, ())
        known = self._metadata.row_group(group).column(leaves[0]).statistics if leaves else None
        return known if known is not None and known.has_min_max else None


def _leaves(metadata: pq.FileMetaData) -> dict[str, list[int]]:
    """The numbers of the Parquet columns that make each column."""
    known: dict[str, list[int]] = {}
    # Not from `metadata.schema`: the two would hold each other, and 100 kB, until somebody collects garbage.
    for leaf in range(metadata.num_columns if metadata.num_row_groups else 0):
        known.setdefault(metadata.row_group(0).column(leaf).path_in_schema.split(".")[0], []).append(leaf)
    return known


def may_hold(narrowed: ColdFilter, first: datetime | None, last: datetime | None) -> bool:
    """May something that became true between `first` and `last` be among what a search is narrowed to?"""
    after = narrowed.since is not None and last is not None and last < narrowed.since
    before = narrowed.until is not None and first is not None and first >= narrowed.until
    later = narrowed.as_of is not None and first is not None and first > narrowed.as_of
    return not (after or before or later)


def of_file(reader: ColdReader, file: DataFile) -> ColdReader:
    """The reader as it reads one file: what cannot be in it need not be looked for."""
    thawed = frozenset(one for one in reader.thawed if file.first_id <= one[1] <= file.last_id)
    return reader if thawed == reader.thawed else replace(reader, thawed=thawed)


def needed(narrowed: ColdFilter, reader: ColdReader) -> tuple[str, ...]:
    """The columns that say who may see a row and whether it is in scope."""
    wanted: tuple[tuple[str, tuple[object, ...]], ...] = (
        ("valid_at", (narrowed.since, narrowed.until, narrowed.as_of)),
        ("invalid_at", (narrowed.as_of,)),
        ("created_at", (narrowed.created_since, narrowed.created_until)),
        ("network", (narrowed.networks,)),
        ("memory_type", (narrowed.types,)),
        ("source_kind", (narrowed.sources,)),
        ("entities", (narrowed.entities,)),
    )
    columns = [name for name, given in wanted if any(each is not None for each in given)]
    columns += ["demotion"] if reader.hidden or reader.thawed else []
    return ("visibility", "owner", *columns, *(["id"] if reader.thawed else []))


def visible(batch: pa.RecordBatch, narrowed: ColdFilter, reader: ColdReader, *, readable: bool) -> Mask | None:
    """Which rows of a piece the reader may see and the search may find; none: all of them."""
    visibility = batch.column("visibility")
    masks = [one_of(visibility, ("team", "private", "global") if readable else ("global",))]
    private = one_of(visibility, ("private",))
    if private.any():
        masks.append(~private | one_of(batch.column("owner"), (reader.subject,)))
    for name, since, until in (
        ("valid_at", narrowed.since, narrowed.until),
        ("created_at", narrowed.created_since, narrowed.created_until),
    ):
        if since is not None or until is not None:
            moments = _moments(batch.column(name))
            masks += [moments >= _microseconds(since)] if since is not None else []
            masks += [moments < _microseconds(until)] if until is not None else []
    if narrowed.as_of is not None:
        moment, ended = _microseconds(narrowed.as_of), batch.column("invalid_at")
        masks.append(_moments(batch.column("valid_at")) <= moment)
        masks.append(ended.is_null().to_numpy(zero_copy_only=False) | (_moments(ended) > moment))
    for name, wanted in (
        ("network", narrowed.networks),
        ("memory_type", narrowed.types),
        ("source_kind", narrowed.sources),
    ):
        if wanted is not None:
            masks.append(one_of(batch.column(name), wanted))
    if narrowed.entities is not None:
        masks.append(_names(batch.column("entities"), narrowed.entities))
    if reader.hidden:
        masks.append(~_among(batch.column("demotion"), reader.hidden))
    if reader.thawed:
        masks.append(~_thawed(batch, reader.thawed))
    both = np.logical_and.reduce(masks)
    return None if both.all() else both


def numbers_of(column: pa.Array) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """A column of lists of numbers: the numbers of all rows in order, and where each row's begin, with the end."""
    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return np.asarray(column.flatten()), offsets


def strings_of_bytes(column: pa.Array, width: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """A column of byte strings: the rows that have one of `width` bytes, rising, and these, shape (rows, width)."""
    kind = np.int64 if pa.types.is_large_binary(column.type) else np.int32
    _, offset_buffer, data = column.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=kind)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    fits = np.diff(offsets) == width
    if column.null_count:
        fits &= column.is_valid().to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(fits)
    everything = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
    if len(rows) * width == offsets[-1] - offsets[0]:
        # Nothing but these: they lie one after the other.
        return rows, everything[offsets[0] : offsets[-1]].reshape(len(rows), width)
    return rows, everything[offsets[rows][:, None] + np.arange(width)]


def uuids_of(column: pa.Array) -> list[UUID]:
    """A column of ids."""
    return [UUID(bytes=value) for value in _fixed(column).to_pylist()]


def one_of(column: pa.Array, wanted: Sequence[str]) -> Mask:
    """Which rows of a column of texts have one of these."""
    if pa.types.is_dictionary(column.type):
        chosen = np.array([value in wanted for value in column.dictionary.to_pylist()] + [False], dtype=bool)
        found: Mask = chosen[np.asarray(pc.fill_null(column.indices, len(chosen) - 1))]
        return found
    return np.asarray(pc.fill_null(pc.is_in(column, pa.array(wanted, column.type)), False))


def _names(column: pa.Array, wanted: Sequence[str]) -> Mask:
    found = np.zeros(len(column), dtype=bool)
    hits = pc.is_in(column.flatten().field("key"), pa.array(wanted, pa.string()))
    found[np.asarray(pc.list_parent_indices(column))[np.asarray(hits)]] = True
    return found


def rows_of(column: pa.Array, wanted: Collection[UUID]) -> list[int]:
    """The rows of a column of ids that have one of these."""
    return [int(row) for row in np.flatnonzero(_among(column, wanted))]


def _thawed(batch: pa.RecordBatch, thawed: Collection[tuple[UUID, UUID]]) -> Mask:
    found = np.zeros(batch.num_rows, dtype=bool)
    rows = rows_of(batch.column("id"), {memory for _, memory in thawed})
    if rows:
        at = pa.array(rows)
        pairs = zip(uuids_of(batch.column("demotion").take(at)), uuids_of(batch.column("id").take(at)), strict=True)
        found[rows] = [pair in thawed for pair in pairs]
    return found


def _among(column: pa.Array, wanted: Collection[UUID]) -> Mask:
    return np.asarray(pc.is_in(_fixed(column), pa.array([one.bytes for one in wanted], pa.binary(16))))


def _fixed(column: pa.Array) -> pa.Array:
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def _moments(column: pa.Array) -> NDArray[np.int64]:
    return np.asarray(pc.fill_null(column.cast(pa.timestamp("us", "UTC")).cast(pa.int64()), 0))


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)

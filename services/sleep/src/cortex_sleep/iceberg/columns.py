"""Cold memories as columns, and back."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import fields
from datetime import UTC
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema

from cortex_providers.cold_memory import (
    ColdEntity,
    ColdMemory,
    ColdOccurrence,
    ColdRelation,
    checksum,
    month_of,
)
from cortex_ranking.signature import signatures

_SAME: Final = (
    "org",
    "namespace",
    "owner",
    "visibility",
    "network",
    "memory_type",
    "content",
    "source_kind",
    "source_ref",
    "session",
    "turn",
    "speaker",
    "assertions",
    "metadata",
    "importance",
    "base_importance",
    "valid_at",
    "invalid_at",
    "created_at",
    "decision",
    "decision_reason",
    "access_count",
    "last_accessed_at",
    "embedding",
    "embedding_model",
    "script",
    "folded",
)
"""Fields that are columns as they are."""
_IDS: Final = ("id", "document", "superseded_by")
_NESTED: Final = {"occurrences": ColdOccurrence, "entities": ColdEntity, "relations": ColdRelation}
ROWS: Final = 512
"""How many rows become objects at once when they are read: 2 MB of 4,000 bytes each."""

Columns = dict[str, Any]


def table(batch: UUID, rows: Sequence[ColdMemory], schema: Schema) -> pa.Table:
    """The rows of a batch, in any order, in the columns of an Iceberg schema."""
    values: dict[str, Any] = {name: list(map(attrgetter(name), rows)) for name in _SAME}
    values |= {name: [_bytes(getattr(row, name)) for row in rows] for name in _IDS}
    values |= {
        "month": list(map(month_of, rows)),
        "occurrences": [
            [
                {
                    "id": each.id.bytes,
                    "source_kind": each.source_kind,
                    "source_ref": each.source_ref,
                    "session": each.session,
                    "turn": each.turn,
                    "speaker": each.speaker,
                    "occurred_at": each.occurred_at,
                    "reason": each.reason,
                }
                for each in row.occurrences
            ]
            for row in rows
        ],
        "entities": [
            [{"key": each.key, "name": each.name, "kind": each.kind, "role": each.role} for each in row.entities]
            for row in rows
        ],
        "relations": [
            [{"subject": each.subject, "predicate": each.predicate, "object": each.object} for each in row.relations]
            for row in rows
        ],
        "sources": [[source.bytes for source in row.sources] for row in rows],
        "signature": _signatures(rows),
        "terms": _flat([row.terms for row in rows], "<i4"),
        "impacts": _flat([row.impacts for row in rows], "<f4"),
        "demotion": [batch.bytes] * len(rows),
        "checksum": list(map(checksum, rows)),
    }
    return cast(values, arrow_schema(schema))


def cast(values: Columns, wanted: pa.Schema) -> pa.Table:
    """Columns by name as a table of a schema; ids are 16 bytes or UUIDs."""
    return pa.table([_column(values[field.name], field.type) for field in wanted], schema=wanted)


def arrow_schema(schema: Schema) -> pa.Schema:
    """The columns of an Iceberg schema, with its field ids."""
    return schema_to_pyarrow(schema)


def memories(batch: pa.RecordBatch) -> list[ColdMemory]:
    """The rows of a record batch that has every column, in its order."""
    found = {name: _values(batch.column(name)) for name in (*_SAME, *_IDS)}
    for name, kind in _NESTED.items():
        found[name] = [tuple(kind(**each) for each in row) for row in batch.column(name).to_pylist()]
    found["sources"] = list(map(tuple, batch.column("sources").to_pylist()))
    found["terms"] = _sliced(batch.column("terms"), "<i4")
    found["impacts"] = _sliced(batch.column("impacts"), "<f4")
    return list(map(ColdMemory, *(found[each.name] for each in fields(ColdMemory))))


def of_batch(batch: pa.RecordBatch, demotion: UUID) -> pa.RecordBatch:
    """The rows of a record batch that came with `demotion`."""
    stored = batch.column("demotion").storage
    return batch.filter(pc.equal(stored, pa.scalar(demotion.bytes, stored.type)))


def ids(column: pa.Array) -> list[UUID]:
    """A column of ids."""
    return [UUID(bytes=each) for each in column.storage.to_pylist()]


def _values(column: pa.Array) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        # A tenth of what `to_pylist` takes, which asks for the time zone of each.
        moments = column.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False).tolist()
        return [None if at is None else at.replace(tzinfo=UTC) for at in moments]
    values: list[Any] = column.to_pylist()
    return values


def _column(values: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.Array):
        return values.cast(kind)
    stored = _storage(kind)
    return pa.array(values, stored).cast(kind) if stored != kind else pa.array(values, kind)


def _storage(kind: pa.DataType) -> pa.DataType:
    """The type without the extension for ids, of which no values can be made directly."""
    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    if isinstance(kind, pa.LargeListType):
        return pa.large_list(_stored_field(kind.value_field))
    if isinstance(kind, pa.StructType):
        return pa.struct([_stored_field(kind.field(i)) for i in range(kind.num_fields)])
    return kind


def _stored_field(field: pa.Field) -> pa.Field:
    return field.with_type(_storage(field.type))


def _flat(lists: Iterable[bytes], dtype: str) -> pa.Array:
    """Packed numbers of each row as a list column."""
    packed = list(lists)
    numbers = np.frombuffer(b"".join(packed), np.dtype(dtype))
    ends = np.fromiter(itertools.accumulate((len(each) // 4 for each in packed), initial=0), np.int64, len(packed) + 1)
    return pa.LargeListArray.from_arrays(pa.array(ends), pa.array(numbers))


def _sliced(column: pa.Array, dtype: str) -> list[bytes]:
    """A list column as the packed numbers of each row."""
    numbers = column.flatten().to_numpy(zero_copy_only=False).astype(dtype, copy=False).tobytes()
    lengths = pc.list_value_length(column).to_pylist()
    ends = list(itertools.accumulate((4 * length for length in lengths), initial=0))
    return [numbers[first:last] for first, last in itertools.pairwise(ends)]


def _signatures(rows: Sequence[ColdMemory]) -> list[bytes | None]:
    """Of each row that has a vector; those of one model and length together."""
    alike: dict[tuple[str, int], list[int]] = {}
    for at, row in enumerate(rows):
        if row.embedding is not None and row.embedding_model is not None:
            alike.setdefault((row.embedding_model, len(row.embedding)), []).append(at)
    made: list[bytes | None] = [None] * len(rows)
    for (model, _), places in alike.items():
        packed = b"".join(rows[at].embedding or b"" for at in places)
        vectors = np.frombuffer(packed, "<f2").reshape(len(places), -1).astype(np.float32)
        for at, each in zip(places, signatures(vectors, model), strict=True):
            made[at] = each.tobytes()
    return made


def _bytes(value: UUID | None) -> bytes | None:
    return None if value is None else value.bytes

"""The Iceberg table `cortex.memories`: its columns, how it is partitioned and sorted, and how its files are written.

Months are a column of their own, so that every reader prunes by identity; a batch is a column, so that it can be found,
proved and taken out again; a checksum is a column, so that a row can be proved alone.
"""

from __future__ import annotations

from typing import Any, Final

from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    BinaryType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
    UUIDType,
)

NAMESPACE: Final = "cortex"
TABLE: Final = "memories"
ROW_GROUP_ROWS: Final = 8_192
"""Of a Parquet file: what a search reads of one column at once."""

_TEXT: Final = StringType()
_TIME: Final = TimestamptzType()


def _columns() -> tuple[tuple[str, IcebergType, bool], ...]:
    """Name, type, and whether it is always there."""
    fields = _Numbers()
    occurrence = StructType(
        fields.new("id", UUIDType(), True),
        fields.new("source_kind", _TEXT, True),
        fields.new("source_ref", _TEXT),
        fields.new("session", _TEXT),
        fields.new("turn", IntegerType()),
        fields.new("speaker", _TEXT),
        fields.new("occurred_at", _TIME, True),
        fields.new("reason", _TEXT, True),
    )
    entity = StructType(*(fields.new(name, _TEXT, True) for name in ("key", "name", "kind", "role")))
    relation = StructType(*(fields.new(name, _TEXT, True) for name in ("subject", "predicate", "object")))
    return (
        ("id", UUIDType(), True),
        ("org", _TEXT, True),
        ("namespace", _TEXT, True),
        ("month", _TEXT, True),
        ("valid_at", _TIME, True),
        ("invalid_at", _TIME, False),
        ("created_at", _TIME, True),
        ("owner", _TEXT, False),
        ("visibility", _TEXT, True),
        ("network", _TEXT, True),
        ("memory_type", _TEXT, True),
        ("content", _TEXT, True),
        ("source_kind", _TEXT, True),
        ("source_ref", _TEXT, False),
        ("session", _TEXT, False),
        ("turn", IntegerType(), False),
        ("speaker", _TEXT, False),
        ("document", UUIDType(), False),
        ("assertions", _TEXT, True),
        ("metadata", _TEXT, True),
        ("importance", FloatType(), True),
        ("base_importance", FloatType(), False),
        ("superseded_by", UUIDType(), False),
        ("decision", _TEXT, True),
        ("decision_reason", _TEXT, True),
        ("access_count", IntegerType(), True),
        ("last_accessed_at", _TIME, False),
        ("occurrences", fields.list_of(occurrence), True),
        ("entities", fields.list_of(entity), True),
        ("relations", fields.list_of(relation), True),
        ("sources", fields.list_of(UUIDType()), True),
        ("embedding", BinaryType(), False),
        ("embedding_model", _TEXT, False),
        ("signature", BinaryType(), False),
        ("script", IntegerType(), False),
        ("folded", LongType(), False),
        ("terms", fields.list_of(IntegerType()), True),
        ("impacts", fields.list_of(FloatType()), True),
        ("demotion", UUIDType(), True),
        ("checksum", FixedType(32), True),
    )


class _Numbers:
    """Field ids; the catalog gives its own when the table is made, these need to differ only."""

    def __init__(self) -> None:
        self._last = 1_000

    def new(self, name: str, kind: IcebergType, required: bool = False) -> NestedField:
        self._last += 1
        return NestedField(self._last, name, kind, required=required)

    def list_of(self, element: IcebergType) -> ListType:
        self._last += 1
        return ListType(self._last, element, element_required=True)


SCHEMA: Final = Schema(
    *(
        NestedField(number, name, kind, required=required)
        for number, (name, kind, required) in enumerate(_columns(), start=1)
    )
)
PARTITION_COLUMNS: Final = ("org", "namespace", "month")
SORT_COLUMNS: Final = ("valid_at", "id")
PARTITION_SPEC: Final = PartitionSpec(
    *(
        PartitionField(SCHEMA.find_field(name).field_id, 1_000 + number, IdentityTransform(), name)
        for number, name in enumerate(PARTITION_COLUMNS)
    )
)
SORT_ORDER: Final = SortOrder(
    *(SortField(SCHEMA.find_field(name).field_id, transform=IdentityTransform()) for name in SORT_COLUMNS)
)

BOUNDED: Final = ("id", *PARTITION_COLUMNS, "valid_at", "invalid_at", "created_at", "demotion")
"""Columns whose least and greatest value a file tells, for pruning; of the others nothing leaves the file."""
PLAIN: Final = frozenset({"id", "content", "embedding", "signature", "checksum"})
"""Columns without a dictionary: their values hardly repeat."""

PROPERTIES: Final = {
    "format-version": "2",
    "write.parquet.compression-codec": "zstd",
    "write.parquet.row-group-limit": str(ROW_GROUP_ROWS),
    "write.metadata.metrics.default": "none",
    **{f"write.metadata.metrics.column.{name}": "full" for name in BOUNDED},
    "commit.manifest-merge.enabled": "true",
    # Older metadata files are orphans, which go by their age: a database that is restored names one of them.
    "write.metadata.delete-after-commit.enabled": "false",
    "write.metadata.previous-versions-max": "10",
    # The driver repeats a commit itself, under the lock: `commits`.
    "commit.retry.num-retries": "0",
}


def parquet_options(paths: tuple[str, ...]) -> dict[str, Any]:
    """How a data file is written; `paths`: its columns as Parquet names them (`terms.list.element`)."""
    return {
        "compression": "zstd",
        "compression_level": 3,
        "use_dictionary": [path for path in paths if path.split(".")[0] not in PLAIN],
        "write_statistics": [path for path in paths if path in BOUNDED],
        "store_schema": False,
        "write_page_checksum": True,
    }

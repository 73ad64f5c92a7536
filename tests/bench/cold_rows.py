"""Synthetic memories in the cold tier, at size: written with the product's own files and commits, from arrays.

The first year has the rows of `synthetic_memories`, indexed by the product's formulas; their common direction is the
centre of the model's real reference vectors, so that signatures are what they would be. Each further year says the same
again: other ids, other days. Checksums are made up: nothing here reads them.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

import indexed_memories
import numpy as np
import pyarrow as pa
import synthetic_memories as synthetic
from numpy.typing import NDArray
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table

from cortex_providers.cold_store import Batch, ColdStoreConfig
from cortex_ranking import signature
from cortex_sleep.iceberg import columns, files
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_sleep.iceberg.table import ColdTable

ORG: Final = "local"
MODEL: Final = "multilingual-e5-small-q4"
FIRST_YEAR: Final = 2020
YEARS: Final = 10


def write(config: ColdStoreConfig, count: int) -> float:
    """Fill a cold store with `count` rows, or go on with it; the seconds it took."""
    began = time.perf_counter()
    asyncio.run(_write(config, count))
    return time.perf_counter() - began


async def _write(config: ColdStoreConfig, count: int) -> None:
    store = IcebergColdStore(config)
    await store.open()
    await store.in_thread(lambda table: _years(table, count // YEARS))
    await store.close()


def _years(table: ColdTable, count: int) -> None:
    known = {file.month for file in table.snapshot().files}
    if f"{FIRST_YEAR}-12" not in known:
        arrow = columns.arrow_schema(table.warehouse.table().schema())
        for month, rows in _by_month(count, arrow):
            if month not in known:
                batch = uuid4()
                _commit(table, month, files.write(table.warehouse.table(), _of(rows, batch)), batch)
    first = table.snapshot()
    for year in range(FIRST_YEAR + 1, FIRST_YEAR + YEARS):
        for number in range(1, 13):
            if (month := f"{year}-{number:02}") in known:
                continue
            batch = uuid4()
            written = [
                files.write_sorted(
                    first.table,
                    {"org": ORG, "namespace": file.namespace, "month": month},
                    iter(_again(first.table, file.path, year, number, batch).to_batches()),
                )
                for file in first.files
                if file.month == f"{FIRST_YEAR}-{number:02}"
            ]
            _commit(table, month, written, batch)


def _commit(table: ColdTable, month: str, written: list[DataFile], batch: UUID) -> None:
    table.commits.append(written, Batch(batch, ORG, "all"), recorded=False)
    print(f"\r{month}: {sum(file.record_count for file in written):,} rows", end="", file=sys.stderr, flush=True)


def _of(rows: pa.Table, batch: UUID) -> pa.Table:
    return _with(rows, demotion=columns._column([batch.bytes] * len(rows), rows.schema.field("demotion").type))


def _with(rows: pa.Table, **changes: pa.Array) -> pa.Table:
    for name, values in changes.items():
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, rows.schema.field(name), values)
    return rows


def _again(table: Table, path: str, year: int, month: int, batch: UUID) -> pa.Table:
    """The rows of a file in the same month of another year, in their order."""
    with files.reader(table, path) as opened:
        rows = opened.read().cast(columns.arrow_schema(table.schema()))
    moved = datetime(year, month, 1, tzinfo=UTC) - datetime(FIRST_YEAR, month, 1, tzinfo=UTC)
    millis = np.asarray(rows.column("valid_at").combine_chunks().cast(pa.int64())) // 1000 + moved.days * 86_400_000
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC).timestamp() * 1000
    # The 29th of a February that has none: its rows end that month, in their order.
    millis = np.minimum(millis, int(end) - len(rows) + np.arange(len(rows)))
    rng = np.random.default_rng([year, month])
    ids = rng.integers(256, size=(len(rows), 16), dtype=np.uint8)
    ids[:, :6] = millis.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 2:]
    ids[:, 6] = 0x70 | ids[:, 6] & 0x0F
    ids[:, 8] = 0x80 | ids[:, 8] & 0x3F
    at = pa.array(millis * 1000).cast(pa.timestamp("us", "UTC")).cast(rows.schema.field("valid_at").type)
    kind = rows.schema.field("id").type
    return _of(
        _with(
            rows,
            id=columns._column([one.tobytes() for one in ids], kind),
            valid_at=at,
            created_at=at,
            month=columns._column([f"{year}-{month:02}"] * len(rows), rows.schema.field("month").type),
        ),
        batch,
    )


def _by_month(count: int, arrow: pa.Schema) -> Iterator[tuple[str, pa.Table]]:
    """Rows of the first year in order of time, a month at once."""
    span = timedelta(days=366)
    plan = replace(
        synthetic.plan(count, datetime(FIRST_YEAR + 1, 1, 1, tzinfo=UTC)),
        first_millis=int(datetime(FIRST_YEAR, 1, 1, tzinfo=UTC).timestamp() * 1000),
        step_millis=span / timedelta(milliseconds=1) / count,
    )
    rng = np.random.default_rng(7)
    waiting: list[pa.Table] = []
    month = ""
    for chunk in synthetic.chunks(plan):
        rows = _rows(chunk, rng, arrow)
        months = np.array(rows.column("month").to_pylist())
        for each in np.unique(months):
            if each != month and waiting:
                yield month, pa.concat_tables(waiting)
                waiting = []
            month = str(each)
            waiting.append(rows.filter(pa.array(months == each)))
    yield month, pa.concat_tables(waiting)


def _rows(chunk: synthetic.Chunk, rng: np.random.Generator, arrow: pa.Schema) -> pa.Table:
    n = len(chunk)
    found = indexed_memories.indexed(chunk, np.zeros(len(synthetic.NAMESPACES), dtype=np.int64))
    starts = np.concatenate([[0], np.cumsum(found.counts)])
    vectors = _about_the_centre(chunk.vectors)
    at = pa.array(chunk.millis * 1000).cast(pa.timestamp("us", "UTC"))
    names = synthetic.speakers()
    dimensions = synthetic.vocabulary().dimensions[found.term].astype(np.int32)
    given: dict[str, Any] = {
        "id": [one.tobytes() for one in indexed_memories.ids(chunk, rng)],
        "namespace": [synthetic.NAMESPACES[scope] for scope in chunk.scopes],
        "month": [moment.strftime("%Y-%m") for moment in chunk.moments()],
        "valid_at": at,
        "created_at": at,
        "content": chunk.contents(),
        "session": [f"session-{session}" for session in chunk.sessions],
        "turn": chunk.turns.astype(np.int32),
        "speaker": [names[speaker] for speaker in chunk.speakers],
        "importance": rng.random(n, dtype=np.float32),
        "embedding": [one.tobytes() for one in vectors.astype("<f2")],
        "signature": [one.tobytes() for one in signature.signatures(vectors, MODEL)],
        "folded": rng.integers(-(1 << 62), 1 << 62, size=n),
        "terms": pa.LargeListArray.from_arrays(pa.array(starts), pa.array(dimensions)),
        "impacts": pa.LargeListArray.from_arrays(pa.array(starts), pa.array(found.impact.astype(np.float32))),
        "checksum": [one.tobytes() for one in rng.integers(256, size=(n, 32), dtype=np.uint8)],
    }
    same: dict[str, Any] = {
        "org": ORG,
        "owner": "tester",
        "visibility": "team",
        "network": "experience",
        "memory_type": "episodic",
        "source_kind": "chat",
        "assertions": "[]",
        "metadata": "{}",
        "decision": "add",
        "decision_reason": "",
        "access_count": 0,
        "embedding_model": MODEL,
        "script": 1,
        "demotion": bytes(16),
    }
    made = []
    for field in arrow:
        if field.name in given:
            values = given[field.name]
        elif field.name in ("occurrences", "entities", "relations", "sources"):
            values = [[]] * n
        else:
            values = [same.get(field.name)] * n
        made.append(columns._column(values, field.type))
    return pa.table(made, schema=arrow)


def _about_the_centre(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors with the centre of the model in the place of their made-up common direction."""
    centre = signature.centre(MODEL, synthetic.DIMENSION)
    centre = centre / np.linalg.norm(centre)
    moved = vectors + np.sqrt(synthetic.COMMON) * (centre - synthetic._directions()[0])
    found: NDArray[np.float32] = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
    return found

"""A seeded hot tier: synthetic memories are copied into the tables that the product's functions would write, then the
indexes are built.

Words go through the product's analysis once each; what is made of them per memory is the formula of `cortex_store.lexical`
over arrays. A sample of memories is made by the product's own functions as well and must be the same, row by row.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

import asyncpg
import binary_copy
import numpy as np
import synthetic_memories as synthetic
from numpy.typing import NDArray
from pgvector.asyncpg import register_vector

from cortex_contracts.messages.memory import MemoryDraft
from cortex_store import indexed_text, lexical
from cortex_store.ids import uuid7
from cortex_store.memory_index import DIMENSIONS

ORG: Final = "local"
OWNER: Final = "tester"
MODEL: Final = "multilingual-e5-small-q4"
PRODUCT_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
INDEXES: Final = """
SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
FROM pg_index WHERE indrelid = ANY ($1::regclass[]) AND NOT indisprimary ORDER BY 1
"""
SIDE_TABLES: Final = ["memory_terms", "memory_vectors"]

Ints: TypeAlias = NDArray[np.int64]


@dataclass
class Seeded:
    """What was copied, for the exact reference. Memory i has the terms (numbers in the vocabulary) and impacts from
    `starts[i]` to `starts[i + 1]`."""

    scopes: Ints
    ids: NDArray[np.uint8]
    starts: Ints
    terms: NDArray[np.int32]
    impacts: NDArray[np.float32]
    vectors: NDArray[np.float16]

    def save(self, folder: Path) -> None:
        """Keep it beside the database."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, values in vars(self).items():
            np.save(folder / f"{name}.npy", values)

    @classmethod
    def load(cls, folder: Path) -> Seeded:
        """Read what `save` wrote, as far as it is used."""
        return cls(**{name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in cls.__dataclass_fields__})


@dataclass
class Report:
    """Seconds and sizes of the seeding."""

    copy_s: dict[str, float] = field(default_factory=dict)
    index_s: dict[str, float] = field(default_factory=dict)
    index_rows_per_s: dict[str, int] = field(default_factory=dict)
    size_mb: dict[str, float] = field(default_factory=dict)
    total_s: float = 0.0


@dataclass(frozen=True)
class Indexed:
    """The terms of a chunk: `memory` is the number inside the chunk; sorted by memory and dimension."""

    memory: Ints
    term: Ints
    impact: NDArray[np.float64]
    bucket: Ints
    key: NDArray[np.int32]
    counts: Ints


async def seed(superuser_url: str, memories: int, folder: Path) -> Report:
    """Fill an empty migrated database and build its indexes; the reference goes to `folder`."""
    started = time.perf_counter()
    report = Report()
    connection = await asyncpg.connect(superuser_url)
    await register_vector(connection)
    # Foreign keys need no check here, and the triggers do what is copied below.
    await connection.execute("SET session_replication_role = replica; SET maintenance_work_mem = '2GB'")
    await connection.execute("SET max_parallel_maintenance_workers = 2; SET synchronous_commit = off")
    await connection.execute(
        "INSERT INTO database_settings VALUES ('embedding.model', $1) ON CONFLICT DO NOTHING", MODEL
    )
    months = synthetic.MONTHS_BACK
    await connection.execute("SELECT ensure_memory_partitions(now() - make_interval(months => $1 + 1), 3)", months)
    indexes = await connection.fetch(INDEXES, SIDE_TABLES)
    for index in indexes:
        await connection.execute(f"DROP INDEX {index['name']}")
    scopes = await _namespaces(connection)
    entities = await _speakers(connection)

    plan = synthetic.plan(memories, datetime.now(UTC))
    chunks = synthetic.chunks(plan)
    parts: list[tuple[synthetic.Chunk, NDArray[np.uint8], Indexed]] = []
    while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
        rng = np.random.default_rng([synthetic.SEED, memories, chunk.first, 1])
        ids = _ids(chunk, rng)
        indexed = await asyncio.to_thread(_indexed, chunk, scopes)
        await _copy(connection, chunk, ids, indexed, scopes, entities, report)
        parts.append((chunk, ids, indexed))
        print(f"  {chunk.first + len(chunk):>9,} memories copied", file=sys.stderr)
    seeded = _seeded(parts)
    await _count(connection, parts, scopes, report)
    await _verify(connection, *parts[0][:2])
    del parts
    await asyncio.to_thread(seeded.save, folder)

    for index in indexes:
        began = time.perf_counter()
        await connection.execute(index["definition"])
        took = time.perf_counter() - began
        report.index_s[index["name"]] = round(took, 2)
        report.index_rows_per_s[index["name"]] = round(memories / took)
        print(f"  {index['name']} built in {took:.1f} s", file=sys.stderr)
    began = time.perf_counter()
    await connection.execute("VACUUM ANALYZE")
    report.copy_s["vacuum analyze"] = round(time.perf_counter() - began, 2)
    for name, size in await connection.fetch(
        "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relname = ANY ($1)"
        " UNION ALL SELECT 'index ' || relname, pg_relation_size(oid) FROM pg_class WHERE relname = ANY ($2)"
        " UNION ALL SELECT 'memories', sum(pg_total_relation_size(inhrelid)) FROM pg_inherits"
        " WHERE inhparent = 'memories'::regclass",
        [*SIDE_TABLES, "term_counts", "memory_entities"],
        [index["name"] for index in indexes],
    ):
        report.size_mb[name] = round(float(size) / 1e6, 1)
    await connection.close()
    report.total_s = round(time.perf_counter() - started, 1)
    return report


async def _namespaces(connection: asyncpg.Connection) -> Ints:
    rows = await connection.fetch(
        "INSERT INTO namespaces (org, namespace) SELECT $1, n FROM unnest($2::text[]) n RETURNING id, namespace",
        ORG,
        list(synthetic.NAMESPACES),
    )
    known = {row["namespace"]: row["id"] for row in rows}
    return np.array([known[name] for name in synthetic.NAMESPACES], dtype=np.int64)


async def _speakers(connection: asyncpg.Connection) -> NDArray[np.uint8]:
    """Ids of the entities; shape (namespaces, speakers, 16)."""
    names = synthetic.speakers()
    made = [[uuid7() for _ in names] for _ in synthetic.NAMESPACES]
    await connection.executemany(
        "INSERT INTO entities (id, org, namespace, key, name, kind) VALUES ($1, $2, $3, $4, $5, 'person')",
        [
            (made[scope][at], ORG, space, name.lower(), name)
            for scope, space in enumerate(synthetic.NAMESPACES)
            for at, name in enumerate(names)
        ],
    )
    return np.frombuffer(b"".join(one.bytes for row in made for one in row), np.uint8).reshape(len(made), -1, 16)


def _ids(chunk: synthetic.Chunk, rng: np.random.Generator) -> NDArray[np.uint8]:
    """UUIDs of version 7; shape (n, 16)."""
    ids = rng.integers(256, size=(len(chunk), 16), dtype=np.uint8)
    ids[:, :6] = chunk.millis.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 2:]
    ids[:, 6] = 0x70 | ids[:, 6] & 0x0F
    ids[:, 8] = 0x80 | ids[:, 8] & 0x3F
    return ids


def _indexed(chunk: synthetic.Chunk, scopes: Ints) -> Indexed:
    """What `indexed_text.document` makes of each memory."""
    words = synthetic.vocabulary()
    names = synthetic.speakers()
    moments = chunk.moments()
    dated = [
        [words.number(str(m.day)), words.number(synthetic.MONTHS[m.month - 1]), words.number(str(m.year)),
         words.number(names[speaker])]
        for m, speaker in zip(moments, chunk.speakers, strict=True)
    ]
    lengths = np.diff(chunk.starts)
    of = np.concatenate([np.repeat(np.arange(len(chunk)), lengths), np.repeat(np.arange(len(chunk)), 4)])
    tokens = np.concatenate([chunk.tokens, np.array(dated).ravel()])
    _, first, tf = np.unique((of << 30) | words.dimensions[tokens], return_index=True, return_counts=True)
    memory, term = of[first], tokens[first]
    norm = lexical.K1 * (1 - lexical.B + lexical.B * (lengths + 4) / lexical.AVERAGE_LENGTH)
    impact = tf * (lexical.K1 + 1) / (tf + norm[memory])
    bucket = np.searchsorted(lexical.EDGES, impact, side="right")
    signed = words.hashes[term].view(np.int32).astype(np.int64)
    return Indexed(
        memory, term, impact, bucket, term_keys(scopes[chunk.scopes[memory]], signed, bucket),
        np.bincount(memory, minlength=len(chunk)),
    )


def term_keys(scopes: Ints, terms: Ints, buckets: Ints) -> NDArray[np.int32]:
    """The SQL function `term_key` over arrays: PostgreSQL's `hashint8extended`, which is Jenkins' lookup3."""
    value = (terms << 2) + buckets
    low, high = (value & 0xFFFFFFFF).astype(np.uint32), (value >> 32).astype(np.uint32)
    k = low ^ np.where(value >= 0, high, ~high)
    a = np.full(len(k), 0x9E3779B9 + 4 + 3923095 & 0xFFFFFFFF, dtype=np.uint32)
    b, c = a.copy(), a.copy()

    def turned(x: NDArray[np.uint32], by: int) -> NDArray[np.uint32]:
        return (x << np.uint32(by)) | (x >> np.uint32(32 - by))

    b = b + scopes.astype(np.uint32)  # a seed below 2^32 leaves `a` as it is
    for by in (4, 6, 8, 16, 19, 4):  # mix: the three change places each time
        a = (a - c) ^ turned(c, by)
        c = c + b
        a, b, c = b, c, a
    # After six turns every one is back in its place.
    a = a + k
    for by in (14, 11, 25, 16, 4, 14, 24):  # final
        c = (c ^ b) - turned(b, by)
        a, b, c = b, c, a
    # Seven turns: what was last written is `b` of the next turn.
    return _second(a, b, c).view(np.int32)


def _second(a: NDArray[np.uint32], b: NDArray[np.uint32], c: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return a

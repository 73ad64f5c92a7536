"""A seeded hot tier: synthetic memories are copied into the tables that the product's functions would write, then the
indexes are built.

Words go through the product's analysis once each; what is made of them per memory is the formula of
`cortex_store.lexical` over arrays. A sample of memories is made by the product's own functions as well and must be the
same, row by row.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias
from uuid import UUID

import asyncpg
import binary_copy
import indexed_memories
import numpy as np
import synthetic_memories as synthetic
from indexed_memories import Indexed
from numpy.typing import NDArray
from pgvector.asyncpg import register_vector

from cortex_contracts.messages.memory import MemoryDraft
from cortex_store import indexed_text, lexical
from cortex_store.ids import uuid7
from cortex_store.lexical_index import DIMENSIONS

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
        ids = indexed_memories.ids(chunk, rng)
        indexed = await asyncio.to_thread(indexed_memories.indexed, chunk, scopes)
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


async def _copy(
    connection: asyncpg.Connection,
    chunk: synthetic.Chunk,
    ids: NDArray[np.uint8],
    indexed: Indexed,
    scopes: Ints,
    entities: NDArray[np.uint8],
    report: Report,
) -> None:
    whole = np.zeros(len(chunk), dtype=np.int64)
    scope = binary_copy.integers(scopes[chunk.scopes], 4)
    micros = chunk.millis * 1000 - int(PRODUCT_EPOCH.timestamp()) * 1_000_000
    moment = binary_copy.integers(micros, 8)
    sessions = np.unique(chunk.sessions, return_index=True, return_inverse=True)
    hashed = await connection.fetch(
        "SELECT hashtextextended(session, scope) AS thread FROM unnest($1::text[], $2::bigint[])"
        " WITH ORDINALITY AS s (session, scope, at) ORDER BY at",
        [f"s{number}" for number in sessions[0]],
        scopes[chunk.scopes[sessions[1]]].tolist(),
    )
    threads = np.array([row["thread"] for row in hashed], dtype=np.int64)[sessions[2]]
    contents = await asyncio.to_thread(chunk.contents)
    names = [synthetic.speakers()[speaker] for speaker in chunk.speakers]
    keys = np.array(
        [indexed_memories.content_key(name, text) for name, text in zip(names, contents, strict=True)], dtype=np.int64
    )
    letters = np.add.reduceat(synthetic.vocabulary().letters[chunk.tokens], chunk.starts[:-1])
    script = np.where(letters == 0, 0, np.where(letters > 0, 1, 2))
    fixed = [
        ids,
        scope,
        None,
        binary_copy.integers(whole, 1),
        moment,
        binary_copy.integers(threads, 8),
        binary_copy.integers(chunk.turns, 4),
        binary_copy.integers(keys, 8),
        binary_copy.integers(script, 2),
    ]

    def terms() -> bytes:
        starts = np.concatenate([[0], np.cumsum(indexed.counts)])
        dimensions = synthetic.vocabulary().dimensions[indexed.term]
        groups = []
        for count in np.unique(indexed.counts):
            rows = np.flatnonzero(indexed.counts == count)
            at = starts[rows][:, None] + np.arange(count)
            columns = [None if one is None else one[rows] for one in fixed]
            columns.append(binary_copy.integer_arrays(indexed.key[at].astype(np.int64)))
            columns.append(binary_copy.sparsevecs(dimensions[at], indexed.impact[at], DIMENSIONS))
            groups.append((rows, binary_copy.rows(columns)))
        return binary_copy.interleaved(groups, len(chunk))

    vectors = [ids, scope, None, binary_copy.integers(whole, 1), moment, binary_copy.halfvecs(chunk.vectors)]
    roles = np.tile(np.frombuffer(b"speaker", np.uint8), (len(chunk), 1))
    org = np.tile(np.frombuffer(ORG.encode(), np.uint8), (len(chunk), 1))
    linked = [ids, entities[chunk.scopes, chunk.speakers], org, roles]
    made = {
        "memory_terms": await asyncio.to_thread(terms),
        "memory_vectors": binary_copy.rows(vectors).tobytes(),
        "memory_entities": binary_copy.rows(linked).tobytes(),
    }
    for table, rows in made.items():
        began = time.perf_counter()
        await connection.copy_to_table(table, source=binary_copy.stream([rows]), format="binary")
        report.copy_s[table] = round(report.copy_s.get(table, 0.0) + time.perf_counter() - began, 2)
    began = time.perf_counter()
    await connection.copy_to_table(
        "memories", source=_lines(chunk, ids, names, contents), columns=MEMORY_COLUMNS, format="text"
    )
    report.copy_s["memories"] = round(report.copy_s.get("memories", 0.0) + time.perf_counter() - began, 2)


MEMORY_COLUMNS: Final = (
    "id org namespace owner visibility network memory_type content content_hash source_kind session turn speaker "
    "importance valid_at created_at"
).split()


async def _lines(
    chunk: synthetic.Chunk, ids: NDArray[np.uint8], names: list[str], contents: list[str]
) -> AsyncIterator[bytes]:
    importance = (0.2 + 0.6 * np.random.default_rng(chunk.first).random(len(chunk))).round(3)
    made = [
        f"{ids[i].tobytes().hex()}\t{ORG}\t{synthetic.NAMESPACES[chunk.scopes[i]]}\t{OWNER}\tteam\texperience\tepisodic\t"
        f"{contents[i]}\t\\\\x{hashlib.sha256(contents[i].encode()).hexdigest()}\tchat\ts{chunk.sessions[i]}\t{chunk.turns[i]}\t"
        f"{names[i]}\t{importance[i]}\t{moment.isoformat()}\t{moment.isoformat()}\n"
        for i, moment in enumerate(chunk.moments())
    ]
    for first in range(0, len(made), 2000):
        yield "".join(made[first : first + 2000]).encode()


async def _count(
    connection: asyncpg.Connection,
    parts: Sequence[tuple[synthetic.Chunk, NDArray[np.uint8], Indexed]],
    scopes: Ints,
    report: Report,
) -> None:
    """Document frequencies and sizes, as folding the changes would make them."""
    began = time.perf_counter()
    keys, df = np.unique(np.concatenate([indexed.key for _, _, indexed in parts]), return_counts=True)
    rows = binary_copy.rows([binary_copy.integers(keys, 4), binary_copy.integers(df, 4)])
    await connection.copy_to_table("term_counts", source=binary_copy.stream([rows.tobytes()]), format="binary")
    sizes = np.bincount(np.concatenate([chunk.scopes for chunk, _, _ in parts]), minlength=len(scopes))
    await connection.executemany(
        "UPDATE namespaces SET memories = $2 WHERE id = $1", list(zip(scopes.tolist(), sizes.tolist(), strict=True))
    )
    report.copy_s["term_counts"] = round(time.perf_counter() - began, 2)


def _seeded(parts: Sequence[tuple[synthetic.Chunk, NDArray[np.uint8], Indexed]]) -> Seeded:
    counts = np.concatenate([indexed.counts for _, _, indexed in parts])
    return Seeded(
        scopes=np.concatenate([chunk.scopes for chunk, _, _ in parts]),
        ids=np.concatenate([ids for _, ids, _ in parts]),
        starts=np.concatenate([[0], np.cumsum(counts)]),
        terms=np.concatenate([indexed.term.astype(np.int32) for _, _, indexed in parts]),
        impacts=np.concatenate([indexed.impact.astype(np.float32) for _, _, indexed in parts]),
        vectors=np.concatenate([chunk.vectors.astype(np.float16) for chunk, _, _ in parts]),
    )


async def _verify(connection: asyncpg.Connection, chunk: synthetic.Chunk, ids: NDArray[np.uint8]) -> None:
    """The first memories, made by the product's own functions, must be what was copied.

    Raises:
        AssertionError: they are not; the message names the column.
    """
    contents, moments = chunk.contents(), chunk.moments()
    for i in range(100):
        draft = MemoryDraft(
            namespace=synthetic.NAMESPACES[chunk.scopes[i]],
            content=contents[i],
            speaker=synthetic.speakers()[chunk.speakers[i]],
            session=f"s{chunk.sessions[i]}",
            turn=int(chunk.turns[i]),
        )
        document = indexed_text.document(draft, moments[i])
        terms = [term - (term >> 31 << 32) for term in document.impacts]
        row = await connection.fetchrow(
            "SELECT t.*, n.namespace, hashtextextended($2, t.scope) AS own_thread, m.created_at AS made,"
            " ARRAY (SELECT term_key(t.scope, term, b) FROM unnest($3::integer[], $4::integer[]) AS x (term, b)"
            " ORDER BY 1) AS own_keys, ARRAY (SELECT k FROM unnest(t.keys) k ORDER BY 1) AS sorted_keys"
            " FROM memory_terms t JOIN namespaces n ON n.id = t.scope JOIN memories m ON m.id = t.memory"
            " WHERE memory = $1",
            UUID(bytes=ids[i].tobytes()),
            draft.session,
            terms,
            [lexical.bucket(impact) for impact in document.impacts.values()],
        )
        impacts = {term % DIMENSIONS: np.float32(impact) for term, impact in document.impacts.items()}
        stored = dict(zip(row["impacts"].indices(), map(np.float32, row["impacts"].values()), strict=True))
        for name, wanted, found in (
            ("namespace", draft.namespace, row["namespace"]),
            ("content", document.content, row["content"]),
            ("script", document.script, row["script"]),
            ("thread", row["own_thread"], row["thread"]),
            ("valid_at", row["made"], row["valid_at"]),
            ("keys", row["own_keys"], row["sorted_keys"]),
            ("impacts", impacts, stored),
        ):
            assert wanted == found, f"{name} of memory {i}: the product makes {wanted}, copied was {found}"

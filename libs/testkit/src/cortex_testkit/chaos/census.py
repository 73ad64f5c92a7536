"""What there is at the end, read past the product: the hot tier as PostgreSQL's superuser, the cold one with DuckDB."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

import asyncpg
import duckdb
import duckdb_extension_avro
import duckdb_extension_httpfs
import duckdb_extension_iceberg

from cortex_infra.bootstrap import DATABASE, with_database
from cortex_testkit.system import System

EXTENSIONS: Final = (duckdb_extension_avro, duckdb_extension_httpfs, duckdb_extension_iceberg)
"""From wheels: nothing is downloaded. The order matters."""
PLAIN: Final = (
    "id, namespace, owner, visibility, content, source_kind, source_ref, session, turn, speaker, superseded_by, "
    "document, importance, decision_reason"
)
HOT: Final = f"SELECT {PLAIN}, valid_at, invalid_at FROM memories"
OCCURRENCES: Final = "SELECT memory, source_ref, speaker, occurred_at FROM memory_occurrences"
ENTITIES: Final = "SELECT l.memory, e.key, l.role FROM memory_entities l JOIN entities e ON e.id = l.entity"
SOURCES: Final = "SELECT memory, source FROM memory_sources"
WORDS: Final = "SELECT memory FROM memory_terms"
VECTORS: Final = "SELECT memory FROM memory_vectors"
BATCHES: Final = "SELECT id, state, rows FROM cold_batches"
THAWED: Final = "SELECT batch, memory FROM cold_thaws"
RETAINED: Final = """
SELECT memory_id, count(*) AS times FROM memory_events
WHERE op = 'retain' AND metadata->>'decision' <> 'noop' GROUP BY 1
"""
WAITING: Final = """
SELECT (SELECT count(*) FROM outbox) AS events, (SELECT count(*) FROM index_backlog) AS vectors,
    (SELECT count(*) FROM sleep_runs WHERE finished_at IS NULL) AS runs
"""
TABLE: Final = "SELECT metadata_location FROM cold_catalog.iceberg_tables WHERE table_name = 'memories'"
COLD: Final = f"""
SELECT {PLAIN}, epoch_us(valid_at) AS valid_at, epoch_us(invalid_at) AS invalid_at, demotion AS batch,
    len(terms) > 0 AS has_words, embedding IS NOT NULL AS has_vector,
    [[o.source_ref, o.speaker, epoch_us(o.occurred_at)::varchar] FOR o IN occurrences] AS occurrences,
    [[e.key, e.role] FOR e IN entities] AS entities, sources
FROM iceberg_scan(?)
"""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One more time something was said."""

    ref: str | None
    speaker: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Found:
    """A memory as it was found. `batch`: that brought it to the cold tier; none: it is hot. `entities`: key and role.
    `has_words`, `has_vector`: what it is found by."""

    id: UUID
    namespace: str
    owner: str | None
    visibility: str
    content: str
    source_kind: str
    source_ref: str | None
    session: str | None
    turn: int | None
    speaker: str | None
    valid_at: datetime
    invalid_at: datetime | None
    superseded_by: UUID | None
    document: UUID | None
    importance: float
    decision_reason: str
    batch: UUID | None
    has_words: bool
    has_vector: bool
    occurrences: tuple[Occurrence, ...]
    entities: frozenset[tuple[str, str]]
    sources: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class Census:
    """Everything that was found. `batches`: state and rows by id; `retained`: events by memory that tell of a write."""

    hot: tuple[Found, ...]
    cold: tuple[Found, ...]
    batches: Mapping[UUID, tuple[str, int]]
    retained: Mapping[UUID, int]
    waiting: Mapping[str, int]


async def take(system: System) -> Census:
    """Count; nothing may change meanwhile."""
    connection = await asyncpg.connect(with_database(system.installation.superuser_dsn, DATABASE))
    try:
        hot = await _hot(connection)
        batches = {row["id"]: (row["state"], row["rows"]) for row in await connection.fetch(BATCHES)}
        thawed = {(row["batch"], row["memory"]) for row in await connection.fetch(THAWED)}
        retained = {row["memory_id"]: row["times"] for row in await connection.fetch(RETAINED)}
        waiting = dict(await connection.fetchrow(WAITING) or {})
        location = await connection.fetchval(TABLE)
    finally:
        await connection.close()
    # What came back and is still in the files counts for nothing.
    there = tuple(row for row in cold(system, location) if (row.batch, row.id) not in thawed) if location else ()
    return Census(hot, there, batches, retained, waiting)


async def _hot(connection: asyncpg.Connection) -> tuple[Found, ...]:
    occurrences: dict[UUID, list[Occurrence]] = defaultdict(list)
    for row in await connection.fetch(OCCURRENCES):
        occurrences[row["memory"]].append(Occurrence(row["source_ref"], row["speaker"], row["occurred_at"]))
    entities: dict[UUID, set[tuple[str, str]]] = defaultdict(set)
    for row in await connection.fetch(ENTITIES):
        entities[row["memory"]].add((row["key"], row["role"]))
    sources: dict[UUID, set[UUID]] = defaultdict(set)
    for row in await connection.fetch(SOURCES):
        sources[row["memory"]].add(row["source"])
    words, vectors = [{row["memory"] for row in await connection.fetch(sql)} for sql in (WORDS, VECTORS)]
    return tuple(
        Found(
            **dict(row),
            batch=None,
            has_words=row["id"] in words,
            has_vector=row["id"] in vectors,
            occurrences=tuple(occurrences[row["id"]]),
            entities=frozenset(entities[row["id"]]),
            sources=frozenset(sources[row["id"]]),
        )
        for row in await connection.fetch(HOT)
    )


def cold(system: System, location: str) -> tuple[Found, ...]:
    """Every row of the current state of the Iceberg table, as DuckDB reads it."""
    settings = system.settings("sleep")
    with duckdb.connect() as reader:
        for package in EXTENSIONS:
            for file in Path(package.__file__).parent.rglob("*.duckdb_extension"):
                reader.load_extension(str(file))
        if endpoint := settings.get("CORTEX_COLD_STORE_ENDPOINT"):
            reader.execute(
                "CREATE SECRET (TYPE s3, KEY_ID $key, SECRET $secret, REGION $region, ENDPOINT $endpoint, "
                "URL_STYLE 'path', USE_SSL false)",
                {
                    "key": settings["CORTEX_COLD_STORE_ACCESS_KEY"],
                    "secret": settings["CORTEX_COLD_STORE_SECRET_KEY"],
                    "region": settings["CORTEX_COLD_STORE_REGION"],
                    "endpoint": urlsplit(endpoint).netloc,
                },
            )
        cursor = reader.execute(COLD, [location.removeprefix("file://")])
        names = [column[0] for column in cursor.description]
        return tuple(_cold(dict(zip(names, row, strict=True))) for row in cursor.fetchall())


def _cold(row: dict[str, Any]) -> Found:
    row["valid_at"], row["invalid_at"] = _moment(row["valid_at"]), row["invalid_at"] and _moment(row["invalid_at"])
    row["occurrences"] = tuple(
        Occurrence(ref, speaker, _moment(int(microseconds))) for ref, speaker, microseconds in row["occurrences"]
    )
    row["entities"] = frozenset((key, role) for key, role in row["entities"])
    row["sources"] = frozenset(row["sources"])
    return Found(**row)


def _moment(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)

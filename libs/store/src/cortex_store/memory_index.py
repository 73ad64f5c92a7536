"""What makes memories findable: their words and their vectors in the side tables of the hot tier, and the search over
them. The rules of who sees what are applied by the database functions that this module calls.

Lexical search is BM25 over impacts (`lexical`): the score is the inner product of a memory's impacts and the query's
idfs, the candidates come from a bounded number of index segments, one per term and impact bucket.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Final
from uuid import UUID

from pgvector import SparseVector

from cortex_store import lexical, lexical_index
from cortex_store.connection import Connection
from cortex_store.embedding import Embedding, halfvec
from cortex_store.lexical_index import TermStatistics

EXACT_BELOW: Final = 20_000
"""Memories up to which comparing every vector of the scopes is as fast as HNSW, and exact: 0.45 µs each, and HNSW takes
8 ms for 28,000 of a million, 24 ms for 10,000."""


@dataclass(frozen=True, slots=True)
class Document:
    """The indexed words of a memory. `impacts`: term hash to impact; `content`: hash of what it says, exact repeats
    have the same; `script`: see `terms.script`."""

    content: int
    script: int
    impacts: dict[int, float]


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search is narrowed to; none narrows nothing. Times are half-open, `as_of` is inclusive."""

    networks: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    entities: tuple[UUID, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    created_since: datetime | None = None
    created_until: datetime | None = None
    as_of: datetime | None = None

    @property
    def parameters(self) -> tuple[object, ...]:
        """Its fields in the order of `filter_row`."""
        return (
            self.networks,
            self.types,
            self.sources,
            self.entities,
            self.since,
            self.until,
            self.created_since,
            self.created_until,
            self.as_of,
        )


@dataclass(frozen=True, slots=True)
class Query:
    """A search. `idfs`: term hash to idf; `steps`: the chosen segments; `embedding` counts only if `model` is the one
    recorded in the database; `named`: entities that the question names."""

    idfs: dict[int, float]
    steps: tuple[lexical.Step, ...]
    embedding: Embedding | None
    model: str | None
    limit: int
    around: int = 0
    namespaces: tuple[str, ...] | None = None
    named: tuple[UUID, ...] = ()
    filter: Filter = Filter()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may answer, with its exact scores. `lexical` is BM25; `cosine` is none while the memory has no
    vector or the query has none; `named`: 2 when a named entity speaks in it, 1 when it is mentioned, else 0."""

    id: UUID
    lexical: float
    cosine: float | None
    thread: int | None
    turn: int | None
    valid_at: datetime
    script: int
    named: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """A memory that waits for its words or its vector. `subject`: who may read it, none: it is not private."""

    memory: UUID
    org: str
    subject: str | None
    words: bool
    meaning: bool
    attempts: int


FILTER_TYPES: Final = ("text[]", "text[]", "text[]", "uuid[]", *["timestamptz"] * 5)
"""Of the fields of `Filter`, in their order."""


def filter_row(first: int) -> str:
    """SQL of a `memory_filter` whose fields are the parameters from number `first` on."""
    return f"ROW({', '.join(f'${first + i}::{name}' for i, name in enumerate(FILTER_TYPES))})::memory_filter"


INDEX: Final = "SELECT index_memory($1, $2, $3, $4, $5, $6, $7, $8)"
ADD_VECTOR: Final = "SELECT add_vector($1, $2, $3)"
STATISTICS: Final = "SELECT term, bucket, key, df FROM term_statistics($1, $2, $3)"
SEARCH: Final = f"""
SELECT memory, lexical, cosine, thread, turn, valid_at, script, named
FROM search_memories($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
    {filter_row(12)})
"""  # noqa: S608 - constants
AROUND: Final = """
SELECT w.id, f.memory
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::integer[]) AS w (id, namespace, session, turn),
    find_turns(w.namespace, w.session, w.turn - $5, w.turn + $5, $6) AS f ORDER BY w.id, f.turn, f.memory
"""
LOCK_CONTENT: Final = """
SELECT pg_advisory_xact_lock(hashtextextended(current_setting('cortex.org') || '/' || $1, $2))
"""
FOLD: Final = "SELECT fold_term_changes($1) FROM set_config('enable_nestloop', 'off', true)"
"""Of the transaction. What waits is few or many within seconds: after a VACUUM that found none PostgreSQL would compare
each change with each, 13 s for 10,000 of them and not 0.5."""
BACKLOG: Final = "SELECT count(*) AS waiting, min(queued_at) AS oldest FROM index_backlog"


async def index(
    connection: Connection, memory_id: UUID, document: Document, embedding: Embedding | None, model: str | None
) -> bool:
    """Make an inserted memory findable by its words, and by its meaning if `embedding` comes from the recorded model;
    otherwise it waits in the backlog. Says whether it took the embedding. May be repeated."""
    taken: bool = await connection.fetchval(INDEX, memory_id, *_columns(document), halfvec(embedding), model)
    return taken


async def add_vector(connection: Connection, memory_id: UUID, embedding: Embedding, model: str) -> bool:
    """Give an indexed memory its vector; false if the database has another model by now."""
    taken: bool = await connection.fetchval(ADD_VECTOR, memory_id, halfvec(embedding), model)
    return taken


async def may_write(connection: Connection, namespace: str) -> bool:
    """May the principal write the namespace?"""
    allowed: bool = await connection.fetchval("SELECT bound_to('writable', $1)", namespace)
    return allowed


async def lock_content(connection: Connection, namespace: str, content: int) -> None:
    """Let one transaction at a time write this content into the namespace: the next one finds it there."""
    await connection.execute(LOCK_CONTENT, namespace, content)


async def find_repeats(connection: Connection, namespace: str, content: int) -> tuple[UUID, ...]:
    """Live memories of the namespace with the same content hash that the principal may read, oldest first."""
    rows = await connection.fetch("SELECT find_repeat($1, $2) AS id", namespace, content)
    return tuple(row["id"] for row in rows)


async def turns(connection: Connection, namespace: str, session: str, first: int, last: int) -> tuple[UUID, ...]:
    """Live memories of a session's turns from `first` to `last`, in order, that the principal may read."""
    rows = await connection.fetch(
        "SELECT memory FROM find_turns($1, $2, $3, $4)", namespace, session, max(first, 0), last
    )
    return tuple(row["memory"] for row in rows)


async def turns_around(
    connection: Connection, said: Sequence[tuple[UUID, str, str, int]], turns: int, as_of: datetime | None = None
) -> dict[UUID, tuple[UUID, ...]]:
    """For memories (id, namespace, session, turn), the memories of the turns around them that are live, or were true at
    `as_of`, in order of the turns, themselves included."""
    found: dict[UUID, tuple[UUID, ...]] = {}
    if said:
        columns = [list(column) for column in zip(*said, strict=True)]
        for row in await connection.fetch(AROUND, *columns, turns, as_of):
            found[row["id"]] = (*found.get(row["id"], ()), row["memory"])
    return found


async def statistics(
    connection: Connection, namespaces: Sequence[str] | None, terms: Iterable[int], *, past: bool = False
) -> TermStatistics:
    """How often terms (hashes) occur in the namespaces that the principal may read among `namespaces` (none: all). For
    a search of the `past` those that no live memory has are listed as well."""
    wanted = [lexical_index.signed(term) for term in terms]
    return lexical_index.statistics(
        await connection.fetch(STATISTICS, None if namespaces is None else list(namespaces), wanted, past)
    )


async def search(connection: Connection, query: Query) -> tuple[Candidate, ...]:
    """The `limit` best by words and the `limit` nearest by meaning, and the `around` turns on each side of them in
    their sessions, each once, in no order."""
    rows = await connection.fetch(
        SEARCH,
        None if query.namespaces is None else list(query.namespaces),
        [key for step in query.steps for key in step.keys],
        list(accumulate(len(step.keys) for step in query.steps)),
        [step.bound for step in query.steps],
        lexical_index.sparse(query.idfs),
        halfvec(query.embedding),
        query.model,
        query.limit,
        query.around,
        EXACT_BELOW,
        list(query.named) or None,
        *query.filter.parameters,
    )
    return tuple(Candidate(*row) for row in rows)


async def fold(connection: Connection, limit: int) -> int:
    """Count up to `limit` changes into the term statistics; how many there were. Needs no binding."""
    folded: int = await connection.fetchval(FOLD, limit)
    return folded


async def lease(connection: Connection, limit: int, lease_time: timedelta) -> tuple[Waiting, ...]:
    """Take up to `limit` waiting memories of any org for `lease_time`. Needs no binding."""
    rows = await connection.fetch(
        "SELECT memory, org, subject, words, meaning, attempts FROM lease_index_backlog($1, $2)", limit, lease_time
    )
    return tuple(Waiting(*row) for row in rows)


async def backlog(connection: Connection) -> tuple[int, datetime | None]:
    """How many memories of the principal wait for their words or vector, and since when the oldest."""
    row = await connection.fetchrow(BACKLOG)
    assert row is not None, "an aggregate has one row"
    return row["waiting"], row["oldest"]


def _columns(document: Document) -> tuple[int, int, list[int], list[int], SparseVector]:
    return document.content, document.script, *lexical_index.columns(document.impacts)

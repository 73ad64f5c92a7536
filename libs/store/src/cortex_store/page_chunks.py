"""Chunks: the passages of pages with what makes them findable, their words and their vectors (see `memory_index`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from uuid import UUID

from pgvector import SparseVector

from cortex_store import indexed_text, lexical, lexical_index, terms
from cortex_store.connection import Connection
from cortex_store.embedding import Embedding, halfvec, require_recorded


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A passage of a page; without an `embedding` it is stale and found by its words only."""

    text: str
    heading_path: tuple[str, ...]
    embedding: Embedding | None


@dataclass(frozen=True, slots=True)
class StaleChunk:
    """A chunk without a vector. `text`: what its vector stands for."""

    id: int
    text: str


Prepared: TypeAlias = tuple[object, ...]
"""A new chunk as it is written, without its page."""

SLICE: Final = 50
"""Chunks of one statement: a page of 5 MB has 4,000, whose rows take longer than a statement may."""
AT_ONCE_CHARS: Final = 50_000
"""Reading the words of a longer page takes its time; the loop goes on meanwhile. Measured: 1 ms for 4,000."""

DELETE: Final = "DELETE FROM chunks WHERE page = $1"
ADD: Final = "SELECT add_chunk($1, $2, $3, $4, $5, $6, $7, $8, $9)"
EMBED: Final = """
SELECT count(*) FILTER (WHERE embed_chunk(id, vector)) FROM unnest($1::bigint[], $2::halfvec[]) AS n (id, vector)
"""
INDEX: Final = "SELECT index_chunk($1, $2, $3, $4, $5)"
MISSING: Final = """
SELECT c.id, p.title, c.heading_path, c.text FROM chunks c JOIN pages p ON p.id = c.page
WHERE c.id > $1 AND NOT c.{what} ORDER BY c.id LIMIT $2
"""
ORGS: Final = "SELECT org FROM orgs_with_missing_chunks($1) AS org"
TOUCH: Final = "LOCK TABLE chunks IN ROW EXCLUSIVE MODE"


async def prepare(title: str, chunks: Sequence[NewChunk]) -> list[Prepared]:
    """Read the words of the chunks of a page, before anything is locked. A page without any gets one with no text, so
    that its title finds it."""
    chunks = chunks or (NewChunk("", (), None),)
    if sum(len(chunk.text) for chunk in chunks) <= AT_ONCE_CHARS:
        return _prepared(title, chunks)
    return await asyncio.to_thread(_prepared, title, chunks)


async def replace(connection: Connection, page: UUID, chunks: Sequence[Prepared], model: str | None) -> None:
    """Give a page other chunks.

    Raises:
        ModelChanged: the embeddings come from another `model` than the database's (none: they are not checked).
    """
    await connection.execute(DELETE, page)
    if model is not None:
        await require_recorded(connection, model)
    for start in range(0, len(chunks), SLICE):
        await connection.executemany(ADD, [(page, *chunk) for chunk in chunks[start : start + SLICE]])


async def stale(connection: Connection, limit: int, after: int = 0) -> tuple[StaleChunk, ...]:
    """Up to `limit` chunks of the bound org without a vector whose id is larger than `after`, by id."""
    rows = await connection.fetch(MISSING.format(what="embedded"), after, limit)
    return tuple(
        StaleChunk(row["id"], indexed_text.passage(row["title"], row["heading_path"], row["text"])) for row in rows
    )


async def embed(connection: Connection, model: str, vectors: Sequence[tuple[int, Embedding]]) -> int:
    """Give stale chunks (by id) their vectors; how many there still were without one.

    Raises:
        ModelChanged: the database has vectors of another model by now.
    """
    await connection.execute(TOUCH)
    await require_recorded(connection, model)
    embedded: int = await connection.fetchval(
        EMBED, [chunk for chunk, _ in vectors], [halfvec(vector) for _, vector in vectors]
    )
    return embedded


async def orgs_with_stale(connection: Connection) -> tuple[str, ...]:
    """Orgs with stale chunks. Needs no binding."""
    return tuple(row["org"] for row in await connection.fetch(ORGS, False))


async def orgs_without_words(connection: Connection) -> tuple[str, ...]:
    """Orgs with chunks from before their words were indexed. Needs no binding."""
    return tuple(row["org"] for row in await connection.fetch(ORGS, True))


async def index_missing(connection: Connection, limit: int) -> int:
    """Index the words of up to `limit` chunks of the bound org that lack them; how many there were."""
    rows = await connection.fetch(MISSING.format(what="indexed"), 0, limit)
    await connection.executemany(
        INDEX, [(row["id"], *_words(row["title"], row["heading_path"], row["text"])) for row in rows]
    )
    return len(rows)


def _prepared(title: str, chunks: Sequence[NewChunk]) -> list[Prepared]:
    return [
        (
            ordinal,
            list(chunk.heading_path),
            chunk.text,
            *_words(title, chunk.heading_path, chunk.text),
            halfvec(chunk.embedding),
        )
        for ordinal, chunk in enumerate(chunks)
    ]


def _words(title: str, heading_path: Sequence[str], text: str) -> tuple[int, list[int], list[int], SparseVector]:
    # Title and headings are part of what a passage says; the words of a page's name must find it.
    said = "\n".join((title, *(heading for heading in heading_path if heading != title), text))
    return terms.script(text or title), *lexical_index.columns(lexical.impacts(terms.analyse(said)))

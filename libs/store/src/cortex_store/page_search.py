"""Page search: the passages that may answer a question, by words and by meaning, with both exact scores.

How the two are fused is the caller's business. The rules of who sees what are applied by the database functions that
this module calls.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Final
from uuid import UUID

from pydantic import JsonValue

from cortex_store import lexical, lexical_index, terms
from cortex_store.connection import Connection
from cortex_store.embedding import Embedding, halfvec
from cortex_store.names import fold_name
from cortex_store.pages import label

CANDIDATES: Final = 50
"""Pages that each way contributes, as for memories."""
POSTINGS: Final = 6_000
"""Index entries that the words of one question may read, as for memories."""
EXACT_BELOW: Final = 20_000
"""Chunks up to which every vector of the searched vaults is compared (see `memory_index.EXACT_BELOW`)."""


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """What is searched for. `embedding` counts only if `model` (none: any) is the one recorded in the database; `types`
    and `tags` that no searched page has narrow nothing, `vaults` none: all."""

    text: str
    embedding: Embedding | None = None
    model: str | None = None
    vaults: tuple[str, ...] | None = None
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    limit: int = CANDIDATES


@dataclass(frozen=True, slots=True)
class PageCandidate:
    """A passage that may answer. `lexical` is BM25; `cosine` is none while the passage or the question has no vector;
    `script`: see `terms.script`; `named`: the question is a name of its page."""

    chunk: int
    page: UUID
    vault: str
    slug: str
    lexical: float
    cosine: float | None
    script: int
    named: bool


@dataclass(frozen=True, slots=True)
class PagesFound:
    """Candidates in no order, a page perhaps with several. `idfs`: what each term of the question is worth, by hash;
    `best_lexical`: the largest BM25 score that any passage could have for the question."""

    candidates: tuple[PageCandidate, ...]
    idfs: Mapping[int, float]
    best_lexical: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk with what is shown of its page."""

    vault: str
    slug: str
    title: str
    type: str
    tags: tuple[str, ...]
    frontmatter: Mapping[str, JsonValue]
    updated_at: datetime
    heading_path: tuple[str, ...]
    text: str


STATISTICS: Final = "SELECT term, bucket, key, df FROM chunk_statistics($1, $2)"
SEARCH: Final = """
SELECT chunk, page, vault, slug, lexical, cosine, script, named
FROM search_chunks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
"""
PASSAGES: Final = """
SELECT c.id, p.vault, p.slug, p.title, p.type, p.tags, p.frontmatter, p.updated_at, c.heading_path, c.text
FROM chunks c JOIN pages p ON p.id = c.page WHERE c.id = ANY ($1)
"""


async def search(connection: Connection, question: PageQuestion) -> PagesFound:
    """The passages of the `limit` best pages by words and of the `limit` nearest by meaning, and of pages that are
    called what the question says, among those that the binding may read."""
    vaults = None if question.vaults is None else list(question.vaults)
    hashes = [lexical.term_hash(term) for term in terms.content_terms(question.text)]
    known = lexical_index.statistics(
        await connection.fetch(STATISTICS, vaults, [lexical_index.signed(term) for term in hashes])
    )
    plan = lexical.plan(hashes, known.segments, known.memories, POSTINGS)
    rows = await connection.fetch(
        SEARCH,
        vaults,
        list(plan.keys),
        list(accumulate(len(step.keys) for step in plan.steps)),
        [step.bound for step in plan.steps],
        lexical_index.sparse(plan.idfs),
        halfvec(question.embedding),
        question.model,
        question.limit,
        EXACT_BELOW,
        [label("type", value) for value in question.types],
        [label("tag", value) for value in question.tags],
        fold_name(question.text),
    )
    return PagesFound(tuple(PageCandidate(*row) for row in rows), plan.idfs, plan.best)


async def passages(connection: Connection, chunks: Sequence[int]) -> dict[int, Passage]:
    """The passages of chunks that the binding may read, by id."""
    return {
        row["id"]: Passage(
            vault=row["vault"],
            slug=row["slug"],
            title=row["title"],
            type=row["type"],
            tags=tuple(row["tags"]),
            frontmatter=json.loads(row["frontmatter"]),
            updated_at=row["updated_at"],
            heading_path=tuple(row["heading_path"]),
            text=row["text"],
        )
        for row in await connection.fetch(PASSAGES, list(chunks))
    }

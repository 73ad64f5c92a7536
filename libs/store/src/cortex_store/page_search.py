"""Page search: the pages that answer a query, by vector and by words, with the rank and score of either way.

How the two ways are fused is the caller's business. Scores are raw: the cosine similarity, and `ts_rank` (no idf, only
comparable within one query).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from pydantic import JsonValue

from cortex_store import terms
from cortex_store.connection import Connection, Row
from cortex_store.embedding import Embedding, halfvec

CANDIDATES: Final = 40
"""How many each way contributes (specification of recall)."""


@dataclass(frozen=True, slots=True)
class Match:
    """How one way of searching found a candidate; rank 1 is the best."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class PageCandidate:
    """A page, its passage that matches best, and how it was found; at least one way has found it."""

    page_id: UUID
    vault: str
    slug: str
    path: str | None
    title: str
    type: str
    tags: tuple[str, ...]
    frontmatter: Mapping[str, JsonValue]
    updated_at: datetime
    heading_path: tuple[str, ...]
    passage: str
    by_vector: Match | None
    by_words: Match | None


# The ways are united by GROUP BY, not by a full join: its keys are coalesce(...), which row security takes for leaky,
# and then no index serves the join to the rows.
# The tsquery is parsed once, in a sub-select; a bare cast would be parsed again for every row under a generic plan.
_WORDS: Final = "(SELECT $2::text::tsquery)"
# Of another model, or another dimension, the vector is not compared with anything.
_FITS: Final = "($4::text IS NULL OR $4 = (SELECT s.value FROM database_settings s WHERE s.key = 'embedding.model'))"

PAGES: Final = f"""
WITH near AS MATERIALIZED (
    SELECT c.page, c.ordinal, c.embedding <=> $1 AS distance FROM chunks c
    WHERE $1 IS NOT NULL AND {_FITS} AND c.embedding IS NOT NULL AND ($3::text[] IS NULL OR c.vault = ANY($3))
    ORDER BY c.embedding <=> $1 LIMIT {CANDIDATES}
), near_pages AS (
    SELECT DISTINCT ON (page) page, ordinal, distance FROM near ORDER BY page, distance, ordinal
), vectors AS (
    SELECT page, ordinal, 1 - distance AS score, row_number() OVER (ORDER BY distance, page) AS rank FROM near_pages
), matching AS MATERIALIZED (
    SELECT c.page, c.ordinal, ts_rank(c.search, {_WORDS}, 1) AS score FROM chunks c
    WHERE c.search @@ {_WORDS} AND ($3::text[] IS NULL OR c.vault = ANY($3))
    ORDER BY score DESC, c.page, c.ordinal LIMIT {CANDIDATES}
), matching_pages AS (
    SELECT DISTINCT ON (page) page, ordinal, score FROM matching ORDER BY page, score DESC, ordinal
), words AS (
    SELECT page, ordinal, score, row_number() OVER (ORDER BY score DESC, page) AS rank FROM matching_pages
), found AS (
    SELECT page, max(vector_rank) AS vector_rank, max(vector_score) AS vector_score,
        max(words_rank) AS words_rank, max(words_score) AS words_score,
        (array_agg(ordinal ORDER BY coalesce(vector_rank, words_rank), vector_rank NULLS LAST))[1] AS ordinal
    FROM (
        SELECT page, ordinal, rank AS vector_rank, score AS vector_score, NULL::bigint AS words_rank,
            NULL::real AS words_score
        FROM vectors UNION ALL SELECT page, ordinal, NULL, NULL, rank, score FROM words
    ) ways GROUP BY page
)
SELECT p.id, p.vault, p.slug, p.path, p.title, p.type, p.tags, p.frontmatter, p.updated_at, c.heading_path, c.text,
    f.vector_rank, f.vector_score, f.words_rank, f.words_score
FROM found f JOIN pages p ON p.id = f.page JOIN chunks c ON c.page = f.page AND c.ordinal = f.ordinal
ORDER BY least(f.vector_rank, f.words_rank), p.id
"""  # noqa: S608 - constants


async def search_pages(
    connection: Connection,
    text: str,
    embedding: Embedding | None,
    *,
    model: str | None = None,
    vaults: Sequence[str] | None = None,
) -> tuple[PageCandidate, ...]:
    """Pages of the bound org with a passage near `embedding` or sharing a term with `text`, each page once.

    Args:
        embedding: of the query; none searches by words only, and so does one by another `model` than the recorded one.
        vaults: narrows the search; none: all vaults.
    """
    rows = await connection.fetch(
        PAGES, halfvec(embedding), terms.query(text), None if vaults is None else list(vaults), model
    )
    return tuple(
        PageCandidate(
            page_id=row["id"],
            vault=row["vault"],
            slug=row["slug"],
            path=row["path"],
            title=row["title"],
            type=row["type"],
            tags=tuple(row["tags"]),
            frontmatter=json.loads(row["frontmatter"]),
            updated_at=row["updated_at"],
            heading_path=tuple(row["heading_path"]),
            passage=row["text"],
            by_vector=_match(row, "vector"),
            by_words=_match(row, "words"),
        )
        for row in rows
    )


def _match(row: Row, way: str) -> Match | None:
    rank = row[f"{way}_rank"]
    return None if rank is None else Match(rank, float(row[f"{way}_score"]))

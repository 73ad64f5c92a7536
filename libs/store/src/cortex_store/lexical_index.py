"""What `lexical` works with as PostgreSQL stores it, for memories and for the chunks of pages alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pgvector import SparseVector

from cortex_store import lexical
from cortex_store.connection import Row

DIMENSIONS: Final = 1_000_000_000
"""Of the sparse vectors: pgvector's largest. A term is at the dimension of its hash."""
MAX_TERMS: Final = 16_000
"""Distinct terms of one text: the most non-zero elements of a sparse vector. Later terms of a longer text are not
found."""


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """How often terms occur in the searched scopes: `memories` (or chunks) there are, `segments` hold the terms."""

    memories: int
    segments: tuple[lexical.Segment, ...]


def statistics(rows: Iterable[Row]) -> TermStatistics:
    """Rows of the SQL functions `term_statistics` and `chunk_statistics`: the one without a term carries the size."""
    size, segments = 0, []
    for row in rows:
        if row["term"] is None:
            size += row["df"]
        else:
            segments.append(lexical.Segment(row["term"] % (1 << 32), row["bucket"], row["key"], row["df"]))
    return TermStatistics(size, tuple(segments))


def columns(impacts: Mapping[int, float]) -> tuple[list[int], list[int], SparseVector]:
    """Of one text: its terms, the bucket of each, and all impacts as a vector."""
    kept = dict(islice(impacts.items(), MAX_TERMS))
    return [signed(term) for term in kept], [lexical.bucket(impact) for impact in kept.values()], sparse(kept)


def sparse(weights: Mapping[int, float]) -> SparseVector:
    """Weights by term hash as a vector."""
    # Two terms at one dimension add up: once in a thousand million, and the query does the same.
    dimensions: dict[int, float] = {}
    for term, weight in weights.items():
        dimensions[term % DIMENSIONS] = dimensions.get(term % DIMENSIONS, 0.0) + weight
    return SparseVector(dimensions, DIMENSIONS)


def signed(term: int) -> int:
    """A 32-bit hash as PostgreSQL's integer."""
    return term - (1 << 32) if term >= 1 << 31 else term

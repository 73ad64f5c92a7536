"""A question to the archive as the cold store searches for it, and its evidence as fusion weighs it. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import numpy as np

from cortex_contracts.rpc.archive import ArchiveQuestion
from cortex_extraction import entities, times
from cortex_extraction.folding import key
from cortex_providers.cold_search import ColdCandidate, ColdFilter, ColdQuery, ColdReader
from cortex_ranking.fusion import Evidence
from cortex_ranking.query_vector import QueryVector
from cortex_store import lexical, terms
from cortex_store.lexical_index import DIMENSIONS

CANDIDATES = 50
"""How many each way contributes, or k if that is more, as in recall."""


def query(
    question: ArchiveQuestion, who: ColdReader, vector: QueryVector, window: times.TimeReading | None, limit_s: float
) -> ColdQuery:
    """What is searched for."""
    hashes = (lexical.term_hash(term) % DIMENSIONS for term in terms.content_terms(question.query))
    return ColdQuery(
        reader=who,
        terms=tuple(dict.fromkeys(hashes)),
        vector=None if vector.vector is None else np.asarray(vector.vector, dtype=np.float32),
        model=vector.model,
        names=frozenset(entities.candidates(question.query)),
        filter=_filter(question, window),
        limit=max(CANDIDATES, question.k),
        limit_s=limit_s,
    )


def evidence(
    found: Sequence[ColdCandidate], question: str, window: times.TimeReading | None
) -> tuple[list[Evidence], dict[UUID, ColdCandidate]]:
    """What speaks for each candidate, and which is which; a session of a namespace is one thread."""
    threads: dict[tuple[str, str], int] = {}
    script = terms.script(question)
    known = {one.id: one for one in found}
    return [
        Evidence(
            id=one.id,
            lexical=one.lexical,
            cosine=one.cosine,
            thread=None
            if one.session is None or one.turn is None
            else threads.setdefault((one.namespace, one.session), len(threads)),
            turn=one.turn,
            named=one.named,
            in_time=window is not None and window.start <= one.valid_at < window.end,
            foreign=bool(script and one.script) and one.script != script,
        )
        for one in known.values()
    ], known


def _filter(question: ArchiveQuestion, window: times.TimeReading | None) -> ColdFilter:
    asked = question.filter
    since, until = asked.since, asked.until
    if question.time_filter and window is not None:
        since = _later(since, window.start)
        until = _earlier(until, window.end)
    return ColdFilter(
        networks=asked.networks,
        types=asked.types,
        sources=asked.sources,
        entities=None if asked.entities is None else tuple(key(name) for name in asked.entities),
        since=since,
        until=until,
        created_since=asked.created_since,
        created_until=asked.created_until,
        as_of=question.as_of,
    )


def _later(one: datetime | None, other: datetime) -> datetime:
    return other if one is None else max(one, other)


def _earlier(one: datetime | None, other: datetime) -> datetime:
    return other if one is None else min(one, other)

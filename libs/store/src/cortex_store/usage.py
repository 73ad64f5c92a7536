"""Usage: how often a subject used what on which day (UTC), and what of a language model that took: tokens and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from cortex_store.connection import Connection


@dataclass(frozen=True, slots=True)
class Count:
    """What is added to the counts of a day."""

    day: date
    subject: str
    purpose: str
    requests: int
    input_tokens: int
    output_tokens: int
    model_ms: int


@dataclass(frozen=True, slots=True)
class Total:
    """The counts of some days together."""

    subject: str
    purpose: str
    requests: int
    input_tokens: int
    output_tokens: int
    model_ms: int


# One row for each key, sorted, so that two recorders wait for each other instead of deadlocking.
ADD: Final = """
INSERT INTO usage AS u (day, subject, purpose, requests, input_tokens, output_tokens, model_ms)
SELECT day, subject, purpose, sum(requests), sum(input_tokens), sum(output_tokens), sum(model_ms)
FROM unnest($1::date[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
    AS c (day, subject, purpose, requests, input_tokens, output_tokens, model_ms)
GROUP BY day, subject, purpose ORDER BY day, subject, purpose
ON CONFLICT (org, day, subject, purpose) DO UPDATE SET requests = u.requests + excluded.requests,
    input_tokens = u.input_tokens + excluded.input_tokens, output_tokens = u.output_tokens + excluded.output_tokens,
    model_ms = u.model_ms + excluded.model_ms
"""
TOTALS: Final = """
SELECT subject, purpose, sum(requests)::bigint AS requests, sum(input_tokens)::bigint AS input_tokens,
    sum(output_tokens)::bigint AS output_tokens, sum(model_ms)::bigint AS model_ms
FROM usage WHERE day >= $1 AND ($2::text IS NULL OR subject = $2)
GROUP BY subject, purpose ORDER BY sum(requests) DESC, subject, purpose LIMIT $3
"""


async def add(connection: Connection, counts: Sequence[Count]) -> None:
    """Add to the counts of the bound org; the principal must be one that sees every subject's."""
    rows = [(c.day, c.subject, c.purpose, c.requests, c.input_tokens, c.output_tokens, c.model_ms) for c in counts]
    await connection.execute(ADD, *map(list, zip(*rows, strict=True)))


async def totals(connection: Connection, since: date, subject: str | None, limit: int) -> tuple[Total, ...]:
    """The counts since a day (none: of every subject the principal may see), most requests first."""
    rows = await connection.fetch(TOTALS, since, subject, limit)
    return tuple(Total(**row) for row in rows)

"""What pages there are: how many of what, and by the day they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from cortex_store.connection import Connection
from cortex_store.pages import label


@dataclass(frozen=True, slots=True)
class Counts:
    """`links`: those that lead to a page; `stale`: chunks without an embedding of the present model; `vaults`: pages of
    each vault."""

    pages: int
    links: int
    chunks: int
    stale: int
    vaults: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Dated:
    """A page at the day it is about."""

    day: date
    slug: str
    title: str
    type: str


VAULTS: Final = "SELECT vault, count(*) FROM pages GROUP BY vault ORDER BY vault"
COUNTS: Final = """
SELECT (SELECT count(*) FROM links WHERE to_page IS NOT NULL) AS links, count(*) AS chunks,
    count(*) FILTER (WHERE NOT embedded) AS stale FROM chunks
"""
# Tags that differ in case only are one, written as most pages do.
TAGS: Final = """
SELECT mode() WITHIN GROUP (ORDER BY tag) AS tag, count(DISTINCT page)::integer
FROM (SELECT p.id AS page, unnest(p.tags) AS tag FROM pages p) tags GROUP BY lower(tag) ORDER BY 2 DESC, 1
LIMIT 1000
"""
TYPES: Final = "SELECT type, count(*)::integer FROM pages GROUP BY type ORDER BY 2 DESC, 1"
TIMELINE: Final = """
SELECT p.day, p.slug, p.title, p.type FROM pages p
WHERE ($1::date IS NULL OR p.day >= $1) AND ($2::date IS NULL OR p.day <= $2)
    AND ($3::text[] IS NULL OR p.labels && $3) AND ($4::text IS NULL OR p.vault = $4)
ORDER BY p.day DESC, p.slug, p.vault LIMIT $5
"""


async def counts(connection: Connection) -> Counts:
    """How much there is of what the binding may read."""
    vaults = {row["vault"]: row["count"] for row in await connection.fetch(VAULTS)}
    row = await connection.fetchrow(COUNTS)
    assert row is not None, "an aggregate has one row"
    return Counts(sum(vaults.values()), row["links"], row["chunks"], row["stale"], vaults)


async def tags(connection: Connection) -> dict[str, int]:
    """How many pages have each tag, the commonest first."""
    return {row["tag"]: row["count"] for row in await connection.fetch(TAGS)}


async def types(connection: Connection) -> dict[str, int]:
    """How many pages are of each type, the commonest first."""
    return {row["type"]: row["count"] for row in await connection.fetch(TYPES)}


async def timeline(
    connection: Connection,
    start: date | None,
    end: date | None,
    *,
    types: Sequence[str],
    vault: str | None,
    limit: int,
) -> tuple[Dated, ...]:
    """Pages from `start` to `end`, both included, of `types` (none: all) and `vault` (none: all), the latest first.

    Their day is the effective date or the date that their frontmatter says, else that of their creation in UTC.
    """
    wanted = [label("type", value) for value in types] or None
    return tuple(Dated(*row) for row in await connection.fetch(TIMELINE, start, end, wanted, vault, limit))

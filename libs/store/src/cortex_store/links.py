"""Links between the pages of a vault; a link finds its page by any of the page's names, now or when it appears."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection, affected
from cortex_store.names import NameKind, fold_name


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it was written, and the slug of the page it leads to (none: no page has this name yet)."""

    target: str
    slug: str | None


REPLACE_NAMES: Final = """
WITH given AS (
    SELECT name, kind FROM unnest($3::text[], $4::smallint[]) AS given (name, kind)
), gone AS (
    DELETE FROM page_names n WHERE n.page = $2 AND (n.name, n.kind) NOT IN (SELECT name, kind FROM given)
    RETURNING n.name
), added AS (
    INSERT INTO page_names (vault, name, kind, page) SELECT $1, name, kind, $2 FROM given
    ON CONFLICT DO NOTHING RETURNING name
)
SELECT name FROM gone UNION SELECT name FROM added
"""
NAMES_OF: Final = "SELECT name FROM page_names WHERE page = $1"
# A name that two pages share goes to the stronger kind of name, then to the first by slug, whichever came first.
_NAMED: Final = """(
    SELECT n.page FROM page_names n JOIN pages p ON p.org = n.org AND p.id = n.page
    WHERE n.vault = $1 AND n.name = {name} ORDER BY n.kind, p.slug LIMIT 1
)"""
REPLACE_LINKS: Final = f"""
WITH given AS (
    SELECT target, name FROM unnest($3::text[], $4::text[]) AS given (target, name)
), gone AS (
    DELETE FROM links l WHERE l.from_page = $2 AND l.name NOT IN (SELECT name FROM given)
)
INSERT INTO links AS l (vault, from_page, target, name, to_page)
SELECT $1, $2, given.target, given.name, {_NAMED.format(name="given.name")} FROM given
ON CONFLICT (org, from_page, name) DO UPDATE SET target = excluded.target WHERE l.target <> excluded.target
"""  # noqa: S608 - constants
RESOLVE: Final = f"""
UPDATE links l SET to_page = found.page
FROM (SELECT wanted.name, {_NAMED.format(name="wanted.name")} AS page FROM unnest($2::text[]) AS wanted (name)) found
WHERE l.vault = $1 AND l.name = found.name AND l.to_page IS DISTINCT FROM found.page
"""  # noqa: S608 - constants
FROM_PAGE: Final = """
SELECT l.target, p.slug FROM links l LEFT JOIN pages p ON p.id = l.to_page
WHERE l.from_page = $1 ORDER BY l.target
"""
TO_PAGE: Final = """
SELECT l.target, p.slug FROM links l JOIN pages p ON p.id = l.from_page WHERE l.to_page = $1 ORDER BY p.slug, l.target
"""


async def names_of(connection: Connection, page: UUID) -> set[str]:
    """The folded names of a page."""
    return {row["name"] for row in await connection.fetch(NAMES_OF, page)}


async def replace_names(
    connection: Connection, vault: str, page: UUID, names: Iterable[tuple[str, NameKind]]
) -> set[str]:
    """Give a page new names; returns those that it lost and got: links by them may lead elsewhere now."""
    given = tuple(names)
    columns = [name for name, _ in given], [int(kind) for _, kind in given]
    return {row["name"] for row in await connection.fetch(REPLACE_NAMES, vault, page, *columns)}


async def replace_links(connection: Connection, vault: str, page: UUID, targets: Iterable[str]) -> None:
    """Give a page new outgoing links, one per folded target; they lead to the pages that there are now."""
    by_name: dict[str, str] = {}
    for target in targets:
        by_name.setdefault(fold_name(target), target)
    by_name.pop("", None)
    await connection.execute(REPLACE_LINKS, vault, page, list(by_name.values()), list(by_name))


async def resolve(connection: Connection, vault: str, names: Iterable[str]) -> int:
    """Lead every link of the vault that uses one of `names` to the page that has it; returns how many changed."""
    wanted = sorted(names)
    return affected(await connection.execute(RESOLVE, vault, wanted)) if wanted else 0


async def from_page(connection: Connection, page: UUID) -> tuple[Link, ...]:
    """The outgoing links of a page, by target."""
    return tuple(Link(row["target"], row["slug"]) for row in await connection.fetch(FROM_PAGE, page))


async def to_page(connection: Connection, page: UUID) -> tuple[Link, ...]:
    """The links that lead to a page, as they were written, with the slug of the page that each stands in, by slug."""
    return tuple(Link(row["target"], row["slug"]) for row in await connection.fetch(TO_PAGE, page))

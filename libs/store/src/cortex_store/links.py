"""Links between the pages of a vault; a link finds its page by any of the page's names, now or when it appears."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection
from cortex_store.names import NameKind, fold_name


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it was written, and the slug of the page it leads to (none: no page has this name yet)."""

    target: str
    slug: str | None


DELETE_NAMES: Final = "DELETE FROM page_names WHERE page = $1 RETURNING name"
INSERT_NAMES: Final = """
INSERT INTO page_names (vault, name, kind, page)
SELECT $1, name, kind, $2 FROM unnest($3::text[], $4::smallint[]) AS given (name, kind)
"""
NAMES_OF: Final = "SELECT name FROM page_names WHERE page = $1"
DELETE_LINKS: Final = "DELETE FROM links WHERE from_page = $1"
INSERT_LINKS: Final = """
INSERT INTO links (vault, from_page, target, name)
SELECT $1, $2, target, name FROM unnest($3::text[], $4::text[]) AS given (target, name)
"""
# A name that two pages share goes to the stronger kind of name, then to the older page.
RESOLVE: Final = """
UPDATE links l SET to_page = found.page
FROM (
    SELECT wanted.name, (
        SELECT n.page FROM page_names n WHERE n.vault = $1 AND n.name = wanted.name ORDER BY n.kind, n.page LIMIT 1
    ) AS page
    FROM unnest($2::text[]) AS wanted (name)
) found
WHERE l.vault = $1 AND l.name = found.name AND l.to_page IS DISTINCT FROM found.page
"""
FROM_PAGE: Final = """
SELECT l.target, p.slug FROM links l LEFT JOIN pages p ON p.id = l.to_page
WHERE l.from_page = $1 ORDER BY l.target
"""


async def names_of(connection: Connection, page: UUID) -> set[str]:
    """The folded names of a page."""
    return {row["name"] for row in await connection.fetch(NAMES_OF, page)}


async def replace_names(
    connection: Connection, vault: str, page: UUID, names: Iterable[tuple[str, NameKind]]
) -> set[str]:
    """Give a page new names; returns the old and the new ones: links by them may lead elsewhere now."""
    touched = {row["name"] for row in await connection.fetch(DELETE_NAMES, page)}
    given = tuple(names)
    await connection.execute(INSERT_NAMES, vault, page, [name for name, _ in given], [int(kind) for _, kind in given])
    return touched | {name for name, _ in given}


async def replace_links(connection: Connection, vault: str, page: UUID, targets: Iterable[str]) -> set[str]:
    """Give a page new outgoing links, one per folded target; returns their names, which are not resolved yet."""
    by_name: dict[str, str] = {}
    for target in targets:
        by_name.setdefault(fold_name(target), target)
    by_name.pop("", None)
    await connection.execute(DELETE_LINKS, page)
    await connection.execute(INSERT_LINKS, vault, page, list(by_name.values()), list(by_name))
    return set(by_name)


async def resolve(connection: Connection, vault: str, names: Iterable[str]) -> int:
    """Lead every link of the vault that uses one of `names` to the page that has it; returns how many changed."""
    tag = await connection.execute(RESOLVE, vault, sorted(names))
    return int(tag.rsplit(" ", 1)[-1])


async def from_page(connection: Connection, page: UUID) -> tuple[Link, ...]:
    """The outgoing links of a page, by target."""
    return tuple(Link(row["target"], row["slug"]) for row in await connection.fetch(FROM_PAGE, page))

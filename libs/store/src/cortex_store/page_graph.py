"""The pages around a page, over links both ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from cortex_store.connection import Connection

MAX_PAGES: Final = 500
MAX_EDGES: Final = 5_000
"""Those between the nearest pages: with common slugs they fit into a message."""


@dataclass(frozen=True, slots=True)
class Node:
    """A page of a graph; `distance`: how many links away it is."""

    id: UUID
    slug: str
    title: str
    type: str
    distance: int


@dataclass(frozen=True, slots=True)
class Graph:
    """The nearest pages first, equal ones by slug; `edges`: slugs of the pages that link to one another, from and to.
    `truncated`: there are more pages within the depth."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]
    truncated: bool


# Level by level: each page is visited once, by the shortest way.
BESIDE: Final = """
SELECT l.to_page AS page FROM links l WHERE l.from_page = ANY ($1) AND l.to_page IS NOT NULL
UNION SELECT l.from_page FROM links l WHERE l.to_page = ANY ($1)
"""
PAGES: Final = """
SELECT p.id, p.slug, p.title, p.type FROM pages p WHERE p.id = ANY ($1) ORDER BY p.slug LIMIT $2
"""
EDGES: Final = """
SELECT l.from_page, l.to_page FROM links l WHERE l.from_page = ANY ($1) AND l.to_page = ANY ($1)
"""


async def around(connection: Connection, start: Node, depth: int, limit: int = MAX_PAGES) -> Graph:
    """The graph of `start` (its distance is 0) and the pages up to `depth` links away, at most `limit` pages."""
    nodes, level = {start.id: start}, [start.id]
    truncated = False
    for distance in range(1, depth + 1):
        beside = {row["page"] for row in await connection.fetch(BESIDE, level)} - nodes.keys()
        left = limit - len(nodes)
        rows = await connection.fetch(PAGES, list(beside), left + 1)
        level = [row["id"] for row in rows[:left]]
        nodes |= {row["id"]: Node(row["id"], row["slug"], row["title"], row["type"], distance) for row in rows[:left]}
        truncated = len(rows) > left
        if truncated or not level:
            break
    linked = await connection.fetch(EDGES, list(nodes))
    edges = {(nodes[row["from_page"]].slug, nodes[row["to_page"]].slug) for row in linked}
    near = {node.slug: node.distance for node in nodes.values()}
    nearest = sorted(edges, key=lambda edge: (near[edge[0]] + near[edge[1]], edge))
    return Graph(tuple(nodes.values()), tuple(sorted(nearest[:MAX_EDGES])), truncated or len(edges) > MAX_EDGES)

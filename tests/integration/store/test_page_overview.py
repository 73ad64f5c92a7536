"""What pages there are: counts, the graph of their links, and their days."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from cortex_store import page_graph, page_overview, pages
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.page_graph import Graph
from cortex_store.pages import NewChunk, NewPage

VECTOR = [1.0, *[0.0] * 383]


def page(slug: str, vault: str = "v", **fields: Any) -> NewPage:
    given: dict[str, Any] = {"title": slug.title(), "type": "note", "chunks": (NewChunk("text", (), VECTOR),)} | fields
    return NewPage(vault=vault, slug=slug, path=f"{slug}.md", body="text", content_hash=b"h", **given)


async def around(connection: Connection, slug: str, depth: int, **more: Any) -> Graph:
    found = await pages.get(connection, "v", slug)
    assert found is not None
    start = page_graph.Node(found.id, found.slug, found.title, found.type, 0)
    return await page_graph.around(connection, start, depth, **more)


async def test_counts_follow_every_change(database: Database) -> None:
    stale = (NewChunk("one", (), None), NewChunk("two", (), VECTOR))
    async with database.transaction("mine") as connection:
        assert await page_overview.counts(connection) == page_overview.Counts(0, 0, 0, 0, {})
        await pages.upsert(connection, page("a", tags=("Work", "x"), links=("b", "nowhere")))
        await pages.upsert(connection, page("b", tags=("work", "work"), links=("a", "c"), chunks=stale, type="person"))
        await pages.upsert(connection, page("c", vault="w", tags=("Work",)))
        assert await page_overview.counts(connection) == page_overview.Counts(3, 2, 4, 1, {"v": 2, "w": 1})
        assert await page_overview.tags(connection) == {"Work": 3, "x": 1}
        assert await page_overview.types(connection) == {"note": 2, "person": 1}
        await pages.delete(connection, "v", "b")
        assert await page_overview.counts(connection) == page_overview.Counts(2, 0, 2, 0, {"v": 1, "w": 1})


async def test_a_graph_goes_over_links_both_ways_and_visits_each_page_once(database: Database) -> None:
    async with database.transaction("mine") as connection:
        # a → b → c → d → a is a circle; e points at b; f is alone, and so is the page of another vault.
        for slug, targets in {"a": "b", "b": "cb", "c": "d", "d": "a", "e": "b", "f": "z"}.items():
            await pages.upsert(connection, page(slug, links=tuple(targets)))
        await pages.upsert(connection, page("a", vault="w", links=("f",)))
        near = await around(connection, "a", 1)
        assert [(node.slug, node.distance) for node in near.nodes] == [("a", 0), ("b", 1), ("d", 1)]
        assert near.edges == (("a", "b"), ("b", "b"), ("d", "a"))
        assert not near.truncated
        far = await around(connection, "a", 4)
        assert [(node.slug, node.distance) for node in far.nodes] == [
            *(("a", 0), ("b", 1), ("d", 1)),
            *(("c", 2), ("e", 2)),
        ]
        assert set(far.edges) == {("a", "b"), ("b", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("e", "b")}
        assert [node.slug for node in (await around(connection, "f", 4)).nodes] == ["f"]


async def test_a_graph_ends_at_its_limit_with_the_nearest_first(database: Database) -> None:
    async with database.transaction("mine") as connection:
        await pages.upsert(connection, page("hub", links=tuple(f"s{number}" for number in range(6))))
        for number in range(6):
            await pages.upsert(connection, page(f"s{number}", links=(f"t{number}",)))
            await pages.upsert(connection, page(f"t{number}"))
        graph = await around(connection, "hub", 3, limit=8)
        assert graph.truncated
        assert [node.slug for node in graph.nodes] == ["hub", *(f"s{number}" for number in range(6)), "t0"]
        whole = await around(connection, "hub", 3, limit=13)
        assert (len(whole.nodes), whole.truncated) == (13, False)
        # What lies beyond the depth is not missing.
        assert not (await around(connection, "hub", 1, limit=7)).truncated


@pytest.mark.parametrize(
    ("frontmatter", "day"),
    [
        ({"effective_date": "2026-02-03", "date": "2026-01-01"}, date(2026, 2, 3)),
        ({"date": "2026-01-02T10:00:00Z"}, date(2026, 1, 2)),
        ({"effective_date": "soon", "date": "2026-01-02"}, date(2026, 1, 2)),
        ({"date": 2026}, date(2025, 12, 31)),
        ({}, date(2025, 12, 31)),
    ],
)
async def test_a_page_is_about_the_day_that_it_says(
    database: Database, frontmatter: dict[str, object], day: date
) -> None:
    created = datetime(2025, 12, 31, 23, 59, tzinfo=UTC)
    async with database.transaction("mine") as connection:
        await connection.execute("SET LOCAL timezone = 'Asia/Dubai'")
        await pages.upsert(connection, page("a", frontmatter=frontmatter, created=created))
        [entry] = await page_overview.timeline(connection, None, None, types=(), vault=None, limit=5)
        assert entry == page_overview.Dated(day, "a", "A", "note")


async def test_a_timeline_has_both_ends_and_the_latest_first(database: Database) -> None:
    async with database.transaction("mine") as connection:
        for number in range(1, 8):
            kind = ("meeting", "note")[number % 2]
            frontmatter = {"date": f"2026-05-{number:02}"}
            await pages.upsert(connection, page(f"p{number}", type=kind, frontmatter=frontmatter))
        await pages.upsert(connection, page("same-day", vault="w", frontmatter={"date": "2026-05-04"}))

        async def slugs(start: int | None, end: int | None, limit: int = 50, **more: Any) -> list[str]:
            given: dict[str, Any] = {"types": (), "vault": None} | more
            days = [None if day is None else date(2026, 5, day) for day in (start, end)]
            return [one.slug for one in await page_overview.timeline(connection, *days, limit=limit, **given)]

        assert await slugs(3, 5) == ["p5", "p4", "same-day", "p3"]
        assert await slugs(6, None) == ["p7", "p6"]
        assert await slugs(None, 2) == ["p2", "p1"]
        assert await slugs(None, None, limit=2) == ["p7", "p6"]
        assert await slugs(None, None, types=("Meeting",)) == ["p6", "p4", "p2"]
        assert await slugs(None, None, vault="w") == ["same-day"]
        assert await slugs(9, 20) == []

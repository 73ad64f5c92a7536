"""The page RPCs that read without searching: one page, the pages around it, and pages by day."""

from __future__ import annotations

import json
from typing import Final

from cortex_contracts.rpc.pages import (
    GraphEdge,
    GraphNode,
    GraphReply,
    GraphRequest,
    PageReply,
    PageRequest,
    PageType,
    PageView,
    TimelineEntry,
    TimelineReply,
    TimelineRequest,
)
from cortex_recall.ports import Transactions
from cortex_store import links, page_graph, page_overview, pages
from cortex_store.page_views import page_type, view

REPLY_BYTES: Final = 900_000
"""Of one reply as JSON; a message holds 1 MiB with its headers and its envelope."""


class PageReads:
    """The use cases. `default_vault` is looked into first when no vault is named."""

    def __init__(self, database: Transactions, default_vault: str) -> None:
        self._database = database
        self._default_vault = default_vault

    async def page(self, request: PageRequest) -> PageReply:
        """A page that the principal may read.

        Raises:
            Unavailable: the hot tier cannot be read.
        """
        async with self._database.transaction(request.principal) as connection:
            page = await pages.find(connection, request.slug, vault=request.vault, default=self._default_vault)
            outgoing = () if page is None else await links.from_page(connection, page.id)
        if page is None:
            return PageReply(page=None)
        whole = view(page, outgoing)
        shown = fitting(whole)
        return PageReply(page=shown, truncated=shown is not whole)

    async def graph(self, request: GraphRequest) -> GraphReply:
        """The pages that are linked with a page, over links both ways.

        Raises:
            Unavailable: the hot tier cannot be read.
        """
        async with self._database.transaction(request.principal) as connection:
            page = await pages.find(connection, request.slug, vault=request.vault, default=self._default_vault)
            if page is None:
                return GraphReply(found=False)
            start = page_graph.Node(page.id, page.slug, page.title, page.type, 0)
            graph = await page_graph.around(connection, start, request.depth)
        return GraphReply(
            found=True,
            nodes=tuple(
                GraphNode(slug=one.slug, title=one.title, type=page_type(one.type), distance=one.distance)
                for one in graph.nodes
            ),
            edges=tuple(GraphEdge(source=source, target=target) for source, target in graph.edges),
            truncated=graph.truncated,
        )

    async def timeline(self, request: TimelineRequest) -> TimelineReply:
        """Pages by the day they are about, the latest first. Types that there are not narrow nothing.

        Raises:
            Unavailable: the hot tier cannot be read.
        """
        known = {one.value for one in PageType}
        async with self._database.transaction(request.principal) as connection:
            found = await page_overview.timeline(
                connection,
                request.start,
                request.end,
                types=[one for one in request.types if one.casefold() in known],
                vault=request.vault,
                limit=request.limit,
            )
        return TimelineReply(
            entries=tuple(
                TimelineEntry(date=one.day, slug=one.slug, title=one.title, type=page_type(one.type)) for one in found
            )
        )


def fitting(page: PageView, limit: int = REPLY_BYTES) -> PageView:
    """The page itself if it has at most `limit` bytes as JSON; otherwise with as much of its body as fits, and without
    its metadata where these alone are too long."""
    size = len(page.model_dump_json().encode())
    if size <= limit:
        return page
    body = page.body_markdown
    rest = size - _size(body)
    if rest > limit // 2:
        page = page.model_copy(update={"metadata": {}})
        rest = len(page.model_dump_json().encode()) - _size(body)
    while body and (taken := _size(body)) > limit - rest:
        # Characters take one to six bytes; a share of them that is near to what fits, and each time fewer.
        body = body[: max(0, min(len(body) - 1, len(body) * (limit - rest) // taken))]
    return page.model_copy(update={"body_markdown": body})


def _size(text: str) -> int:
    """Bytes of `text` in JSON."""
    return len(json.dumps(text, ensure_ascii=False).encode())

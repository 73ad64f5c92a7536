"""The engine `pages`: passages of the vault's pages, each page once, best first."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime

from pydantic import JsonValue

from cortex_contracts.errors import CortexError
from cortex_contracts.rpc.engine import (
    PAGES,
    EngineAskReply,
    EngineAskRequest,
    EngineHealth,
    EngineHealthRequest,
    EngineStatus,
    Hit,
    SourceClass,
)
from cortex_recall.memory_engine import health, without
from cortex_recall.page_query import FoundPage, PageFinder
from cortex_recall.page_snippet import snippet
from cortex_recall.ports import Freshness
from cortex_store.assertions import assertions_of

DATE_FIELDS = ("updated", "modified", "date", "created")
"""Frontmatter that says how old the knowledge on a page is, best first; the time of its sync says only when it came."""


class PageEngine:
    """Answers `ask` and `health` for the pages."""

    def __init__(self, finder: PageFinder, freshness: Freshness) -> None:
        self._finder = finder
        self._freshness = freshness

    async def ask(self, request: EngineAskRequest) -> EngineAskReply:
        """`cortex.v1.rpc.engine.pages.ask`: an engine that cannot answer says `down`, it never fails."""
        try:
            answer = await self._finder.find(request.principal, request.query, request.k)
        except CortexError as error:
            return EngineAskReply(engine=PAGES, status=EngineStatus.DOWN, error=error.message)
        return EngineAskReply(
            engine=PAGES,
            status=EngineStatus.UP,
            hits=tuple(_hit(page, answer.asked) for page in answer.pages),
            error=without(answer.degraded),
        )

    async def health(self, request: EngineHealthRequest) -> EngineHealth:
        """`cortex.v1.rpc.engine.pages.health`."""
        try:
            return health(PAGES, await self._freshness.latest_sync(request.principal))
        except CortexError:
            return EngineHealth(engine=PAGES, status=EngineStatus.DOWN)


def last_seen(frontmatter: Mapping[str, JsonValue], updated_at: datetime) -> datetime:
    """When the knowledge on a page was last touched: what its frontmatter says, else when the page was written."""
    for name in DATE_FIELDS:
        value = frontmatter.get(name)
        if isinstance(value, str):
            try:
                day = date.fromisoformat(value[:10])
            except ValueError:
                continue
            return min(datetime(day.year, day.month, day.day, tzinfo=UTC), updated_at)
    return updated_at


def _hit(page: FoundPage, asked: Mapping[str, float]) -> Hit:
    passage = page.passage
    return Hit(
        engine=PAGES,
        title=passage.title,
        path=f"page:{passage.vault}/{passage.slug}",
        snippet=snippet(passage.text, asked),
        native_score=page.ranked.score,
        relevance=page.ranked.relevance,
        last_seen=last_seen(passage.frontmatter, passage.updated_at),
        # The gateway counts a file that is older than 30 days as an older note.
        source_class=SourceClass.RECENT_FILE,
        assertions=assertions_of(passage.title, passage.frontmatter),
    )

"""The engine `pages`: passages of the vault's pages, each page once, best first."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Protocol

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
from cortex_recall.page_ranking import content_terms, fused, relevance
from cortex_recall.passage import SNIPPET_LENGTH, snippet
from cortex_recall.ports import Freshness, Pages
from cortex_recall.query_vector import VectorSource
from cortex_store.assertions import assertions_of
from cortex_store.page_search import PageCandidate

DATE_FIELDS = ("updated", "modified", "date", "created")
"""Frontmatter that says how old the knowledge on a page is, best first; the time of its sync says only when it came."""
PAGE_IMPORTANCE = 0.5


class HotPages(Pages, Freshness, Protocol):
    """What the engine needs of the hot tier."""


class PageEngine:
    """Answers `ask` and `health` for the pages."""

    def __init__(self, hot_tier: HotPages, vectors: VectorSource) -> None:
        self._hot_tier = hot_tier
        self._vectors = vectors

    async def ask(self, request: EngineAskRequest) -> EngineAskReply:
        """`cortex.v1.rpc.engine.pages.ask`: an engine that cannot answer says `down`, it never fails."""
        try:
            vector = await self._vectors.of(request.query)
            found = await self._hot_tier.pages(request.principal, request.query, vector)
        except CortexError as error:
            return EngineAskReply(engine=PAGES, status=EngineStatus.DOWN, error=error.message)
        words = content_terms(request.query)
        answering = (hit for candidate in found if (hit := _hit(candidate, words)).relevance > 0)
        hits = sorted(answering, key=lambda hit: (-hit.native_score, hit.path))
        return EngineAskReply(
            engine=PAGES, status=EngineStatus.UP, hits=tuple(hits[: request.k]), error=without(vector.degraded)
        )

    async def health(self, request: EngineHealthRequest) -> EngineHealth:
        """`cortex.v1.rpc.engine.pages.health`."""
        try:
            return health(PAGES, await self._hot_tier.latest_sync(request.principal))
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


def _hit(candidate: PageCandidate, words: tuple[str, ...]) -> Hit:
    headings = " › ".join(candidate.heading_path)
    return Hit(
        engine=PAGES,
        title=candidate.title,
        path=f"page:{candidate.vault}/{candidate.slug}",
        snippet=snippet(candidate.passage, SNIPPET_LENGTH),
        native_score=fused((candidate.by_vector, candidate.by_words), PAGE_IMPORTANCE),
        relevance=relevance(words, f"{candidate.title} {headings} {candidate.passage}", candidate.by_vector),
        last_seen=last_seen(candidate.frontmatter, candidate.updated_at),
        # The gateway counts a file that is older than 30 days as an older note.
        source_class=SourceClass.RECENT_FILE,
        assertions=assertions_of(candidate.title, candidate.frontmatter),
    )

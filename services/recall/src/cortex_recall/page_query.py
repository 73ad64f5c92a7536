"""Searching pages: embed → passages by words and by meaning → fusion, the best of each page → what is shown of it.

Never a language model; without the embedder by words alone, and it says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.pages import PageResult, PageSearch, QueryPagesReply, QueryPagesRequest
from cortex_ranking.calibration import Backgrounds
from cortex_ranking.fusion import Recipe
from cortex_ranking.query_vector import QueryVector, VectorSource
from cortex_recall.page_matches import asked, highlights
from cortex_recall.page_ranking import RankedPage, ranked
from cortex_recall.page_snippet import snippet
from cortex_recall.ports import Transactions
from cortex_recall.stopwatch import Stopwatch
from cortex_store import page_search, terms
from cortex_store.page_search import PageQuestion, Passage
from cortex_store.page_views import page_type

DEGRADED: Final = "the embedder is away: the pages were searched by words only"


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that answers, with its best passage."""

    ranked: RankedPage
    passage: Passage


@dataclass(frozen=True, slots=True)
class Answer:
    """Pages, best first. `asked`: see `page_matches.asked`; `degraded`: what did not take part."""

    pages: tuple[FoundPage, ...]
    asked: Mapping[str, float]
    degraded: tuple[str, ...]


class PageFinder:
    """Finds pages for the query RPC and for the engine `pages`."""

    def __init__(
        self, database: Transactions, vectors: VectorSource, recipe: Recipe, backgrounds: Backgrounds | None = None
    ) -> None:
        self._database = database
        self._vectors = vectors
        self._recipe = recipe
        self._backgrounds = backgrounds or Backgrounds()

    async def find(
        self,
        principal: Principal,
        question: str,
        limit: int,
        *,
        by_words: bool = False,
        vault: str | None = None,
        types: Sequence[str] = (),
        tags: Sequence[str] = (),
        watch: Stopwatch | None = None,
    ) -> Answer:
        """The `limit` best pages that the principal may read (see `page_ranking.ranked`). `by_words`: the embedder is
        not asked.

        Raises:
            Unavailable: the hot tier cannot be read.
        """
        watch = watch or Stopwatch()
        vector = QueryVector(None, "") if by_words else await self._vectors.of(question)
        watch.lap("embed")
        async with self._database.transaction(principal) as connection:
            found = await page_search.search(
                connection,
                PageQuestion(
                    question,
                    vector.vector,
                    vector.model,
                    None if vault is None else (vault,),
                    tuple(types),
                    tuple(tags),
                    max(limit, page_search.CANDIDATES),
                ),
            )
            watch.lap("search")
            background = self._backgrounds.foreign(vector.vector, terms.script(question))
            best = ranked(question, found, self._recipe, background, by_words=by_words)[:limit]
            watch.lap("rank")
            passages = await page_search.passages(connection, [page.candidate.chunk for page in best])
        watch.lap("passages")
        return Answer(
            # A page that was deleted a moment ago is none.
            tuple(FoundPage(page, passages[chunk]) for page in best if (chunk := page.candidate.chunk) in passages),
            asked(question, found.idfs),
            () if by_words else vector.degraded,
        )


class PageQuery:
    """The query RPC."""

    def __init__(self, finder: PageFinder) -> None:
        self._finder = finder

    async def query(self, request: QueryPagesRequest) -> QueryPagesReply:
        """The pages that answer, best first; none is no error.

        Raises:
            Unavailable: the hot tier cannot be read.
        """
        watch = Stopwatch()
        answer = await self._finder.find(
            request.principal,
            request.query,
            request.limit,
            by_words=request.search is PageSearch.LEXICAL,
            vault=request.vault,
            types=request.types,
            tags=request.tags,
            watch=watch,
        )
        results = tuple(_result(page, answer.asked) for page in answer.pages)
        watch.lap("snippets")
        stages = watch.laps()
        return QueryPagesReply(
            results=results,
            took_ms=round(sum(stages.values()), 3),
            stages=stages,
            degraded=DEGRADED if answer.degraded else None,
        )


def _result(page: FoundPage, wanted: Mapping[str, float]) -> PageResult:
    passage = page.passage
    return PageResult(
        vault=passage.vault,
        slug=passage.slug,
        title=passage.title,
        type=page_type(passage.type),
        score=page.ranked.score,
        snippet=snippet(passage.text, wanted) or snippet(passage.title, wanted),
        highlights=highlights(passage.text, wanted) or highlights(passage.title, wanted),
    )

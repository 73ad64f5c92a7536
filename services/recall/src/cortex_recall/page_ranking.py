"""Ranking of pages: what the evidence of their passages says together, and scores as consumers read them. Pure.

The evidence is fused as that of memories is (`fusion`): the share of the best possible BM25 score, and how far the
cosine rises above that of unrelated texts. A passage has no turns beside it and nobody speaks in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from cortex_ranking.fusion import Evidence, Recipe, fuse
from cortex_ranking.question import STOP_WORDS_DOUBT, says_something
from cortex_store import terms
from cortex_store.page_search import PageCandidate, PagesFound

NAMED: Final = 0.25
"""How much the page that is called what the question says is ahead of the best other one: it is the first, and the
others keep at least 0.8 of its score."""
FLOOR: Final = 0.65
"""Of the floor of the recipe, which was measured on turns of conversations with their sessions behind them. Of 400
questions to paragraphs in two languages (pages of five) 3.3 % find no right page with it, with all of the floor 8.3 %;
every nonsense question and two thirds of the off-topic ones still find nothing. The weights of the recipe are right for
pages too: the first page is a right one for 98.5 %, for 96.5 % with reciprocal rank fusion."""
DIGITS: Final = 4
"""Of a score; below that a difference is noise, and the slug decides."""


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A page by its best passage. `relevance`, in [0, 1], compares between questions; `score` with the first only."""

    candidate: PageCandidate
    relevance: float
    score: float


def ranked(
    question: str, found: PagesFound, recipe: Recipe, background: float | None, *, by_words: bool
) -> list[RankedPage]:
    """The pages that answer, best first, each once; equal ones by slug. The first has the score 1.

    `by_words`: the question was searched by words only, because somebody wanted that: every page with one of them is an
    answer. Otherwise nothing below the floor is one, unless it is called what the question says.
    """
    script = terms.script(question)
    evidence = [
        Evidence(
            id=UUID(int=one.chunk),
            lexical=one.lexical,
            cosine=one.cosine,
            foreign=bool(script and one.script) and one.script != script,
        )
        for one in found.candidates
    ]
    best_lexical = found.best_lexical * (1 if by_words or says_something(question) else STOP_WORDS_DOUBT)
    by_chunk = {one.chunk: one for one in found.candidates}
    pages: dict[UUID, RankedPage] = {}
    for scored in fuse(evidence, best_lexical, recipe, background):
        candidate = by_chunk[scored.id.int]
        answers = candidate.lexical > 0 if by_words else scored.relevance >= FLOOR * recipe.floor
        if (answers or candidate.named) and candidate.page not in pages:
            pages[candidate.page] = RankedPage(candidate, scored.relevance, scored.relevance)
    return normalised(list(pages.values()))


def normalised(pages: Sequence[RankedPage]) -> list[RankedPage]:
    """The pages sorted, with scores relative to the first, which has 1; those that the question names are ahead."""
    best = max((page.relevance for page in pages), default=0.0)
    value = {
        page.candidate.page: best + NAMED * max(page.relevance, 0.1) if page.candidate.named else page.relevance
        for page in pages
    }
    first = max(value.values(), default=0.0)
    scored = [
        replace(page, score=round(value[page.candidate.page] / first, DIGITS) if first > 0 else 1.0) for page in pages
    ]
    return sorted(scored, key=lambda page: (-page.score, page.candidate.slug, page.candidate.vault))

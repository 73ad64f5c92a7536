"""Scores of pages: sorted, in [0, 1], the first exactly 1; what is below the floor is no answer."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_ranking.fusion import Recipe
from cortex_recall.page_ranking import RankedPage, normalised, ranked
from cortex_store.page_search import PageCandidate, PagesFound

RECIPE = Recipe(cosine_floor=0.2, cosine_span=0.6, cosine_softness=0.02)


def candidate(
    page: int, lexical: float = 0.0, cosine: float | None = None, chunk: int | None = None, named: bool = False
) -> PageCandidate:
    return PageCandidate(
        chunk=page * 100 if chunk is None else chunk,
        page=UUID(int=page),
        vault="v",
        slug=f"page-{page:03}",
        lexical=lexical,
        cosine=cosine,
        script=1,
        named=named,
    )


def rank(*candidates: PageCandidate, best: float = 10.0, by_words: bool = False) -> list[RankedPage]:
    return ranked("green zebra", PagesFound(candidates, {}, best), RECIPE, None, by_words=by_words)


candidates = st.builds(
    candidate,
    page=st.integers(1, 20),
    lexical=st.just(0.0) | st.floats(0, 12),
    cosine=st.none() | st.floats(-1, 1),
    chunk=st.integers(1, 10_000),
    named=st.booleans(),
)


@settings(deadline=None, max_examples=200)
@given(st.lists(candidates, unique_by=lambda one: one.chunk, max_size=30), st.floats(0.1, 12), st.booleans())
def test_scores_fall_from_exactly_one_and_each_page_comes_once(
    found: list[PageCandidate], best: float, by_words: bool
) -> None:
    pages = rank(*found, best=best, by_words=by_words)
    scores = [page.score for page in pages]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert not pages or scores[0] == 1.0
    assert len({page.candidate.page for page in pages}) == len(pages)
    order = [(-page.score, page.candidate.slug) for page in pages]
    assert order == sorted(order)


def test_a_page_is_as_good_as_its_best_passage() -> None:
    pages = rank(candidate(1, 2.0, 0.3, chunk=1), candidate(1, 8.0, 0.7, chunk=2), candidate(2, 6.0, 0.6))
    assert [(page.candidate.slug, page.candidate.chunk) for page in pages] == [("page-001", 2), ("page-002", 200)]


def test_what_is_below_the_floor_is_no_answer() -> None:
    assert rank(candidate(1, 1.0, 0.2), candidate(2, 0.0, 0.25)) == []
    assert rank() == []


def test_by_words_every_page_with_a_word_answers_and_no_other() -> None:
    pages = rank(candidate(1, 0.5), candidate(2, 0.0), by_words=True)
    assert [page.candidate.slug for page in pages] == ["page-001"]


def test_the_page_that_is_called_so_wins_and_the_others_stay_in_reach() -> None:
    pages = rank(candidate(1, 9.0, 0.9), candidate(2, 3.0, 0.4, named=True), candidate(3, 8.0, 0.8))
    assert [page.candidate.slug for page in pages] == ["page-002", "page-001", "page-003"]
    assert pages[1].score >= 0.8


def test_equal_pages_are_in_the_order_of_their_slugs() -> None:
    pages = rank(candidate(3, 5.0, 0.5), candidate(1, 5.0, 0.5), candidate(2, 5.0, 0.5))
    assert [page.candidate.slug for page in pages] == ["page-001", "page-002", "page-003"]
    assert [page.score for page in pages] == [1.0, 1.0, 1.0]


def test_the_named_page_comes_even_when_nothing_else_says_so() -> None:
    [page] = normalised([RankedPage(candidate(1, named=True), 0.0, 0.0)])
    assert page.score == 1.0

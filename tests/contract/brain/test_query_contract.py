"""Sections 3.1 and 3.3 of the contract: `/query` and `/search`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(360)

QUESTION = "who founded Mill Pond Research"
FOUNDERS = {"pete-shimshock", "ada-weir"}
RESULT = {"slug": str, "title": str, "type": str, "score": (int, float), "snippet": str, "highlights": list}
QUESTIONS = (QUESTION, "brass wheel", "clocks at the quay", "ساعة الماء", "vermilion theodolite")


def says(sentence: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("sentence", [sentence], indirect=True)


@says("3-base-path")
async def test_the_api_is_below_its_base_path(brain: Any) -> None:
    assert str(brain.http.base_url).endswith("/api/v1/brain/")
    assert (await brain.get("/query", q=QUESTION)).status_code == 200


@says("3.1-parameters-as-written")
async def test_the_request_of_the_contract_is_taken_as_it_is_written_there(brain: Any) -> None:
    response = await brain.http.get(
        "/query?q=who%20founded%20Mill%20Pond%20Research&limit=5&type=person,tags=leadership"
    )
    assert response.status_code == 200
    found = response.json()["results"]
    assert {one["slug"] for one in found} == FOUNDERS


@says("3.1-exact-shape")
async def test_a_reply_has_the_shape_of_the_contract_and_nothing_else(brain: Any) -> None:
    body = await brain.json("/query", q=QUESTION)
    assert list(body) == ["results", "took_ms"]
    assert type(body["took_ms"]) is int
    for one in body["results"]:
        assert list(one) == list(RESULT)
        assert all(isinstance(one[key], kind) for key, kind in RESULT.items())
        assert all(isinstance(text, str) for text in one["highlights"])


@says("3.1-score-between-0-and-1")
async def test_scores_are_between_0_and_1(brain: Any) -> None:
    for question in QUESTIONS:
        results = (await brain.json("/query", q=question, limit=20))["results"]
        assert results
        assert all(0 <= one["score"] <= 1 for one in results)


@says("3.1-score-first-is-one")
async def test_the_first_result_has_the_score_1(brain: Any) -> None:
    for question in QUESTIONS:
        assert (await brain.json("/query", q=question))["results"][0]["score"] == 1.0


@says("3.1-sorted-by-score")
async def test_results_come_by_score_with_the_best_first(brain: Any) -> None:
    for question in QUESTIONS:
        results = (await brain.json("/query", q=question, limit=20))["results"]
        assert all(one["score"] >= two["score"] for one, two in pairwise(results))
        assert len({one["slug"] for one in results}) == len(results)


@says("3.1-empty-is-200")
async def test_an_answer_without_results_is_a_200(brain: Any) -> None:
    for path in ("/query", "/search"):
        response = await brain.get(path, q="zzqx vrrkl", type="company", tags="sales")
        assert (response.status_code, response.json()["results"]) == (200, [])
        assert list(response.json()) == ["results", "took_ms"]


@says("3.1-snippet-at-most-300")
async def test_a_snippet_has_300_characters_at_most(brain: Any) -> None:
    lengths = [
        len(one["snippet"])
        for question in QUESTIONS
        for one in (await brain.json("/query", q=question, limit=20))["results"]
    ]
    assert max(lengths) <= 300
    assert max(lengths) > 200  # there is text enough, and it is used


@says("3.1-snippet-centred")
async def test_a_snippet_is_centred_on_the_best_passage(brain: Any) -> None:
    first = (await brain.json("/query", q="vermilion theodolite"))["results"][0]
    assert first["slug"] == "long-survey"
    place = first["snippet"].index("vermilion theodolite")
    assert place < 200
    assert "day 1 " not in first["snippet"]


@says("3.1-limit-default-5")
async def test_without_a_limit_there_are_five_results_at_most(brain: Any) -> None:
    question = "water clock harbour founder survey quay measurements"
    assert len(await brain.slugs("/query", q=question)) == 5
    assert len(await brain.slugs("/query", q=question, limit=7)) > 5


@says("3.1-limit-max-20")
async def test_a_limit_is_20_at_most(brain: Any) -> None:
    assert (await brain.get("/query", q=QUESTION, limit=20)).status_code == 200
    refused = await brain.get("/query", q=QUESTION, limit=21)
    assert (refused.status_code, refused.json()["fields"][0]["field"]) == (422, "limit")


@says("3.1-type-filter")
async def test_types_narrow_the_results_and_have_commas_between_them(brain: Any) -> None:
    results = (await brain.json("/query", q="Mill Pond water clock", type="company,concept", limit=20))["results"]
    assert {one["type"] for one in results} == {"company", "concept"}


@says("3.1-tags-filter")
async def test_tags_narrow_the_results_and_have_commas_between_them(brain: Any) -> None:
    assert set(await brain.slugs("/query", q="Mill Pond founders", tags="founder,leadership", limit=20)) == FOUNDERS


@says("3.1-unknown-filters-ignored")
async def test_unknown_types_and_tags_are_ignored(brain: Any) -> None:
    plain = await brain.slugs("/query", q=QUESTION)
    assert await brain.slugs("/query", q=QUESTION, type="martian") == plain
    assert await brain.slugs("/query", q=QUESTION, tags="no-page-has-this") == plain
    known = await brain.slugs("/query", q=QUESTION, type="person")
    assert await brain.slugs("/query", q=QUESTION, type="person,martian", tags="no-page-has-this") == known


@says("3.1-highlights-occur-in-the-page")
async def test_highlights_occur_in_the_page_as_they_are_told(brain: Any) -> None:
    for question in QUESTIONS:
        for one in (await brain.json("/query", q=question))["results"]:
            page = await brain.page(one["slug"])
            assert all(text in page["title"] + "\n" + page["body_markdown"] for text in one["highlights"])


@says("3.3-same-shape")
async def test_a_search_has_the_shape_of_a_query(brain: Any) -> None:
    query, search = await brain.json("/query", q="brass wheel"), await brain.json("/search", q="brass wheel", limit=10)
    assert list(search) == list(query)
    assert [list(one) for one in search["results"]] == [list(RESULT)] * len(search["results"])
    assert search["results"][0]["score"] == 1.0


@says("3.3-exact-terms")
async def test_a_search_finds_exact_terms(brain: Any) -> None:
    assert await brain.slugs("/search", q="theodolite") == ["long-survey"]
    assert await brain.slugs("/search", q="حداد") == ["أرشيف-القياسات"]


@says("3.3-words-only")
async def test_a_search_goes_by_words_only(brain: Any, unique: Callable[[], str]) -> None:
    # By meaning every page is some way from everything; by words nothing has this one.
    assert await brain.slugs("/search", q=unique()) == []
    assert await brain.slugs("/search", q="timepiece") == []


@says("3.3-limit-10")
async def test_a_search_has_a_limit_of_its_own(brain: Any) -> None:
    assert (await brain.get("/search", q="the", limit=50)).status_code == 200
    assert (await brain.get("/search", q="the", limit=51)).status_code == 422

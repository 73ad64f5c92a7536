"""Where things are in the results of a configured tool."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from cortex_gateway.adapters.configured import filled
from cortex_gateway.adapters.reading import Reading
from cortex_gateway.adapters.records import placed as placed_in
from cortex_gateway.adapters.relevance import Measure, Scale
from cortex_gateway.adapters.result_fields import ResultFields
from cortex_gateway.adapters.tool_answer import ToolAnswer

ANSWER = ToolAnswer(
    {"found": {"list": [{"h": "Crane", "b": ["a", "b"], "w": {"f": 7}, "d": "12", "at": "2026-08-01"}, 3]}}, ""
)


def placed(answer: ToolAnswer, fields: ResultFields) -> Reading:
    return placed_in(answer.data, answer.text, fields)


def test_every_part_is_taken_from_its_place():
    fields = ResultFields(hits="found.list", title="h", snippet="join(' ', b)", path="w.f", score="d", date="at")
    [found] = placed(ANSWER, fields).found
    assert (found.title, found.text, found.path, found.score) == ("Crane", "a b", "7", 12.0)
    assert found.date is not None


def test_a_part_without_a_place_is_read_by_its_usual_name():
    answer = ToolAnswer([{"name": "Crane", "text": "a crane", "metadata": {"path": "yard.md"}, "dist": 0.3}], "")
    [found] = placed(answer, ResultFields(title="name")).found
    assert (found.title, found.text, found.path, found.score) == ("Crane", "a crane", "yard.md", 0.3)
    assert placed(answer, ResultFields(title="name")).distance


def test_a_place_where_nothing_is_gives_nothing():
    assert placed(ANSWER, ResultFields(hits="nothing.here")).found == ()
    assert placed(ANSWER, ResultFields(hits="found.list", title="x", snippet="y")).found == ()
    assert placed(ANSWER, ResultFields(hits="sum(found)")).found == ()


def test_prose_is_read_as_prose_whatever_the_places():
    [found] = placed(ToolAnswer(None, "The crane is stopped."), ResultFields(hits="found.list", title="h")).found
    assert found.text == "The crane is stopped."


@pytest.mark.parametrize(
    "wrong",
    [
        {"hits": "found["},
        {"title": "a b"},
        {"scale": "cosine"},
        {"unrelated": 0.1},
        {"scale": "similarity", "unrelated": 0.9, "perfect": 0.1},
        {"scale": "distance", "unrelated": 0.1, "perfect": 0.9},
        {"scale": "rank", "unrelated": 0.1, "perfect": 0.9},
        {"rows": "x"},
    ],
)
def test_a_wrong_description_is_refused(wrong: dict[str, Any]):
    with pytest.raises(ValidationError):
        ResultFields.model_validate(wrong)


def test_what_scores_are_can_be_said_with_their_ends():
    assert ResultFields().measure is None
    fields = ResultFields(scale=Scale.DISTANCE, unrelated=1.2, perfect=0.1)
    assert fields.measure == Measure(Scale.DISTANCE, ends=(1.2, 0.1))


def test_the_question_and_the_number_go_where_the_template_says():
    template = {"q": "notes: {query}", "n": "{k}", "deep": [{"x": "{query} {k}"}], "flag": True}
    assert filled(template, "a {k} {query}", 5) == {
        "q": "notes: a {k} {query}",
        "n": 5,
        "deep": [{"x": "a {k} {query} 5"}],
        "flag": True,
    }

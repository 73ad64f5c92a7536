"""What MCP tools say, in all the ways that servers have of saying it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types import CallToolResult

from cortex_gateway.adapters.tool_answer import ToolAnswer, read, refusal

DATA = [{"title": "Crane"}, {"title": "Shift"}]


def result(*texts: str, structured: Any = None, **more: Any) -> CallToolResult:
    content = [{"type": "text", "text": text} for text in texts]
    given = {"content": content, **more} | ({} if structured is None else {"structuredContent": structured})
    return CallToolResult.model_validate(given, by_name=False)


@pytest.mark.parametrize(
    "said",
    [
        result(json.dumps(DATA)),
        result(json.dumps(DATA), structured={"result": DATA}),
        result(json.dumps(DATA), structured={"result": json.dumps(DATA)}),
        result("Found 2 notes.", structured={"result": DATA}),
        result(structured={"result": DATA}),
        result(json.dumps({"result": DATA})),
        result(json.dumps({"result": json.dumps(DATA)})),
        result(json.dumps(DATA[0]), json.dumps(DATA[1])),
        result("Here is what I found:", json.dumps(DATA)),
        result(f"```json\n{json.dumps(DATA)}\n```"),
        result("\ufeff" + json.dumps(DATA)),
        result(*json.dumps(DATA, indent=2).split("\n")),
        result(json.dumps(DATA), structured={}),
    ],
    ids=range(13),
)
def test_the_same_data_however_it_is_said(said: CallToolResult) -> None:
    assert read(said).data == DATA


def test_data_with_half_a_character_is_read() -> None:
    assert read(result(r'[{"title": "crane \ud83d"}]')).data == [{"title": "crane \ufffd"}]


@pytest.mark.parametrize(
    "text",
    [
        "The answer is too long (119 characters). You can adjust your query or raise the max_answer_chars parameter.",
        "total: 12\nresults: 1\n  HandleRequest Function 10-22 3 1",
        "[1] see the note",
        "{not json}",
        "",
        "42",
        '"a string"',
        "null",
        "[" * 100_000 + "]" * 100_000,
    ],
)
def test_prose_is_text_without_data(text: str) -> None:
    assert read(result(text)) == ToolAnswer(None, text)
    assert read(result(text, structured={"result": text})).data is None


def test_structured_content_of_a_string_is_text_when_there_is_no_other() -> None:
    assert read(result(structured={"result": "only here"})) == ToolAnswer(None, "only here")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "image", "data": "aGk=", "mimeType": "image/png"}], ""),
        ([{"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}], ""),
        ([{"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk="}}], ""),
        ([], ""),
    ],
)
def test_what_is_no_text_has_none(content: list[Any], text: str) -> None:
    said = CallToolResult.model_validate({"content": content}, by_name=False)
    assert read(said) == ToolAnswer(None, text)


RESOURCES = [
    {"type": "resource_link", "uri": "file:///yard/crane.md", "name": "crane.md", "description": "The yard"},
    {"type": "resource_link", "uri": "file:///shift.md", "name": "shift.md", "title": "Shifts"},
    {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
]
"""What a search gives that has its results as resources."""


@pytest.mark.parametrize("introduction", ["", "Found 3 notes."])
def test_resources_are_records_with_a_place(introduction: str) -> None:
    content = [{"type": "text", "text": introduction}] * bool(introduction) + RESOURCES
    assert read(CallToolResult.model_validate({"content": content}, by_name=False)).data == [
        {"title": "crane.md", "uri": "file:///yard/crane.md", "text": "The yard"},
        {"title": "Shifts", "uri": "file:///shift.md", "text": ""},
        {"uri": "file:///a", "text": "inside"},
    ]


def test_resources_beside_a_page_of_prose_or_data_are_not_the_answer() -> None:
    for text, data in (("The crane stands still. " * 20, None), (json.dumps(DATA), DATA)):
        content = [{"type": "text", "text": text}, *RESOURCES[:1]]
        assert read(CallToolResult.model_validate({"content": content}, by_name=False)).data == data


def test_data_in_a_resource_is_read() -> None:
    content = [{"type": "resource", "resource": {"uri": "file:///a", "text": json.dumps(DATA)}}]
    assert read(CallToolResult.model_validate({"content": content}, by_name=False)).data == DATA


def test_an_object_with_a_result_and_more_is_left_as_it_is() -> None:
    data = {"result": DATA, "total": 2}
    assert read(result(json.dumps(data))).data == data


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.text() | values.map(json.dumps), max_size=4), st.none() | st.dictionaries(st.text(), values))
def test_every_result_can_be_read(texts: list[str], structured: Any) -> None:
    answer = read(result(*texts, structured=structured))
    refusal(answer.data)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers()), min_size=2, max_size=4))
def test_a_list_survives_every_way_of_saying_it(data: list[Any]) -> None:
    text = json.dumps(data)
    ways = (result(text), result(structured={"result": data}), result(structured={"result": text}))
    assert all(read(way).data == data for way in ways)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"error": "no index"}, "no index"),
        ([{"error": "Write operations are not allowed in read-only mode", "query": ".."}], "Write operations are not"),
        ([{"error": "Error running query: boom"}], "Error running query: boom"),
        ({"error": {"code": 3, "message": "invalid filter"}}, "invalid filter"),
        ({"error": ["first", "second"]}, "first"),
        ({"error": "project not found", "hint": "Use list_projects", "available_projects": ["a"]}, "project not found"),
        ({"status": "error", "message": "database not available"}, "database not available"),
        ({"status": "ERROR"}, "it failed without a word"),
        ({"isError": True, "detail": "nope"}, "nope"),
        ({"success": False, "reason": "nope"}, "nope"),
        ({"ok": False}, "it failed without a word"),
        ({"error": True, "message": "nope"}, "nope"),
    ],
)
def test_an_error_inside_a_success_is_seen(data: Any, sentence: str) -> None:
    assert str(refusal(data)).startswith(sentence)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        "error",
        DATA,
        {"error": None, "results": []},
        {"error": "", "results": []},
        {"error": "one shard is away", "results": [{"title": "Crane"}]},
        [{"error": "in a note"}, {"title": "another"}],
        {"status": "ok"},
        {"status": "active"},
        {"success": True},
        {"results": [{"error": "of a row"}]},
    ],
)
def test_an_answer_is_no_error(data: Any) -> None:
    assert refusal(data) is None

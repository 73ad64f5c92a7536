"""Results of retrieval servers of any form."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters.records import placed, read
from cortex_gateway.adapters.result_fields import ResultFields
from cortex_gateway.adapters.written_data import written_data

JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["results", "documents", "metadata", "text", "score", "path", "ids", "a/b.md", "x"]), inner
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "data",
    [
        {"results": [{"content": "crane", "source": "yard/crane.md", "score": 0.8}]},
        {"hits": {"hits": [{"_source": {"text": "crane", "path": "yard/crane.md"}, "_score": 0.8}]}},
        {"matches": [{"id": "7", "score": "0.8", "metadata": {"text": "crane", "file": "x", "path": "yard/crane.md"}}]},
        [{"page_content": "crane", "metadata": {"source": "yard/crane.md"}, "relevance": 0.8}],
        [[{"page_content": "crane", "metadata": {"source": "yard/crane.md"}}, 0.8]],
        {"data": {"results": [{"chunk": "crane", "file_path": "yard/crane.md", "similarity": "80 %"}]}},
        {"documents": [{"node": {"text": "crane", "metadata": {"file_path": "yard/crane.md"}}, "score": 0.8}]},
        {"data": [{"filename": "yard/crane.md", "score": 0.8, "content": [{"type": "text", "text": "crane"}]}]},
        {
            "ids": [["1"]],
            "documents": [["crane"]],
            "metadatas": [[{"source": "yard/crane.md"}]],
            "scores": [[0.8]],
        },
        {"text": "crane", "path": "yard/crane.md", "score": 0.8},
        {"query": "?", "total": 1, "response": {"items": [{"body": "crane", "path": "yard/crane.md", "score": 0.8}]}},
    ],
)
def test_one_result_is_read_alike_in_every_form(data: Any):
    reading = read(data, "")
    [found] = reading.found
    assert (found.text, found.path, found.score) == ("crane", "yard/crane.md", 0.8)
    assert not reading.distance


def test_distances_are_told_from_scores_and_dates_are_found():
    reading = read([{"text": "a", "distance": 0.2, "mtime": "2026-08-01", "created_at": "2020-01-01"}], "")
    assert reading.distance
    assert reading.found[0].date == datetime(2026, 8, 1, tzinfo=UTC)
    assert not read([{"text": "a", "distance": 0.2, "score": 0.9}], "").distance


def test_a_mapping_of_files_is_read_as_their_contents():
    reading = read({"yard/crane.md": ["a crane", "the crane"], "b.md": {"text": "x", "score": 0.3}}, "")
    assert [(one.path, one.text) for one in reading.found] == [
        ("yard/crane.md", "a crane"),
        ("yard/crane.md", "the crane"),
        ("b.md", "x"),
    ]


@pytest.mark.parametrize("data", [{}, [], {"results": []}, {"message": "ok", "count": 0}, [None, 3, [], {"id": 3}], 7])
def test_nothing_is_made_of_what_says_nothing(data: Any):
    assert read(data, "").found == ()


def test_a_number_that_no_float_holds_is_no_score():
    [one] = read([{"text": "crane", "score": 10**400, "confidence": -(10**400), "updated_at": 10**400}], "").found
    assert (one.score, one.confidence, one.date) == (None, None, None)


def test_texts_alone_are_results():
    assert [one.text for one in read({"results": ["a", "", "b"]}, "").found] == ["a", "b"]
    assert read("No results found.", "").found == ()


@given(data=JSON, text=st.text(max_size=50))
@settings(deadline=None, max_examples=300)
def test_any_json_is_read_without_failing(data: Any, text: str):
    for one in read(data, text).found:
        assert one.text.strip() or one.title.strip()


def test_a_page_of_text_in_an_object_of_its_own_is_read_as_a_page():
    assert read({"content": "No matches found"}, "").found == ()
    assert [one.path for one in read({"content": "/srv/yard/crane.md\n/srv/b.md"}, "").found] == [
        "/srv/yard/crane.md",
        "/srv/b.md",
    ]


def test_a_graph_of_entities_is_read():
    graph = {
        "entities": [{"name": "Crane", "entityType": "machine", "observations": ["stands at quay 7", "is stopped"]}],
        "relations": [{"from": "Mona", "to": "Crane", "relationType": "owns"}],
    }
    [found] = read(graph, "").found
    assert (found.title, found.text) == ("Crane", "stands at quay 7\nis stopped")


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "crane", "path": "a.md", "score": 0.8}\n{"text": "night", "path": "b.md", "score": 0.3}\n',
        "[{'text': 'crane', 'path': 'a.md', 'score': 0.8}, {'text': 'night', 'path': 'b.md', 'score': 0.3}]",
        "[({'text': 'crane', 'path': 'a.md'}, 0.8), ({'text': 'night', 'path': 'b.md', 'seen': None}, 0.3)]",
    ],
)
def test_data_that_is_no_json_as_a_whole_is_read_as_data(text: str):
    found = read(None, text).found
    assert [(one.text, one.path, one.score) for one in found] == [("crane", "a.md", 0.8), ("night", "b.md", 0.3)]
    placed_there = placed(None, text, ResultFields(path="text")).found
    assert len(placed_there) == 2


@pytest.mark.parametrize(
    "text",
    ["[{a" * 5_000, "['a', __import__('os')]", "[{'a': 1", '{"a": 1}\nand more', "['a'" + ", 'b'" * 60_000 + "]"],
)
def test_what_only_begins_like_data_is_prose(text: str):
    assert written_data(text) is None
    assert len(read(None, text).found) == 1

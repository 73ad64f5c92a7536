"""Serena's answers, as its versions give them and as nothing gives them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters import serena_answers
from cortex_gateway.adapters.code_hits import Symbol
from cortex_gateway.adapters.serena_answers import Match
from cortex_gateway.adapters.tool_answer import ToolAnswer

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["name_path", "name", "kind", "relative_path", "body_location", "start_line", "app.py"])
            | st.text(max_size=8),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def test_symbols_as_2_1_gives_them_count_lines_from_one() -> None:
    found = serena_answers.symbols(
        [
            {
                "name_path": "Brain/put",
                "kind": "Method",
                "relative_path": "app.py",
                "body_location": {"start_line": 4, "end_line": 6},
                "body": "def put(self): ...",
            }
        ]
    )
    assert found == (Symbol("Brain/put", "app.py", "Method", 5, 7, "def put(self): ..."),)


def test_symbols_as_0_1_gave_them_have_numbers_for_kinds_and_ranges_for_lines() -> None:
    location = {"relative_path": "app.py", "range": {"start": {"line": 4, "character": 0}, "end": {"line": 6}}}
    found = serena_answers.symbols([{"name_path": "Brain/put", "kind": 6, "location": location}])
    assert found == (Symbol("Brain/put", "app.py", "Method", 5, 7, ""),)


def test_references_are_grouped_by_file_and_kind() -> None:
    around = '...   9:    b = Brain()\n  >  10:    b.put("hi")\n...  11:    return b'
    symbol = {"name_path": "main", "body_location": {"start_line": 8}, "content_around_reference": around}
    [found] = serena_answers.symbols({"app.py": {"Function": [symbol]}})
    assert found == Symbol("main", "app.py", "Function", 9, None, around)
    around = '10:    b = Brain()\n11:    b.put("hi")\n12:    return b'
    assert serena_answers.piece(found.text) == Match(11, '    b.put("hi")', around)


def test_matching_lines_are_counted_from_one_in_each_of_their_forms() -> None:
    answer = {"app.py": ['  >  10:    b.put("alice")'], "b.py": [{"line": 3, "text": "x"}, 7], "c.py": 12}
    assert serena_answers.lines(answer) == {
        "app.py": (Match(11, '    b.put("alice")', '11:    b.put("alice")'),),
        "b.py": (Match(4, "x", "4:x"), Match(8, "", "8:")),
    }


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"Class": ["Brain"], "Function": ["main"]}, (("Class", "Brain"), ("Function", "main"))),
        (
            {"Class": [{"Brain": {"Method": ["__init__", "put"]}}]},
            (("Class", "Brain"), ("Method", "Brain/__init__"), ("Method", "Brain/put")),
        ),
        ([{"name_path": "Brain", "kind": 5}], (("Class", "Brain"),)),
    ],
)
def test_an_overview_lists_kinds_and_names(answer: object, found: object) -> None:
    assert serena_answers.overview(answer) == found  # type: ignore[arg-type]


def test_an_answer_that_was_too_long_is_known_and_the_shorter_one_in_it_is_read() -> None:
    bare = ToolAnswer(None, "The answer is too long (119 characters). You can adjust your query.")
    shortened = ToolAnswer(None, f'{bare.text}\nShortened result:\n{{"app.py": ["Brain", "Brain/put"]}}')
    assert serena_answers.too_long(bare)
    assert serena_answers.data_of(bare) is None
    assert serena_answers.too_long(shortened)
    found = serena_answers.symbols(serena_answers.data_of(shortened))
    assert found == (Symbol("Brain", "app.py"), Symbol("Brain/put", "app.py"))
    counts = ToolAnswer(None, f'{bare.text}\nMatch counts per file:\n{{"app.py": 3}}')
    assert serena_answers.lines(serena_answers.data_of(counts)) == {}


def test_an_answer_that_speaks_of_length_is_not_too_long() -> None:
    assert not serena_answers.too_long(ToolAnswer({"app.py": ["  > 1: # the answer is too long"]}, ""))


def test_files_are_those_that_it_found() -> None:
    assert serena_answers.files({"files": ["app.py", 3]}) == ("app.py",)
    assert serena_answers.files(None) == ()


@settings(deadline=None, max_examples=200)
@given(JSON, st.text(max_size=200))
def test_any_answer_is_read_without_an_error(data: object, text: str) -> None:
    for answer in (ToolAnswer(data, text), ToolAnswer(None, f"{text}\n{json.dumps(data)}")):  # type: ignore[arg-type]
        said = serena_answers.data_of(answer)
        assert len(serena_answers.symbols(said)) <= serena_answers.MOST_SYMBOLS
        assert len(serena_answers.overview(said)) <= serena_answers.MOST_SYMBOLS
        serena_answers.lines(said)
        serena_answers.files(said)
        serena_answers.too_long(answer)
    serena_answers.piece(text)


def test_an_answer_of_any_depth_is_read() -> None:
    deep: object = "x"
    for _ in range(500):
        deep = [{"a.py": deep}]
    assert serena_answers.symbols(deep) == ()  # type: ignore[arg-type]
    assert serena_answers.overview(deep) is not None  # type: ignore[arg-type]

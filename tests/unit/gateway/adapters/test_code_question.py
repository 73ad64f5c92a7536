"""What a question asks of code."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters.code_question import (
    LONGEST_NAME,
    MOST_NAMES,
    MOST_WORDS,
    Aim,
    coverage,
    pieces,
    read,
    stem,
)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is `put`?", ("put",)),
        ("Where is `Brain.put()` defined?", ("Brain/put",)),
        ("where is RecallService", ("RecallService",)),
        ("what does parseHTTPHeader do", ("parseHTTPHeader",)),
        ("who sets MAX_LOAD?", ("MAX_LOAD",)),
        ("what does main() do", ("main",)),
        ("usage of cortex_gateway.ask.Asker", ("cortex_gateway/ask/Asker",)),
        ("find Foo::bar->baz", ("Foo/bar/baz",)),
        ("Brain/put_page is slow", ("Brain/put_page",)),
        ("من يستدعي الدالة put_page؟", ("put_page",)),
        ("what is __init__ for", ("__init__",)),
        ("`put` or save_page or `get`?", ("put", "get", "save_page")),  # quoted names are the surest
        ("where is the brain", ()),
        ("tea and/or coffee, e.g. green tea", ()),
        ("`two words` here", ()),
        ("", ()),
    ],
)
def test_names_are_known_by_how_they_are_written(question: str, names: tuple[str, ...]) -> None:
    assert read(question).names == names


@pytest.mark.parametrize(
    ("question", "files"),
    [
        ("what is in app.py?", ("app.py",)),
        ("what is in `./src/app.tsx`", ("src/app.tsx",)),
        (r"open src\cmd\main.go", ("src/cmd/main.go",)),
        ("is Node.start defined", ()),
        ("who wrote this.", ()),
    ],
)
def test_files_are_known_by_their_ending(question: str, files: tuple[str, ...]) -> None:
    assert read(question).files == files


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How does the redaction of secrets work?", ("redaction", "secrets")),
        ("Where is the function that saves `Page`s?", ("saves",)),
        ("ما هو تعريف المستودع؟", ("المستودع",)),
        ("what does it do", ()),
    ],
)
def test_the_other_words_are_those_that_mean_something(question: str, words: tuple[str, ...]) -> None:
    assert read(question).words == words


@pytest.mark.parametrize(
    ("question", "aim"),
    [
        ("Who calls Brain.put?", Aim.CALLERS),
        ("where is put used?", Aim.CALLERS),
        ("which functions use the cache", Aim.CALLERS),
        ("what breaks if I change Brain?", Aim.CALLERS),
        ("callers of put", Aim.CALLERS),
        ("من يستدعي الدالة put؟", Aim.CALLERS),
        ("What does main() call?", Aim.CALLEES),
        ("which functions does main use", Aim.CALLEES),
        ("what is called by main", Aim.CALLEES),
        ("What is the architecture of the gateway?", Aim.STRUCTURE),
        ("how is the project organised", Aim.STRUCTURE),
        ("list the HTTP routes", Aim.STRUCTURE),
        ("ما هي بنية المشروع؟", Aim.STRUCTURE),
        ("where is Brain defined", Aim.DEFINITION),
        ("how are pages saved?", Aim.DEFINITION),
    ],
)
def test_what_a_question_is_after(question: str, aim: Aim) -> None:
    assert read(question).aim is aim


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("RecallService/ask_all", ("recall", "service", "ask", "all")),
        ("parseHTTPHeader2", ("parse", "http", "header", "2")),
        ("MAX_LOAD", ("max", "load")),
    ],
)
def test_a_name_is_taken_apart_at_humps_and_underscores(name: str, expected: tuple[str, ...]) -> None:
    assert pieces(name) == expected


@pytest.mark.parametrize(("one", "other"), [("saved", "saving"), ("redaction", "redacts"), ("pages", "page")])
def test_endings_make_no_difference(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_coverage_is_the_share_of_words_that_are_shown() -> None:
    assert coverage(("pages", "saved"), "PageStore.save_page") == 1.0
    assert coverage(("pages", "deleted"), "PageStore", "save_page") == 0.5
    assert coverage(("pages",), "") == 0.0
    assert coverage((), "PageStore") == 0.0


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=300) | st.lists(st.sampled_from(list("`._/:#->()aB \n١é$")), max_size=60).map("".join))
def test_any_text_is_read_within_bounds(question: str) -> None:
    asked = read(question)
    assert len(asked.names) <= MOST_NAMES
    assert len(asked.files) <= MOST_NAMES
    assert len(asked.words) <= MOST_WORDS
    assert all(name and len(name) <= 2 * LONGEST_NAME and not set(name) & set("`\n ") for name in asked.names)
    assert len(set(asked.names)) == len(asked.names)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text(min_size=1, max_size=12), max_size=6).map(tuple), st.text(max_size=80), st.text(max_size=80))
def test_more_text_never_shows_less(words: tuple[str, ...], text: str, more: str) -> None:
    assert 0.0 <= coverage(words, text) <= coverage(words, text, more) <= 1.0

"""Symbols as hits: names, sentences and relevance."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.rpc.engine import SourceClass
from cortex_gateway.adapters import code_hits
from cortex_gateway.adapters.code_hits import CodeHits, Symbol
from cortex_gateway.adapters.code_question import read
from cortex_gateway.adapters.settings import EngineKind, EngineSource

NOW = datetime(2026, 11, 30, tzinfo=UTC)
SOURCE = EngineSource(key="serena", kind=EngineKind.SERENA, url="http://localhost/sse")
PUT = Symbol("Brain/put", "app.py", "Method", 7, 9, "def put(self, slug):\n    self.pages[slug] = 1")
TEXT = st.text(max_size=60)


@pytest.mark.parametrize(
    ("file", "name", "root", "path"),
    [
        ("app.py", "Brain/put", "", "app.py#Brain/put"),
        ("/srv/yard/app.py", "/Brain/put", "/srv/yard", "app.py#Brain/put"),
        ("./src/app.py", "put[1]", "", "src/app.py#put"),
        ("src\\app.py", "", "", "src/app.py"),
    ],
)
def test_one_symbol_has_one_path(file: str, name: str, root: str, path: str) -> None:
    assert code_hits.path_of(file, name, root=root) == path


@pytest.mark.parametrize(
    ("asked", "found", "fits"),
    [
        ("Brain/put", "Brain/put", 1.0),
        ("put", "Brain/put", 1.0),
        ("app/Brain/put", "Brain/put", code_hits.TAIL_FITS),
        ("Brain/put", "Store/put", code_hits.LAST_PART_FITS),
        ("put", "Brain/put_page", code_hits.LEAST_FIT),
        ("put_pages", "put_pages_now", code_hits.LAST_PART_FITS * 9 / 13),
        ("put", "Brain/get", 0.0),
        ("", "Brain", 0.0),
    ],
)
def test_a_name_fits_the_better_the_more_of_it_is_there(asked: str, found: str, fits: float) -> None:
    assert code_hits.fit(asked, found) == pytest.approx(fits)


def test_what_is_named_is_worth_more_than_what_has_the_words_and_that_more_than_what_has_some() -> None:
    named = code_hits.of_symbol(read("`Brain.put`"), PUT)
    worded = code_hits.of_symbol(read("put in the brain"), PUT)
    half = code_hits.of_symbol(read("put in the harbour"), PUT)
    assert named == code_hits.NAMED
    assert named > worded > half > 0.0
    assert code_hits.of_symbol(read("cranes of the harbour"), PUT) == 0.0


def test_a_name_that_is_found_is_worth_less_the_more_else_was_asked() -> None:
    alone = code_hits.of_symbol(read("`Brain.put`"), PUT)
    with_more = code_hits.of_symbol(read("`Brain.put` and the harbour cranes"), PUT)
    assert alone > with_more >= alone / 2


def test_a_word_in_the_name_counts_more_than_in_the_source() -> None:
    around = Symbol("Brain", "app.py", "Class", 1, 9, "class Brain:\n    def put(self): ...")
    question = read("put on the brain")
    assert code_hits.of_symbol(question, PUT) > code_hits.of_symbol(question, around)


def test_a_definition_begins_with_a_sentence_that_can_stand_alone() -> None:
    hit = CodeHits(SOURCE, NOW, 1.0).definition(PUT, 0.9)
    assert hit.title == "method Brain.put in app.py, lines 7-9"
    assert hit.snippet.splitlines()[0] == "Method Brain.put is defined in app.py, lines 7-9."
    assert (hit.engine, hit.path, hit.last_seen) == ("serena", "app.py#Brain/put", NOW)
    assert (hit.source_class, hit.confidence, hit.native_score) == (SourceClass.RECENT_FILE, 1.0, 0.9)


def test_a_use_outside_of_any_symbol_is_the_files() -> None:
    hit = CodeHits(SOURCE, NOW, 1.0).use(Symbol("pages", "store/pages.py", "File"), "Brain", 0.9, where=", line 2")
    assert hit.path == "store/pages.py"
    assert hit.snippet == "store/pages.py uses Brain, line 2."
    assert hit.relevance == pytest.approx(0.9 * code_hits.FILE_USES)


def test_what_is_configured_goes_before_what_is_usual() -> None:
    source = SOURCE.model_copy(update={"confidence": 0.5, "source_class": SourceClass.OLDER_NOTE})
    hit = CodeHits(source, NOW, 1.0).definition(PUT, 0.9)
    assert (hit.confidence, hit.source_class) == (0.5, SourceClass.OLDER_NOTE)


def test_a_line_of_code_stands_behind_its_sentence_and_more_of_it_in_a_fence() -> None:
    assert code_hits.with_code("It is so", "") == "It is so."
    assert code_hits.with_code("It is so", "LIMIT = 4\n") == "It is so: LIMIT = 4"
    assert code_hits.with_code("It is so", "a\nb") == "It is so.\n\n```\na\nb\n```"
    assert code_hits.with_code("It is so", "```\nb") == "It is so.\n\n~~~\n```\nb\n~~~"


def test_source_is_cut_at_a_lines_end() -> None:
    text = "\n".join(f"line {number}" for number in range(1_000))
    cut = code_hits.source(text)
    assert len(cut) <= code_hits.SOURCE_LENGTH + 2
    assert text.startswith(cut.removesuffix("\n…") + "\n")
    assert code_hits.source("short\n") == "short"


def test_the_best_come_first_and_each_path_once() -> None:
    made = CodeHits(SOURCE, NOW, 1.0)
    hits = [made.hit("a", "a.py", "", 0.2), made.hit("b", "b.py", "", 0.5), made.hit("a", "a.py", "", 0.9)]
    assert [(hit.path, hit.relevance) for hit in code_hits.best(hits, 5)] == [("a.py", 0.9), ("b.py", 0.5)]
    assert len(code_hits.best(hits, 1)) == 1


@settings(deadline=None, max_examples=100)
@given(TEXT, TEXT, TEXT, TEXT, st.none() | st.integers(1, 10**6))
def test_any_symbol_of_any_question_is_a_hit(question: str, name: str, file: str, text: str, first: int | None) -> None:
    symbol = Symbol(name, file, "Method", first, first, text)
    relevance = code_hits.of_symbol(read(question), symbol)
    assert 0.0 <= relevance <= code_hits.NAMED
    hit = CodeHits(SOURCE, None, 1.0).definition(symbol, relevance)
    assert hit.relevance == relevance

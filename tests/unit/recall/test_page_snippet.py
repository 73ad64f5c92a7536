"""Snippets: whole words in any script, around what was asked, never longer than they may be."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.rpc.pages import SNIPPET_CHARS
from cortex_recall.page_matches import asked
from cortex_recall.page_snippet import ELLIPSIS, snippet
from cortex_store import lexical, terms

LATIN = st.from_regex(r"[a-zA-Zéüß]{1,12}", fullmatch=True)
ARABIC = st.from_regex(r"[ء-ي]{1,9}", fullmatch=True)
CHINESE = st.text(alphabet="的一是在不了有和人这中大为上个国我以要他时来用们", min_size=1, max_size=30)
SPACED = st.lists(LATIN | ARABIC, min_size=1, max_size=150)
ANY = st.text(max_size=900)
SEPARATOR = st.sampled_from((" ", "  ", "\n", "\n\n", "\t", ", ", ". "))


def worth(question: str) -> dict[str, float]:
    return asked(question, {lexical.term_hash(stem): 1.0 for stem in terms.content_terms(question)})


def inside(cut: str) -> str:
    return cut.removeprefix(ELLIPSIS).removesuffix(ELLIPSIS)


@settings(deadline=None, max_examples=200)
@given(ANY, st.text(max_size=40), st.integers(20, SNIPPET_CHARS))
def test_a_snippet_is_a_piece_of_the_text_on_one_line_within_its_length(text: str, question: str, length: int) -> None:
    cut = snippet(text, worth(question), length)
    assert len(cut) <= length
    assert cut == " ".join(cut.split())
    assert inside(cut) in " ".join(text.split())
    assert bool(cut) == bool(text.split())


@settings(deadline=None, max_examples=150)
@given(SPACED, st.data())
def test_a_snippet_has_whole_words_and_one_that_was_asked_for(words: list[str], data: st.DataObject) -> None:
    separators = [data.draw(SEPARATOR) for _ in words]
    text = "".join(word + separator for word, separator in zip(words, separators, strict=True))
    question = data.draw(st.sampled_from(words))
    cut = inside(snippet(text, worth(question), 100))
    assert set(cut.split()) <= set(text.split())
    if worth(question):
        assert set(terms.analyse(cut)) & worth(question).keys()


@settings(deadline=None, max_examples=100)
@given(st.lists(CHINESE, min_size=20, max_size=60), st.data())
def test_without_spaces_it_is_cut_at_punctuation(clauses: list[str], data: st.DataObject) -> None:
    text = "，".join(clauses) + "。"
    cut = inside(snippet(text, {}, 120))
    assert {clause for clause in cut.rstrip("。").split("，") if clause} <= set(clauses)


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet="กขคงำิีุ้่", min_size=150, max_size=300))
def test_a_character_is_never_taken_apart(text: str) -> None:
    cut = inside(snippet(text, {}, 100))
    end = text.find(cut) + len(cut)
    assert end == len(text) or not unicodedata.category(text[end]).startswith("M") or not cut


def test_a_short_text_comes_whole() -> None:
    assert snippet("Inês\nowns  the Billing API.", worth("billing")) == "Inês owns the Billing API."


def test_what_was_asked_stands_in_the_middle() -> None:
    text = " ".join([*(f"before{n}" for n in range(200)), "zebra", *(f"after{n}" for n in range(200))])
    cut = snippet(text, worth("where is the zebra"))
    assert 250 < len(cut) <= SNIPPET_CHARS
    assert cut.startswith(ELLIPSIS)
    assert cut.endswith(ELLIPSIS)
    assert abs(cut.index("zebra") - len(cut) / 2) < 40


def test_the_passage_with_most_of_what_was_asked_is_shown() -> None:
    text = " ".join(["zebra", *["filler"] * 100, "the zebra eats grass", *["filler"] * 100])
    assert "zebra eats grass" in snippet(text, worth("does a zebra eat grass"))


def test_repeating_one_word_is_not_worth_more_than_two_words() -> None:
    text = " ".join([*["zebra"] * 20, *["filler"] * 100, "zebra grass", *["filler"] * 100])
    assert "zebra grass" in snippet(text, worth("zebra grass"))


@pytest.mark.parametrize("text", ["x" * 1000, "https://example.org/" + "a/b" * 300, "👩‍👩‍👧" * 120])
def test_an_endless_word_is_cut_where_it_must_be(text: str) -> None:
    cut = snippet(text, {})
    assert len(cut) <= SNIPPET_CHARS
    assert text.startswith(inside(cut))
    assert len(cut) > 100


def test_without_any_word_of_the_question_it_is_the_beginning() -> None:
    text = " ".join(f"word{number}" for number in range(200))
    assert snippet(text, worth("elephant")).startswith("word0 word1 ")


def test_the_end_of_a_text_has_no_ellipsis() -> None:
    text = " ".join([*["filler"] * 100, "zebra"])
    cut = snippet(text, worth("zebra"))
    assert cut.startswith(ELLIPSIS)
    assert cut.endswith("filler zebra")

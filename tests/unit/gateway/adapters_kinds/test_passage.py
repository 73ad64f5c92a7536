"""The part of a long text that a question is about."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters.passage import passage

FILLER = "Sheep graze upon the dike all day long. " * 60


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Where is the harbour crane?", "The harbour crane stands at quay 7."),
        ("أين رافعة الميناء؟", "رافعة الميناء عند الرصيف السابع."),
    ],
)
def test_the_piece_holds_the_sentence_that_shares_most_words(question: str, sentence: str):
    found = passage(question, f"The harbour is old.\n{FILLER}\n{sentence}\n{FILLER}")
    assert sentence in found
    assert len(found) <= 600
    assert found[0] == found[-1] == "…"


def test_a_short_text_stays_as_it_is_and_a_text_about_something_else_is_its_beginning():
    assert passage("crane", "  a\nb ") == "a\nb"
    assert passage("crane", FILLER).startswith("Sheep graze")


def test_no_word_is_cut_where_there_are_words():
    found = passage("crane", FILLER + " the crane " + FILLER).strip("…")
    assert set(found.replace(".", "").split()) <= set((FILLER + " the crane").replace(".", "").split())


@given(text=st.text(max_size=3_000), question=st.text(max_size=60), length=st.integers(20, 400))
@settings(deadline=None, max_examples=150)
def test_a_piece_is_never_longer_than_asked_and_never_made_up(text: str, question: str, length: int):
    found = passage(question, text, length)
    assert len(found) <= length
    assert found.strip("…").strip() in text.replace("…", "") or found.strip("…") in text

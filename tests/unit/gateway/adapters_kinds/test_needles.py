"""Pieces of words that a server without a search looks for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters.needles import MOST, needles


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which policies apply?", "one policy applies"),
        ("Where are the services?", "the service runs"),
        ("أين تعمل الخدمات؟", "هذه خدمة"),
        ("من كتب أحمد", "كتبه أحمد"),
        ("من كتب احمد", "كتبه احمد"),
        ("what about svc-auth-2", "svc-auth-2 is down"),
    ],
)
def test_some_needle_is_in_a_text_with_another_form_of_the_word(question: str, text: str):
    assert any(form in text for forms in needles(question) for form in forms)


def test_words_without_meaning_are_not_looked_for_unless_there_are_no_others():
    assert needles("Where is the crane?") == [("crane",)]
    assert needles("who is it") == [("who",), ("is",), ("it",)]
    assert needles("?! ...") == []


def test_a_word_that_folds_to_other_letters_has_all_its_spellings():
    assert needles("أحمد") == needles("احمد") == [("احمد", "أحمد", "إحمد")]


@given(st.text(max_size=200))
@settings(deadline=None, max_examples=300)
def test_needles_are_few_short_and_hold_nothing_that_could_end_a_string(question: str):
    found = needles(question)
    assert len(found) <= MOST
    assert len(set(found)) == len(found)
    for needle in (form for forms in found for form in forms):
        assert not set("'\"\\`\n\r%") & set(needle)
        assert not any(sign.isspace() for sign in needle)

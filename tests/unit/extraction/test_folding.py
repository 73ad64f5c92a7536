"""Folding, which writer and reader share."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_extraction.folding import align, fold, key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("ﬁle", "file"),
        ("القَاهِرَة", "القاهره"),
        ("إلى", "الي"),
        ("مـــارس", "مارس"),
        ("٢٠٢٤", "2024"),
        ("کتاب", "كتاب"),
    ],
)
def test_spellings_of_one_word_fold_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_a_key_has_no_punctuation_around_its_words() -> None:
    assert key("  «Dr. O’Brien», (Jr.)! ") == "dr o'brien jr"
    assert key("#123 @alice /etc") == "#123 @alice /etc"
    assert key("?!") == ""


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(), max_size=60))
def test_folding_is_final_and_alignment_keeps_every_place(text: str) -> None:
    assert key(key(text)) == key(text)
    aligned = align(text)
    assert len(aligned.folded) == len(aligned.origin)
    assert list(aligned.origin) == sorted(aligned.origin)

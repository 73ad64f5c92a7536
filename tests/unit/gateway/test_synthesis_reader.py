"""Sentences of a model come out whole, however its pieces are cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.synthesis_reader import MAX_UNFINISHED, SentenceReader

WRITTEN = {
    "Hermes is stopped [r1]. Nile runs [r2].": ["Hermes is stopped [r1].", "Nile runs [r2]."],
    "Hermes is stopped. [r1] Nile runs. [r2][r3]": ["Hermes is stopped [r1].", "Nile runs [r2][r3]."],
    "Hermes is stopped.[r1] Nile runs.[r2]": ["Hermes is stopped [r1].", "Nile runs [r2]."],
    "Is it? [r1] No.": ["Is it [r1]?", "No."],
    "- One [r1]\n- Two [r2]\n\nThree [r3]": ["- One [r1]", "- Two [r2]", "Three [r3]"],
    "Dr. Smith runs v1.2.3 of app.py [r1]. Done [r2].": ["Dr. Smith runs v1.2.3 of app.py [r1].", "Done [r2]."],
    "هل توقف؟ [r1] نعم. [r2]": ["هل توقف [r1]؟", "نعم [r2]."],
    "<think>Let me see. [r1]</think>Nile runs [r1].": ["Nile runs [r1]."],
    "<think>never closed. [r1] And so on.": [],
    "It was thinking. [r1]</think>\n\nNile runs [r1].": ["Nile runs [r1]."],
    "a < b and c <t [r1]. Two <b> [r2].": ["a < b and c <t [r1].", "Two <b> [r2]."],
    "No end": ["No end"],
    "": [],
    "   \n \n": [],
    "NOTHING": ["NOTHING"],
}


def read(pieces: list[str]) -> list[str]:
    reader = SentenceReader()
    return [said for piece in pieces for said in reader.feed(piece)] + reader.finish()


@pytest.mark.parametrize("written", WRITTEN)
def test_sentences_have_their_receipts_before_their_stop(written: str) -> None:
    assert read([written]) == WRITTEN[written]
    assert read(list(written)) == WRITTEN[written]


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.sampled_from(
            [
                "Hermes",
                " is",
                " it. ",
                "[r1]",
                "[",
                "r2]",
                " so? ",
                "\n",
                "<think>",
                "<think>Hm. [r1] So.</think>",
                "<",
                "e.g. ",
                "1.2 ",
                "نعم؟ ",
            ]
        ),
        max_size=25,
    ),
    st.lists(st.integers(1, 9), max_size=40),
)
def test_where_the_pieces_are_cut_changes_nothing(words: list[str], sizes: list[int]) -> None:
    text = "".join(words)
    pieces, at = [], 0
    for size in sizes:
        pieces.append(text[at : at + size])
        at += size
    assert read([*pieces, text[at:]]) == read(list(text))


def test_a_sentence_comes_when_the_next_one_begins_and_not_before() -> None:
    reader = SentenceReader()
    assert reader.feed("Hermes is stopped.") == []
    assert reader.feed(" [r1]") == []
    assert reader.feed(" N") == ["Hermes is stopped [r1]."]
    assert reader.feed("ile runs [r2].") == []
    assert reader.finish() == ["Nile runs [r2]."]


def test_what_never_ends_is_given_out_and_not_kept() -> None:
    reader = SentenceReader()
    found = [said for _ in range(100) for said in reader.feed("word " * 20)]
    assert found
    assert all(len(said) <= MAX_UNFINISHED + 100 for said in found)

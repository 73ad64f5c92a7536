"""Sentences are whole: nothing is split inside a name, and what was cut is known to be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.plain_text import SENTENCE_LENGTH, plain, short
from cortex_gateway.sentences import Form, split, units

WHOLE = {
    "Dr. Smith met J. Doe at 5 p.m. in the U.S. office. It works!": [
        "Dr. Smith met J. Doe at 5 p.m. in the U.S. office",
        "It works",
    ],
    "Use v1.2.3 of app.py, see https://a.b/c.html. Then stop.": [
        "Use v1.2.3 of app.py, see https://a.b/c.html",
        "Then stop",
    ],
    "No. 5 is alive. He said no. Then he left... maybe. It costs approx. 5 EUR.": [
        "No. 5 is alive",
        "He said no",
        "Then he left... maybe",
        "It costs approx. 5 EUR",
    ],
    'He said "Stop." Then it stopped. (It was late.) Fine.': [
        'He said "Stop."',
        "Then it stopped",
        "(It was late.)",
        "Fine",
    ],
    "It retries 8 times (1 s … 2 h), then gives up. So… It ends (… or not).": [
        "It retries 8 times (1 s … 2 h), then gives up",
        "So…",
        "It ends (… or not)",
    ],
    "Yahoo! announced it. Really?! Yes.": ["Yahoo! announced it", "Really", "Yes"],
    "التقى د. أحمد بالفريق. توقف هرمز في ٥ مايو؛ ثم عاد. هل عاد؟ نعم!": [
        "التقى د. أحمد بالفريق",
        "توقف هرمز في ٥ مايو؛ ثم عاد",
        "هل عاد",
        "نعم",
    ],
    "これは一つ。これは二つ。": ["これは一つ", "これは二つ"],
    "- one item\n- two items\n  that go on\n1. three. Four.\n": ["one item", "two items that go on", "three", "Four"],
    "A line that was broken because it had become far too long for it\nGoes on here. Ends.": [
        "A line that was broken because it had become far too long for it Goes on here",
        "Ends",
    ],
    "name: hermes\nstatus: stopped\nuptime: 0": ["name: hermes, status: stopped, uptime: 0"],
    "| Service | Port |\n|---|---|\n| Hermes | 8080 |\n| Nile | 9090 |\n\nAfter it.": [
        "Service Hermes, Port 8080",
        "Service Nile, Port 9090",
        "After it",
    ],
    "Intro. | Service | Port | |---|---| | Hermes | 8080 | | Nile | 9090 |": [
        "Intro",
        "Service Hermes, Port 8080",
        "Service Nile, Port 9090",
    ],
    "```bash\nmake down\nmake up\n```\nRun it twice.": ["make down make up", "Run it twice"],
    "**Hermes** is ~~running~~ *stopped*, see [[ops/hermes|the page]], `__init__` and [docs](x.md).": [
        "Hermes is stopped, see the page, __init__ and docs"
    ],
    "-5 degrees. - Item. It is -3 now.": ["-5 degrees", "Item", "It is -3 now"],
    "a <b>bold</b> word<br>and List<String>": ["a bold word and List<String>"],
}


@pytest.mark.parametrize("text", WHOLE)
def test_a_text_has_these_sentences(text: str) -> None:
    assert [unit.text for unit in units(text)] == WHOLE[text]


def test_what_a_sentence_stands_under_goes_with_it() -> None:
    text = "# Hermes\nIt stopped.\n\nSteps:\n- Stop it.\n- Start it.\n\nWho owns it?\nInês does. Since May."
    assert [(unit.text, unit.form, unit.under) for unit in units(text)] == [
        ("Hermes", Form.HEADING, ""),
        ("It stopped", Form.SENTENCE, "Hermes"),
        ("Steps", Form.HEADING, "Hermes"),
        ("Stop it", Form.SENTENCE, "Steps"),
        ("Start it", Form.SENTENCE, "Steps"),
        ("Who owns it", Form.QUESTION, "Hermes"),
        ("Inês does", Form.SENTENCE, "Who owns it?"),
        ("Since May", Form.SENTENCE, "Hermes"),
    ]


def test_a_snippet_that_was_cut_has_fragments_at_its_ends() -> None:
    assert [(unit.text, unit.form) for unit in units("…ing of it. Hermes is stopped. And then the…")] == [
        ("ing of it", Form.FRAGMENT),
        ("Hermes is stopped", Form.SENTENCE),
        ("And then the", Form.FRAGMENT),
    ]


@pytest.mark.parametrize("text", ["", " \n\n ", "---", "…", "***\n\n| |\n", "🙂 !"])
def test_a_text_without_a_word_has_none(text: str) -> None:
    assert [unit for unit in units(text) if unit.form is not Form.FRAGMENT] == []


marks = st.sampled_from(
    [
        "Hermes",
        "is",
        "stopped.",
        "# ",
        "- ",
        "| ",
        "|---|---|",
        "```",
        "\n",
        "**",
        "x: y",
        "…",
        "؟",
        "[r1]",
        "> ",
        "1. ",
    ]
)


@settings(deadline=None, max_examples=200)
@given(st.lists(marks | st.text(max_size=8), max_size=40).map(" ".join))
def test_units_are_plain_and_lose_no_word_of_a_paragraph(text: str) -> None:
    for unit in units(text):
        assert "\n" not in unit.text
        assert any(char.isalnum() for char in unit.text)
        assert "[r1]" not in unit.text
    assert "".join("".join(split(text)).split()) == "".join(text.split())


@given(st.text(alphabet="abc ,;.", max_size=500), st.integers(20, SENTENCE_LENGTH))
def test_what_is_shortened_keeps_whole_words(text: str, length: int) -> None:
    text = plain(text)
    cut = short(text, length)
    assert len(cut) <= length
    if cut != text and cut:
        assert cut.endswith(" …")
        kept = cut.removesuffix(" …")
        assert text.startswith(kept)
        assert not text[len(kept)].isalnum()

"""What is read from a text, and that reading is bounded whatever the text is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.assertions import Relation, extract, related, relation
from cortex_gateway.assertions.extraction import READ_LIMIT
from cortex_gateway.assertions.values import Kind


def claims(text: str, title: str = "") -> list[tuple[str, str]]:
    return [(each.claim, each.value.text) for each in extract(text, title) if each.value.kind is not Kind.CLAUSE]


@pytest.mark.parametrize(
    ("text", "title", "claim", "value"),
    [
        ("Hermes is stopped.", "", "Hermes status", "stopped"),
        ("- **Status:** stopped", "Hermes", "Hermes status", "stopped"),
        ("The API timeout is 30 seconds.", "", "API timeout", "30 seconds"),
        ("Bob owns the billing service.", "", "billing service owner", "Bob"),
        ("Hermes متوقف", "", "Hermes status", "متوقف"),
    ],
)
def test_a_claim_reads_as_a_person_would_name_it(text: str, title: str, claim: str, value: str) -> None:
    assert (claim, value) in claims(text, title)


@pytest.mark.parametrize(
    "text",
    [
        "Is Hermes stopped?",
        "If Hermes is stopped, restart it.",
        "Hermes might be stopped.",
        "Hermes will be stopped on Friday.",
        "Hermes used to be stopped.",
        "Hermes was stopped until March.",
        "For example, Hermes is stopped.",
        'The manual has "Hermes is stopped" in it.',
        "if hermes.status == 'stopped': restart()",
        "```\nstatus: stopped\n```",
        "هل Hermes متوقف؟",
        "ربما Hermes متوقف",
        "TODO: stop Hermes",
    ],
)
def test_what_is_not_said_to_be_so_states_no_value(text: str) -> None:
    assert claims(text) == []


def test_a_statement_knows_its_line() -> None:
    text = "# Hermes\n\nstatus: stopped\nport: 80\n"
    spans = {each.value.text: text[slice(*each.span)] for each in extract(text)}
    assert spans == {"stopped": "status: stopped", "80": "port: 80"}


def test_cells_of_a_table_are_about_the_first_cell_of_their_row() -> None:
    text = "| service | status |\n|---|---|\n| Hermes | up |\n| Zeus | down |"
    assert claims(text) == [("Hermes status", "up"), ("Zeus status", "down")]


def test_only_the_beginning_of_a_text_is_read() -> None:
    assert extract("x " * READ_LIMIT + "\nHermes is stopped.") == ()


WORDS = st.sampled_from(
    "Hermes is not stopped running : = | - 30 s 1.2.3 2026-01-02 at on the of and , . ? \n owner Alice no longer until "
    "was May 9 am % $ ( ) ` \" ' — لا يعمل الخادم متوقف غير المالك عدد ٣٠ ثانية ولا".split(" ")
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=30).map(" ".join))


@settings(deadline=None, max_examples=150)
@given(TEXTS, TEXTS)
def test_any_text_is_read_and_comparison_has_no_sides(one: str, other: str) -> None:
    for stated in extract(one, other[:50]):
        assert stated.topic
        assert 0 <= stated.span[0] <= stated.span[1] <= len(one)
        assert related(stated, stated) is not Relation.CONFLICT
    assert relation(one, other) is relation(other, one)


@pytest.mark.parametrize(
    "piece",
    [
        *("a", " ", "|", "| a ", "a: ", "a=b ", "(", ")(", '"', "`", "- ", "1,", "1.", "1 and ", "not ", "is ", "a - "),
        *("Hermes is up. ", "لا ", "و", "ـ", "10:", "**", "[[", "\n", "a\n", "a|b\n", "a,b\n", '{"a": 1, ', "Dr. "),
        *("x/y/", "a.b.c.", "no longer "),
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    text = piece * (READ_LIMIT // len(piece))
    started = time.process_time()
    extract(text)
    extract(text, text)
    assert time.process_time() - started < 1.0, "milliseconds are usual; a blow-up takes minutes"

"""What is claimed in a context: what people say of how things are, and nothing else that stands there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_decision import Claim, claims
from cortex_decision.contexts import MAX_CHARS, MAX_CLAIMS


def test_sentences_are_claims_in_their_order_each_once() -> None:
    text = "I'm setting up the tunnel. The port is 5433. The port is 5433.\n\nThe host is db-1."
    assert [one.text for one in claims(text)] == [
        "I'm setting up the tunnel.",
        "The port is 5433.",
        "The host is db-1.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Is the port 5433?",
        "هل المنفذ 5433؟",
        "> The port is 5433.",
        "```\nThe port is 5433.\n```",
        "    The port is 5433.",
        "# The port is 5433.",
        "| The port is 5433. |",
        'The log says "the port is 5433" again.',
        "كتب أحدهم: «المنفذ 5433».",
        "Suppose the port is 5433.",
        "Let's say we move. Then the port is 5433.".replace("Let's say", "Imagine"),
        "If we migrate,\nthe port is 5433.",
        "لو انتقلنا فالمنفذ 5433.",
        "The plan:\n- the port is 5433.\n\n- the host is db-1.",
        "assistant: The port is 5433.\nIt really is.",
        "**Assistant:** The port is 5433.",
        "The password is [redacted:password].",
        "The port is [private].",
        f"The port is {'very ' * 80}5433.",
        "The ports:",
    ],
)
def test_what_nobody_claims_is_left_out(text: str) -> None:
    assert claims(text) == ()


def test_speakers_are_those_who_are_known() -> None:
    text = "user: The port is 1.\nMira: The port is 2.\nIt is new.\nDeadline: 5 May.\nassistant: The port is 3."
    assert claims(text, ["Mira", "Omar"]) == (
        Claim("The port is 1."),
        Claim("The port is 2.", "Mira"),
        Claim("It is new.", "Mira"),
        Claim("Deadline: 5 May.", "Mira"),
    )


def test_a_wrapped_sentence_is_one() -> None:
    text = "We do not think that\nthe port is 5433. Nor that\nthe host is db-1.\nThe queue is q-1"
    assert [one.text for one in claims(text)] == [
        "We do not think that the port is 5433.",
        "Nor that the host is db-1.",
        "The queue is q-1",
    ]


def test_items_of_a_list_without_a_heading_are_claims() -> None:
    assert [one.text for one in claims("- The port is 5433.\n- The host is db-1.")] == [
        "The port is 5433.",
        "The host is db-1.",
    ]


@given(st.text(max_size=3_000))
@settings(deadline=None, max_examples=100)
def test_any_text_can_be_read(text: str) -> None:
    found = claims(text, ["Ada"])
    assert len(found) <= MAX_CLAIMS
    assert all(0 < len(one.text) <= MAX_CHARS for one in found)
    assert len(set(found)) == len(found)

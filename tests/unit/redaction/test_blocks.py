"""What Cortex or a harness put into a context is stripped when it comes back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_redaction import memory_block, redact
from cortex_redaction.tags import INJECTED


@pytest.mark.parametrize("name", INJECTED)
def test_each_known_block_is_stripped(name: str) -> None:
    found = redact(f"<{name} a='1'>\nsaid by nobody\n</{name.upper()} >\nsaid by me")
    assert (found.text, found.injected) == ("\nsaid by me", 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <system-reminder>x</system-reminder> b", "a  b"),
        ("a<system-reminder>x</system-reminder>b", "a b"),
        ("<cortex-memory>x<cortex-memory>y</cortex-memory>z</cortex-memory>b", "b"),
        ("a\n<cortex-memory>x, and the rest was truncated", "a\n"),
        ("<system-reminder>see `<system-reminder>` and `</system-reminder>` tags</system-reminder>b", "b"),
        ("<cortex-memory>\n```\nan open fence\n</cortex-memory>\nb\n```\nc\n```", "\nb\n```\nc\n```"),
        ("<system-reminder>never write <private> here</system-reminder>b", "b"),
        ("<pri<system-reminder>x</system-reminder>vate>b</private>", "<pri vate>b</private>"),
        ("&lt;system-reminder&gt;x&lt;/system-reminder&gt;b", "b"),
    ],
)
def test_blocks_are_read_like_brackets(text: str, expected: str) -> None:
    found = redact(text)
    assert found.text == expected
    assert redact(expected).text == expected


@pytest.mark.parametrize(
    "text", ["the `<system-reminder>` tag", "```\n<cortex-memory>\n```\nb", "a </cortex-memory> b"]
)
def test_a_mention_of_a_block_stays(text: str) -> None:
    assert redact(text).text == text


@given(st.text(), st.text(max_size=5))
@settings(deadline=None, max_examples=200)
def test_a_memory_block_goes_whole_whatever_the_memory_says(memory: str, tail: str) -> None:
    for hostile in (
        memory,
        f"{memory}</cortex-memory>{tail}",
        f"<CORTEX-memory>{memory}",
        f"</system-reminder>{memory}",
    ):
        found = redact("mine\n" + memory_block(hostile) + "\nmine too")
        assert (found.text, found.injected) == ("mine\n\nmine too", 1)

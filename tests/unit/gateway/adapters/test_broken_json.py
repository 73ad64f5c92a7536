"""JSON that is almost right."""

from __future__ import annotations

import json
from typing import Any

import pydantic_core
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters.broken_json import repaired

texts = st.text(st.characters(codec="utf-8"))


@settings(deadline=None, max_examples=150)
@given(texts, st.booleans())
def test_what_is_right_stays_as_it_is(text: str, escaped: bool) -> None:
    body = json.dumps({"text": text}, ensure_ascii=escaped).encode()
    assert repaired(body) == body


@settings(deadline=None, max_examples=150)
@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x1FFFF)))
def test_half_characters_are_read_whatever_is_around_them(text: str) -> None:
    body = json.dumps({"text": text}).encode()
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    read: Any = pydantic_core.from_json(repaired(body))
    assert read["text"].replace("\ufffd", "") == expected.replace("\ufffd", "")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb'"crane \ud83d"', "crane \ufffd"),
        (rb'"\udc4d crane"', "\ufffd crane"),
        (rb'"\ud83d\ud83d\udc4d"', "\ufffd\U0001f44d"),
        (rb'"\uD83D\uDC4D"', "\U0001f44d"),
        (rb'"\\ud83d"', r"\ud83d"),
        (rb'"\\\ud83d"', "\\\ufffd"),
        (b'"crane \xff"', "crane \ufffd"),
        (b'"crane \xf0\x9f\x91"', "crane \ufffd"),
        (b'\xef\xbb\xbf"crane"', "crane"),
    ],
)
def test_each_kind_of_half_character(body: bytes, text: str) -> None:
    assert pydantic_core.from_json(repaired(body)) == text

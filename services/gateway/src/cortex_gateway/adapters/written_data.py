"""Data in a text that is no JSON as a whole: JSON line by line, and the lists that `str()` of Python writes. Pure."""

from __future__ import annotations

import ast
from itertools import accumulate
from typing import Final

import pydantic_core
from pydantic import JsonValue

from cortex_gateway.adapters.findings import MOST

LITERAL_LENGTH: Final = 50_000
"""Characters of Python's notation that are read: its parser takes much more time and memory than that of JSON."""
LITERAL_DEPTH: Final = 20
"""Of nested brackets in it."""


def written_data(text: str) -> JsonValue | None:
    """The data of a text; none when it is prose."""
    text = text.strip()
    if text.startswith("{") and "\n" in text:
        return _lines(text)
    return _literal(text) if text.startswith(("[{", "[(", "[[", "['", '["')) else None


def _lines(text: str) -> JsonValue | None:
    try:
        return [pydantic_core.from_json(line) for line in text.splitlines() if line.strip()][:MOST]
    except ValueError:
        return None


def _literal(text: str) -> JsonValue | None:
    nesting = accumulate((sign in "[{(") - (sign in "]})") for sign in text[:LITERAL_LENGTH])
    if len(text) > LITERAL_LENGTH or max(nesting, default=0) > LITERAL_DEPTH:
        return None
    try:
        return _plain(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _plain(value: object) -> JsonValue:
    """A value of Python as JSON has it: of other kinds (bytes, sets, complex numbers) nothing."""
    if isinstance(value, dict):
        return {str(name): _plain(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float) else None

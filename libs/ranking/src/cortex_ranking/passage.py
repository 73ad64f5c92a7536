"""Short forms of a text for people: a title and a snippet that ends at a word."""

from __future__ import annotations

from typing import Final

SNIPPET_LENGTH: Final = 300
"""Longest snippet (brain contract 3.1)."""


def snippet(text: str, length: int) -> str:
    """`text` on one line, at most `length` characters, cut between words."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    head, _, tail = cut.rpartition(" ")
    # A text without spaces (or one endless word) is cut where it must be.
    return (head if head and len(tail) < length // 2 else cut).rstrip(" ,;:.") + "…"


def title(source_kind: str, source_ref: str | None, speaker: str | None) -> str:
    """What to call a memory: where it comes from and who said it."""
    origin = source_ref or source_kind.replace("_", " ")
    return f"{speaker} in {origin}" if speaker and speaker not in origin else origin

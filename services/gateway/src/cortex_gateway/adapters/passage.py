"""The part of a long text that a question is about, in whole words and one piece. Pure.

An engine that gives documents (a memo, a chunk of a page, a graph's node) gives more than a hit holds.
"""

from __future__ import annotations

from typing import Final

from cortex_gateway.adapters.word_places import places
from cortex_store import terms

LENGTH: Final = 600
"""Characters: a few sentences, as much as a receipt shows."""
READ: Final = 50_000
"""Characters of a text that are looked at; what stands behind them is not found."""
ELLIPSIS: Final = "…"


def passage(question: str, text: str, length: int = LENGTH) -> str:
    """At most `length` characters of `text` where most different words of `question` stand close together; its
    beginning when it has none. Line breaks stay: they end sentences and `key: value` lines. An ellipsis stands where
    something is left out."""
    text = text[:READ].strip()
    if len(text) <= length:
        return text
    room = length - 2 * len(ELLIPSIS)
    start = _start(question, text, room)
    end = min(len(text), start + room)
    if end < len(text):
        # At a word's end where there are words: not every script has spaces.
        end = next((at for at in range(end, start + room // 2, -1) if text[at].isspace()), end)
    left = ELLIPSIS if start else ""
    return left + text[start:end].strip() + (ELLIPSIS if end < len(text) else "")


def _start(question: str, text: str, room: int) -> int:
    """Where the piece begins: at the line of its first word if that is near, else at a word."""
    wanted = terms.content_terms(question)
    found = list(places(text, wanted)) if wanted else []
    best, first = 0, 0
    for number, (begin, _, stems) in enumerate(found):
        held = set(stems)
        for _, end, others in found[number + 1 :]:
            if end - begin > room * 2 // 3:
                break
            held |= others
        if len(held) > best:
            best, first = len(held), begin
    if first <= room // 3:
        return 0
    line = text.rfind("\n", first - room // 3, first)
    space = text.rfind(" ", first - room // 3, first - room // 6)
    return (line if line >= 0 else space if space >= 0 else first - 1) + 1

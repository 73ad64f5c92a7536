"""Where the words of a question stand in a text: as `cortex_store.terms.located` finds them, and faster. Pure.

An engine gives a thousand words and a question asks for five. A regular expression finds how those begin, and only the
words around are taken apart and stemmed, and those that hold letters beyond ASCII. A text that is rich in such letters,
and one that a question in them is asked of, is read word by word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from cortex_store import terms

Place = tuple[int, int, frozenset[str]]

FOREIGN: Final = 0.1
"""Share of letters beyond ASCII from which a text is read word by word."""

_BETWEEN: Final = frozenset(" \t\n\r\"'()[]{}<>,;!?*=|\\^~`$%&")
"""What is part of no word to `terms`; of a run between two of them, it finds the words itself."""
_BREAK: Final = re.compile(f"[{re.escape(''.join(sorted(_BETWEEN)))}]")
_FOREIGN_LETTER: Final = re.compile(r"[^\x00-\x7f]")
_OTHER_LETTERS: Final = frozenset({"die", "lie", "tie"})
"""The stems that the English stemmer makes of words that begin with one of their letters alone (`dying`)."""


def places(text: str, wanted: Sequence[str]) -> Iterator[Place]:
    """Begin, end and stems of every word of `wanted` (stems, `terms.content_terms`) in `text`, in order."""
    beginnings = _beginnings(tuple(wanted))
    lowered = text.lower()
    if beginnings is None or len(lowered) != len(text) or len(text.encode()) - len(text) > FOREIGN * len(text):
        yield from terms.located(text, wanted)
        return
    starts = [match.start() for match in beginnings.finditer(lowered)]
    if not text.isascii():
        starts = sorted([*starts, *(match.start() for match in _FOREIGN_LETTER.finditer(text))])
    reached = 0
    for start in starts:
        if start < reached:
            continue
        begin = start
        while begin > reached and text[begin - 1] not in _BETWEEN:
            begin -= 1
        end = _BREAK.search(text, start)
        reached = end.start() if end else len(text)
        for first, last, stems in terms.located(text[begin:reached], wanted):
            yield begin + first, begin + last, stems


@lru_cache(maxsize=256)
def _beginnings(wanted: tuple[str, ...]) -> re.Pattern[str] | None:
    """How the words of `wanted` begin, in lower case; none when they cannot be looked for so."""
    if not wanted or not all(stem.isascii() for stem in wanted) or _OTHER_LETTERS & set(wanted):
        return None
    # A stemmer changes the last letters (`policy`, `polici`), of three the last one (`sky`, `skies`).
    begun = {stem if len(stem) < 3 or not stem.isalpha() else stem[: max(2, len(stem) - 2)] for stem in wanted}
    return re.compile("|".join(map(re.escape, sorted(begun))))

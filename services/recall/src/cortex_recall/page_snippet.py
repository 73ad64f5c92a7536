"""The snippet of a page: what stands around the words of the question, in whole words of any script. Pure functions."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from cortex_contracts.rpc.pages import SNIPPET_CHARS
from cortex_recall.page_matches import Place, places

ELLIPSIS: Final = "…"
_SLACK: Final = 0.4
"""Share of a snippet that may be given up at each end for a better place to cut."""
# Scripts that put no spaces between words: ideographs, kana, Thai, Lao, Burmese, Khmer.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3040-\u30ff\u3105-\u312f\u31a0-\u31ff\u3400-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)
_JOINERS: Final = "\u200c\u200d"


def snippet(text: str, wanted: Mapping[str, float], length: int = SNIPPET_CHARS) -> str:
    """At most `length` characters of `text` on one line, with an ellipsis where something is left out.

    The part whose words of the question (`page_matches.asked`) are worth most together, each counted once, is in its
    middle; without any of them it is the beginning.
    """
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    room = length - 2 * len(ELLIPSIS)
    first, last = _best(places(line, wanted), room)
    start = max(0, min((first + last - room) // 2, len(line) - room - 1))
    if start:
        start = _cut(line, range(start, max(start, min(first, start + int(room * _SLACK))) + 1))
    else:
        room += 1  # no ellipsis before it
    end = start + room
    if end >= len(line) - 1:
        end = len(line)
    else:
        end = _cut(line, range(end, min(end, max(last, end - int(room * _SLACK), start + 1)) - 1, -1))
    kept = line[start:end].strip()
    return (ELLIPSIS if start else "") + kept + (ELLIPSIS if end < len(line) else "")


def _best(found: Sequence[Place], room: int) -> tuple[int, int]:
    """Where the words begin and end that fit into `room` and are worth most together, each stem counted once."""
    best, span, left = 0.0, (0, 0), 0
    held: Counter[str] = Counter()
    worth: dict[str, float] = {}
    for place in found:
        share = place.worth / len(place.stems)
        held.update(place.stems)
        worth |= dict.fromkeys(place.stems, share)
        while place.end - found[left].start > room and found[left] is not place:
            held.subtract(found[left].stems)
            left += 1
        total = sum(worth[stem] for stem, count in held.items() if count > 0)
        if total > best:
            best, span = total, (found[left].start, min(place.end, found[left].start + room))
    return span


def _cut(line: str, at: range) -> int:
    """The first place of `at` where words end: at a space, else beside punctuation, else between characters of a script
    without spaces, else anywhere but inside of a character."""
    for is_cut in (_at_space, _at_punctuation, _between_ideographs, _between_characters):
        for position in at:
            if is_cut(line, position):
                return position
    return at[0]


def _at_space(line: str, position: int) -> bool:
    return line[position - 1].isspace() or line[position].isspace()


def _at_punctuation(line: str, position: int) -> bool:
    return _between_characters(line, position) and any(
        unicodedata.category(char).startswith(("P", "S")) for char in line[position - 1 : position + 1]
    )


def _between_ideographs(line: str, position: int) -> bool:
    return _between_characters(line, position) and bool(
        _UNSPACED.match(line[position]) and _UNSPACED.match(line[position - 1])
    )


def _between_characters(line: str, position: int) -> bool:
    """Whether a new character, as people count them, begins there."""
    return (
        not unicodedata.category(line[position]).startswith("M")
        and line[position] not in _JOINERS
        and line[position - 1] not in _JOINERS
        and unicodedata.name(line[position], "")[:14] != "EMOJI MODIFIER"
    )

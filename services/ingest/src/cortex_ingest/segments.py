"""Segments: what a document is cut into, each with the headings that it stands under. Pure functions.

Where a cut may be has a rank: before a heading first, then before a paragraph, a block of code, the turn of a speaker,
a line, a sentence, a word. A stretch that is too long is cut at its strongest place, and so are its parts. Places of
one rank are ordered by a hash of the text around them, not by where they are. How a stretch is cut depends on what is
in it alone, as in a treap: so a change moves cuts within `LONGEST` characters of it and no others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import pairwise
from typing import Final
from zlib import crc32

ENOUGH: Final = 1_200
"""Characters of a stretch that is not cut further: with its headings about 350 tokens of English, 450 of Arabic; small
embedding models read 512."""
SECTION: Final = 500
"""The same where a heading is to cut at. Measured with the bundled model on a section of 430 characters: two others
beside it take two thirds of what its cosine with a question that it answers is above unrelated ones."""
LONGEST: Final = 1_600
"""Hard limit of a segment. Up to here a stretch stays whole if a cut left a scrap on a side of it."""
SCRAP: Final = 250
SECTION_SCRAP: Final = 60
HEADINGS_CHARS: Final = 400
"""Of the path of headings, from the innermost outwards."""
SEPARATOR: Final = " › "

_HEADING, _PARAGRAPH, _CODE, _SPEAKER, _LINE, _FINER = range(5, -1, -1)
"""Ranks; a heading of level n has `_HEADING` + 6 − n."""

_HEADLINE: Final = re.compile(r"(#{1,6})[ \t]+(\S.*?)(?:[ \t]+#+)?[ \t]*")
_FENCE: Final = re.compile(r"(`{3,}|~{3,})")
_TURN: Final = re.compile(r"(?:[\[(]?\d[\d:.,/ TAPMapm-]{2,24}[\])]?[ \t]+)?\w[^\n:：.!?؟]{0,40}[:：](?:\s|$)")
_SENTENCE: Final = re.compile(r"""(?<=[.!?؟۔…;؛।])["'”’»)\]]*(\s+)|(?<=[。！？；])["'”’»」』）]*(\s*)""")
_WORD: Final = re.compile(r"(\s+)")
_BEFORE, _AFTER = 24, 48
"""Characters around a place that its order is made of."""
_SHIFT: Final = 6
"""In text without gaps one place in 2**6 may be cut."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a document: `text` begins and ends with something visible, `gap` is the white space after it.

    `headings`: the path from the outermost heading inwards, without one that the text itself begins with; `key`: a
    SHA-256 of what is indexed, equal for what need not be indexed again.
    """

    text: str
    gap: str
    headings: str

    @property
    def key(self) -> bytes:
        """Hash of headings and text."""
        return sha256(f"{self.headings}\x00{self.text}".encode()).digest()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a cut may be: between the visible text that ends at `gap` and the one that begins at `start`. `headings`:
    what stands above it; `inside`: and above what is behind its own headings, up to the next place."""

    gap: int
    start: int
    rank: int
    order: int
    headings: str = ""
    inside: str = ""


def segments(text: str) -> tuple[Segment, ...]:
    """The segments of `text`, of 1 to `LONGEST` characters, in order; texts and gaps together are `text` without the
    white space around it. None of nothing."""
    body = text.strip()
    if not body:
        return ()
    first, *inner = _structure(body)
    end = _Place(len(body), len(body), _FINER, 0)
    cuts = sorted({first, end, *_cuts(body, [first, *inner, end])}, key=lambda place: place.start)
    inside = ""
    found = []
    for place, following in pairwise(cuts):
        # A cut inside of a paragraph stands under what the place before it says.
        headings, inside = (place.headings, place.inside) if place.rank > _FINER else (inside, inside)
        found.append(Segment(body[place.start : following.gap], body[following.gap : following.start], headings))
    return tuple(found)


def _cuts(body: str, places: Sequence[_Place]) -> Iterator[_Place]:
    """The chosen ones of the inner `places`, and finer ones where those are not enough; in no order."""
    stretches = [places]
    while stretches:
        stretch = stretches.pop()
        first, last = stretch[0], stretch[-1]
        length = last.gap - first.start
        if length <= SECTION:
            continue
        if len(stretch) == 2:
            if length > LONGEST:
                stretches.append([first, *_finer(body, first, last), last])
            continue
        middle = (first.start + last.gap) / 2
        chosen = max(
            range(1, len(stretch) - 1),
            key=lambda i: (stretch[i].rank, stretch[i].order, -abs(stretch[i].start - middle)),
        )
        cut = stretch[chosen]
        enough, scrap = (SECTION, SECTION_SCRAP) if cut.rank >= _HEADING else (ENOUGH, SCRAP)
        is_scrap = min(cut.gap - first.start, last.gap - cut.start) < scrap
        if length <= enough or (length <= LONGEST and is_scrap):
            continue
        yield cut
        stretches += [stretch[: chosen + 1], stretch[chosen:]]


def _structure(body: str) -> list[_Place]:
    """Places before the lines of `body`; the first one is where it begins. What follows a heading belongs to it: the
    first line below, and a lower heading."""
    code = _code(body)
    places: list[_Place] = []
    path: list[tuple[int, str]] = []
    end = above = 0
    after_code = False
    for number, (start, stop, after_blank) in enumerate(_lines(body)):
        line = body[start:stop]
        in_code = number in code
        headline = None if in_code else _HEADLINE.fullmatch(line)
        level = len(headline[1]) if headline else 7
        if headline:
            path = [(outer, title) for outer, title in path if outer < level]
            rank = _HEADING + 6 - level
        elif in_code and code[number]:
            rank = _LINE
        elif after_blank:
            rank = _PARAGRAPH
        elif in_code or after_code:
            rank = _CODE
        else:
            rank = _SPEAKER if _TURN.match(line) else _LINE
        if not places or not above or level <= above:
            headings = _told(path)
            places.append(_Place(end, start, rank, _order(body, end, start), headings, headings))
        if headline:
            path.append((level, headline[2]))
            places[-1] = replace(places[-1], inside=_told(path))
        above, after_code, end = level if headline else 0, in_code, stop
    return places


def _lines(body: str) -> Iterator[tuple[int, int, bool]]:
    """Begin and end of the visible part of each line that has one, and whether a blank line is before it."""
    at = 0
    blank = False
    for line in body.split("\n"):
        if shown := line.strip():
            start = at + len(line) - len(line.lstrip())
            yield start, start + len(shown), blank
        blank = not shown
        at += len(line) + 1


def _code(body: str) -> dict[int, bool]:
    """Which lines of `_lines` are in a fenced block that is closed; true: not the first of them."""
    found: dict[int, bool] = {}
    fence, opened = "", 0
    for number, (start, stop, _) in enumerate(_lines(body)):
        line = _FENCE.match(body, start, stop)
        if not line:
            continue
        if not fence:
            fence, opened = line[1], number
        elif line[1].startswith(fence) and line.end() == stop:
            found |= {inside: inside > opened for inside in range(opened, number + 1)}
            fence = ""
    return found


def _finer(body: str, first: _Place, last: _Place) -> list[_Place]:
    """Places in a stretch that has none: between its sentences, otherwise between its words, otherwise anywhere."""
    start, stop = first.start, last.gap
    for way in (partial(_gaps, _SENTENCE), partial(_gaps, _WORD), _anywhere):
        found = [
            _Place(gap, at, _FINER, _order(body, gap, at))
            for gap, at in way(body, start, stop)
            if start < gap and at < stop
        ]
        if found:
            return found
    # The same over and over: there is nothing to choose a cut by.
    return [_Place(at, at, _FINER, 0) for at in range(start + LONGEST, stop, LONGEST)]


def _gaps(cut: re.Pattern[str], body: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Begin and end of the white space where `cut` says."""
    for found in cut.finditer(body, start, stop):
        yield found.span(found.lastindex or 0)


def _anywhere(body: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Places in a text without gaps, one in `2**_SHIFT` of them, chosen by what is around; never before a mark that
    belongs to the letter before it."""
    for at in range(start + 1, stop):
        if not crc32(body[at - 6 : at + 6].encode()) & ((1 << _SHIFT) - 1) and not unicodedata.combining(body[at]):
            yield at, at


def _order(body: str, gap: int, start: int) -> int:
    return crc32(f"{body[max(0, gap - _BEFORE) : gap]}\x00{body[start : start + _AFTER]}".encode())


def _told(path: Sequence[tuple[int, str]]) -> str:
    """The path in one line; what is too long loses its outermost headings."""
    return SEPARATOR.join(" ".join(title.split()) for _, title in path)[-HEADINGS_CHARS:].strip()

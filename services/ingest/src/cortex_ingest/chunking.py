"""Chunks: the passages of a page that are embedded and found, each with the headings it stands under."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markdown_it.token import Token

from cortex_ingest import outline
from cortex_ingest.syntax import plain

MAX_CHARS: Final = 1200
"""Longest text of a chunk: with its headings it stays below the 512 tokens of small embedding models (about three
characters a token in Arabic, four in English)."""

MAX_HEADING: Final = 200
"""Longest heading of a path; a longer one is text too."""

# Where a long passage is cut, best place first: between paragraphs, between lines, after a sentence (what is written
# without spaces has none there), between words.
_CUTS: Final = (
    re.compile(r"\n[^\S\n]*\n\s*"),
    re.compile(r"\n+"),
    re.compile(r"(?<=[.!?؟;؛…])\s+|(?<=[。！？；])\s*"),
    re.compile(r"\s+"),
)
MAX_MARKS: Final = 16
"""Characters of what a reader sees as one."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk before it is embedded. `heading_path` runs from the outermost heading inwards."""

    heading_path: tuple[str, ...]
    text: str


def chunk(body: str, tokens: Sequence[Token], max_chars: int = MAX_CHARS) -> tuple[Passage, ...]:
    """Cut `body`, whose tokens are given, at headings and between paragraphs into passages of at most `max_chars`.

    No text is lost: every word is in a passage or in the heading path of one.
    """
    passages: list[Passage] = []
    sections = list(_sections(body, tokens))
    for section, following in zip(sections, [*sections[1:], Section((), ())], strict=True):
        texts = list(_pack(section.blocks, max_chars))
        if not texts and section.path and following.path[: len(section.path)] != section.path:
            # A heading with nothing below it is still something that the page says.
            texts = list(_split(section.path[-1], max_chars))
        passages += [Passage(section.path, text) for text in texts]
    return tuple(passages)


@dataclass(frozen=True, slots=True)
class Section:
    """The top-level blocks directly below one heading, as they are written; the path ends with that heading."""

    path: tuple[str, ...]
    blocks: tuple[str, ...]


def _sections(body: str, tokens: Sequence[Token]) -> Iterator[Section]:
    lines = body.split("\n")
    deepest = outline.deepest_level(int(token.tag[1:]) for token in tokens if _is_heading(token))
    headings: list[tuple[int, str]] = []
    blocks: list[str] = []
    # A block is cut where the next one starts: what makes no token (link definitions) stays with the one before it.
    position = 0
    for place, token in enumerate(tokens):
        if token.level or token.map is None or token.nesting < 0:
            continue
        first, end = token.map
        blocks.append("\n".join(lines[position:first]))
        position = first
        if _is_heading(token) and (level := int(token.tag[1:])) <= deepest:
            yield _section(headings, blocks)
            text = plain(tokens[place + 1])[:MAX_HEADING].strip()
            headings = [(outer, heading) for outer, heading in headings if outer < level]
            headings.append((level, text))
            written = "\n".join(lines[first:end])
            # A heading says more than its path when it has links, comments or too many words.
            blocks, position = ([] if _WORD.findall(written) == _WORD.findall(text) else [written]), end
    yield _section(headings, [*blocks, "\n".join(lines[position:])])


def _section(headings: Sequence[tuple[int, str]], blocks: Sequence[str]) -> Section:
    return Section(tuple(text for _, text in headings if text), tuple(block for block in blocks if block.strip()))


def _is_heading(token: Token) -> bool:
    return token.type == "heading_open" and not token.level


def _pack(blocks: Sequence[str], max_chars: int) -> Iterator[str]:
    """Whole blocks together as long as they fit; a block that is too long by itself is cut."""
    held = ""
    for piece in (piece for block in blocks for piece in _split(block.strip("\n"), max_chars)):
        joined = f"{held}\n\n{piece}" if held else piece
        if len(joined) <= max_chars:
            held = joined
        else:
            yield held
            held = piece
    if held:
        yield held


def _split(text: str, max_chars: int, cuts: Sequence[re.Pattern[str]] = _CUTS) -> Iterator[str]:
    if len(text) <= max_chars:
        if text.strip():
            yield text
        return
    if not cuts:
        start = 0
        while start < len(text):
            end = _between_letters(text, start + max_chars)
            yield text[start:end]
            start = end
        return
    held_from, end = 0, 0
    # Take as many parts together as fit, with what stands between them.
    for start, stop in _parts(text, cuts[0]):
        if stop - held_from > max_chars:
            yield from _split(text[held_from:end], max_chars, cuts[1:])
            held_from = start
        end = stop
    yield from _split(text[held_from:end], max_chars, cuts[1:])


def _parts(text: str, cut: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in cut.finditer(text):
        yield start, gap.start()
        start = gap.end()
    yield start, len(text)


def _between_letters(text: str, end: int) -> int:
    """The nearest place up to `end` that is not within a letter with its marks or an emoji."""
    place = end
    while place > end - MAX_MARKS and text[place - 1 : place + 1] and _joins(text, place):
        place -= 1
    return end if _joins(text, place) else place


def _joins(text: str, place: int) -> bool:
    joined = "\N{ZERO WIDTH JOINER}"
    return place < len(text) and (
        text[place - 1] == joined
        or text[place] == joined
        or unicodedata.category(text[place]) in ("Mn", "Me", "Mc", "Sk")
    )

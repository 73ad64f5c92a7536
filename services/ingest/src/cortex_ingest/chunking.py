"""Chunks: the passages of a page that are embedded and found, each with the headings it stands under."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markdown_it.token import Token

from cortex_ingest.syntax import plain

MAX_CHARS: Final = 1200
"""Longest text of a chunk: with its headings it stays below the 512 tokens of small embedding models (about three
characters a token in Arabic, four in English)."""

# Where a long passage is cut, best place first: between lines, after a sentence, between words.
_CUTS: Final = (re.compile(r"\n+"), re.compile(r"(?<=[.!?؟。！？;؛])\s+"), re.compile(r"\s+"))


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
        if token.type == "heading_open":
            yield _section(headings, blocks)
            level = int(token.tag[1:])
            headings = [(outer, text) for outer, text in headings if outer < level]
            headings.append((level, plain(tokens[place + 1])))
            blocks, position = [], end
    yield _section(headings, [*blocks, "\n".join(lines[position:])])


def _section(headings: Sequence[tuple[int, str]], blocks: Sequence[str]) -> Section:
    return Section(tuple(text for _, text in headings if text), tuple(block for block in blocks if block.strip()))


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
        yield from (text[start : start + max_chars] for start in range(0, len(text), max_chars))
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

"""Reading of long texts in linear time: exports, logs, books.

It finds what the parser finds in ordinary Markdown, as the same tokens: headings that start with `#`, fenced code,
wikilinks, inline links, tags, comments; each link and tag once. Nothing nests, and what is not found is text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from markdown_it.token import Token

from cortex_ingest import outline
from cortex_ingest.notation import TAG_PATTERN, WIKILINK_PATTERN, tag_token, wikilink_token

BLOCK_CHARS: Final = 600
"""Paragraphs are a block together until they have so many characters: half a passage."""
CODE: Final = 0
"""Where headings have their level."""

_LINE = re.compile(
    r"^ {0,3}(?:(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n]*)"
    r"|(?P<marks>#{1,6})(?=[ \t]|$)[ \t]*(?P<heading>[^\n]{0,1000}))$",
    re.MULTILINE,
)
_CLOSING_MARKS = re.compile(r"(?:^|(?<![ \t])[ \t]+)#+[ \t]*$")
_GAP = re.compile(r"\n[ \t]*\n\n*")
_INLINE = re.compile(
    rf"\\.|`+[^`\n]*`*|(?P<comment>%%|<!--)|{WIKILINK_PATTERN}|{TAG_PATTERN}"
    r"|\]\([ \t]*(?:<(?P<angled>[^<>\n]*)>|(?P<bare>(?:[^\s()\\<]|\\.|\([^\s()]*\))+))"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*\)"
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_COMMENT_END: Final = {"%%": "%%", "<!--": "-->"}


def parse(body: str, inline: Callable[[str], list[Token]]) -> list[Token]:
    """The block tokens of `body`, whose line ends are `\n`; `inline` reads the text of a heading."""
    deepest = outline.deepest_level(mark.level for mark in _marks(body) if mark.level != CODE)
    tokens: list[Token] = []
    lines = _Lines(body)
    position = 0
    for mark in _marks(body):
        if mark.level > deepest:
            continue
        tokens += _text(body, position, mark.start, lines)
        position = mark.stop
        first = lines.at(mark.start)
        if mark.level == CODE:
            tokens.append(Token("fence", "code", 0, map=[first, lines.at(mark.stop)], content=""))
        else:
            tag = f"h{mark.level}"
            tokens.append(Token("heading_open", tag, 1, map=[first, first + 1]))
            tokens.append(Token("inline", "", 0, children=inline(mark.heading)))
            tokens.append(Token("heading_close", tag, -1))
    return tokens + _text(body, position, len(body), lines)


@dataclass(frozen=True, slots=True)
class _Mark:
    """A heading or a fenced block, from the start of its first line to that of the line after it."""

    start: int
    stop: int
    level: int
    heading: str = ""


class _Lines:
    """The number of the line at a position; positions come in order."""

    def __init__(self, body: str) -> None:
        self._body = body
        self._position = self._line = 0

    def at(self, position: int) -> int:
        self._line += self._body.count("\n", self._position, position)
        self._position = position
        return self._line


def _marks(body: str) -> Iterator[_Mark]:
    opened: re.Match[str] | None = None
    for found in _LINE.finditer(body):
        if opened is not None:
            closes = found["fence"] and found["fence"].startswith(opened["fence"]) and not found["info"].strip()
            if closes:
                yield _Mark(opened.start(), found.end() + 1, CODE)
                opened = None
        elif found["fence"]:
            opened = found
        else:
            yield _Mark(found.start(), found.end() + 1, len(found["marks"]), _CLOSING_MARKS.sub("", found["heading"]))
    if opened is not None:
        yield _Mark(opened.start(), len(body), CODE)


def _text(body: str, start: int, stop: int, lines: _Lines) -> list[Token]:
    """The paragraphs between two marks; what is in them is found with the first."""
    tokens: list[Token] = []
    position = start
    while position < stop:
        gap = _GAP.search(body, min(position + BLOCK_CHARS, stop), stop)
        end = gap.end() if gap else stop
        if body[position:end].strip():
            first = lines.at(position)
            children = [] if tokens else [*_inline(body, start, stop)]
            tokens.append(Token("paragraph_open", "p", 1, map=[first, lines.at(end)]))
            tokens.append(Token("inline", "", 0, children=children))
            tokens.append(Token("paragraph_close", "p", -1))
        position = end
    return tokens


def _inline(body: str, start: int, stop: int) -> Iterator[Token]:
    position = start
    seen: set[str] = set()
    unclosed: set[str] = set()
    while found := _INLINE.search(body, position, stop):
        position = found.end()
        if found[0] in seen:
            continue
        if not found["comment"]:
            seen.add(found[0])
        if found["target"]:
            yield wikilink_token(found["target"])
        elif found["tag"]:
            if token := tag_token(found["tag"]):
                yield token
        elif href := found["angled"] or found["bare"]:
            yield Token("link_open", "a", 1, attrs={"href": _ESCAPED.sub(r"\1", href)})
        elif (mark := found["comment"]) and mark not in unclosed:
            end = body.find(_COMMENT_END[mark], position, stop)
            if end < 0:
                unclosed.add(mark)
            else:
                position = end + len(_COMMENT_END[mark])

"""The Markdown that vaults are written in: CommonMark with tables, and Obsidian's wikilinks and inline tags."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

WIKILINK: Final = "wikilink"
TAG: Final = "tag"

_WIKILINK = re.compile(r"!?\[\[([^\[\]\n]+)\]\]")
# Obsidian: letters of any script, digits, `_`, `-` and `/` for nesting, and at least one that is no digit.
_TAG = re.compile(r"#([\w/-]*[^\W\d][\w/-]*)")
_BEFORE_TAG = re.compile(r"[\s(\[{,;:،؛]")


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.inline.ruler.before("link", WIKILINK, _wikilink)
    parser.inline.ruler.before("link", TAG, _tag)
    return parser


def parse(body: str) -> list[Token]:
    """The block tokens of `body`, their inline tokens as children; code is never read as links, tags or headings."""
    return _parser().parse(body)


def plain(inline: Token) -> str:
    """What a reader sees of an inline token: its text without markup."""
    parts = []
    for child in inline.children or ():
        if child.type in ("text", "code_inline", WIKILINK):
            parts.append(child.content)
        elif child.type == TAG:
            parts.append(child.markup + child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return "".join(parts).strip()


def _wikilink(state: StateInline, silent: bool) -> bool:
    found = _WIKILINK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        target, _, label = found[1].replace("\\|", "|").partition("|")
        token = state.push(WIKILINK, "", 0)
        token.content = label.strip() or target.strip()
        token.attrSet("target", target.strip())
    state.pos = found.end()
    return True


def _tag(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "#" or (state.pos and not _BEFORE_TAG.match(state.src, state.pos - 1)):
        return False
    found = _TAG.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        token = state.push(TAG, "", 0)
        token.markup = "#"
        token.content = found[1]
    state.pos = found.end()
    return True

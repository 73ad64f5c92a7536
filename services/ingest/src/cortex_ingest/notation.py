"""Obsidian's notation beside CommonMark, as rules of the parser: wikilinks, inline tags and comments."""

from __future__ import annotations

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

WIKILINK: Final = "wikilink"
TAG: Final = "tag"
COMMENT: Final = "comment"

MAX_TAG: Final = 100
"""Characters of a tag; a longer run after `#` is text."""

WIKILINK_PATTERN: Final = r"!?\[\[(?P<target>[^\[\]\n]+)\]\]"
# Letters of any script with their marks, digits, emoji with their joiners, `_`, `-`, and `/` for nesting: what is no
# space and no punctuation of ASCII, Latin-1, Arabic, CJK, or of all scripts.
TAG_PATTERN: Final = (
    r"(?<![^\s(\[{,;:،؛*_~\"'“‘«「『（【>|])#(?P<tag>[^\s\x00-,.:-@\[-^`{-©«-¬®-±´¶-¹»-¿"
    r"،؛؟٪٫٬۔\u2000-\u200b\u200e-\u206f\u2e00-\u2e7f\u3000-\u3003\u3008-\u3020\u3030"
    r"\ufeff\ufffd！-／：-＠［-＾｀｛-･]+)"
)

_WIKILINK = re.compile(WIKILINK_PATTERN)
_TAG = re.compile(TAG_PATTERN)


def install(parser: MarkdownIt) -> None:
    """Teach a parser this notation."""
    interrupts = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.before("fence", COMMENT, _comment_block, {"alt": interrupts})
    for name, rule in ((WIKILINK, _wikilink), (TAG, _tag), (COMMENT, _comment)):
        parser.inline.ruler.before("link", name, rule)


def wikilink_token(inside: str) -> Token:
    """The token of a wikilink: its target, and as content what a reader sees of it."""
    target, _, label = inside.replace("\\|", "|").partition("|")
    return Token(WIKILINK, "", 0, content=label.strip() or target.strip(), attrs={"target": target.strip()})


def tag_token(name: str) -> Token | None:
    """The token of `#name`; none for a number, a line of dashes, and what is too long for a name."""
    name = name.strip("/")
    if len(name) > MAX_TAG or all(char.isdigit() or char in "-_/" for char in name):
        return None
    return Token(TAG, "", 0, markup="#", content=name)


def _wikilink(state: StateInline, silent: bool) -> bool:
    found = _WIKILINK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        _push(state, wikilink_token(found["target"]))
    state.pos = found.end()
    return True


def _tag(state: StateInline, silent: bool) -> bool:
    found = _TAG.match(state.src, state.pos, state.posMax)
    token = found and tag_token(found["tag"])
    if not found or not token:
        return False
    if not silent:
        _push(state, token)
    state.pos = found.end()
    return True


def _comment(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("%%", state.pos):
        return False
    end = state.src.find("%%", state.pos + 2, state.posMax)
    if end < 0:
        return False
    if not silent:
        _push(state, Token(COMMENT, "", 0))
    state.pos = end + 2
    return True


def _push(state: StateInline, token: Token) -> None:
    if state.pending:
        state.pushPending()
    token.level = state.level
    state.tokens.append(token)


def _comment_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """From a line that starts with `%%` to the next that has one; a comment within one line is no block."""
    if state.is_code_block(start):
        return False
    first = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("%%", first) or "%%" in state.src[first + 2 : state.eMarks[start]]:
        return False
    for line in range(start + 1, end):
        if "%%" in state.src[state.bMarks[line] : state.eMarks[line]]:
            if not silent:
                state.line = line + 1
                token = state.push(COMMENT, "", 0)
                token.map = [start, line + 1]
            return True
    return False

"""The Markdown that vaults are written in: CommonMark with tables, and Obsidian's notation."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType

from cortex_ingest import long_text, notation
from cortex_ingest.notation import TAG, WIKILINK

LONG_CHARS: Final = 200_000
"""Longer texts are read by `long_text`: the parser takes 5 s for 200,000 characters of `[![` (measured)."""

# Without any of these a text has neither links nor tags.
_MARKED = re.compile(r"[\[#]")


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    notation.install(parser)
    return parser


def parse(body: str) -> list[Token]:
    """The block tokens of `body`, whose line ends are `\\n`, with inline tokens as children where there may be links or
    tags, and in headings. Code and comments are never read as links, tags or headings."""
    references: EnvType = {}
    if len(body) > LONG_CHARS:
        return long_text.parse(body, lambda heading: inline(heading, references))
    tokens = _parser().parse(body, references)
    for before, token in zip([None, *tokens], tokens, strict=False):
        in_heading = before is not None and before.type == "heading_open"
        if token.type == "inline" and (in_heading or _MARKED.search(token.content)):
            token.children = inline(token.content, references)
    return tokens


def inline(content: str, references: EnvType | None = None) -> list[Token]:
    """The tokens of one line or paragraph; `references` are the link definitions of its text."""
    tokens: list[Token] = []
    parser = _parser()
    parser.inline.parse(content, parser, {} if references is None else references, tokens)
    return tokens


def plain(inline: Token) -> str:
    """What a reader sees of an inline token: its text without markup."""
    parts = []
    for child in inline.children or ():
        if child.type in ("text", "text_special", "code_inline", WIKILINK):
            parts.append(child.content)
        elif child.type == TAG:
            parts.append(child.markup + child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return "".join(parts).strip()

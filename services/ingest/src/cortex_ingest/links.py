"""Where a page points: wikilinks, embeds and Markdown links. What is inside code or a comment points nowhere."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import unquote

from markdown_it.token import Token
from pydantic import JsonValue

from cortex_ingest.notation import WIKILINK, WIKILINK_PATTERN
from cortex_ingest.page_text import storable

MAX_TARGET: Final = 300
"""No page has a longer name."""

# What a template leaves to be filled in names no page.
_WIKILINK = re.compile(rf"(?!\[\[(?:\{{\{{|<%)){WIKILINK_PATTERN}")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_PAGE_FILE = re.compile(r"\.(md|markdown)$", re.IGNORECASE)
_STEP = re.compile(r"\.\.?/")
# What Obsidian embeds beside pages. A name list: `[[release v2.3]]` has no extension.
_OTHER_FILE = re.compile(
    r"\.(avif|bmp|gif|jpe?g|png|svg|webp|tiff?|pdf|canvas|base|excalidraw|mp[34]|m4a|wav|flac|ogg|ogv|webm|mov|mkv|3gp"
    r"|zip|csv|json|ya?ml|txt|docx?|xlsx?|pptx?|html?|py|js|ts|sh)$",
    re.IGNORECASE,
)


def targets(tokens: Sequence[Token], path: str) -> tuple[str, ...]:
    """The pages that the text of the page at `path` links to, as they are named there, each once, in order.

    A heading (`#…`) or block (`^…`) within the target is left out. A relative link to a file becomes the path it leads
    to in the vault, without extension; one without extension names its page as a wikilink does, as Obsidian reads it.
    """
    every = (storable(target) for target in _all(tokens, posixpath.dirname(path)))
    return tuple(dict.fromkeys(target for target in every if 0 < len(target) <= MAX_TARGET))


def in_fields(value: JsonValue, path: str) -> tuple[str, ...]:
    """The pages that wikilinks in the frontmatter of the page at `path` name, each once, in order."""
    found = (_wikilink(inside, posixpath.dirname(path)) for inside in _written(value))
    return tuple(dict.fromkeys(target for target in found if 0 < len(target) <= MAX_TARGET))


def _written(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield from (found["target"] for found in _WIKILINK.finditer(value))
        case list():
            for item in value:
                yield from _written(item)
        case dict():
            for item in value.values():
                yield from _written(item)


def _all(tokens: Sequence[Token], folder: str) -> Iterator[str]:
    for token in tokens:
        if token.type == WIKILINK:
            yield _wikilink(str(token.attrs["target"]), folder)
        elif token.type == "link_open":
            yield _link(str(token.attrs.get("href", "")), folder)
        yield from _all(token.children or (), folder)


def _wikilink(written: str, folder: str) -> str:
    """The page that the inside of `[[…]]` names; empty for a place in the same page or a file that is no page."""
    return _page(re.split(r"[|#^]", written, maxsplit=1)[0].strip(), folder)


def _link(href: str, folder: str) -> str:
    if _SCHEME.match(href):
        return ""
    target = unquote(re.split(r"[#?]", href, maxsplit=1)[0]).strip()
    if _PAGE_FILE.search(target) and not target.startswith("/"):
        target = f"./{target}"
    return _page(target, folder)


def _page(target: str, folder: str) -> str:
    """The page of a target: a path from the root of the vault or a name, or with `./` or `../` a path from `folder`."""
    if not target or _OTHER_FILE.search(target):
        return ""
    if _STEP.match(target):
        target = posixpath.normpath(posixpath.join(folder, target))
        if target in (".", "..") or target.startswith("../"):
            return ""
    elif "/" in target:
        # A leading `/` means the root of the vault.
        target = posixpath.normpath(f"/{target}").strip("/")
    return _PAGE_FILE.sub("", target).strip()

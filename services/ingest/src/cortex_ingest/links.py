"""Where a page points: wikilinks, embeds and relative Markdown links. What is inside code points nowhere."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from markdown_it.token import Token

from cortex_ingest.syntax import WIKILINK

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_PAGE_FILE = re.compile(r"\.(md|markdown)$", re.IGNORECASE)
# What Obsidian embeds beside pages. A name list: `[[release v2.3]]` has no extension.
_OTHER_FILE = re.compile(
    r"\.(avif|bmp|gif|jpe?g|png|svg|webp|tiff?|pdf|canvas|base|excalidraw|mp[34]|m4a|wav|flac|ogg|ogv|webm|mov|mkv|3gp"
    r"|zip|csv|json|ya?ml|txt|docx?|xlsx?|pptx?|html?|py|js|ts|sh)$",
    re.IGNORECASE,
)


def targets(tokens: Sequence[Token], path: str) -> tuple[str, ...]:
    """The pages that the text of the page at `path` links to, as they are named there, each once, in order.

    A heading (`#…`) or block (`^…`) within the target is left out. A relative Markdown link becomes the path it leads
    to in the vault, without extension.
    """
    return tuple(dict.fromkeys(target for target in _all(tokens, posixpath.dirname(path)) if target))


def _all(tokens: Sequence[Token], folder: str) -> Iterator[str]:
    for token in tokens:
        if token.type == WIKILINK:
            yield wikilink_target(str(token.attrs["target"]))
        elif token.type == "link_open":
            yield _relative(str(token.attrs.get("href", "")), folder)
        yield from _all(token.children or (), folder)


def wikilink_target(written: str) -> str:
    """The page that the inside of `[[…]]` names; empty for a place in the same page or a file that is no page."""
    target = re.split(r"[|#^]", written, maxsplit=1)[0].strip()
    return "" if _OTHER_FILE.search(target) else _PAGE_FILE.sub("", target)


def _relative(href: str, folder: str) -> str:
    if not href or href.startswith("#") or _SCHEME.match(href):
        return ""
    # A leading `/` means the root of the vault.
    target = unquote(re.split(r"[#?]", href, maxsplit=1)[0])
    if _OTHER_FILE.search(target):
        return ""
    joined = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
    resolved = _PAGE_FILE.sub("", posixpath.normpath(joined))
    return "" if resolved in (".", "..") or resolved.startswith("../") else resolved

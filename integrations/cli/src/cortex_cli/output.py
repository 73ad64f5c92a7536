"""The terminal: our own markup, and everybody else's text as it is."""

from __future__ import annotations

import unicodedata

from rich import markup
from rich.console import Console


def console(*, colours: bool = True) -> Console:
    """A console that makes no emoji of `:memo:` and colours no parts of words."""
    return Console(emoji=False, highlight=False, color_system="auto" if colours else None)


def plain(text: str) -> str:
    """`text` without what a terminal obeys: control characters and overrides of the writing direction."""
    return "".join(
        char
        for char in text
        if char in "\n\t" or (unicodedata.category(char) not in ("Cc", "Cs") and char not in _OVERRIDES)
    )


def line(text: str) -> str:
    """`text` as one line: it cannot look like more than it is."""
    return " ".join(plain(text).split())


def escape(text: str) -> str:
    """Somebody else's text for a console that reads markup."""
    return markup.escape(plain(text))


_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

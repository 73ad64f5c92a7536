"""The terminal: our own markup, and everybody else's text as it is."""

from __future__ import annotations

from rich.console import Console


def console() -> Console:
    """A console that makes no emoji of `:memo:` and colours no parts of words."""
    return Console(emoji=False, highlight=False)

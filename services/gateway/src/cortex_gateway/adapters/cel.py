"""Filters of Memos: expressions of CEL in which a question cannot be more than strings. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def any_of(words: Sequence[Sequence[str]]) -> str:
    """A memo that holds one of `words`, in any of its spellings."""
    return " || ".join(map(_holds, words))


def all_of(words: Sequence[Sequence[str]]) -> str:
    """A memo that holds all of `words`, each in any of its spellings."""
    return " && ".join(f"({_holds(forms)})" if len(forms) > 1 else _holds(forms) for forms in words)


def literal(text: str) -> str:
    """`text` as a string of CEL: quotes, backslashes and what is not seen are escaped (its language definition)."""
    signs = (f"\\{sign}" if sign in '\\"' else sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in text)
    return f'"{"".join(signs)}"'


def _holds(forms: Sequence[str]) -> str:
    return " || ".join(f"content.contains({literal(form)})" for form in forms)

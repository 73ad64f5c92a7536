"""A field as it may be stored."""

from __future__ import annotations

import unicodedata
from collections import Counter

from cortex_redaction.redaction import Redaction, redact


def redacted(text: str) -> Redaction:
    """`text` as it may be stored. Composed first: what is looked at must be what is stored. A lone surrogate is no
    text."""
    first = redact(unicodedata.normalize("NFC", text.encode(errors="replace").decode()))
    if "\x00" not in first.text:
        return first
    # A NUL can stand in a tag as well as between a name and its secret: so it is looked at, and then its blank.
    second = redact(first.text.replace("\x00", " "))
    return Redaction(
        second.text,
        first.private + second.private,
        Counter(first.credentials) + Counter(second.credentials),
        first.injected + second.injected,
    )

"""Slugs: the names of pages in addresses, in any script."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_GAP = re.compile(r"[\s\-]+")
_SLASHES = re.compile(r"\s*/[\s/]*")

MAX_LENGTH: Final = 300
UNTITLED: Final = "untitled"


def slugify(text: str) -> str:
    """`text` as a slug: lower case, spaces as `-`, `/` between folders, every script kept, never empty.

    A slug is its own slug. It has no empty, `.` or `..` segment: addresses are resolved before anybody reads them.
    """
    return given(text) or UNTITLED


def given(text: str) -> str | None:
    """`text` as a slug; none if nothing of it is left."""
    kept = "".join(
        char for char in text[: MAX_LENGTH * 4] if char.isspace() or unicodedata.category(char) not in ("Cc", "Cs")
    )
    slug = unicodedata.normalize("NFC", unicodedata.normalize("NFC", kept).lower())
    slug = _segments(_SLASHES.sub("/", slug.strip()))
    # Dashes stay as they are written; with a space among them they are one.
    slug = _GAP.sub(lambda gap: gap[0] if gap[0].strip("-") == "" else "-", slug)
    # What is cut off can leave half a segment.
    return _segments(slug[:MAX_LENGTH]) or None


def _segments(slug: str) -> str:
    return "/".join(part for part in slug.split("/") if part not in ("", ".", ".."))

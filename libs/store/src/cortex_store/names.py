"""Names that links call pages by."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from enum import IntEnum
from typing import Final

_GAP: Final = re.compile(r"[\s_]+")
MAX_NAME: Final = 500
"""What is compared of a name: PostgreSQL indexes no more than 2,704 bytes of a row."""


class NameKind(IntEnum):
    """What a page's name is; when two pages share a name, the smaller kind wins the link."""

    SLUG = 0
    PATH = 1
    TITLE = 2
    ALIAS = 3


def fold_name(text: str) -> str:
    """A slug, path, title, alias or link target in the form in which they are compared: case and gaps do not count."""
    return _GAP.sub("-", unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).strip())[:MAX_NAME]


def names_of(slug: str, path: str | None, title: str, aliases: Iterable[str]) -> tuple[tuple[str, NameKind], ...]:
    """Every folded name of a page; a path counts with and without its folders, without its extension."""
    candidates = [(slug, NameKind.SLUG)]
    if path is not None:
        stem = re.sub(r"\.(md|markdown)$", "", path, flags=re.IGNORECASE)
        candidates += [(stem, NameKind.PATH), (stem.rsplit("/", 1)[-1], NameKind.PATH)]
    candidates += [(title, NameKind.TITLE), *((alias, NameKind.ALIAS) for alias in aliases)]
    best: dict[str, NameKind] = {}
    for text, kind in candidates:
        name = fold_name(text)
        if name:
            best[name] = min(kind, best.get(name, kind))
    return tuple(best.items())

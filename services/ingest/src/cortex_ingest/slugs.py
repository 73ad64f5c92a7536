"""Slugs: the names of pages in addresses, in any script."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_PAGE_FILE = re.compile(r"\.(md|markdown)$", re.IGNORECASE)
_GAP = re.compile(r"[\s\-]+")
_SLASHES = re.compile(r"\s*/[\s/]*")

MAX_LENGTH = 300
UNTITLED = "untitled"


def slugify(text: str) -> str:
    """`text` as a slug: lower case, spaces as `-`, `/` between folders, every script kept, never empty.

    A slug is its own slug.
    """
    kept = "".join(
        char for char in text[: MAX_LENGTH * 4] if char.isspace() or unicodedata.category(char) not in ("Cc", "Cs")
    )
    slug = unicodedata.normalize("NFC", unicodedata.normalize("NFC", kept).lower())
    slug = _SLASHES.sub("/", slug).strip("/").strip()
    # Dashes stay as they are written; with a space among them they are one.
    slug = _GAP.sub(lambda gap: gap[0] if gap[0].strip("-") == "" else "-", slug)
    return slug[:MAX_LENGTH].strip("/") or UNTITLED


def is_page(path: str) -> bool:
    """Whether a file of a vault is a page: Markdown outside of hidden files and folders."""
    return bool(_PAGE_FILE.search(path)) and not any(part.startswith(".") for part in path.split("/"))


def default_slugs(paths: Iterable[str]) -> dict[str, str]:
    """The slug of every page of a vault that its frontmatter does not give one, by path.

    It is the file's name, or the whole path where another file has the same name. Two paths that differ in case or
    spaces only still get the same slug: the store keeps it for the first.
    """
    names = {path: slugify(_PAGE_FILE.sub("", path.rsplit("/", 1)[-1])) for path in paths}
    seen = Counter(names.values())
    return {path: name if seen[name] == 1 else slugify(_PAGE_FILE.sub("", path)) for path, name in names.items()}

"""The slugs that files of a vault get by their paths."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from cortex_store.slugs import MAX_LENGTH as MAX_LENGTH
from cortex_store.slugs import UNTITLED as UNTITLED
from cortex_store.slugs import given as given
from cortex_store.slugs import slugify as slugify

_PAGE_FILE = re.compile(r"\.(md|markdown)$", re.IGNORECASE)


def is_page(path: str) -> bool:
    """Whether a file of a vault is a page: Markdown outside of hidden files and folders."""
    return bool(_PAGE_FILE.search(path)) and not any(part.startswith(".") for part in path.split("/"))


def default_slugs(paths: Iterable[str]) -> dict[str, str]:
    """The slug of every page of a vault that its frontmatter does not give one, by path.

    It is the file's name, or the whole path where another file has the same name. Paths that differ in case, spaces or
    normalisation only get the same slug: which of them keeps it is settled when the vault is synced.
    """
    names = {path: slugify(_PAGE_FILE.sub("", path.rsplit("/", 1)[-1])) for path in paths}
    seen = Counter(names.values())
    return {path: name if seen[name] == 1 else slugify(_PAGE_FILE.sub("", path)) for path, name in names.items()}

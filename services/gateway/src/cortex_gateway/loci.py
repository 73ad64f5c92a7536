"""What the path of a hit names, so that hits of one thing from two engines are known as such. Pure.

A path is `memory:<id>`, `page:<vault>/<slug>`, `memos/<id>`, an address, `<file>` or `<file>#<symbol>`; files are
relative to what the engine was told is its root. The slug of a page is the name of its file, or the whole path where
two files of a vault have one name (see the ingest service), so a page and a file can be the same by less than certain.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from cortex_store.slugs import MAX_LENGTH, slugify

_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*", re.IGNORECASE)
_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_UUID_LENGTH: Final = 36
_PAGE_FILES: Final = (".md", ".markdown")
_MEMO: Final = ("memos/", "memos:")
_IS_SLUG: Final = re.compile(r"[a-z0-9_]+(?:[-./][a-z0-9_]+)*")


class Likeness(IntEnum):
    """How sure it is that two paths name one thing."""

    NONE = 0
    LIKELY = 1
    """One path is the end of the other: what is at both has to be looked at."""
    CERTAIN = 2


class Locus(NamedTuple):
    """Where something is. Two in different buckets are never the same."""

    bucket: tuple[str, str]
    """The last part of the name, and the symbol in it."""
    name: str
    """Empty for a hit without a path, which is like no other."""
    vault: str = ""
    """Of a page."""
    has_passages: bool = False
    """Whether it is long enough to say different things in different places: a file or a page."""

    def likeness(self, other: Locus) -> Likeness:
        """How sure it is that `other` is the same."""
        if self.bucket != other.bucket or not self.name:
            return Likeness.NONE
        if self.name == other.name and (self.vault == other.vault or not (self.vault and other.vault)):
            return Likeness.CERTAIN
        if self.vault and other.vault:
            return Likeness.NONE
        if self._whole == other._whole:
            return Likeness.CERTAIN
        longer, shorter = (self.name, other.name) if len(self.name) > len(other.name) else (other.name, self.name)
        return Likeness.LIKELY if longer.endswith(f"/{shorter}") else Likeness.NONE

    @property
    def _whole(self) -> str:
        return f"{self.vault}/{self.name}" if self.vault else self.name


@lru_cache(maxsize=4096)
def locus(path: str) -> Locus:
    """What `path` names."""
    path = path.strip()
    if path.startswith(_MEMO):
        return _thing("memo", path[len(_MEMO[0]) :])
    scheme, colon, rest = path.partition(":")
    # One letter is a drive.
    if colon and len(scheme) > 1 and _SCHEME.fullmatch(scheme):
        return _page(rest) if scheme == "page" else _thing(scheme.lower(), rest.lower() if scheme == "memory" else rest)
    if len(path) == _UUID_LENGTH and _UUID.fullmatch(path):
        return _thing("memory", path.lower())
    file, _, symbol = path.partition("#")
    name = file.replace("\\", "/").strip("/").removeprefix("./")
    if name.lower().endswith(_PAGE_FILES):
        name = _slug(name.rpartition(".")[0])
    return Locus((name.rpartition("/")[2], symbol), name, has_passages=not symbol)


def _page(rest: str) -> Locus:
    vault, _, slug = rest.partition("/")
    name = _slug(slug)
    return Locus((name.rpartition("/")[2], ""), name, vault, has_passages=True)


def _slug(name: str) -> str:
    """`slugify`, which most names have behind them once they are in lower case."""
    lower = name.lower()
    return lower if len(lower) <= MAX_LENGTH and _IS_SLUG.fullmatch(lower) else slugify(name)


def _thing(kind: str, name: str) -> Locus:
    name = name.rstrip("/")
    return Locus((kind, name), f"{kind}:{name}")

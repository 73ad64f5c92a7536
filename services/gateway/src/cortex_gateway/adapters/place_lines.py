"""Answers that are places, one a line: the paths that a search of files lists, and the lines that grep finds. Pure."""

from __future__ import annotations

import re
from typing import Final

from cortex_gateway.adapters.findings import MOST, PATH_LENGTH, Finding

LINE: Final = 1_000
"""Characters of a line; of a longer one what stands behind them is not read."""
_NAME: Final = r"[^\s/\\:*?\"<>|]{1,200}"
_ROOTED: Final = r"(?:[a-zA-Z]:|~|\.{1,2})?[\\/][^:*?\"<>|\n]{0,400}"
"""With spaces, which a path without a root may not have: it would be a sentence."""
_PATH: Final = rf"(?:{_ROOTED}|{_NAME}(?:[\\/]{_NAME}){{0,40}}[\\/]?)"
_PLACE: Final = re.compile(rf"(?:\[FILE\] |\[DIR\] |[-*] )?({_PATH})")
_FOUND: Final = re.compile(rf"({_PATH}):(\d{{1,7}}):(?:\d{{1,5}}:)?(.*)")
_LIKE_A_PATH: Final = re.compile(r"[\\/].*[\\/]|\.[a-zA-Z]\w{0,7}$")


def place_lines(text: str) -> list[Finding]:
    """A finding for each path of a list of them, or for each file in which grep found lines, in their order; none when
    there is a line of another kind."""
    lines = [line.strip()[:LINE] for line in text.splitlines() if line.strip().strip("-")]
    return _listed(lines) or _searched(lines)


def _listed(lines: list[str]) -> list[Finding]:
    found = [match[1] for line in lines if (match := _PLACE.fullmatch(line)) and _LIKE_A_PATH.search(match[1])]
    if len(found) != len(lines):
        return []
    return [Finding(text=re.split(r"[\\/]", path.rstrip("\\/"))[-1] or path, path=path) for path in found[:MOST]]


def _searched(lines: list[str]) -> list[Finding]:
    texts: dict[str, list[str]] = {}
    for line in lines:
        if (match := _FOUND.fullmatch(line)) is None or not _LIKE_A_PATH.search(match[1]):
            return []
        texts.setdefault(match[1][:PATH_LENGTH], []).append(match[3].strip())
    return [Finding(text="\n".join(held), path=path) for path, held in list(texts.items())[:MOST]]

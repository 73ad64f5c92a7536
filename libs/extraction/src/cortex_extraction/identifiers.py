"""Identifiers: names that machines read, known by their shape (`getUserById`, `svc-auth-2`, v1.2.3, paths, #123)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_LEFT = r"(?<![\w@#./\\-])"
_PATTERNS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"https?://(?:[^\s/@]{1,100}@)?(?P<name>[\w.-]{1,200})[^\s<>\"']{0,2000}",
        rf"{_LEFT}(?P<name>[\w.+-]{{1,64}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{1,4}})",
        r"(?<!`)`(?P<name>[^`\n]{1,80})`",
        rf"{_LEFT}(?P<name>(?:~|\.{{1,2}})?/[\w.@+-]{{1,64}}(?:/[\w.@+-]{{1,64}}){{1,12}})",  # /etc/hosts, ./a/b
        rf"{_LEFT}(?P<name>[A-Za-z]:\\[\w.@+-]{{1,64}}(?:\\[\w.@+-]{{1,64}}){{0,12}})",
        rf"{_LEFT}(?P<name>(?:[\w-]{{1,64}}/){{0,12}}[\w-]{{1,64}}\.(?:py|js|ts|tsx|md|json|yaml|yml|toml|txt|sql|sh|rs|go|java|"
        r"cpp|html|css|csv|pdf|png|jpg|lock|cfg|ini|env|log))(?!\w)",
        rf"{_LEFT}(?P<name>[a-z_][a-z0-9_]{{0,40}}(?:\.[a-z_][a-z0-9_]{{1,40}}){{2,6}})(?![\w.])",  # os.path.join
        r"(?<![\w&#/])(?P<name>#\w{1,50})",
        r"(?<![\w@./-])(?P<name>@[A-Za-z_]\w{1,38})(?![\w@])",
        r"(?<![\w.])(?P<name>[vV]\d{1,5}(?:\.\d{1,8}){0,3}(?:[-+][\w.]{1,20})?)(?!\w)",
        r"(?<![\w.])(?P<name>\d{1,5}(?:\.\d{1,8}){2,3}(?:[-+][\w.]{1,20})?)(?!\w)",
        rf"{_LEFT}(?P<name>[a-z]{{1,40}}[0-9]{{0,8}}(?:[A-Z][a-z0-9]{{0,40}}){{1,8}})(?!\w)",  # getUserById
        rf"{_LEFT}(?P<name>_{{0,2}}[A-Za-z][A-Za-z0-9]{{0,40}}(?:_[A-Za-z0-9]{{1,40}}){{1,8}})(?![\w-])",  # snake_case
        rf"{_LEFT}(?=[A-Za-z-]{{0,60}}\d)(?P<name>[A-Za-z][A-Za-z0-9]{{0,40}}(?:-[A-Za-z0-9]{{1,40}}){{1,8}})(?![\w-])",
        rf"{_LEFT}(?P<name>[A-Fa-f0-9]{{8}}-(?:[A-Fa-f0-9]{{4}}-){{3}}[A-Fa-f0-9]{{12}})(?![\w-])",
        rf"{_LEFT}(?P<name>(?=[A-Za-z]{{1,10}}\d)[A-Za-z0-9]{{3,24}})(?![\w-])",  # E1234
    )
)
# Prose that has the shape: "mid-2023", "May-5", "Q3", "H1", "W14".
_PROSE = re.compile(
    r"(?i)(?:mid|pre|post|early|late|top|under|over|age|pre)-\d+s?|[qh][1-4](?:19|20)?\d{0,2}|[a-z]{3,9}-\d{1,2}(?:st|nd|rd|th)"
)


def identifiers(text: str) -> Iterator[tuple[int, str]]:
    """The identifiers of `text` with their places, a URL as its host; of those that overlap the first listed above."""
    taken = bytearray(len(text))
    for pattern in _PATTERNS:
        for found in pattern.finditer(text):
            start, end = found.span()
            name = found["name"].rstrip(".-")
            if name and not taken[start] and not taken[end - 1] and not _PROSE.fullmatch(name):
                taken[start:end] = b"\1" * (end - start)
                yield found.start("name"), name.lower() if "://" in found.group() else name

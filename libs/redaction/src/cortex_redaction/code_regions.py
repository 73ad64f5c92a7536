"""Closed code in a text: fences and inline code, in which a tag may be a mention.

Narrower than CommonMark on purpose, because whatever is not code cannot hide a tag: a fence must be closed; inline
code stays on one line, its first backtick follows no letter or digit and its last is followed by none (`it`s` opens
nothing).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_FENCE: Final = re.compile(r"^[ \t>]{0,40}(?P<run>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
_RUN: Final = re.compile("`+")


@dataclass(frozen=True, slots=True)
class Region:
    """Closed code whose content is `text[start:end]`."""

    start: int
    end: int


def code_regions(text: str) -> list[Region]:
    """The closed code of `text`, in order, apart from each other."""
    if "`" not in text and "~~~" not in text:
        return []
    regions, position = [], 0
    for fence in _fences(text):
        regions += _inline(text, position, fence.start)
        regions.append(fence)
        position = fence.end
    return regions + _inline(text, position, len(text))


def _fences(text: str) -> list[Region]:
    """The closed fences. Each line is looked at a bounded number of times, however many fences stay open."""
    lines = [line for line in _FENCE.finditer(text) if line["run"][0] == "~" or "`" not in line["info"]]
    # By line: the longest run of either character that closes something from here on.
    closable: list[dict[str, int]] = [{}] * len(lines)
    longest = {"`": 0, "~": 0}
    for index in range(len(lines) - 1, -1, -1):
        closable[index] = dict(longest)
        run = lines[index]["run"]
        if not lines[index]["info"].strip():
            longest[run[0]] = max(longest[run[0]], len(run))
    fences: list[Region] = []
    index = 0
    while index < len(lines):
        opening = lines[index]["run"]
        if closable[index][opening[0]] >= len(opening):
            start = lines[index].end() + 1
            index += 1
            while not _closes_fence(lines[index], opening):
                index += 1
            fences.append(Region(start, lines[index].start()))
        index += 1
    return fences


def _closes_fence(line: re.Match[str], opening: str) -> bool:
    run = line["run"]
    return run[0] == opening[0] and len(run) >= len(opening) and not line["info"].strip()


def _inline(text: str, start: int, end: int) -> list[Region]:
    regions: list[Region] = []
    line_start = start
    while line_start < end:
        line_end = text.find("\n", line_start, end)
        line_end = end if line_end < 0 else line_end
        if text.find("`", line_start, line_end) >= 0:
            regions += _inline_of_line(text, line_start, line_end)
        line_start = line_end + 1
    return regions


def _inline_of_line(text: str, start: int, end: int) -> list[Region]:
    regions: list[Region] = []
    runs = [(run.start(), run.end()) for run in _RUN.finditer(text, start, end)]
    following: list[int | None] = [None] * len(runs)
    last: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        following[index] = last.get(length)
        last[length] = index
    index = 0
    while index < len(runs):
        closing = following[index]
        if closing is not None and _opens(text, runs[index][0]) and _closes(text, runs[closing][1]):
            regions.append(Region(runs[index][1], runs[closing][0]))
            index = closing + 1
        else:
            index += 1
    return regions


def _opens(text: str, start: int) -> bool:
    return start == 0 or not text[start - 1].isalnum()


def _closes(text: str, end: int) -> bool:
    return end == len(text) or not text[end].isalnum()

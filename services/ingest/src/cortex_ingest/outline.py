"""Which headings of a page divide it: a page of nothing but headings is no more passages than another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

MAX_HEADINGS: Final = 5_000
"""More than the chapters and sections of a long book."""


def deepest_level(levels: Iterable[int]) -> int:
    """The deepest level down to which all headings together are at most `MAX_HEADINGS`; 0 if there is none."""
    counts = Counter(levels)
    total = 0
    for level in range(1, 7):
        total += counts[level]
        if total > MAX_HEADINGS:
            return level - 1
    return 6

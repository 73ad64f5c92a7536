"""What was read out of an answer. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import JsonValue

from cortex_gateway.adapters.findings import Finding


class Reading:
    """Findings, and whether their scores are distances."""

    __slots__ = ("distance", "found")

    def __init__(self, found: Sequence[Finding], *, distance: bool = False) -> None:
        self.found = tuple(found)
        self.distance = distance


def number(value: JsonValue) -> float | None:
    """A number, or the digits of one; a share of a hundred where it says %. None too for one that no float holds."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:  # JSON's integers have no end
            return None
    if isinstance(value, str) and (match := re.fullmatch(r"\s*(-?\d{1,12}(?:\.\d{1,18})?)\s*(%?)\s*", value)):
        return float(match[1]) / (100 if match[2] else 1)
    return None

"""Packing: what fits into a token budget. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

BYTES_PER_TOKEN = 4
"""Tokenisers of large models make a token of about four bytes of UTF-8: four Latin letters or two Arabic ones. An
estimate, on the safe side for prose; it costs no model."""

T = TypeVar("T")


def tokens(text: str) -> int:
    """Estimate of what `text` costs in a context window; at least 1."""
    return max(1, -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN))


def pack(items: Iterable[T], cost: Callable[[T], int], budget: int | None) -> tuple[list[T], int, int]:
    """Items in their order as long as they fit, what they cost together, and how many did not fit. A long item that
    does not fit does not keep shorter ones after it out."""
    packed: list[T] = []
    spent = dropped = 0
    for item in items:
        price = cost(item)
        if budget is not None and spent + price > budget:
            dropped += 1
            continue
        packed.append(item)
        spent += price
    return packed, spent, dropped

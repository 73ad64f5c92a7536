"""Which of several forms of an answer a client wants: the header `Accept` (RFC 9110, 12.5.1). No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.request import parse_http_list


def negotiate(accept: Sequence[str], offered: Sequence[str]) -> str | None:
    """The media type of `offered` that the values of `Accept` prefer; none: they refuse them all.

    What the most specific range says about a type counts. Among types of the same weight the one that was named more
    specifically goes first, then the one that is offered first. Without a range that can be read every type will do.
    """
    ranges = list(_ranges(accept))
    if not ranges:
        return offered[0]
    rated = [
        (max((one for one in (_rate(r, kind) for r in ranges) if one), default=(0, 0.0)), kind) for kind in offered
    ]
    acceptable = [(weight, specific, kind) for (specific, weight), kind in rated if weight > 0]
    return max(acceptable, key=lambda one: one[:2])[2] if acceptable else None


def _ranges(accept: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Every media range with its weight."""
    for value in accept:
        for element in parse_http_list(value):
            name, *parameters = (part.strip() for part in element.lower().split(";"))
            if name.count("/") == 1 and (weight := _weight(parameters)) is not None:
                yield name, weight


def _weight(parameters: Sequence[str]) -> float | None:
    """The weight among the parameters of a range, 1 without one; none: it cannot be read."""
    told = next((value for name, _, value in (one.partition("=") for one in parameters) if name.strip() == "q"), "1")
    try:
        weight = float(told)
    except ValueError:
        return None
    return min(weight, 1.0) if weight >= 0 else None


def _rate(ranged: tuple[str, float], kind: str) -> tuple[int, float] | None:
    """How specifically a range names a media type, and its weight; none: it is about other types."""
    name, weight = ranged
    for specific, pattern in enumerate(("*/*", f"{kind.partition('/')[0]}/*", kind), 1):
        if name == pattern:
            return specific, weight
    return None

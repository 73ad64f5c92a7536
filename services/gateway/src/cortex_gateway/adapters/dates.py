"""Dates as engines write them. Pure."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

EARLIEST: Final = datetime(1990, 1, 1, tzinfo=UTC)
"""Before it a number is a count or an id, and a date is the zero of somebody's calendar."""
AHEAD: Final = timedelta(days=1)
"""Clocks and time zones differ by less; what is further ahead is a plan, not when something was seen."""
_MILLISECONDS: Final = 1e11
"""Larger numbers are milliseconds since 1970 (in seconds it would be the year 5138), above its square microseconds."""


def moment(value: Any, now: datetime | None = None) -> datetime | None:
    """When `value` says that something was, in UTC; none when it says nothing that can be believed.

    ISO 8601 (a date alone is its first moment; without a zone it is UTC), RFC 2822, seconds, milli-, micro- or
    nanoseconds since 1970 as a number or its digits.
    """
    found = _read(value)
    if found is None:
        return None
    try:
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:  # the first or the last day of the calendar, in a zone where UTC has another one
        return None
    return found if EARLIEST <= found <= (now or datetime.now(UTC)) + AHEAD else None


def _read(value: Any) -> datetime | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _counted(float(value)) if abs(value) < 1e20 else None
    if not isinstance(value, str) or not 4 < len(text := value.strip()) <= 64:
        return None
    try:
        return _counted(float(text)) if text.replace(".", "", 1).isdigit() and len(text) >= 9 else _iso(text)
    except (ValueError, OverflowError):
        pass
    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _iso(text: str) -> datetime:
    # Memgraph names the zone after the offset: 2026-01-01T10:00:00+01:00[Europe/Paris].
    return datetime.fromisoformat(text.partition("[")[0])


def _counted(number: float) -> datetime | None:
    if not math.isfinite(number):
        return None
    while number > _MILLISECONDS:
        number /= 1000
    try:
        return datetime.fromtimestamp(number, UTC)
    except (ValueError, OverflowError, OSError):
        return None

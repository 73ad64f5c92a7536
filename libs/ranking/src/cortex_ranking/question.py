"""What a question asks for: its time, and whether its words tell texts apart. Pure functions."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from cortex_contracts.errors import InvalidMessage
from cortex_extraction import times
from cortex_store import terms

STOP_WORDS_DOUBT: Final = 5
"""How much better than the best possible the words of a question of stop words alone would have to match: what such
words share is next to nothing ("what is it"), and still finds a band named The Who, with what its meaning adds."""


def says_something(query: str) -> bool:
    """Is any word of the question not a stop word?"""
    return any(term not in terms.STOP_WORDS for term in terms.terms(query))


def time_meant(query: str, timezone: str, now: datetime | None) -> times.TimeReading | None:
    """The time that a question speaks of, as somebody in `timezone` means it at `now` (none: now).

    Raises:
        InvalidMessage: the time zone is unknown, or `now` is outside its calendar.
    """
    try:
        zone = ZoneInfo(timezone)
    except (KeyError, ValueError, OSError):
        raise InvalidMessage(f"timezone: {timezone!r} is no IANA time zone") from None
    try:
        return times.understand(query, now.astimezone(zone) if now else datetime.now(zone))
    except OverflowError:
        raise InvalidMessage("as_of: outside the calendar of its time zone, which has the years 1 to 9999") from None

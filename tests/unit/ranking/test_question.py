"""What a question asks for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cortex_contracts.errors import InvalidMessage
from cortex_ranking.question import says_something, time_meant


@pytest.mark.parametrize(("query", "says"), [("what is it", False), ("who is the pilot", True), ("ما هو", False)])
def test_stop_words_alone_say_nothing(query: str, says: bool) -> None:
    assert says_something(query) is says


def test_a_time_is_meant_in_the_zone_of_who_asks() -> None:
    now = datetime(2026, 11, 30, 22, 30, tzinfo=UTC)
    cairo = time_meant("what happened yesterday?", "Africa/Cairo", now)
    utc = time_meant("what happened yesterday?", "UTC", now)
    assert cairo is not None
    assert utc is not None
    assert (cairo.start.date().day, utc.start.date().day) == (30, 29)
    assert time_meant("what happened?", "UTC", now) is None


def test_a_zone_or_a_moment_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidMessage, match="time zone"):
        time_meant("yesterday", "Mars/Olympus", None)
    with pytest.raises(InvalidMessage, match="as_of"):
        time_meant("yesterday", "Asia/Tokyo", datetime(9999, 12, 31, 23, tzinfo=UTC))

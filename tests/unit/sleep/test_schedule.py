"""When it is time: every day at a time of day, whatever clocks do."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sleep.schedule import last_due, next_due

BERLIN = ZoneInfo("Europe/Berlin")


def berlin(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("now", "last", "following"),
    [
        ("2026-05-04T12:00", "2026-05-04T03:30", "2026-05-05T03:30"),
        ("2026-05-04T03:30", "2026-05-04T03:30", "2026-05-05T03:30"),
        ("2026-05-04T03:29", "2026-05-03T03:30", "2026-05-04T03:30"),
    ],
)
def test_a_day_like_any_other(now: str, last: str, following: str) -> None:
    assert last_due(berlin(now), time(3, 30), BERLIN) == berlin(last)
    assert next_due(berlin(now), time(3, 30), BERLIN) == berlin(following)


def test_a_time_that_the_clocks_leave_out_comes_an_hour_later() -> None:
    # On 2026-03-29 at 02:00 the clocks of Berlin show 03:00.
    assert last_due(berlin("2026-03-29T12:00"), time(2, 30), BERLIN) == berlin("2026-03-29T03:30")


def test_a_time_that_the_clocks_show_twice_comes_once() -> None:
    # On 2026-10-25 at 03:00 they show 02:00 again: 02:30 is 00:30 and 01:30 in UTC.
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert last_due(first + timedelta(hours=2), time(2, 30), BERLIN) == first
    assert next_due(first, time(2, 30), BERLIN) == berlin("2026-10-26T02:30")


@settings(deadline=None, max_examples=200)
@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 30)),
    st.times(),
    st.sampled_from(["UTC", "Europe/Berlin", "Pacific/Apia", "America/St_Johns", "Asia/Kathmandu"]),
)
def test_now_is_between_the_last_time_and_the_next_which_are_a_day_apart(moment: datetime, at: time, zone: str) -> None:
    now = moment.replace(tzinfo=UTC)
    last, following = last_due(now, at, ZoneInfo(zone)), next_due(now, at, ZoneInfo(zone))
    assert last <= now < following
    # Apia left out a whole day, the 30th of December 2011.
    assert timedelta(hours=22) <= following - last <= timedelta(hours=49)
    assert last_due(following, at, ZoneInfo(zone)) == following
    assert next_due(last, at, ZoneInfo(zone)) == following

"""When the nightly sweep comes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_ingest.sweep import pause


@pytest.mark.parametrize(
    ("now", "pause_s"),
    [
        (datetime(2026, 11, 30, 2, 0, tzinfo=UTC), 3600),
        (datetime(2026, 11, 30, 2, 59, 59, tzinfo=UTC), 1),
        (datetime(2026, 11, 30, 3, 0, tzinfo=UTC), 24 * 3600),
        (datetime(2026, 11, 30, 3, 0, 1, tzinfo=UTC), 24 * 3600 - 1),
        (datetime(2026, 12, 31, 23, 0, tzinfo=UTC), 4 * 3600),
    ],
)
def test_the_sweep_comes_at_its_hour(now: datetime, pause_s: float) -> None:
    assert pause(now, 3) == pause_s


@given(st.datetimes(datetime(2000, 1, 2), datetime(2100, 1, 1), timezones=st.just(UTC)), st.integers(0, 23))
def test_it_is_never_more_than_a_day_away(now: datetime, hour: int) -> None:
    then = now + timedelta(seconds=pause(now, hour))
    assert now < then <= now + timedelta(days=1)
    assert (then.hour, then.minute, then.second) == (hour, 0, 0)

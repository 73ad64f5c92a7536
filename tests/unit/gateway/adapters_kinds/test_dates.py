"""Dates as engines write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters.dates import AHEAD, EARLIEST, moment

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = datetime(2026, 8, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "2026-08-01T10:00:00Z",
        "2026-08-01T12:00:00+02:00",
        "2026-08-01T12:00:00+02:00[Europe/Paris]",
        "2026-08-01 10:00:00",
        "Sat, 01 Aug 2026 10:00:00 GMT",
        DAY.timestamp(),
        int(DAY.timestamp() * 1000),
        str(int(DAY.timestamp())),
        DAY.timestamp() * 1e6,
        DAY.timestamp() * 1e9,
    ],
)
def test_one_moment_is_read_in_every_way_it_is_written(value: Any):
    found = moment(value, NOW)
    assert found is not None
    assert abs(found - DAY) < timedelta(seconds=1)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "soon",
        "2026",
        7,
        0,
        -1,
        True,
        [],
        {},
        "0001-01-01T00:00:00Z",
        "2999-01-01",
        "9999-12-31T23:59:59-23:59",
        "0001-01-01T00:00:00+14:00",
        float("nan"),
        1e300,
        "1e9",
    ],
)
def test_what_is_no_moment_of_the_past_is_none(value: Any):
    assert moment(value, NOW) is None


def test_a_date_alone_is_its_first_moment_and_a_clock_may_be_a_little_ahead():
    assert moment("2026-08-01", NOW) == datetime(2026, 8, 1, tzinfo=UTC)
    assert moment("2026-12-01T11:00:00Z", NOW) is not None
    assert moment("2026-12-02T13:00:00Z", NOW) is None


@given(st.text(max_size=70) | st.floats() | st.integers())
@settings(deadline=None, max_examples=300)
def test_anything_is_read_without_failing(value: Any):
    found = moment(value, NOW)
    assert found is None or EARLIEST <= found <= NOW + AHEAD

"""When it runs, and what of it, as somebody writes it into the environment."""

from __future__ import annotations

from datetime import UTC, time
from zoneinfo import ZoneInfo

import pytest

from cortex_contracts.subjects import SleepPhase
from cortex_runtime.settings import SettingsError, read
from cortex_sleep.config import SleepSettings


@pytest.fixture(autouse=True)
def _needed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NATS_URL", "SLEEP_DATABASE_URL", "CACHE_URL", "EMBEDDINGS_URL", "EMBEDDINGS_MODEL"):
        monkeypatch.setenv(f"CORTEX_{name}", "x://y")


def test_every_night_in_utc_everything_unless_somebody_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    default = read(SleepSettings)
    assert (default.sleep_at, default.sleep_timezone, default.sleep_phases) == (time(3, 30), UTC, ())
    monkeypatch.setenv("CORTEX_SLEEP_AT", "Never ")
    monkeypatch.setenv("CORTEX_SLEEP_TIMEZONE", "Africa/Cairo")
    monkeypatch.setenv("CORTEX_SLEEP_PHASES", "decay, demote")
    said = read(SleepSettings)
    assert (said.sleep_at, said.sleep_timezone) == (None, ZoneInfo("Africa/Cairo"))
    assert said.sleep_phases == (SleepPhase.DECAY, SleepPhase.DEMOTE)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("AT", "25:00", "expected a time of day such as 03:30, or never"),
        ("AT", "03:30+02:00", "expected a time of day such as 03:30, or never"),
        ("TIMEZONE", "Mars/Olympus", "expected a time zone such as Europe/Berlin"),
        ("PHASES", "observe", "observe goes on all the time and is no phase of a run"),
        ("PHASES", "decay,dream", "input should be"),
        ("PRESSURE", "-1", "input should be greater than or equal to 0"),
        ("WORKERS", "0", "input should be greater than or equal to 1"),
    ],
)
def test_a_wrong_value_is_refused_with_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(f"CORTEX_SLEEP_{name}", value)
    with pytest.raises(SettingsError, match=f"CORTEX_SLEEP_{name}: {sentence}"):
        read(SleepSettings)

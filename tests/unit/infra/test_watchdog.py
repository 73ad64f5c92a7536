"""When everything is ended because one process keeps dying."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from cortex_infra.watchdog import Watchdog, listen


@pytest.fixture
def watchdog(tmp_path: Path) -> Watchdog:
    return Watchdog(tmp_path, tmp_path, max_exits=3, window_s=60)


def test_a_process_that_keeps_dying_ends_everything(watchdog: Watchdog, tmp_path: Path) -> None:
    (tmp_path / "nats.log").write_text("first\nlast words\n")
    (tmp_path / "supervisord.log").write_text(
        "2026-01-01 00:00:00,000 WARN exited: cache (exit status 3; not expected)\n"
        "2026-01-01 00:00:00,000 WARN exited: nats (terminated by SIGKILL; not expected)\n"
    )
    assert [watchdog.observe("exited", "nats", now) for now in (0.0, 30.0)] == [None, None]
    assert (
        watchdog.observe("exited", "nats", 59.0)
        == "nats ended 3 times in 60 s, the last time with terminated by SIGKILL"
    )
    failure = json.loads((tmp_path / "failure.json").read_text())
    assert failure["process"] == "nats"
    assert failure["log"] == ["first", "last words"]


def test_deaths_far_apart_or_of_different_processes_do_not_count_together(watchdog: Watchdog) -> None:
    assert [watchdog.observe("exited", "nats", now) for now in (0.0, 50.0, 100.0, 150.0)] == [None] * 4
    assert [watchdog.observe("exited", name, 151.0) for name in ("cache", "recall", "sleep")] == [None] * 3


def test_a_process_that_cannot_be_started_ends_everything_at_once(watchdog: Watchdog, tmp_path: Path) -> None:
    (tmp_path / "supervisord.log").write_text("2026-01-01 00:00:00,000 INFO spawnerr: can't find command 'x'\n")
    assert watchdog.observe("fatal", "nats", 0.0) == "nats cannot be started (can't find command 'x')"


def test_every_death_is_in_the_journal(watchdog: Watchdog, tmp_path: Path) -> None:
    watchdog.observe("exited", "nats", 1.0)
    watchdog.observe("exited", "cache", 2.0)
    entries = [json.loads(line) for line in (tmp_path / "events.log").read_text().splitlines()]
    assert [(entry["process"], entry["event"], entry["at"]) for entry in entries] == [
        ("nats", "exited", 1.0),
        ("cache", "exited", 2.0),
    ]


def test_it_speaks_the_listener_protocol(watchdog: Watchdog) -> None:
    payload = "processname:nats groupname:servers from_state:RUNNING expected:0 pid:7"
    header = f"ver:3.0 server:x serial:1 pool:watchdog poolserial:1 eventname:PROCESS_STATE_EXITED len:{len(payload)}\n"
    replies = io.StringIO()
    assert listen(watchdog, io.StringIO((header + payload) * 2), replies) == ""
    assert replies.getvalue() == "READY\nRESULT 2\nOKREADY\nRESULT 2\nOKREADY\n"

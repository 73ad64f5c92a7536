"""What the command line says, and how it ends."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from cortex_cli import ask, demo, watch
from cortex_cli.main import app
from cortex_contracts.rpc.ask import AskReply, Conflict, EngineState, Receipt
from cortex_contracts.rpc.engine import EngineStatus, SourceClass
from cortex_runtime import VERSION

RUNNER = CliRunner()
ID = "01a22a77-34f3-7137-a93d-ab686d822c60"
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(autouse=True)
def _nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "home"))


def test_every_command_says_what_it_does():
    listing = RUNNER.invoke(app, ["--help"]).stdout
    commands = ("up", "start", "stop", "status", "ask", "watch", "dlq", "mcp")
    for command in (*commands, "retain", "recall", "get", "forget", "restore", "share"):
        assert command in listing
        assert RUNNER.invoke(app, [command, "--help"]).exit_code == 0


def test_the_version_is_told_without_a_command():
    result = RUNNER.invoke(app, ["--version"])
    assert (result.exit_code, result.stdout.strip()) == (0, VERSION)


@pytest.mark.parametrize(
    "command",
    [
        ["ask", "x"],
        ["retain", "x"],
        ["retain", "x", "--message-id", "one"],
        ["recall", "x"],
        ["get", ID],
        ["forget", ID],
        ["restore", ID],
        ["share", "atlas", "agent-7"],
        ["share"],
        ["watch"],
        ["dlq", "list"],
    ],
)
def test_a_command_without_a_running_system_says_how_to_start_it(command: list[str]):
    result = RUNNER.invoke(app, command)
    assert result.exit_code == 3
    assert "cortex start" in result.stderr


def test_status_without_a_running_system_is_an_answer_for_scripts():
    result = RUNNER.invoke(app, ["status", "--json"])
    assert result.exit_code == 3
    assert json.loads(result.stdout)["services"] == []


@pytest.mark.parametrize(
    "command",
    [
        ["retain", "x", "--namespace", "No Token"],
        ["retain", "x", "--source-kind", "a.b"],
        ["retain", ""],
        ["recall", " "],
        ["recall", "x", "-n", "No Token"],
        ["share", "No Token", "agent-7"],
    ],
)
def test_what_cannot_be_is_refused_before_it_is_sent(command: list[str]):
    result = RUNNER.invoke(app, command)
    assert result.exit_code == 1
    assert result.stderr.startswith("cortex: ")


def test_purging_wants_one_letter_or_all():
    assert RUNNER.invoke(app, ["dlq", "purge"]).exit_code == 2
    assert RUNNER.invoke(app, ["dlq", "purge", "1", "--all"]).exit_code == 2


@pytest.mark.parametrize(
    ("subject", "body", "expected"),
    [
        (
            "cortex.v1.evt.memory.retain.local.demo",
            {"occurred_at": "2026-11-30T10:11:12Z", "decision": "add", "preview": "We [ship] on Thursdays."},
            "10:11:12 memory retain local/demo decision=add We [ship] on Thursdays.",
        ),
        (
            "cortex.v1.evt.wake.local.demo",
            {
                "occurred_at": "2026-11-30T10:11:12Z",
                "kind": "contradiction",
                "reason": "what was known is not true any more",
                "entity": "auth [red]",
                "preview": "The port is 7015.",
            },
            "10:11:12 wake contradiction local/demo what was known is not true any more auth [red]: The port is 7015.",
        ),
        (
            "cortex.v1.evt.wake.local.demo",
            {"occurred_at": "2026-11-30T10:11:12Z", "kind": "stale", "reason": "is it still true?", "entity": None},
            "10:11:12 wake stale local/demo is it still true?",
        ),
        (
            "cortex.v1.evt.sleep.demote.local.demo",
            {
                "occurred_at": "2026-11-30T10:11:12Z",
                "state": "failed",
                "done": 20,
                "total": 90,
                "counts": {"demoted": 18},
                "reason": "the cold store does not answer",
            },
            "10:11:12 sleep demote local/demo state=failed done=20 total=90 demoted=18 the cold store does not answer",
        ),
        ("cortex.v1.dlq.CAPTURES.ingest-captures", {}, "dead letter CAPTURES.ingest-captures"),
    ],
)
def test_an_event_is_one_line_for_people(subject: str, body: dict[str, Any], expected: str):
    out = StringIO()
    Console(file=out, width=200).print(watch.line(subject, body))
    assert out.getvalue().strip() == expected


def test_an_answer_shows_receipts_conflicts_and_engines_and_takes_no_markup_from_memory():
    out = StringIO()
    receipt = Receipt(
        id="r1",
        source="memory",
        title="[red]title[/red]",
        path="memory:1",
        last_seen=datetime(2026, 11, 30, tzinfo=UTC),
        confidence=1,
        snippet="s",
    )
    conflict = Conflict(
        claim="API status",
        winner=SourceClass.LIVE_INFRA,
        losers=(SourceClass.OLDER_NOTE,),
        reason="older note stale 77d",
        value="stopped",
        losing_values=("active",),
        paths=("memory:1", "page:1"),
    )
    engines = (
        EngineState(engine="memory", status=EngineStatus.UP, ms=3),
        EngineState(engine="pages", status=EngineStatus.DOWN, ms=1, error="nothing answers"),
    )
    reply = AskReply(
        answer="It is [bold]stopped[/bold] [r1]",
        receipts=(receipt,),
        hits=(),
        conflicts=(conflict,),
        engines=engines,
        took_ms=5,
    )
    ask.show(reply, Console(file=out, width=200))
    told = out.getvalue()
    assert "It is [bold]stopped[/bold] [r1]" in told
    assert "[r1] [red]title[/red] (memory:1, 2026-11-30)" in told
    assert "conflict API status: stopped (live-infra) over active (older-note; older note stale 77d)" in told
    assert "memory up 3 ms, pages down 1 ms (nothing answers); took 5 ms" in told


def test_the_example_captures_keep_their_identity_from_start_to_start():
    first, second = demo.captures(EXAMPLES / "captures.json"), demo.captures(EXAMPLES / "captures.json")
    assert [one[0] for one in first] == [one[0] for one in second]
    assert len({one[0] for one in first}) == len(first) == 2

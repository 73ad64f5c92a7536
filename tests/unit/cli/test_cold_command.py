"""`cortex cold`, as far as it needs no running system."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from typer.testing import CliRunner

from cortex_cli import cold
from cortex_cli.main import app
from cortex_contracts.rpc.cold import (
    ColdDamage,
    ColdNamespace,
    ColdStatusReply,
    ColdTableStatus,
    ColdVerification,
    VerificationState,
)

RUNNER = CliRunner()
NOW = datetime.now(UTC)
TABLE = ColdTableStatus(rows=12, files=3, size_bytes=2_500_000, months=2, small_files=3, snapshots=4)
WORK = ColdNamespace(namespace="work", rows=12, size_bytes=2_400_000, last_done_at=NOW)


@pytest.fixture(autouse=True)
def _nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")


def verification(**more: Any) -> ColdVerification:
    usual: dict[str, Any] = {"verification_id": UUID(int=1), "state": VerificationState.DONE, "began_at": NOW}
    return ColdVerification.model_validate(usual | more)


@pytest.mark.parametrize("command", ["status", "verify"])
def test_without_a_running_system_it_says_how_to_start_it(command: str) -> None:
    result = RUNNER.invoke(app, ["cold", command])
    assert (result.exit_code, "cortex start" in result.stderr) == (3, True)


def test_the_status_tells_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    cold.show(ColdStatusReply(namespaces=(WORK,), table=TABLE))
    shown = capsys.readouterr().out
    assert "work" in shown
    assert "In the store: 12 memories in 3 files of 2 months (2.5 MB), 3 of them small; 4 snapshots." in shown


def test_an_empty_tier_and_a_store_that_is_away_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    cold.show(ColdStatusReply(namespaces=(), reason="the cold store is away or slow"))
    shown = capsys.readouterr().out
    assert "Nothing has gone cold yet." in shown
    assert "The cold store does not answer: the cold store is away or slow" in shown


@pytest.mark.parametrize(
    ("found", "sentences"),
    [
        (verification(rows=9, files=2, files_done=2, batches=1), ["9 memories of 1 batches in 2 files, all whole."]),
        (
            verification(
                rows=9,
                files=2,
                damaged=7,
                damages=(ColdDamage(what="row changed", where="work/2024-02", rows=1, ids=(UUID(int=7),)),),
            ),
            ["7 damaged", f"row changed: work/2024-02, 1 rows ({UUID(int=7)})", "and 6 more"],
        ),
        (verification(state=VerificationState.RUNNING, files_done=3), ["under way: 3 of ? files"]),
        (verification(state=VerificationState.FAILED, reason="the cold store is away"), ["failed: the cold store is"]),
    ],
)
def test_a_verification_is_told(
    capsys: pytest.CaptureFixture[str], found: ColdVerification, sentences: list[str]
) -> None:
    cold.show_verification(found)
    shown = capsys.readouterr().out
    for sentence in sentences:
        assert sentence in shown

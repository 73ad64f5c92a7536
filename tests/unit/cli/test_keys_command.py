"""`cortex keys`, as far as it needs no gateway."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cortex_cli import keys
from cortex_cli.main import app
from cortex_contracts.rpc.keys import Key, Keys

RUNNER = CliRunner()
NOW = datetime.now(UTC)


@pytest.fixture(autouse=True)
def _nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")


def key(**more: Any) -> Key:
    usual = {"key_id": "3f9a1c07b2de", "subject": "milly", "role": "member", "created_by": "owner", "created_at": NOW}
    return Key.model_validate(usual | more)


@pytest.mark.parametrize("command", [["create", "milly"], ["list"], ["revoke", "3f9a1c07b2de"]])
def test_without_a_running_system_it_says_how_to_start_it(command: list[str]) -> None:
    result = RUNNER.invoke(app, ["keys", *command])
    assert (result.exit_code, "cortex start" in result.stderr) == (3, True)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["create", ""], 1),
        (["create", "milly", "--read", "No Token"], 1),
        (["create", "milly", "--role", "root"], 2),
        (["create", "milly", "--expires", "soon"], 2),
        (["create", "milly", "--write", "a", "--read-only"], 2),
        (["revoke", "../brain/pages/x"], 1),
        (["revoke", "ctx_../x_y"], 1),
        (["revoke", ""], 1),
    ],
)
def test_what_cannot_be_is_refused_before_it_is_sent(command: list[str], code: int) -> None:
    assert RUNNER.invoke(app, ["keys", *command]).exit_code == code


def test_of_a_whole_key_only_its_id_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []

    class Played:
        @classmethod
        def here(cls) -> Played:
            return cls()

        def delete(self, path: str, _: type[Key]) -> Key:
            sent.append(path)
            return key(revoked_at=NOW)

    monkeypatch.setattr(keys, "Gateway", Played)
    for given in ("3f9a1c07b2de", "ctx_3f9a1c07b2de_secret_with-both"):
        assert "does not work any more" in RUNNER.invoke(app, ["keys", "revoke", given]).stdout
    assert sent == ["/api/v1/keys/3f9a1c07b2de"] * 2


def test_the_list_says_what_each_key_may_and_whether_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = (
        key(),
        key(readable=("atlas", "nile"), expires_at=NOW + timedelta(days=400)),
        key(readable=("atlas",), writable=(), expires_at=NOW - timedelta(days=1)),
        key(subject="[bold]eve[/bold]\x1b[31m", revoked_at=NOW, last_used_at=NOW),
    )

    class Played:
        @classmethod
        def here(cls) -> Played:
            return cls()

        def get(self, *_: object) -> Keys:
            return Keys(keys=listed)

    monkeypatch.setattr(keys, "Gateway", Played)
    rows = [line for line in RUNNER.invoke(app, ["keys", "list"]).stdout.splitlines() if "3f9a1c07b2de" in line]
    cells = [[cell.strip() for cell in row.strip("│ ").split("│")] for row in rows]
    assert [(row[3], row[4], row[7].split()[0]) for row in cells] == [
        ("all", "all", "works"),
        ("atlas, nile", "atlas, nile", "until"),
        ("atlas", "none", "expired"),
        ("all", "all", "revoked"),
    ]
    assert cells[3][1] == "[bold]eve[/bold][31m"

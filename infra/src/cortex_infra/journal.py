"""What the watchdog wrote about a run: every death, and the reason if it ended everything."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from cortex_infra import watchdog
from cortex_infra.home import Home


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the watchdog ended everything."""

    process: str
    reason: str
    log: tuple[str, ...]

    def __str__(self) -> str:
        return "".join((self.reason, *(f"\n  {line}" for line in self.log)))


def failure(home: Home) -> Failure | None:
    """Why the last run was ended by the watchdog, if it was."""
    try:
        found = json.loads((home.run / watchdog.FAILURE_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Failure(found["process"], found["reason"], tuple(found["log"]))


def deaths(home: Home) -> list[dict[str, Any]]:
    """The watchdog's journal of this run: `at`, `process`, `event`, `status` and `log` of every death, oldest first."""
    try:
        text = (home.run / watchdog.EVENTS_FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

"""The labelled pairs of the bench: what must hold on both halves, also on the one the rules were not written for."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from cortex_decision import Decision, Neighbour, Statement, decide

PAIRS = Path(__file__).parents[2] / "bench" / "decision_pairs"
RETIRED = {Decision.UPDATE, Decision.INVALIDATE}


def _statement(side: dict[str, str], number: int, day: str) -> Statement:
    at = datetime.fromisoformat(side.get("valid_at", day)).replace(tzinfo=UTC)
    return Statement(UUID(int=number), side["text"], at, side.get("speaker"), side.get("session", "one"))


@pytest.mark.parametrize("half", ["development", "held_out"])
def test_precision_comes_first(half: str) -> None:
    pairs = [json.loads(line) for line in (PAIRS / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]
    judged = [
        (
            Decision(pair["expected"]),
            decide(
                _statement(pair["new"], 2, "2026-04-01"), [Neighbour(_statement(pair["old"], 1, "2026-03-01"))]
            ).decision,
        )
        for pair in pairs
    ]
    retired = [expected in RETIRED for expected, decided in judged if decided in RETIRED]
    found = [decided in RETIRED for expected, decided in judged if expected in RETIRED]
    assert sum(retired) / len(retired) >= 0.97
    assert sum(found) / len(found) >= 0.75
    assert all(expected is Decision.NOOP for expected, decided in judged if decided is Decision.NOOP)

"""Reconsolidation measured: labelled pairs (English, Arabic, both), and conversations that must stay whole.

    python tests/bench/reconsolidation.py [--locomo FILE] [--json FILE] [--errors] [--as-before]

Prints for each part of `reconsolidation_pairs` precision and recall of retiring, wrong ones per trap, recall per kind
of change and per language, and of `decision_pairs`, which the rules of the write decision were written for, how many
true memories the wider rules would retire. `--errors` lists the errors of the development parts; those of the part that
is held out are never printed. `--as-before` judges by the rules of the write decision alone. `--locomo FILE` plays
conversations turn by turn against the ten nearest earlier turns, and lists every turn that would retire another one.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from cortex_decision import Decision, Neighbour, Statement, claims, contradiction, decide

PAIRS = Path(__file__).parent / "reconsolidation_pairs"


@dataclass(frozen=True)
class Outcome:
    """One labelled pair, and what retires the old statement, if anything does."""

    pair: dict[str, Any]
    reason: str | None

    @property
    def expected(self) -> bool:
        return bool(self.pair["label"] == "retire")


def statement(side: dict[str, str], number: int) -> Statement:
    """One side of a pair."""
    at = datetime.fromisoformat(side["at"]).replace(tzinfo=UTC)
    return Statement(UUID(int=number), side["text"], at, side.get("speaker"))


def judged(pair: dict[str, Any], *, as_before: bool) -> str | None:
    """Why the old statement of a pair is retired: by another memory as sleep compares them, or by what a context
    claims as recall reads it."""
    old, new = statement(pair["old"], 1), statement(pair["new"], 2)
    said = [new]
    if pair["as"] == "context":
        said = [Statement(None, claim.text, new.valid_at, claim.speaker or new.speaker) for claim in claims(new.text)]
    for one in said:
        if as_before:
            verdict = decide(one, [Neighbour(old)])
            if verdict.decision in {Decision.UPDATE, Decision.INVALIDATE}:
                return verdict.reason
        elif (found := contradiction(one, old)) is not None:
            return found.reason
    return None


def half(path: Path, *, as_before: bool) -> list[Outcome]:
    """Every pair of a file, judged."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Outcome(pair, judged(pair, as_before=as_before)) for pair in map(json.loads, lines)]


def show(title: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Print a half, and give its figures."""
    retired = [one for one in outcomes if one.reason is not None]
    wrong = [one for one in retired if not one.expected]
    expected = [one for one in outcomes if one.expected]
    found = len(retired) - len(wrong)
    precision = found / len(retired) if retired else 1.0
    recall = found / len(expected)
    print(f"\n{title}: {len(outcomes)} pairs, {len(expected)} to retire, {len(outcomes) - len(expected)} to keep")
    print(f"  retired {len(retired)}, wrongly {len(wrong)}: precision {precision:.3f}, recall {recall:.3f}")
    by: dict[str, dict[str, str]] = {}
    for aspect, wanted in (("kind", True), ("language", True), ("as", True), ("kind", False)):
        groups: dict[str, list[Outcome]] = defaultdict(list)
        for one in outcomes:
            if one.expected == wanted:
                groups[one.pair[aspect]].append(one)
        name = f"{'found' if wanted else 'wrong'} by {aspect if wanted else 'trap'}"
        by[name] = {
            group: f"{sum(one.reason is not None for one in members)}/{len(members)}"
            for group, members in sorted(groups.items())
        }
        print(f"  {name}: " + ", ".join(f"{group} {figure}" for group, figure in by[name].items()))
    return {"retired": len(retired), "wrong": len(wrong), "precision": precision, "recall": recall} | by


def errors(outcomes: Sequence[Outcome]) -> None:
    """Print each pair that was judged otherwise than labelled."""
    for one in outcomes:
        if one.expected != (one.reason is not None):
            what = "wrongly retired" if one.reason else "missed"
            print(f"  {one.pair['id']} {one.pair['kind']} {what} ({one.reason})")
            print(f"      {one.pair['old']['text']}\n      {one.pair['new']['text']}")


def of_the_write_decision(bench: Any) -> dict[str, int]:
    """How many pairs of the write decision the wider rules retire: rightly, wrongly."""
    counts: Counter[str] = Counter()
    for name in ("development", "held_out"):
        for line in (bench.PAIRS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            pair = json.loads(line)
            old = bench.statement(pair["old"], 1, bench.OLD_AT)
            new = bench.statement(pair["new"], 2, bench.NEW_AT)
            if contradiction(new, old) is not None:
                right = Decision(pair["expected"]) in bench.RETIRED or pair.get("late", False)
                counts["rightly" if right else "wrongly"] += 1
                if not right and name == "development":
                    print(f"  {pair['id']} {pair['kind']}\n      {pair['old']['text']}\n      {pair['new']['text']}")
    print(f"\npairs of the write decision: {counts['rightly']} rightly retired, {counts['wrongly']} wrongly")
    return dict(counts)


def conversations(bench: Any, path: Path) -> dict[str, Any]:
    """Play conversations, print which turns would retire another one, and how long a comparison took."""
    listed = []
    compared, spent = 0, 0.0
    for conversation in json.loads(path.read_text(encoding="utf-8")):
        nearest = bench.Nearest()
        seen: list[Statement] = []
        for turn in bench.turns(conversation):
            near = [seen[number] for number in nearest.to(turn.text)]
            start = time.perf_counter()
            found = [one for old in near if (one := contradiction(turn, old)) is not None]
            spent += time.perf_counter() - start
            compared += len(near)
            listed += [{"old": one.older.text, "new": turn.text, "reason": one.reason} for one in found]
            nearest.add(turn.text)
            seen.append(turn)
    print(f"\nconversations: {compared} pairs of turns compared, {len(listed)} would retire one")
    for item in listed:
        print(f"  {item['reason']}\n      old: {item['old']}\n      new: {item['new']}")
    print(f"  a comparison takes {1e6 * spent / max(compared, 1):.0f} µs")
    return {"compared": compared, "listed": listed, "us": 1e6 * spent / max(compared, 1)}


def _decision_bench() -> Any:
    """`decision.py` beside this file."""
    spec = importlib.util.spec_from_file_location("decision_bench", Path(__file__).with_name("decision.py"))
    assert spec is not None, "it lies beside this file"
    assert spec.loader is not None, "it is Python"
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Measure and print; write JSON when asked."""
    parser = argparse.ArgumentParser(description="Measure reconsolidation.")
    parser.add_argument("--locomo", type=Path, help="conversations to play")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--errors", action="store_true", help="list the errors of the development half")
    parser.add_argument("--as-before", action="store_true", help="only the rules of the write decision")
    arguments = parser.parse_args()
    report: dict[str, Any] = {}
    for name, title in (("dev", "development"), ("dev_2", "development_2")):
        development = half(PAIRS / f"{name}.jsonl", as_before=arguments.as_before)
        report[title] = show(title, development)
        if arguments.errors:
            errors(development)
    for name in ("held_out", "held_out_2"):
        report[name] = show(name, half(PAIRS / f"{name}.jsonl", as_before=arguments.as_before))
    bench = _decision_bench()
    report["write_decision"] = of_the_write_decision(bench)
    if arguments.locomo:
        report["conversations"] = conversations(bench, arguments.locomo)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""The write decision measured: a labelled set of pairs (English, Arabic, both), and conversations that must stay whole.

    python tests/bench/decision.py [--locomo FILE] [--json FILE] [--show-held-out]

Prints confusion matrices (rows: expected, columns: decided) for both halves of the set, by language and by kind,
precision and recall of retirement (UPDATE and INVALIDATE together) and of NOOP, and each error of the development half;
those of the held-out half only when asked, so that rules are not written against them. `--locomo FILE` plays
conversations (a list of {sessions: [{date, turns: [{speaker, text}]}]}) turn by turn against the ten nearest earlier
turns and lists every turn that would retire another or be dropped as a repeat.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from cortex_decision import Decision, Neighbour, Statement, decide

PAIRS = Path(__file__).parent / "decision_pairs"
RETIRED = {Decision.UPDATE, Decision.INVALIDATE}
OLD_AT, NEW_AT = "2026-03-01", "2026-04-01"
"""When the two statements of a pair were made unless it says so."""


@dataclass(frozen=True)
class Outcome:
    """One labelled pair and what was decided; `right` also asks for the lateness that was expected."""

    pair: dict[str, Any]
    expected: Decision
    decided: Decision
    right: bool
    reason: str


def statement(side: dict[str, str], number: int, day: str) -> Statement:
    """One side of a pair; both are of one session unless it says otherwise."""
    made = datetime.fromisoformat(side.get("valid_at", day)).replace(tzinfo=UTC)
    return Statement(UUID(int=number), side["text"], made, side.get("speaker"), side.get("session", "one"))


def judged(path: Path) -> list[Outcome]:
    """Every pair of a file, decided."""
    outcomes = []
    for line in path.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        old, new = statement(pair["old"], 1, OLD_AT), statement(pair["new"], 2, NEW_AT)
        verdict = decide(new, [Neighbour(old)])
        expected = Decision(pair["expected"])
        right = verdict.decision is expected and verdict.late == pair.get("late", False)
        outcomes.append(Outcome(pair, expected, verdict.decision, right, verdict.reason))
    return outcomes


def rates(outcomes: Sequence[Outcome], positive: set[Decision]) -> dict[str, float | int]:
    """Precision and recall of the decisions in `positive`, taken together."""
    decided = [o for o in outcomes if o.decided in positive]
    expected = [o for o in outcomes if o.expected in positive]
    hits = sum(o.expected in positive for o in decided)
    return {
        "precision": round(hits / len(decided), 4) if decided else 1.0,
        "recall": round(hits / len(expected), 4) if expected else 1.0,
        "decided": len(decided),
        "expected": len(expected),
    }


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The confusion matrix with its rates."""
    matrix = Counter((o.expected, o.decided) for o in outcomes)
    return {
        "pairs": len(outcomes),
        "right": sum(o.right for o in outcomes),
        "matrix": {row: {column: matrix[row, column] for column in Decision} for row in Decision},
        "retirement": rates(outcomes, RETIRED),
        "noop": rates(outcomes, {Decision.NOOP}),
    }


def show(title: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Print a half: the whole, by language, by kind."""
    whole = summary(outcomes)
    print(f"\n{title}: {whole['right']} of {whole['pairs']} right")
    print(f"{'expected':>12} " + "".join(f"{column.upper():>11}" for column in Decision))
    for row in Decision:
        print(f"{row.upper():>12} " + "".join(f"{whole['matrix'][row][column]:>11}" for column in Decision))
    for name in ("retirement", "noop"):
        print(f"  {name}: precision {whole[name]['precision']:.3f}, recall {whole[name]['recall']:.3f}")
    by: dict[str, dict[str, Any]] = {}
    for aspect in ("language", "kind"):
        groups: dict[str, list[Outcome]] = defaultdict(list)
        for outcome in outcomes:
            groups[outcome.pair[aspect]].append(outcome)
        by[aspect] = {name: summary(members) for name, members in sorted(groups.items())}
        print(f"  {aspect:<22}{'pairs':>6}{'right':>6}   retirement P / R      wrongly retired")
        for name, part in by[aspect].items():
            retirement = part["retirement"]
            wrong = round(retirement["decided"] * (1 - retirement["precision"]))
            print(
                f"  {name:<22}{part['pairs']:>6}{part['right']:>6}   {retirement['precision']:.3f} / "
                f"{retirement['recall']:.3f} {wrong:>14}"
            )
    return whole | by


def errors(outcomes: Iterable[Outcome]) -> None:
    """Print each pair that was decided otherwise than expected."""
    for outcome in outcomes:
        if not outcome.right:
            pair = outcome.pair
            print(
                f"  {pair['id']} {pair['kind']}: expected {outcome.expected.upper()}, decided {outcome.decided.upper()}"
            )
            print(f"      {pair['old']['text']}\n      {pair['new']['text']}\n      ({outcome.reason})")


class Nearest:
    """The earlier texts with the highest cosine of tf-idf, idf over what was seen so far."""

    def __init__(self) -> None:
        self._texts: list[Counter[str]] = []
        self._postings: dict[str, list[int]] = defaultdict(list)

    def add(self, text: str) -> None:
        """Remember a text."""
        words = Counter(re.findall(r"\w+", text.casefold()))
        for word in words:
            self._postings[word].append(len(self._texts))
        self._texts.append(words)

    def to(self, text: str, k: int = 10) -> list[int]:
        """The numbers of the `k` nearest texts."""
        scores: Counter[int] = Counter()
        for word in set(re.findall(r"\w+", text.casefold())):
            found = self._postings.get(word, [])
            weight = math.log(1 + len(self._texts) / (1 + len(found))) ** 2
            for number in found:
                scores[number] += weight  # type: ignore[assignment]
        ranked = ((score / math.sqrt(sum(self._texts[n].values())), -n) for n, score in scores.items())
        return [-n for _, n in sorted(ranked, reverse=True)[:k]]


def turns(conversation: dict[str, Any]) -> Iterator[Statement]:
    """The turns of a conversation in order, a minute apart."""
    number = 0
    for session in conversation["sessions"]:
        start = datetime.strptime(session["date"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for index, turn in enumerate(session["turns"]):
            number += 1
            yield Statement(
                UUID(int=number),
                turn["text"],
                start + timedelta(minutes=index),
                turn["speaker"],
                str(session["session"]),
            )


def conversations(path: Path) -> dict[str, Any]:
    """Play the conversations, print what is not simply added, and how long a decision took."""
    listed: list[dict[str, str]] = []
    spent: list[float] = []
    for conversation in json.loads(path.read_text(encoding="utf-8")):
        nearest = Nearest()
        seen: list[Statement] = []
        for turn in turns(conversation):
            neighbours = [Neighbour(seen[n]) for n in nearest.to(turn.text)]
            start = time.perf_counter()
            verdict = decide(turn, neighbours)
            spent.append(time.perf_counter() - start)
            for target in verdict.targets or ((verdict.superseded_by,) if verdict.superseded_by else ()):
                old = next(s.text for s in seen if s.id == target)
                listed.append({"decision": verdict.decision, "old": old, "new": turn.text, "reason": verdict.reason})
            nearest.add(turn.text)
            seen.append(turn)
    spent.sort()
    print(f"\nconversations: {len(spent)} turns, {len(listed)} not simply added")
    for item in listed:
        print(f"  {item['decision'].upper()} ({item['reason']})\n      old: {item['old']}\n      new: {item['new']}")
    p50, p99 = (1000 * spent[int(len(spent) * share)] for share in (0.5, 0.99))
    print(f"  a decision against 10 neighbours: p50 {p50:.2f} ms, p99 {p99:.2f} ms, max {1000 * spent[-1]:.2f} ms")
    return {"turns": len(spent), "listed": listed, "p50_ms": p50, "p99_ms": p99, "max_ms": 1000 * spent[-1]}


def main() -> None:
    """Measure and print; write JSON when asked."""
    parser = argparse.ArgumentParser(description="Measure the write decision.")
    parser.add_argument("--locomo", type=Path, help="conversations to play")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--show-held-out", action="store_true", help="also list the errors of the held-out half")
    arguments = parser.parse_args()
    development, held_out = judged(PAIRS / "development.jsonl"), judged(PAIRS / "held_out.jsonl")
    report = {"development": show("development", development)}
    errors(development)
    report["held_out"] = show("held out", held_out)
    if arguments.show_held_out:
        errors(held_out)
    if arguments.locomo:
        report["conversations"] = conversations(arguments.locomo)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

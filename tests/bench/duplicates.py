"""What sleep takes for the same, measured: labelled pairs (English, Arabic, both), on both halves.

    python tests/bench/duplicates.py [--cosines] [--json FILE] [--show-held-out]

Prints precision and recall of "same" on each half by language, and the errors of the development half; those of the
held-out half only when asked, so that rules are not written against them. With `--cosines` the pairs are embedded with
the bundled model, and what a threshold on the cosine alone would do is printed beside.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from cortex_contracts.messages.base import Assertion
from cortex_decision import Statement
from cortex_sleep.duplicates import Candidate, same

PAIRS = Path(__file__).parent / "duplicate_pairs"
ONE_AT, OTHER_AT = "2026-03-01", "2026-04-01"
"""When the two statements of a pair were made unless it says so."""


@dataclass(frozen=True)
class Outcome:
    """One labelled pair and what was found."""

    pair: dict[str, Any]
    found: bool
    cosine: float | None

    @property
    def expected(self) -> bool:
        """Whether the pair is labelled as the same."""
        return bool(self.pair["label"] == "same")


def candidate(side: dict[str, Any], number: int, day: str) -> Candidate:
    """One side of a pair."""
    made = datetime.fromisoformat(side.get("at", day)).replace(tzinfo=UTC)
    asserted = tuple(Assertion(subject=s, attribute=a, value=v) for s, a, v in side.get("assertions", ()))
    identity = UUID(int=number)
    statement = Statement(
        identity, side["text"], made, side.get("speaker"), side.get("session", "one"), assertions=asserted
    )
    return Candidate(identity, statement, "me", 0.5, 0)


def pairs(half: str) -> list[dict[str, Any]]:
    """The labelled pairs of a half."""
    return [json.loads(line) for line in (PAIRS / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]


def judged(half: str, cosines: Sequence[float | None] | None = None) -> list[Outcome]:
    """Every pair of a half, judged; without `cosines` as if every pair were near."""
    found = []
    for number, pair in enumerate(pairs(half)):
        cosine = 1.0 if cosines is None else cosines[number]
        one, other = candidate(pair["one"], 1, ONE_AT), candidate(pair["other"], 2, OTHER_AT)
        found.append(Outcome(pair, same(one, other, cosine), cosine))
    return found


def embedded(half: str) -> list[float | None]:
    """The cosines of the pairs by the bundled model, as memories without a turn before them are embedded."""
    from cortex_infra import embedding_models
    from cortex_infra.servers.embedder import MODELS

    model = embedding_models.load(next(iter(MODELS)))
    sides = [side for pair in pairs(half) for side in (pair["one"], pair["other"])]
    texts = [f"{side['speaker']}: {side['text']}" if "speaker" in side else side["text"] for side in sides]
    vectors = np.concatenate([model.encode(texts[at : at + 16], False) for at in range(0, len(texts), 16)])
    return [float(one @ other) for one, other in zip(vectors[::2], vectors[1::2], strict=True)]


def rates(expected: Sequence[bool], found: Sequence[bool]) -> tuple[float, float]:
    """Precision and recall."""
    hits = sum(e and f for e, f in zip(expected, found, strict=True))
    return hits / max(1, sum(found)) if any(found) else 1.0, hits / max(1, sum(expected))


def show(title: str, outcomes: Sequence[Outcome], errors: bool) -> dict[str, Any]:
    """Print a half."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        groups["all"].append(one)
        groups[one.pair["language"]].append(one)
    print(f"\n{title}: {len(outcomes)} pairs, {sum(o.expected for o in outcomes)} the same")
    report = {}
    for name, members in groups.items():
        precision, recall = rates([o.expected for o in members], [o.found for o in members])
        wrong = sum(o.found and not o.expected for o in members)
        print(f"  {name:<6} precision {precision:.3f}, recall {recall:.3f}, wrongly merged {wrong}")
        report[name] = {"precision": precision, "recall": recall, "wrong": wrong, "pairs": len(members)}
    for one in outcomes if errors else ():
        if one.found != one.expected:
            cosine = "" if one.cosine is None else f" ({one.cosine:.3f})"
            print(f"    {one.pair['id']} {one.pair['kind']}, {one.pair['label']}{cosine}")
            print(f"        {one.pair['one']['text']}\n        {one.pair['other']['text']}")
    return report


def alone(outcomes: Sequence[Outcome]) -> None:
    """Print what a threshold on the cosine alone would do."""
    known = [(o.cosine, o.expected) for o in outcomes if o.cosine is not None]
    for threshold in (0.90, 0.93, 0.95, 0.97, 0.98, 0.99):
        precision, recall = rates([e for _, e in known], [c >= threshold for c, _ in known])
        print(f"  cosine ≥ {threshold:.2f} alone: precision {precision:.3f}, recall {recall:.3f}")
    same_ones = sorted(c for c, e in known if e)
    print(f"  cosines of the same: lowest {same_ones[0]:.3f}, 10th percentile {same_ones[len(same_ones) // 10]:.3f}")


def main() -> None:
    """Measure and print; write JSON when asked."""
    parser = argparse.ArgumentParser(description="Measure the judgement of duplicates.")
    parser.add_argument("--cosines", action="store_true", help="embed the pairs with the bundled model")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--show-held-out", action="store_true", help="also list the errors of the held-out half")
    arguments = parser.parse_args()
    report = {}
    for half, listed in (("dev", True), ("held_out", arguments.show_held_out)):
        outcomes = judged(half, embedded(half) if arguments.cosines else None)
        report[half] = show(half, outcomes, listed)
        if arguments.cosines:
            alone(outcomes)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

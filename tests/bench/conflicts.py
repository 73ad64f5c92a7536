"""The assertion extractor measured: a labelled set of pairs of short texts (English, Arabic, both).

    python tests/bench/conflicts.py [--errors] [--show-held-out] [--json FILE]

Prints the confusion matrix (rows: the label, columns: what `assertions.relation` says) of each part of the set,
precision and recall of `conflict`, and the share of pairs that are right in all three ways: of the whole, by language,
by kind. `--errors` lists each error of the development parts; those of the held-out halves only with `--show-held-out`,
so that rules are not written against them.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cortex_gateway.assertions import Relation, relation

PAIRS: Final = Path(__file__).parent / "conflict_pairs"
HALVES: Final = ("dev", "dev_2", "held_out", "held_out_2")
AIM: Final = {"precision": 0.95, "recall": 0.85}
"""Of conflicts, on the half that no rule was written against."""


@dataclass(frozen=True)
class Outcome:
    """One labelled pair and what was said of it."""

    pair: dict[str, str]
    expected: Relation
    said: Relation

    @property
    def right(self) -> bool:
        """Whether the pair is judged as it is labelled."""
        return self.said is self.expected


def judged(path: Path) -> list[Outcome]:
    """Every pair of a file, judged."""
    outcomes = []
    for line in path.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        said = relation(pair["a"], pair["b"], titles=(pair.get("a_title", ""), pair.get("b_title", "")))
        outcomes.append(Outcome(pair, Relation(pair["label"]), said))
    return outcomes


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Numbers of a group of pairs; a rate is none where nothing was said, or nothing was to be said."""
    said = [one for one in outcomes if one.said is Relation.CONFLICT]
    expected = [one for one in outcomes if one.expected is Relation.CONFLICT]
    hits = sum(one.right for one in said)
    return {
        "pairs": len(outcomes),
        "right": sum(one.right for one in outcomes),
        "accuracy": round(sum(one.right for one in outcomes) / len(outcomes), 4),
        "precision": round(hits / len(said), 4) if said else None,
        "recall": round(hits / len(expected), 4) if expected else None,
        "wrong conflicts": len(said) - hits,
        "missed conflicts": len(expected) - hits,
    }


def show(title: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Print a half: the matrix, the whole, by language, by kind."""
    matrix = Counter((one.expected, one.said) for one in outcomes)
    print(f"\n{title}\n{'label':>12} " + "".join(f"{column:>11}" for column in Relation))
    for row in Relation:
        print(f"{row:>12} " + "".join(f"{matrix[row, column]:>11}" for column in Relation))
    print(f"  {'':<14}{'pairs':>6}{'right':>7}{'precision':>11}{'recall':>8}{'wrong':>7}{'missed':>8}")
    whole = summary(outcomes)
    line("all", whole)
    report = {"matrix": {row: {column: matrix[row, column] for column in Relation} for row in Relation}, "all": whole}
    for aspect in ("lang", "kind"):
        groups: dict[str, list[Outcome]] = defaultdict(list)
        for one in outcomes:
            groups[one.pair[aspect]].append(one)
        report[aspect] = {name: summary(members) for name, members in sorted(groups.items())}
        for name, figures in report[aspect].items():
            line(name, figures)
    return report


def line(name: str, figures: dict[str, Any]) -> None:
    """Print one row of the table."""
    rates = [f"{figures[rate]:.3f}" if figures[rate] is not None else "-" for rate in ("precision", "recall")]
    print(
        f"  {name:<14}{figures['pairs']:>6}{figures['accuracy']:>7.3f}{rates[0]:>11}{rates[1]:>8}"
        f"{figures['wrong conflicts']:>7}{figures['missed conflicts']:>8}"
    )


def errors(outcomes: Iterable[Outcome]) -> None:
    """Print each pair that was judged otherwise than labelled, wrong conflicts first."""
    wrong = [one for one in outcomes if not one.right]
    for one in sorted(wrong, key=lambda one: (one.said is not Relation.CONFLICT, one.expected, one.pair["kind"])):
        pair = one.pair
        print(f"  {pair['id']} {pair['lang']} {pair['kind']}: {one.expected}, said {one.said} ({pair['note']})")
        for side in ("a", "b"):
            title = f"[{pair[f'{side}_title']}] " if f"{side}_title" in pair else ""
            print(f"      {title}{pair[side]}".replace("\n", " ⏎ "))


def main() -> None:
    """Measure and print; write JSON when asked."""
    parser = argparse.ArgumentParser(description="Measure the assertion extractor.")
    parser.add_argument("--errors", action="store_true", help="list the errors of the development parts")
    parser.add_argument("--show-held-out", action="store_true", help="list the errors of the held-out halves")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    shown = {half: arguments.show_held_out if half.startswith("held_out") else arguments.errors for half in HALVES}
    report: dict[str, Any] = {"aim": AIM}
    for half in HALVES:
        path = PAIRS / f"{half}.jsonl"
        if not path.exists():
            continue
        started = time.perf_counter()
        outcomes = judged(path)
        took_ms = (time.perf_counter() - started) * 1000
        report[half] = show(half, outcomes) | {"ms per pair": round(took_ms / len(outcomes), 3)}
        print(f"  {report[half]['ms per pair']} ms per pair")
        if shown[half]:
            errors(outcomes)
    print(f"\n  aim on what is held out: precision {AIM['precision']}, recall {AIM['recall']}")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

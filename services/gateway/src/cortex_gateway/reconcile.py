"""Where hits disagree: assertions of the same subject and attribute with different values (gateway contract section 3).

The value of the hit with the highest score wins; every hit that says something else is listed as a loser with a reason
a person understands. Saying the same thing twice is corroboration. Nothing is dropped: a losing hit stays a hit.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cortex_contracts.messages.base import Assertion
from cortex_contracts.rpc.ask import Conflict
from cortex_contracts.rpc.engine import SourceClass
from cortex_gateway.scoring import ScoredHit, order

NOUNS: Final = {
    SourceClass.LIVE_INFRA: "live reading",
    SourceClass.RECENT_FILE: "file",
    SourceClass.AGENT_MEMORY: "memory",
    SourceClass.OLDER_NOTE: "older note",
}
"""What a person calls a hit of each class."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A hit that asserts something else than the winner, and why it lost."""

    hit: ScoredHit
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One claim about which hits differ."""

    claim: str
    value: str
    winner: ScoredHit
    losses: tuple[Loss, ...]

    @property
    def unsettled(self) -> Loss | None:
        """The most trustworthy loser, if it is more so than the winner and only fits the question less.

        The score decides who wins, and relevance is part of it; but how well a text fits a question is no evidence for
        what it says. The answer then tells both sides.
        """
        best = max(self.losses, key=lambda loss: loss.hit.trust)
        return best if best.hit.trust > self.winner.trust else None

    @property
    def reason(self) -> str:
        """Why each loser lost, in the order of `losses`."""
        return "; ".join(loss.reason for loss in self.losses)

    def conflict(self) -> Conflict:
        """This disagreement as the reply tells it."""
        return Conflict(
            claim=self.claim,
            winner=self.winner.source_class,
            losers=tuple(loss.hit.source_class for loss in self.losses),
            reason=self.reason,
            value=self.value,
            losing_values=tuple(loss.value for loss in self.losses),
            paths=(self.winner.hit.path, *(loss.hit.hit.path for loss in self.losses)),
        )


def reconcile(hits: Sequence[ScoredHit]) -> tuple[Disagreement, ...]:
    """Every disagreement among the hits, the one with the strongest winner first."""
    claims: dict[tuple[str, str], list[tuple[ScoredHit, Assertion]]] = {}
    for hit in sorted(hits, key=order):
        for assertion in hit.hit.assertions:
            key = (normalise(assertion.subject), normalise(assertion.attribute))
            claims.setdefault(key, []).append((hit, assertion))
    found = [disagreement for said in claims.values() if (disagreement := _settle(said))]
    return tuple(sorted(found, key=lambda d: (order(d.winner), d.claim)))


def _settle(said: Sequence[tuple[ScoredHit, Assertion]]) -> Disagreement | None:
    """`said` is in the order of the hits, so the first one wins."""
    winner, best = said[0]
    value = normalise(best.value)
    # Who says the winning value among others (a list of values, say) does not contradict it.
    agreeing = {id(hit) for hit, assertion in said if normalise(assertion.value) == value}
    losses: dict[tuple[int, str], Loss] = {}
    for hit, assertion in said:
        if id(hit) not in agreeing:
            key = (id(hit), normalise(assertion.value))
            losses.setdefault(key, Loss(hit, _spelled(assertion.value), reason(winner, hit)))
    if not losses:
        return None
    claim = f"{_spelled(best.subject)} {_spelled(best.attribute)}"
    return Disagreement(claim, _spelled(best.value), winner, tuple(losses.values()))


def reason(winner: ScoredHit, loser: ScoredHit) -> str:
    """Why `loser` lost against `winner`: the factor of the score that weighed most, in words."""
    noun = NOUNS[loser.source_class]
    undated = loser.hit.last_seen is None
    losses = {
        f"{noun} has no date" if undated else f"{noun} stale {_days(loser.age_days)}": _gap(
            winner.recency, loser.recency
        ),
        f"{noun} has less authority than {NOUNS[winner.source_class]}": _gap(winner.authority, loser.authority),
        f"{noun} less certain ({loser.hit.confidence:.0%} against {winner.hit.confidence:.0%})": _gap(
            winner.hit.confidence, loser.hit.confidence
        ),
        f"{noun} fits the question less ({loser.hit.relevance:.0%} against {winner.hit.relevance:.0%})": _gap(
            winner.hit.relevance, loser.hit.relevance
        ),
    }
    words = max(losses, key=lambda text: losses[text])
    return words if losses[words] > 0 else f"{noun} as strong as {NOUNS[winner.source_class]}, ordered by name"


def normalise(text: str) -> str:
    """Text as it is compared: compatibility forms, case and white space do not matter."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _spelled(text: str) -> str:
    return " ".join(text.split())


def _gap(winner: float, loser: float) -> float:
    """How many times stronger the winner is, as a logarithm."""
    if winner <= loser:
        return 0.0
    return math.inf if loser == 0 else math.log(winner / loser)


def _days(age: float) -> str:
    return f"{age:.0f}d" if age >= 1 else f"{age * 24:.0f}h"

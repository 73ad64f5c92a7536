"""The score of a hit: authority × recency × confidence × relevance (gateway contract section 3).

Recency is `exp(-age / half-life)`: stale statements sink below fresher ones of a weaker class by themselves. A recent
file that is older than `RECENT_FILE_DAYS` is an older note. A hit without a date is read as old as its class gets
(`OLDEST_READING_DAYS`), so that leaving the date out never helps; a date in the future is read as now. Several hits of
one thing (`duplicates`) count as the strongest of them, with the confidence that they have together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway import duplicates

AUTHORITY: Final[Mapping[SourceClass, float]] = {
    SourceClass.LIVE_INFRA: 1.0,
    SourceClass.RECENT_FILE: 0.8,
    SourceClass.AGENT_MEMORY: 0.6,
    SourceClass.OLDER_NOTE: 0.4,
}
HALF_LIFE_DAYS: Final = 30.0
"""The contract's word; `exp(-age / 30)` falls to 37 % in this time, not to a half."""

RECENT_FILE_DAYS: Final = 30.0

OLDEST_READING_DAYS: Final[Mapping[SourceClass, float]] = {
    # What was read more than a day ago would not be called live.
    SourceClass.LIVE_INFRA: 1.0,
    # By definition: beyond it the file is an older note.
    SourceClass.RECENT_FILE: RECENT_FILE_DAYS,
    # The last two have no limit of their own: a quarter for what agents say, a year for what people wrote down.
    SourceClass.AGENT_MEMORY: 90.0,
    SourceClass.OLDER_NOTE: 365.0,
}
_DAY_S: Final = 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class ScoredHit:
    """A hit with its place among the others; two are the same only when they are the same object."""

    hit: Hit
    source_class: SourceClass
    """The class that counts: a recent file that is not recent any more is an older note."""
    age_days: float
    """As read: the class's oldest for a hit without a date."""
    authority: float
    recency: float
    base: float
    """The score without confidence."""
    score: float
    corroborated_by: tuple[str, ...] = ()
    """Keys of the other engines that found the same, in alphabetical order."""

    @property
    def trust(self) -> float:
        """The score without relevance: how far to believe the hit, whatever was asked."""
        return self.authority * self.recency * self.hit.confidence


@dataclass(frozen=True, slots=True)
class Scoring:
    """The configured weights."""

    authority: Mapping[SourceClass, float] = field(default_factory=lambda: dict(AUTHORITY))
    half_life_days: float = HALF_LIFE_DAYS

    def score(self, hit: Hit, now: datetime) -> ScoredHit:
        """One hit with its score in [0, 1]."""
        age = age_days(hit, now)
        source_class = hit.source_class
        if source_class is SourceClass.RECENT_FILE and age > RECENT_FILE_DAYS:
            source_class = SourceClass.OLDER_NOTE
        authority = self.authority[source_class]
        recency = math.exp(-age / self.half_life_days)
        base = authority * recency * hit.relevance
        return ScoredHit(hit, source_class, age, authority, recency, base, base * hit.confidence)

    def rank(self, hits: Iterable[Hit], now: datetime) -> list[ScoredHit]:
        """Every thing that was hit, best first; the order does not depend on which engine answered first.

        Of several hits of one thing (`duplicates`) the strongest stays, with what any of them asserts and with the
        confidence that they have together. A hit with more authority, a later date, more confidence or more relevance
        never has a lower place, whatever else was hit.
        """
        things = duplicates.things(hits)
        scored = [self.score(one[0], now) if len(one) == 1 else self._together(one, now) for one in things]
        return sorted(scored, key=order)

    def _together(self, found: Sequence[Hit], now: datetime) -> ScoredHit:
        """Several hits of one thing as one."""
        scored = [self.score(hit, now) for hit in found]
        # By what confidence has no part in: the confidence of all goes with whichever hit stays. Of two that are as
        # strong, the one with more confidence must not win by it, or a third could come between them.
        best = min(scored, key=_strength)
        rest = [one.hit for one in scored if one is not best]
        confidence = duplicates.confidence(found)
        hit = best.hit.model_copy(
            update={"confidence": confidence, "assertions": duplicates.united([best.hit, *rest])},
        )
        others = sorted({one.engine for one in rest} - {hit.engine})
        return replace(best, hit=hit, score=best.base * confidence, corroborated_by=tuple(others))


def age_days(hit: Hit, now: datetime) -> float:
    """How old a hit is, in days, at least 0."""
    if hit.last_seen is None:
        return OLDEST_READING_DAYS[hit.source_class]
    return max(0.0, (now - hit.last_seen).total_seconds() / _DAY_S)


def order(scored: ScoredHit) -> tuple[float, float, float, float, float, str, str, str]:
    """Sort key: the best first, ties by what the score is made of and by age, then by name."""
    return (-scored.score, *_strength(scored))


def _strength(scored: ScoredHit) -> tuple[float, float, float, float, str, str, str]:
    """Sort key: the strongest first, confidence aside."""
    hit = scored.hit
    return (-scored.base, -scored.authority, -hit.relevance, scored.age_days, hit.engine, hit.path, hit.snippet)

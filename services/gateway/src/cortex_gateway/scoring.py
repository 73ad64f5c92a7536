"""The score of a hit: authority × recency × confidence × relevance (gateway contract section 3).

Recency is `exp(-age / half-life)`: stale statements sink below fresher ones of a weaker class by themselves. A recent
file that is older than `RECENT_FILE_DAYS` is an older note. A hit without a date is read as old as its class gets
(`OLDEST_READING_DAYS`), so that leaving the date out never helps; a date in the future is read as now.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from cortex_contracts.rpc.engine import Hit, SourceClass

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
    score: float

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
        return ScoredHit(
            hit, source_class, age, authority, recency, authority * recency * hit.confidence * hit.relevance
        )

    def rank(self, hits: Iterable[Hit], now: datetime) -> list[ScoredHit]:
        """All hits, best first, identical ones once; the order does not depend on which engine answered first."""
        return sorted((self.score(hit, now) for hit in distinct(hits)), key=order)


def age_days(hit: Hit, now: datetime) -> float:
    """How old a hit is, in days, at least 0."""
    if hit.last_seen is None:
        return OLDEST_READING_DAYS[hit.source_class]
    return max(0.0, (now - hit.last_seen).total_seconds() / _DAY_S)


def order(scored: ScoredHit) -> tuple[float, float, float, float, str, str, str]:
    """Sort key: the best first, ties by authority, relevance and age, then by name."""
    hit = scored.hit
    return (-scored.score, -scored.authority, -hit.relevance, scored.age_days, hit.engine, hit.path, hit.snippet)


def distinct(hits: Iterable[Hit]) -> list[Hit]:
    """Hits without those that the same engine gave twice (same path, title and text); the stronger one stays.

    What either of them asserts is kept. The same text from another engine or path is corroboration and stays, too.
    """
    found: dict[tuple[str, str, str, str], Hit] = {}
    for hit in hits:
        key = (hit.engine, hit.path, _flat(hit.title), _flat(hit.snippet))
        other = found.get(key)
        if other is None:
            found[key] = hit
            continue
        best, rest = (hit, other) if _strength(hit) > _strength(other) else (other, hit)
        more = tuple(a for a in rest.assertions if a not in best.assertions)
        found[key] = best.model_copy(update={"assertions": best.assertions + more}) if more else best
    return list(found.values())


def _strength(hit: Hit) -> tuple[float, float]:
    return (hit.relevance * hit.confidence, hit.last_seen.timestamp() if hit.last_seen else -math.inf)


def _flat(text: str) -> str:
    return " ".join(text.split())

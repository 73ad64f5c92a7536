"""What one statement can do to another."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cortex_decision.clauses import Clause


class Effect(StrEnum):
    """What the newer clause does to the older one."""

    REPLACED = "replaced"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Finding:
    """An effect with the values that differ, as they were written (`new` is empty for an end)."""

    effect: Effect
    old: str
    new: str = ""


def tail(clause: Clause) -> str:
    """The last words of a clause, as its value."""
    return clause.spelling(max(1, len(clause.words) - 3), len(clause.words)) or clause.spelling(0, 1)

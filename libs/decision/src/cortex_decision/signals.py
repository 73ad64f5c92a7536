"""Signals: words without which no rule finds a contradiction, so that what has none need not be compared."""

from __future__ import annotations

from typing import Final

from cortex_decision import arabic, english, values
from cortex_decision.clauses import Clause
from cortex_decision.differences import PLACED
from cortex_decision.frames import frames
from cortex_decision.topics import CHANGES, ENDS

_WORDS: Final = (
    CHANGES
    | ENDS
    | english.ROLES
    | english.ATTRIBUTES
    | english.DISTINGUISHING
    | arabic.DAYS
    | arabic.NAMED
    | values.STATE_WORDS
    | frozenset(
        "= : merged resolved filled published released shipped delivered done solved approved rejected signed answered "
        "fixed repaired lifted married born crashed halted prefer هو هي اسمه اسمها اصلاح تزوج تزوجت".split()
    )
)


def holds_value(clause: Clause) -> bool:
    """Whether a clause denies something, has a value, or tells of a change."""
    return (
        clause.negated
        or clause.ended
        or clause.changed
        or not _WORDS.isdisjoint(clause.words)
        or any(values.kind((word,)) for word in clause.words)
        or any(" ".join(placed) in clause.text for placed in PLACED)
        or bool(frames(clause))
    )

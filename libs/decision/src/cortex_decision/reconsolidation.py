"""Reconsolidation: which of what is remembered a statement makes untrue, whenever each of them was said.

The write decision (`decide`) compares a new statement with its neighbours once. Here statements are compared that have
been stored side by side, or that were only said along with a question. The rules are the same, with those of
`told_changes` beside them; the later statement wins, and of two that are equally late neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cortex_decision.clauses import sentences
from cortex_decision.decide import Statement, changed, is_history, reading_of, reason_of, speakers_differ
from cortex_decision.displacements import tells_of_old
from cortex_decision.findings import Effect
from cortex_decision.signals import holds_value
from cortex_decision.told_changes import told


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The `older` statement is not true any more since the `newer` one is; `replaced`: it has another value now."""

    older: Statement
    newer: Statement
    replaced: bool
    reason: str


def contradiction(newer: Statement, older: Statement) -> Contradiction | None:
    """What a later statement does to an earlier one; none when both can be true, or `newer` is not later."""
    if newer.valid_at <= older.valid_at or is_history(newer, older):
        return None
    reading, other = reading_of(newer), reading_of(older)
    finding = changed(newer, reading, older, other)
    if finding is None and not newer.assertions and not older.assertions and not speakers_differ(newer, older):
        finding = told(newer.text, newer.speaker, newer.session, other)
    if finding is None:
        return None
    return Contradiction(older, newer, finding.effect is Effect.REPLACED, reason_of(finding))


def successions(statement: Statement, others: Sequence[Statement]) -> tuple[Contradiction, ...]:
    """What `statement` ends among `others`, and what of them ends it; each ends with the first that contradicts it, so
    that a chain of corrections reads in their order. Earliest end first; in any order of `others` the same."""
    known = sorted((statement, *others), key=lambda one: (one.valid_at, str(one.id)))
    ended = [older for older in others if contradiction(statement, older) is not None]
    firsts = [
        next((found for newer in known if (found := contradiction(newer, older)) is not None), None)
        for older in (*ended, statement)
    ]
    ends = [one for one in firsts if one is not None]
    return tuple(sorted(ends, key=lambda one: (one.newer.valid_at, one.older.valid_at, str(one.older.id))))


def can_end(statement: Statement) -> bool:
    """Whether a later statement can end this one: it says one thing, for all that is read. Most of what is said in a
    conversation does not."""
    if statement.assertions:
        return True
    reading = reading_of(statement)
    return reading.complete and len(reading.clauses) == 1 and not reading.clauses[0].doubtful


def can_change(statement: Statement) -> bool:
    """Whether it can end an earlier one: it claims something that has a value, or tells of a change."""
    if can_end(statement):
        return True
    clauses = [clause for clause in reading_of(statement).clauses if not clause.doubtful]
    return any(map(holds_value, clauses)) or any(map(tells_of_old, sentences(statement.text)))

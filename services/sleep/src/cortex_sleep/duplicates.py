"""Duplicates: which live memories say the same, and which of them stays. Pure functions.

Precision first: what is merged wrongly is gone from recall, what is missed is only said twice. Vectors alone cannot
tell: "retries 3 times" and "retries 5 times" are nearer to each other than many a true duplicate (docs/duplicates.md).
So two memories are one only if their words agree too, in order, by the same speaker; a number, a name, a negation, a
time, an operator more or less makes them two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Final
from uuid import UUID

from cortex_decision import Statement
from cortex_decision.comparison import same_words
from cortex_decision.decide import speakers_differ, values_by_key
from cortex_sleep.wording import Line, Wording, worded

NEAR: Final = 0.93
"""Least cosine of two memories that are worded differently (multilingual-e5-small; measured on the development pairs
with `tests/bench/duplicates.py`). A vector also stands for the turn before it, so another context keeps them apart."""
LEAST_WORDS: Final = 3
"""Shorter statements ("Yes, sure") mean nothing without what came before them."""
ONE_EVENT: Final = timedelta(days=1)
"""Within which two sentences about something that happened tell of one event."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A live memory that may repeat another one. `owner`: who wrote it; `importance`: when it was written; `uses`: how
    often it was recalled or said again."""

    id: UUID
    statement: Statement
    owner: str | None
    importance: float
    uses: int


@dataclass(frozen=True, slots=True)
class Merge:
    """`best` stays; `others` say the same."""

    best: Candidate
    others: tuple[Candidate, ...]


def same(one: Candidate, other: Candidate, cosine: float | None) -> bool:
    """Whether two memories say the same. `cosine`: none when one of them has no vector yet; then only the very same
    text is."""
    left, right = worded(one.statement), worded(other.statement)
    if left.content != right.content and (cosine is None or cosine < NEAR):
        return False
    return _agree(left, right) and _told_by_one(one, other, left, right) and _of_one_time(one, other, left, right)


def order(candidate: Candidate) -> tuple[float, int, int, float, str]:
    """What stays is first: the most important, then the most used, the longest, the oldest, the first by id."""
    return (
        -round(candidate.importance, 3),
        -candidate.uses,
        -len(candidate.statement.text),
        candidate.statement.valid_at.timestamp(),
        str(candidate.id),
    )


def merges(candidates: Iterable[Candidate], alike: Callable[[Candidate, Candidate], bool]) -> tuple[Merge, ...]:
    """What becomes of candidates of one wording, by whatever says that two are `alike`; independent of their order."""
    kept: list[tuple[Candidate, list[Candidate]]] = []
    for one in sorted(candidates, key=order):
        repeated = next((others for best, others in kept if alike(best, one)), None)
        if repeated is None:
            kept.append((one, []))
        else:
            repeated.append(one)
    return tuple(Merge(best, tuple(others)) for best, others in kept if others)


def _agree(one: Wording, other: Wording) -> bool:
    if one.signs != other.signs or one.asks or other.asks or min(one.size, other.size) < LEAST_WORDS:
        return False
    if one.lines is None or other.lines is None:
        return one.content == other.content
    return _lines_agree(one.lines, other.lines)


def _lines_agree(one: Sequence[Line], other: Sequence[Line]) -> bool:
    return len(one) == len(other) and all(
        left.negated == right.negated and left.ended == right.ended and same_words(left.words, right.words)
        for left, right in zip(one, other, strict=True)
    )


def _told_by_one(one: Candidate, other: Candidate, left: Wording, right: Wording) -> bool:
    if speakers_differ(one.statement, other.statement):
        return False
    if values_by_key(one.statement) != values_by_key(other.statement):
        return False
    unnamed = one.statement.speaker is None or other.statement.speaker is None
    own = left.own or right.own
    return not (own and unnamed) or (one.statement.speaker == other.statement.speaker and one.owner == other.owner)


def _of_one_time(one: Candidate, other: Candidate, left: Wording, right: Wording) -> bool:
    first, second = one.statement.valid_at.astimezone(UTC), other.statement.valid_at.astimezone(UTC)
    if (left.dated or right.dated) and first.date() != second.date():
        return False
    return not (left.event or right.event) or abs(first - second) < ONE_EVENT

"""The write decision: what a new statement does to the live memories nearest to it.

Precision first: retiring a true memory is worse than keeping an old one, so whatever the rules do not understand is
added. Nothing here learns, guesses or asks: the same statements always give the same verdict, in any order of the
neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from cortex_contracts.messages.base import Assertion
from cortex_decision.clauses import Reading, read, sentences
from cortex_decision.comparison import compare, same_words
from cortex_decision.findings import Effect, Finding
from cortex_decision.folding import READ_LIMIT, content, fold, may_equal, signs

VALUE_LENGTH: Final = 60
"""Characters of a value that a reason repeats."""


class Decision(StrEnum):
    """What is done with a new statement."""

    ADD = "add"
    UPDATE = "update"
    INVALIDATE = "invalidate"
    NOOP = "noop"


@dataclass(frozen=True, slots=True)
class Statement:
    """One memory as the decision sees it: what was said, when, by whom and where."""

    id: UUID | None
    text: str
    valid_at: datetime
    speaker: str | None = None
    session: str | None = None
    assertions: tuple[Assertion, ...] = ()
    source_kind: str = "manual"
    explicit: bool = False


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored statement near the new one; `similarity` is a cosine, none if it is not embedded yet."""

    statement: Statement
    similarity: float | None = None
    invalid_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with the new statement.

    `targets` are the memories that it supersedes (UPDATE, INVALIDATE: the new statement is stored and they become
    invalid at its `valid_at`), or the one that it repeats (NOOP). A new statement that is older than one that
    contradicts it is history: it is stored, invalid since `invalid_at`, superseded by `superseded_by`.
    """

    decision: Decision
    targets: tuple[UUID, ...] = ()
    reason: str = "nothing stored says the same or is contradicted"
    invalid_at: datetime | None = None
    superseded_by: UUID | None = None

    @property
    def late(self) -> bool:
        """Whether the statement arrived after one that already took its place."""
        return self.superseded_by is not None


def decide(new: Statement, neighbours: Sequence[Neighbour]) -> Verdict:
    """What `new` does to `neighbours` (in any order; those without an id are ignored)."""
    known = sorted(
        (near for near in neighbours if near.statement.id is not None),
        key=lambda near: (near.invalid_at is not None, near.statement.valid_at, str(near.statement.id)),
    )
    if not known:
        return Verdict(Decision.ADD)
    reading = reading_of(new)
    said = content(new.text)
    count = len(sentences(new.text))
    readings = [reading_of(near.statement) if _worth_reading(near.statement, count) else _UNREAD for near in known]
    for near, other in zip(known, readings, strict=True):
        if _lasting(near, new) and (how := _repeats(new, said, reading, near.statement, other)):
            return Verdict(Decision.NOOP, _ids(near), how)
    return _changes(new, reading, [pair for pair in zip(known, readings, strict=True) if pair[0].invalid_at is None])


def _changes(new: Statement, reading: Reading, live: Sequence[tuple[Neighbour, Reading]]) -> Verdict:
    retired: list[tuple[Neighbour, Finding]] = []
    successors: list[tuple[Neighbour, Finding]] = []
    for near, other in live:
        late = new.valid_at < near.statement.valid_at
        finding = changed(near.statement, other, new, reading) if late else None
        if not late:
            finding = changed(new, reading, near.statement, other)
        if finding is not None:
            (successors if late else retired).append((near, finding))
    successor = successors[0] if successors else None
    history = {
        "invalid_at": successor[0].statement.valid_at if successor else None,
        "superseded_by": successor[0].statement.id if successor else None,
    }
    if retired:
        replaced = any(finding.effect is Effect.REPLACED for _, finding in retired)
        reason = next(reason_of(f) for _, f in retired if (f.effect is Effect.REPLACED) == replaced)
        return Verdict(
            Decision.UPDATE if replaced else Decision.INVALIDATE,
            tuple(identity for near, _ in retired for identity in _ids(near)),
            reason,
            **history,  # type: ignore[arg-type]
        )
    if successor:
        return Verdict(
            Decision.ADD,
            reason=f"older than what is stored: {reason_of(successor[1])}",
            **history,  # type: ignore[arg-type]
        )
    return Verdict(Decision.ADD)


def reading_of(statement: Statement) -> Reading:
    """The clauses of a statement."""
    return read(statement.text, speaker=statement.speaker, session=statement.session)


def _worth_reading(old: Statement, count: int) -> bool:
    """Only a single sentence is ever retired, and only as many sentences as the new one has can be its paraphrase."""
    return len(sentences(old.text)) in {1, count}


_UNREAD: Final = Reading((), complete=False)


def _ids(near: Neighbour) -> tuple[UUID, ...]:
    return (near.statement.id,) if near.statement.id is not None else ()


def _lasting(near: Neighbour, new: Statement) -> bool:
    """Whether the stored statement still held when the new one was made; said again after its end it is news."""
    return near.invalid_at is None or near.statement.valid_at <= new.valid_at < near.invalid_at


def speakers_differ(one: Statement, other: Statement) -> bool:
    """Whether both name who speaks, and not the same one."""
    return bool(one.speaker and other.speaker) and fold(one.speaker or "").split() != fold(other.speaker or "").split()


def _repeats(new: Statement, said: str, reading: Reading, old: Statement, other: Reading) -> str | None:
    """Why the new statement is a repeat; none if it is not."""
    if speakers_differ(new, old):
        # What two people say alike is one fact only if it is about neither of them, and more than a courtesy.
        plain = reading.complete and all(not (c.own or c.doubtful) and len(c.words) >= 3 for c in reading.clauses)
        if not plain or any("!" in text for text in (new.text, old.text)):
            return None
    short = max(len(new.text), len(old.text)) <= READ_LIMIT
    alike = (short or may_equal(new.text, old.text)) and said == content(old.text)
    if alike and (said or new.text.strip() == old.text.strip()):
        return "already stored, word for word"
    # An exclamation is a courtesy more often than a fact.
    if (
        "!" in new.text
        or "!" in old.text
        or not _paraphrase(reading, other)
        or signs(said) != signs(content(old.text))
        or values_by_key(new) != values_by_key(old)
    ):
        return None
    return "already stored in other words"


def _paraphrase(one: Reading, other: Reading) -> bool:
    if not (one.complete and other.complete) or len(one.clauses) != len(other.clauses) or not one.clauses:
        return False
    return all(
        left.negated == right.negated
        and left.ended == right.ended
        and not (left.doubtful or right.doubtful)
        and (left.own == right.own and (not left.own or left.me == right.me))
        and len(left.words) >= 3
        and same_words(left.words, right.words)
        for left, right in zip(one.clauses, other.clauses, strict=True)
    )


Key = tuple[str, str]


def values_by_key(statement: Statement) -> dict[Key, frozenset[str]]:
    """The explicit assertions: the values of each attribute of each subject."""
    held: dict[Key, set[str]] = {}
    for item in statement.assertions:
        held.setdefault((content(item.subject), content(item.attribute)), set()).add(content(item.value))
    return {key: frozenset(found) for key, found in held.items()}


def changed(newer: Statement, reading: Reading, older: Statement, other: Reading) -> Finding | None:
    """What the newer statement changes in the older one; explicit assertions about the same decide first."""
    if is_history(newer, older):
        return None
    after, before = values_by_key(newer), values_by_key(older)
    if after.keys() & before.keys():
        return _asserted(newer, older, after, before)
    # A memory that says several things stays: one of them changing does not make the others untrue.
    if not other.complete or len(other.clauses) != 1:
        return None
    return next((found for clause in reading.clauses if (found := compare(clause, other.clauses[0]))), None)


_IN_YEAR: Final = re.compile(r"(?:\b(?:in|since|back in)|\bعام|\bسنة|\bسنه|\bفي) ((?:19|20)\d\d)\b", re.IGNORECASE)


def is_history(newer: Statement, older: Statement) -> bool:
    """Whether what a statement tells happened in a year before the older one was said: "moved to Munich in 2015"."""
    years = [int(year) for year in _IN_YEAR.findall(newer.text)]
    return bool(years) and max(years) < older.valid_at.year


def _asserted(
    newer: Statement, older: Statement, after: dict[Key, frozenset[str]], before: dict[Key, frozenset[str]]
) -> Finding | None:
    changed = sorted(key for key in after.keys() & before.keys() if not after[key] & before[key])
    # Several values of one attribute are a set; an attribute that the newer one does not mention still holds.
    if (
        not changed
        or before.keys() - after.keys()
        or any(len(after[key]) != 1 or len(before[key]) != 1 for key in changed)
    ):
        return None
    key = changed[0]
    return Finding(Effect.REPLACED, _value(older, key), _value(newer, key))


def _value(statement: Statement, key: Key) -> str:
    return next(a.value for a in statement.assertions if (content(a.subject), content(a.attribute)) == key)


def reason_of(finding: Finding) -> str:
    """A finding as a sentence for people."""
    old, new = (
        value if len(value) <= VALUE_LENGTH else value[: VALUE_LENGTH - 1] + "…" for value in (finding.old, finding.new)
    )
    if finding.effect is Effect.ENDED:
        return f"no longer true: “{old}”"
    return f"the value changed from “{old}” to “{new}”"

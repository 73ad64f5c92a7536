"""The veto: what the rules allow somebody else to decide, a language model for instance (ADR 0015).

The rules know few forms of change, but they know much that is none. Whoever proposes that a memory be retired or that a
statement be dropped is held to that knowledge: a proposal that it rules out is not followed, whatever was said for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cortex_decision.clauses import Clause, Reading, read, sentences
from cortex_decision.decide import Decision, Neighbour, Statement, Verdict, speakers_differ, values_by_key

EMPTY_WORDS: Final = frozenset(
    "is was were be been have had do did not no to of in on at by for from with as and or but also it he she they this "
    "that there all very just only so up out في من الي علي عن مع ان او و ثم هو هي هم هذا هذه ذلك تلك كان كانت قد كل "
    "التي الذي لا لم ليس ما".split()
)
"""Words that two statements can share without being about one thing, in the form in which clauses hold them."""


def candidates(new: Statement, neighbours: Sequence[Neighbour]) -> tuple[Neighbour, ...]:
    """The neighbours that `new` may retire or repeat by another judgement than the rules' own: nearest first, by
    cosine, then by words in common; in any order of the neighbours the same.

    Each is live, not newer than `new`, one plain sentence, and shares a word with a plain sentence of `new`. Neither is
    a question, a plan, hearsay or about a span of time; nobody's "I" meets another's; explicit assertions about one
    thing have decided already.
    """
    reading = _read(new)
    if not reading.complete or not any(map(_plain, reading.clauses)):
        return ()
    found = [(near, _shared(new, reading, near)) for near in neighbours]
    ordered = sorted(found, key=lambda one: (-(one[0].similarity or 0.0), -one[1], str(one[0].statement.id)))
    return tuple(near for near, shared in ordered if shared)


def veto(new: Statement, offered: Sequence[Neighbour], verdict: Verdict) -> str | None:
    """Why `verdict` on `new` must not be followed; none if it may.

    It may add; retire one of the `offered` (which are `candidates`), or call it repeated when it says all that `new`
    says. A repeat is held to more than a retirement, because its text is not stored and cannot be restored.
    """
    if verdict.superseded_by is not None or verdict.invalid_at is not None:
        return "only the rules decide what is history"
    if verdict.decision is Decision.ADD:
        return "nothing can be superseded by adding" if verdict.targets else None
    if len(verdict.targets) != 1:
        return "it names not exactly one memory"
    near = next((near for near in offered if near.statement.id == verdict.targets[0]), None)
    if near is None:
        return "it names a memory that was not offered"
    if verdict.decision is Decision.NOOP and not _contained(new, near.statement):
        return "the stored memory does not say all of it"
    return None


def _shared(new: Statement, reading: Reading, near: Neighbour) -> int:
    """How many words a plain sentence of `new` shares with `near`, at most; 0 for a neighbour that is not open."""
    old = near.statement
    if old.id is None or near.invalid_at is not None or old.valid_at > new.valid_at or len(sentences(old.text)) != 1:
        return 0
    if values_by_key(new).keys() & values_by_key(old).keys():
        return 0
    other = _read(old)
    if not other.complete or len(other.clauses) != 1 or other.clauses[0].ended or not _plain(other.clauses[0]):
        return 0
    return max(_in_common(clause, other.clauses[0]) for clause in reading.clauses if _plain(clause))


def _plain(clause: Clause) -> bool:
    return not (clause.doubtful or clause.bounded)


def _in_common(one: Clause, other: Clause) -> int:
    """Words that two clauses share; what both say of their one speaker is about one thing without any."""
    if one.own and other.own and one.me != other.me:
        return 0
    return len(set(one.words) & set(other.words) - EMPTY_WORDS) + (one.own and other.own)


def _contained(new: Statement, old: Statement) -> bool:
    """Whether `old` has every word of `new`, by the same speaker where it matters, and denies no more and no less."""
    after, before = _read(new).clauses, _read(old).clauses
    said = {word for clause in before for word in clause.words}
    denied = {clause.negated or clause.ended for clause in (*after, *before)}
    return (
        len(denied) == 1
        and all(map(_plain, after))
        and not speakers_differ(new, old)
        and not new.assertions
        and {word for clause in after for word in clause.words} - EMPTY_WORDS <= said
    )


def _read(statement: Statement) -> Reading:
    return read(statement.text, speaker=statement.speaker, session=statement.session)

"""Periods: whether a sentence states anything, and its clauses."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

from cortex_gateway.assertions import changes, english, sentences
from cortex_gateway.assertions.clauses import Clause
from cortex_gateway.assertions.dates import clock
from cortex_gateway.assertions.statement import Stated
from cortex_gateway.assertions.subjects import CONTENT, Setting
from cortex_gateway.assertions.words import Role, Word, words

_STARTS: Final = frozenset("the a an our my all every".split())
"""Words with which a subject begins."""
MAX_WORDS: Final = 48
"""A longer sentence is prose, and is not read."""


def read(
    found: Sequence[Word], span: tuple[int, int], around: Setting, before: Setting
) -> tuple[list[Stated], Setting]:
    """What a sentence states, and what the next one is about when it says "it"."""
    said: list[Stated] = []
    if len(found) > MAX_WORDS or is_open(found):
        return said, before
    whole = changes.contrast(_reported(found))
    planned = any(word.role is Role.HEDGE for word in found)
    for clause_words in _clauses(whole.now):
        if planned and any(word.norm in english.PLANNED for word in clause_words):
            continue
        if is_over(clause_words):
            before = subject_of(clause_words) or before
            continue
        change = changes.change(clause_words)
        clause = Clause(change.now, span, around, before)
        said += sentences.stated(clause)
        if change.gone:
            said += sentences.gone(clause, change.gone)
        elif whole.gone and clause.split:
            # "The lead is Ana, not Ben": what the clause is about is not Ben.
            lead = [item for item in clause.items[: clause.split] if isinstance(item, Word) and item.role in CONTENT]
            said += sentences.gone(clause, (*lead, *whole.gone))
        before = clause.subject if clause.subject.topic else before
    return said, before


def is_open(found: Sequence[Word]) -> bool:
    """Whether the sentence is a question, a plan, a condition, hearsay or an example."""
    if found and next((word for word in found if word.role is not Role.DROPPED), found[0]).norm in english.QUANTIFIERS:
        return True
    for at, word in enumerate(found):
        if word.role is Role.QUESTION:
            return True
        if word.role is Role.HEDGE and word.norm not in english.PLANNED and not _permission(found, at):
            return True
    return False


def _reported(found: Sequence[Word]) -> Sequence[Word]:
    """The words behind "noted that" and its like."""
    for at, word in enumerate(found[:3]):
        if (
            word.norm in {"forget", "remember", "note", "تنس", "تنسي"}
            and at + 1 < len(found)
            and found[at + 1].norm in {"that", "ان"}
        ):
            return found[at + 2 :]
    if found and found[0].norm == "according_to":
        for at, word in enumerate(found[2:12], 2):
            if word.norm in _STARTS or word.raw == ",":
                return found[at + (word.raw == ",") :]
    for at, word in enumerate(found[:5]):
        denied = word.norm == "true" and at and found[at - 1].norm == "not"
        if denied and at + 1 < len(found) and found[at + 1].norm == "that":
            return [*words("not"), *found[at + 2 :]]
    for at, word in enumerate(found[:4]):
        if word.norm in {"false", "untrue"} and at + 1 < len(found) and found[at + 1].norm == "that":
            return [*words("not"), *found[at + 2 :]]
    for at, word in enumerate(found[:8]):
        if word.norm in {"said", "says", "told", "tells", "قال"} and not any(
            each.norm in english.WITNESSES for each in found[:at]
        ):
            continue
        if (
            word.norm in english.REPORTS
            and (
                that := next(
                    (i for i in range(at + 1, min(at + 8, len(found))) if found[i].norm in {"that", "ان"}), None
                )
            )
            is not None
        ):
            return found[that + 1 :]
    return found


def _permission(found: Sequence[Word], at: int) -> bool:
    """ "May be up to 25 MB" is a limit; "May" may be a month."""
    follows = [word.norm for word in found[at + 1 : at + 3]]
    if found[at].norm == "may" and at and found[at - 1].norm.endswith("s") and not {"be", "have"} & set(follows):
        return True
    if found[at].norm == "may":
        return "up_to" in follows or found[at].raw == "May"
    return found[at].norm == "or" and "more" in follows


def is_over(found: Sequence[Word]) -> bool:
    """Whether a clause says that it holds no longer; "open until 8 pm" is no end."""
    return any(
        word.role is Role.OVER
        and not (word.norm in {"until", "till"} and clock(found, at + 1) is not None)
        # "Before consent" says on what condition, "before" alone that it is over; "20 EUR before tax" is another sum.
        and not (
            word.norm == "before"
            and at + 1 < len(found)
            and found[at + 1].role in {*CONTENT, Role.DROPPED}
            and not any(each.role is Role.FIGURE for each in found)
        )
        for at, word in enumerate(found)
    )


def _clauses(found: Sequence[Word]) -> list[list[Word]]:
    """The clauses of a sentence; one that begins with its verb has the subject of the one before."""
    cuts = [0]
    for at, word in enumerate(found):
        if (
            word.role is Role.END
            or _arabic_cut(found, at)
            or (
                word.role in {Role.AND, Role.COMMA, Role.CAUSE}
                and word.raw not in "()"
                and _joint(found, at + 1)
                and joined(found[cuts[-1] : at])
            )
        ):
            cuts.append(at)
    cuts.append(len(found))
    clauses: list[list[Word]] = []
    subject: list[Word] = []
    for start, end in itertools.pairwise(cuts):
        clause = list(found[start:end])
        while clause and (
            clause[0].role in {Role.AND, Role.COMMA, Role.END} or (start and clause[0].role is Role.CAUSE)
        ):
            clause = clause[1:]
        if not clause:
            continue
        if clauses and (
            clause[0].role in {Role.BE, Role.NEGATION}
            or (clause[0].role is Role.VERB and not clause[0].arabic)
            or clause[0].norm in {"has", "have", "does"}
            or (clause[0].arabic and clause[0].state is not None and len(clause) <= 2)
        ):
            clause = subject + clause
        else:
            subject = clause[
                : next(
                    (
                        i
                        for i, word in enumerate(clause)
                        if i and (word.role in {Role.BE, Role.VERB, Role.NEGATION} or word.state is not None)
                    ),
                    0,
                )
            ]
        clauses.append(clause)
    return clauses


def _arabic_cut(found: Sequence[Word], at: int) -> bool:
    """Arabic strings its clauses together with commas and "and that"."""
    follows = found[at + 1] if at + 1 < len(found) else None
    if follows is None or not follows.arabic:
        return False
    if found[at].role is Role.AND:
        stated = follows.state is not None and not follows.definite
        return follows.norm in {"ان", "لا", "لم", "ليس", "هو", "هي"} or (
            (follows.role is Role.VERB or stated) and at > 1
        )
    return found[at].raw == "،" and at + 2 < len(found) and found[at + 2].role is not Role.COMMA


def subject_of(found: Sequence[Word]) -> Setting | None:
    """What a clause that is not read was about, for the next one that says "it"."""
    ends = english.HOUSED | english.HELD | english.HOLDING
    end = next(
        (at for at, word in enumerate(found) if word.role in {Role.BE, Role.VERB} or word.was or word.norm in ends), 0
    )
    kept = [word for word in found[:end] if word.role in CONTENT]
    return Setting(frozenset(word.key for word in kept), " ".join(word.raw for word in kept)) if kept else None


def _joint(found: Sequence[Word], start: int) -> bool:
    """Whether a clause begins at `start`: a joining word or a state within its first words."""
    for at in range(start, min(start + 6, len(found))):
        word = found[at]
        if word.role in {Role.AND, Role.COMMA, Role.CAUSE, Role.END, Role.BREAK}:
            return False
        if (
            word.role is Role.BE
            or (word.role is Role.VERB and (at > start or word.raw.endswith("s") or word.arabic))
            or word.norm in {"has", "have"}
        ):
            return True
        if word.state is not None and not word.definite and at > start and (word.arabic or _closes(found, at)):
            return True
    return False


def _closes(found: Sequence[Word], at: int) -> bool:
    """Whether a state ends its clause: "payouts enabled", not "an enabled feature"."""
    return at + 1 == len(found) or found[at + 1].role in {Role.AND, Role.COMMA, Role.END}


def joined(found: Sequence[Word]) -> bool:
    """Whether the words hold a predicate."""
    return any(
        word.role in {Role.BE, Role.VERB, Role.BREAK, Role.NEGATION}
        or word.norm in {"has", "have"}
        or (word.state is not None and word.norm not in {"on", "off", "up", "down"})
        for word in found
    )

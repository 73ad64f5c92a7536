"""Differences: two statements that are the same but for one value, and whether there is room for both values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cortex_decision import arabic, english, values
from cortex_decision.clauses import Clause
from cortex_decision.findings import Effect, Finding
from cortex_decision.identifiers import identifying
from cortex_decision.places import excluding

MAX_VALUE: Final = 4
"""Words of a value; a longer difference is another statement."""


_ELATIVE: Final = re.compile("الا[\u0621-\u064a]{3}")
""" "The tallest": what somebody is like, and no name."""
_ARABIC_CASES: Final = frozenset("في عند خلال حتي اثناء بدون".split())


def rewritten(newer: Clause, older: Clause) -> Finding | None:
    """The value that `newer` puts in the place of one of `older`; none if they differ in more, or both can be true."""
    if newer.bounded or older.bounded:
        return None
    for new in (newer.words, _announced(newer.words)):
        if new and (finding := _difference(newer, new, older, older.words)) is not None:
            return finding
    return None


def _announced(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """ "S was moved from A to B" and "the new S is B" as the plain "S is B"; none if it is no such sentence."""
    if words[0] == "new" and "is" in words:
        return words[1:]
    for at, word in enumerate(words):
        if word in english.CHANGED and at > 0 and "to" in words[at + 1 :]:
            end = at
            while end > 0 and words[end - 1] in {"was", "have", "been", "is", "were"}:
                end -= 1
            to = len(words) - 1 - words[::-1].index("to")
            value = words[to + 1 :]
            return (*words[:end], "is", *value) if end and value and len(value) <= MAX_VALUE else None
    return None


def agreed(words: Sequence[str]) -> tuple[str, ...]:
    """Words without the agreement between an Arabic verb and its subject."""
    return tuple("ي" + word[1:] if word[0] in "تنا" and word[1:] in arabic.STATIVES else word for word in words)


def _difference(newer: Clause, new: tuple[str, ...], older: Clause, old: tuple[str, ...]) -> Finding | None:
    """The one place where the two differ, if it holds two values that exclude each other."""
    new, old = agreed(_unprepared(new)), agreed(_unprepared(old))
    head = 0
    while head < min(len(new), len(old)) and new[head] == old[head]:
        head += 1
    tail = 0
    while tail < min(len(new), len(old)) - head and new[-1 - tail] == old[-1 - tail]:
        tail += 1
    one, other = old[head : len(old) - tail], new[head : len(new) - tail]
    if not head or not one or not other or max(len(one), len(other)) > MAX_VALUE:
        return None
    before, after = new[:head], new[len(new) - tail :] if tail else ()
    # A street address is no other value of a network address.
    dated = bool({*one, *other} & english.MONTHS)
    # "50 euros net" and "60 euros gross" are two prices, "B by mistake" is none.
    if not dated and (_qualified(one) or _qualified(other) or set(other[1:]) & english.SCOPES):
        return None
    if _figure(one) != _figure(other) and not (newer.arabic or dated):
        return None
    if values.kind(one) and values.kind(other) and not values.comparable(one, other):
        return None
    if identifying(new, other) or identifying(old, one):
        return None
    if newer.arabic:
        exclusive = _exclusive_arabic(newer, before, one, other, after)
    else:
        exclusive = _exclusive(newer, older, before, one, other, after)
    if not exclusive:
        return None
    if values.halted(one, other):
        return Finding(Effect.ENDED, older.spelling_of(one))
    return Finding(
        Effect.REPLACED, older.spelling_of((*one, *_unit(after))), newer.spelling_of((*other, *_unit(after)))
    )


def _figure(words: Sequence[str]) -> bool:
    kind = values.kind(words)
    return kind is not None and kind not in {"day", "month"}


def _qualified(words: Sequence[str]) -> bool:
    """Whether a figure comes with words that are no unit."""
    return len(words) > 1 and values.kind(words) is None and any(word.isdecimal() for word in words)


def _unit(after: Sequence[str]) -> Sequence[str]:
    """The word after a number, if it is all that follows: it belongs to the value."""
    return after if len(after) == 1 else ()


def _unprepared(words: tuple[str, ...]) -> tuple[str, ...]:
    """Without "at", "on" between "is" and a time: a meeting that is at ten and one that was moved to ten."""
    return tuple(
        word
        for index, word in enumerate(words)
        if not (
            word in {"at", "on"}
            and index
            and words[index - 1] == "is"
            and values.kind(words[index + 1 : index + 2]) is not None
        )
    )


def _exclusive(
    newer: Clause,
    older: Clause,
    before: tuple[str, ...],
    one: tuple[str, ...],
    other: tuple[str, ...],
    after: tuple[str, ...],
) -> bool:
    """Whether an English statement `before … after` has room for only one of the two values."""
    if {"and", "or"} & {*before, *one, *other, *after}:
        return False
    personal = any(word.startswith(("@i", "@we")) for word in before[:1]) or newer.own
    assigned = before[-1] in {"=", ":"} or "=" in before
    copula = before.index("is") if "is" in before else -1
    subject = before[:copula] if copula > 0 else before[:-1] if assigned else ()
    verb = next((word for word in before[1:] if word in english.STATIVES), None)
    measured = values.comparable(one, other)
    if measured:
        if values.kind(one) == "day" and _recurs(before):
            return newer.changed
        if personal and ((newer.own and verb == "have") or copula > 0):
            return newer.changed and verb != "have"
        return (verb is not None or assigned) and len(after) <= MAX_VALUE
    if assigned and "=" in before:
        return len(one) == len(other) == 1 and not after
    if values.opposite(one, other):
        if personal and not (set(one) | set(other)) & values.PERSONAL and "'s" not in before[0]:
            return False
        loose = bool((set(one) | set(other)) & values.PARTICLES)
        placed = not after or (after[0] == "by" and len(after) == 2) or (not loose and len(after) <= 1)
        return (assigned or copula > 0 or "prefer" in before) and placed
    if after or len(one) > 3 or len(other) > 3:
        return False
    if (copula > 0 and before[-1] == "is") or (assigned and subject):
        return _named(newer, older, subject, one, other)
    return _placed(newer, older, before, one, other)


_TITLES: Final = frozenset(
    "dr mr mrs ms prof professor sir miss eng engineer doctor ابو ام الدكتور الدكتوره دكتور المهندس المهندسه السيد "
    "السيده الاستاذ الاستاذه الشيخ الحاج".split()
)


def may_be_one(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two names may be of one person: a part of the other, with a title, or a short form ("Abdelrahman",
    "Abdo")."""
    if set(one) <= set(other) or set(other) <= set(one) or bool(set(one) & _TITLES) != bool(set(other) & _TITLES):
        return True
    alone = len(one) == len(other) == 1 and one[0].isalpha() and other[0].isalpha()
    return alone and one[0][:3] == other[0][:3]


_RECURS: Final = frozenset("work meet run open close sleep play stop arrive leave pay sell".split())


def _recurs(before: Sequence[str]) -> bool:
    """Whether it is true of several days: a shop that is open on Monday is open on Tuesday as well."""
    return before[-1] == "on" and bool(set(before[1:]) & (_RECURS | values.STATE_WORDS - {"on"}))


def _named(
    newer: Clause,
    older: Clause,
    subject: tuple[str, ...],
    one: tuple[str, ...],
    other: tuple[str, ...],
) -> bool:
    """Roles have one holder and attributes one value: "the lead is Mira", "the default branch is main"."""
    if set(one + other) & english.VAGUE or any(word.endswith(("ed", "ing", "able")) for word in one + other):
        return False
    of = subject.index("of") if "of" in subject else len(subject)
    noun = subject[of - 1] if of else ""
    at = len(newer.words) - len(other)
    names = newer.proper(at) and older.proper(len(older.words) - len(one))
    if noun in english.ROLES:
        return names and not may_be_one(one, other)
    distinguished = bool(set(subject) & english.DISTINGUISHING)
    if noun in english.ATTRIBUTES:
        return names or distinguished or len(one) == len(other) == 1
    return distinguished and (names or len(one) == len(other) == 1)


PLACED: Final = tuple(
    tuple(phrase.split())
    for phrase in (
        "is located in,is hosted in,is hosted on,is based in,is in,report to,is led by,is owned by,is managed by,"
        "is maintained by,is called,is named,belong to"
    ).split(",")
)
"""What stands before a value of which there is one."""


def _placed(
    newer: Clause, older: Clause, before: tuple[str, ...], one: tuple[str, ...], other: tuple[str, ...]
) -> bool:
    """Relations with one other end: where something is, whom somebody reports to."""
    if newer.own or not any(before[-len(phrase) :] == phrase and len(before) > len(phrase) for phrase in PLACED):
        return False
    if set(other) & english.SCOPES or (before[-1] in {"in", "on"} and not excluding(one, other)):
        return False
    return newer.proper(len(before)) and older.proper(len(before))


def _exclusive_arabic(
    newer: Clause,
    before: tuple[str, ...],
    one: tuple[str, ...],
    other: tuple[str, ...],
    after: tuple[str, ...],
) -> bool:
    """Whether an Arabic statement `before … after` has room for only one of the two values."""
    first = before[0]
    stative = next((word for word in before if word[1:] in arabic.STATIVES and word[0] in "يتنا"), None)
    nominal = first.startswith("ال") or first in arabic.MEASURES or first in arabic.NAMED
    assigned = before[-1] in {"=", ":"}
    subject = nominal or assigned or len(before) >= 2
    if values.comparable(one, other) or (set(one + other) <= arabic.DAYS):
        return (nominal or assigned or stative is not None or first.isascii()) and len(after) <= MAX_VALUE
    if values.opposite(one, other):
        own = newer.own and not (set(one) | set(other)) & values.PERSONAL
        return (subject and not own and len(after) <= 1) or (len(before) == 1 and not after and not newer.own)
    if after or len(one) > 3 or len(other) > 3 or set(one + other) & arabic.VAGUE:
        return False
    if before[-1] in {"هو", "هي"}:
        if may_be_one(one, other) and first not in arabic.MEASURES:
            return False
        return not (len(other) == 1 and _ELATIVE.fullmatch(other[0])) and not set(other) & _ARABIC_CASES
    if before[-1] == "في" and stative is None:
        placed = all(
            len(words) == 1
            and (not words[0].startswith("ال") or words[0] in arabic.PLACES)
            and words[0] not in arabic.NO_PLACE
            for words in (one, other)
        ) and excluding(one, other)
        return nominal and len(before) >= 2 and placed
    return first in arabic.NAMED and len(before) >= 2 and len(one) == len(other) == 1

"""Figures: the number, day, time or version that a sentence puts in the place of an older one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cortex_decision import english, values
from cortex_decision.findings import Effect, Finding
from cortex_decision.identifiers import identifying
from cortex_decision.leftovers import MAX_NAME, Leftovers, Span
from cortex_decision.topics import CASES, CHANGES, PAST, TIMED


def refigured(left: Leftovers) -> Finding | None:
    """Another number, day, time or version of the same."""
    if not _verb_apart(left) or left.ends - CHANGES or left.older.negated:
        return None
    results = any(_result(left, span) for span in left.new_values)
    if not left.changes and not results and any(_happened(part.words) for part in left.parts):
        return None
    older = left.older
    old = left.figures[0]
    new = [span for span in left.new_values if not _was(span)]
    before = [value for value in old if all(not _same(value, span.words) for span in new)]
    after = [span for span in new if all(not _same(value, span.words) for value in old)]
    if len(after) == 1 and left.changes:
        before = [value for value in before if values.comparable(value, after[0].words)]
    if len(before) != 1 or len(after) != 1 or not values.comparable(before[0], after[0].words):
        return None
    span = after[0]
    if left.negated and all(other is span or not _was(other) for other in left.new_values):
        return None
    result = _result(left, span)
    denied = span.part.clause.ended and len(new) == len(left.new_values)
    if (left.come and not result) or denied:
        return None
    if identifying(span.part.words, span.words) or identifying(older.words, before[0]):
        return None
    if not (left.marked or left.changes or result):
        return None
    return Finding(Effect.REPLACED, older.spelling_of(before[0]), span.part.clause.spelling_of(span.words))


def _result(left: Leftovers, span: Span) -> bool:
    """Whether somebody did something to what the older statement is about that has this value as its outcome: "the
    doctor upped the dose to 40 mg"."""
    words, front = span.part.words, [one for one in left.come if one.part is span.part]
    if span.lead not in {"to", "الي"} or len(front) != len(left.come) or not front or len(front) > MAX_NAME:
        return False
    first = next((at for at, each in enumerate(span.part.keys) if each in left.known), 0)
    verb = front[0] if left.older.arabic else front[-1]
    done = left.older.arabic or verb.words[0].endswith("ed")
    return done and front[-1].end <= max(first, len(front)) and not set(words[:first]) & CASES


def _verb_apart(left: Leftovers) -> bool:
    """Whether nothing is left over of the older statement but the verb that holds its value."""
    if not left.gone:
        return True
    words = left.older.words
    at = next((at for at, word in enumerate(words) if at and word in english.STATIVES | {"due"}), -1)
    arabic_verb = words[left.gone[0]][1:] if left.older.arabic and len(left.gone) == 1 else ""
    if arabic_verb in {"نتهي", "ستمر"} and set(left.words) & {"تمديد", "مدد", "مددنا"}:
        return True
    if arabic_verb == "بدا" and set(left.words) & {"تاجل", "تاجلت", "تاجيل", "اجل", "اجلنا"}:
        return True
    if [words[one] for one in left.gone] not in ([words[at]], ["due"]) or at < 0:
        return False
    verb = words[left.gone[0]]
    timed = [verbs for change, verbs in TIMED.items() if change in left.words]
    if any(verb in verbs for verbs in TIMED.values()):
        return any(verb in verbs for verbs in timed)
    return left.changes or "is" in left.words


def _happened(words: Sequence[str]) -> bool:
    """Whether the words tell of something that happened, and no passive of the present."""
    return any(
        word in PAST and not (at and words[at - 1] in {"is", "be", "been", "get"}) for at, word in enumerate(words)
    )


def _same(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two measured values are one, in either language."""
    return [_CANON.get(word, word) for word in one] == [_CANON.get(word, word) for word in other]


_CANON: Final = {
    word: str(at)
    for at, words in enumerate(
        (
            "monday الاثنين",
            "tuesday الثلاثاء",
            "wednesday الاربعاء",
            "thursday الخميس",
            "friday الجمعه",
            "saturday السبت",
            "sunday الاحد",
        )
    )
    for word in words.split()
} | {word: f"m{number}" for word, number in values.MONTHS.items()}


def _was(span: Span) -> bool:
    """Whether a value is told as the one that was: "from 5 to 8", "8 instead of 5"."""
    return span.lead in {"from", "of", "than", "not", "من", "بدل", "وليس"} and (
        span.lead in {"not", "than", "وليس", "بدل"}
        or "to" in span.part.words[span.end :]
        or "الي" in span.part.words[span.end :]
        or span.part.words[max(0, span.start - 2)] in {"instead", "بدلا"}
    )

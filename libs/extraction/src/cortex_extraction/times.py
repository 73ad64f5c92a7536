"""The time that a question means: "last March", "since Tuesday", "before the launch on 2025-04-03", "منذ الثلاثاء".

A small grammar of each language finds expressions; the calendar (`spans`) says which days they are. Spans are whole
days of the caller's zone, from one local midnight to another, so a day of a change to summer time has 23 hours.
Precision comes first: what may be a number, a name or a verb is no time (see the grammars for their rules).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from enum import StrEnum
from typing import Final

from cortex_extraction.folding import Aligned, align
from cortex_extraction.spans import DAY, Fields, Span, Unit, resolve, resolve_range, unit_span
from cortex_extraction.times_arabic import ARABIC
from cortex_extraction.times_english import ENGLISH
from cortex_extraction.times_grammar import Bound, Expression, Grammar, count_of, read

OPEN_START: Final = date(2, 1, 1)
"""Where a reading begins that has no beginning ("before 2020"); year 1 would overflow in some zones."""
OPEN_END: Final = date(9998, 1, 1)
"""Where a reading ends that has no end ("since Tuesday")."""
MAX_QUESTION: Final = 4_000
"""Characters of a question that are read: beyond them it is a pasted document, whose dates are not the question's."""
_BEFORE = 120
"""Characters before an expression in which the words that govern it are looked for: about 15 words."""
# What stands in quotation marks or code is a title or a value, not a time: "1984", `2024.1`.
_QUOTED = re.compile(r"\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|«[^»\n]{1,80}»|`[^`\n]{1,80}`")

_FOUR_DIGITS = re.compile(r"\d{4}")
_ARABIC = re.compile("[\u0621-\u064a\u0660-\u0669]")


class Relation(StrEnum):
    """How the words lie to the time they name; the bounds of a reading already respect it."""

    ON = "on"
    SINCE = "since"
    BEFORE = "before"
    BETWEEN = "between"


@dataclass(frozen=True, slots=True)
class TimeReading:
    """The time that a question means: `start` up to, not including, `end`, first moments of days in the caller's zone.

    `text` is the words that were read, as they stand in the question.
    """

    start: datetime
    end: datetime
    text: str
    relation: Relation


@dataclass(frozen=True, slots=True)
class _Found:
    """An expression at its place in the folded text; `accepted` tells whether it counts without a range around it."""

    start: int
    end: int
    fields: Fields
    accepted: bool


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A reading in days; `days` is the width of what was named, before a relation opened it to one side."""

    span: Span
    start: int
    end: int
    relation: Relation
    days: int


def understand(question: str, now: datetime) -> TimeReading | None:
    """The time that `question` means when asked at `now`, or none.

    Of several times the narrowest is taken, of equally narrow ones the first. A date without a year is the latest that
    has begun; "on Tuesday" is the one before today; "next" looks forward.

    Raises:
        ValueError: `now` has no zone.
    """
    if now.tzinfo is None:
        raise ValueError("now must be aware: the caller's zone decides when a day begins")
    text = align(_without_quotes(question[:MAX_QUESTION]))
    candidates = [candidate for grammar in _grammars(text.text) for candidate in _candidates(text, grammar, now)]
    if not candidates:
        return None
    best = min(candidates, key=lambda candidate: (candidate.days, candidate.start))
    start, end = _midnight(best.span.first, now.tzinfo), _midnight(best.span.after, now.tzinfo)
    return TimeReading(start, end, text.slice(best.start, best.end).strip(), best.relation)


def mentioned_dates(text: str) -> tuple[tuple[str, str], ...]:
    """The days and months that `text` names with their year, in its order: the words, and `2025-04-03` or `2025-04`."""
    if not _FOUR_DIGITS.search(text):
        return ()
    aligned = align(text)
    found = [item for grammar in _grammars(text) for item in _find(aligned, grammar) if item.accepted]
    named: dict[str, str] = {}
    for item in sorted(found, key=lambda item: item.start):
        fields = item.fields
        if fields.year and fields.month and fields.months == 1 and not fields.part and not fields.last_day:
            try:
                day = date(fields.year, fields.month, fields.day or 1).isoformat()
            except ValueError:
                continue
            named.setdefault(day if fields.day else day[:7], aligned.slice(item.start, item.end))
    return tuple((words, iso) for iso, words in named.items())


def _grammars(text: str) -> tuple[Grammar, ...]:
    return (ENGLISH, ARABIC) if _ARABIC.search(text) else (ENGLISH,)


def _without_quotes(question: str) -> str:
    """`question` with its quotations blanked at equal length; quotes around the whole of it are only decoration."""
    stripped = question.strip(" \t\n.,;:!?؟،؛")
    return _QUOTED.sub(
        lambda quoted: quoted.group() if quoted.group() == stripped else "\0" * len(quoted.group()), question
    )


def _midnight(day: date, zone: tzinfo) -> datetime:
    """The first moment of `day`: midnight, or what follows it where clocks skip it. Through UTC, which has no gaps."""
    return datetime.combine(day, time(), zone).astimezone(UTC).astimezone(zone)


def _find(text: Aligned, grammar: Grammar) -> list[_Found]:
    """The expressions in `text`, in order; of those that overlap the longest, and among those the first listed."""
    matches: list[tuple[re.Match[str], Expression]] = [
        (found, form) for form in grammar.expressions for found in form.pattern.finditer(text.folded)
    ]
    chosen: list[_Found] = []
    taken = bytearray(len(text.folded))
    for found, form in sorted(matches, key=lambda match: match[0].start() - match[0].end()):
        start, end = found.span()
        if any(taken[start:end]):
            continue
        word = found.start("month") if "month" in found.re.groupindex else start
        capital = text.text[text.origin[word]].isupper()
        accepted = form.accepts(text.folded[max(0, start - _BEFORE) : start], capital)
        taken[start:end] = b"\1" * (end - start)
        chosen.append(_Found(start, end, read(found, form, grammar.vocabulary), accepted))
    return sorted(chosen, key=lambda item: item.start)


def _candidates(text: Aligned, grammar: Grammar, now: datetime) -> list[_Candidate]:
    found = _find(text, grammar)
    candidates: list[_Candidate] = []
    index = 0
    while index < len(found):
        left = found[index]
        index += 1
        try:
            if index < len(found) and (start := _range_start(text.folded, grammar, left, found[index])) is not None:
                right = found[index]
                span = resolve_range(left.fields, right.fields, now)
                index += 1
                candidates.append(_Candidate(span, start, right.end, Relation.BETWEEN, span.days))
            elif (candidate := _related(text.folded, grammar, left, now)) is not None:
                candidates.append(candidate)
        except (ValueError, OverflowError):  # no such day
            continue
    return [candidate for candidate in candidates if candidate.span.first < candidate.span.after]


def _range_start(folded: str, grammar: Grammar, left: _Found, right: _Found) -> int | None:
    """Where the range that `left` and `right` make begins in the text, if they make one."""
    between = folded[left.end : right.start]
    before = folded[max(0, left.start - _BEFORE) : left.start]
    if (opening := grammar.opening.search(before)) is not None and (
        grammar.joining.fullmatch(between) or grammar.dash.fullmatch(between)
    ):
        return left.start - len(before) + opening.start()
    if (left.accepted or right.accepted) and grammar.dash.fullmatch(between):
        return left.start
    return None


def _related(folded: str, grammar: Grammar, item: _Found, now: datetime) -> _Candidate | None:
    """The reading of one expression and of the words before it that make it a bound."""
    before = folded[max(0, item.start - _BEFORE) : item.start]
    opening = grammar.opening.search(before)
    onwards = grammar.onwards.match(folded, item.end) if opening else None
    if not item.accepted and onwards is None:
        return None
    span = resolve(item.fields, now)
    if opening is not None and onwards is not None:
        start = item.start - len(before) + opening.start()
        return _Candidate(Span(span.first, OPEN_END), start, onwards.end(), Relation.SINCE, span.days)
    bound = _nearest_bound(grammar, before)
    if bound is None:
        return _Candidate(span, item.start, item.end, Relation.ON, span.days)
    sense = grammar.bounds[" ".join(bound["bound"].split())]
    event = bool(bound["event"].strip())
    start = item.start - len(before) + bound.start()
    if bound["unit"]:
        unit = grammar.vocabulary.units[bound["unit"]]
        _, count = count_of(bound["count"], grammar.vocabulary)
        shifted = _shifted(span, unit, count, sense)
        return _Candidate(shifted, start, item.end, Relation.ON, shifted.days)
    if event and sense is Bound.UNTIL:  # "written by the team in 2023"
        return _Candidate(span, item.start, item.end, Relation.ON, span.days)
    bounded, relation = _bounded(span, sense, event)
    return _Candidate(bounded, start, item.end, relation, span.days)


def _nearest_bound(grammar: Grammar, before: str) -> re.Match[str] | None:
    nearest, position = None, 0
    while (bound := grammar.bound.search(before, position)) is not None:
        nearest, position = bound, bound.start("bound") + 1
    return nearest


def _bounded(span: Span, sense: Bound, event: bool) -> tuple[Span, Relation]:
    """What "since" and "before" make of a span.

    An event ("before the launch in March") lies somewhere inside the span, so of a span longer than a day both sides
    of it are kept; a time itself ("before March") is a sharp bound.
    """
    match sense:
        case Bound.SINCE:
            return Span(span.first, OPEN_END), Relation.SINCE
        case Bound.AFTER:
            return Span(span.first if event else span.after, OPEN_END), Relation.SINCE
        case Bound.BEFORE:
            return Span(OPEN_START, span.after if event and span.days > 1 else span.first), Relation.BEFORE
        case Bound.UNTIL:
            return Span(OPEN_START, span.after), Relation.BEFORE


def _shifted(span: Span, unit: Unit, count: int, sense: Bound) -> Span:
    """The calendar unit that lies `count` units before or after `span`: "the week before 27 June"."""
    if sense is Bound.BEFORE:
        return unit_span(unit, span.first, -count)
    return unit_span(unit, span.after - DAY, count)

"""Spans of days, and what the fields of a time expression mean on a given day.

Weeks start on Monday (ISO 8601). Seasons are the northern, meteorological ones: spring is March to May, and the winter
of a year begins in its December. A date without a year is the latest that has begun: questions to a memory look back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

DAY: Final = timedelta(days=1)


class Unit(StrEnum):
    """What is counted or named in "three weeks ago" and "last month"."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    WEEKEND = "weekend"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"


class Mode(StrEnum):
    """How a count of units is laid on the calendar."""

    AGO = "ago"
    AHEAD = "ahead"
    PAST = "past"
    COMING = "coming"


class Part(StrEnum):
    """Which part of a span is meant: a third, a half, or what lies before or after today."""

    EARLY = "early"
    MIDDLE = "middle"
    LATE = "late"
    FIRST_HALF = "first half"
    SECOND_HALF = "second half"
    ELAPSED = "elapsed"
    REMAINING = "remaining"


_SHARES = {
    Part.EARLY: (0, 1, 3),
    Part.MIDDLE: (1, 2, 3),
    Part.LATE: (2, 3, 3),
    Part.FIRST_HALF: (0, 1, 2),
    Part.SECOND_HALF: (1, 2, 2),
}


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `first` up to, not including, `after`."""

    first: date
    after: date

    @property
    def days(self) -> int:
        """How many days it holds."""
        return (self.after - self.first).days


@dataclass(frozen=True, slots=True)
class Fields:
    """What a time expression says, language removed; `None` is what it leaves open.

    `direction` counts units, months, weekdays or seasons from the present one: -1 is "last", 0 "this", 1 "next".
    `count` is inclusive: "a few" is (2, 5). `year_direction` is the "last year" of "March last year".
    """

    year: int | None = None
    last_year: int | None = None
    month: int | None = None
    day: int | None = None
    last_day: int | None = None
    week: int | None = None
    weekday: int | None = None
    months: int = 1
    unit: Unit | None = None
    direction: int | None = None
    year_direction: int | None = None
    week_direction: int | None = None
    mode: Mode | None = None
    count: tuple[int, int] | None = None
    day_offset: int | None = None
    part: Part | None = None

    @property
    def repeats(self) -> bool:
        """Whether it comes back every year or week, because no year or direction fixes it."""
        fixed = (self.year, self.direction, self.year_direction, self.week_direction)
        return fixed == (None,) * 4 and (self.month is not None or self.weekday is not None)


def month_span(year: int, month: int, months: int = 1) -> Span:
    """The `months` calendar months from `month` on; `month` may lie outside 1 to 12."""
    start = year * 12 + month - 1
    first, after = divmod(start, 12), divmod(start + months, 12)
    return Span(date(first[0], first[1] + 1, 1), date(after[0], after[1] + 1, 1))


def unit_span(unit: Unit, day: date, offset: int = 0) -> Span:
    """The calendar unit that holds `day`, moved by `offset` such units."""
    match unit:
        case Unit.WEEK:
            first = day - DAY * day.weekday() + DAY * 7 * offset
            return Span(first, first + DAY * 7)
        case Unit.WEEKEND:
            first = day - DAY * day.weekday() + DAY * (7 * offset + 5)
            return Span(first, first + DAY * 2)
        case Unit.MONTH:
            return month_span(day.year, day.month + offset)
        case Unit.QUARTER:
            return month_span(day.year, (day.month - 1) // 3 * 3 + 1 + 3 * offset, 3)
        case Unit.YEAR:
            return month_span(day.year + offset, 1, 12)
        case Unit.DECADE:
            return month_span(day.year // 10 * 10 + 10 * offset, 1, 120)
        case _:
            first = day + DAY * offset
            return Span(first, first + DAY)


def resolve(fields: Fields, now: datetime) -> Span:
    """The days that `fields` mean when asked at `now`, whose wall clock alone is read.

    Raises:
        ValueError: There is no such day (30 February).
        OverflowError: It lies outside the years 1 to 9999.
    """
    span = _whole(fields, now)
    match fields.part:
        case None:
            return span
        case Part.ELAPSED:
            return Span(span.first, min(span.after, now.date() + DAY))
        case Part.REMAINING:
            return Span(max(span.first, now.date()), span.after)
        case part:
            return _share(span, *_SHARES[part])


def _share(span: Span, begin: int, end: int, of: int) -> Span:
    """From `begin` to `end` of `of` equal parts: whole months where the span divides into them, days otherwise."""
    first = span.first.year * 12 + span.first.month
    months = span.after.year * 12 + span.after.month - first
    if span.first.day == span.after.day == 1 and months % of == 0:
        return month_span(span.first.year, span.first.month + months * begin // of, months * (end - begin) // of)
    return Span(span.first + DAY * (span.days * begin // of), span.first + DAY * (span.days * end // of))


def resolve_range(left: Fields, right: Fields, now: datetime) -> Span:
    """The days from `left` to the end of `right`; the year that one of them names holds for the other.

    Raises:
        ValueError: There are no such days, or the end comes before the beginning.
        OverflowError: They lie outside the years 1 to 9999.
    """
    if left.repeats and not right.repeats:
        end = resolve(right, now)
        begin = resolve(replace(left, year=end.first.year), now) if left.month else _weekday(left, end.first, -1)
        if begin.first > end.first:
            begin = resolve(replace(left, year=end.first.year - 1), now)
    else:
        begin = resolve(left, now)
        end = resolve(right, now)
        if right.repeats and right.month:
            end = resolve(replace(right, year=begin.first.year), now)
            if end.first < begin.first:
                end = resolve(replace(right, year=begin.first.year + 1), now)
        elif right.repeats:
            end = _weekday(right, begin.first, 1)
    if end.first < begin.first:
        raise ValueError("a range ends before it begins")
    return Span(begin.first, end.after)


def _whole(fields: Fields, now: datetime) -> Span:
    today = now.date()
    if fields.day_offset is not None:
        return unit_span(Unit.DAY, today, fields.day_offset)
    if fields.mode is not None and fields.unit is not None and fields.count is not None:
        return _counted(fields.mode, fields.unit, fields.count, now)
    if fields.unit is not None:
        return unit_span(fields.unit, today, fields.direction or 0)
    if fields.month is not None:
        return _dated(fields, today)
    if fields.weekday is not None:
        return _on_weekday(fields, fields.weekday, today)
    if fields.year is None:
        raise ValueError("a time expression without a time")
    if fields.week is not None:
        first = date.fromisocalendar(fields.year, fields.week, 1)
        return Span(first, first + DAY * 7)
    years = (fields.last_year or fields.year) - fields.year + 1
    if years < 1:
        raise ValueError("a range ends before it begins")
    return month_span(fields.year, 1, 12 * years)


def _counted(mode: Mode, unit: Unit, count: tuple[int, int], now: datetime) -> Span:
    few, many = count
    today = now.date()
    if mode in (Mode.AGO, Mode.AHEAD):
        sign = -1 if mode is Mode.AGO else 1
        if unit in (Unit.HOUR, Unit.MINUTE):
            day = (now.replace(tzinfo=None) + sign * timedelta(**{f"{unit}s": many})).date()
            return Span(day, day + DAY)
        near, far = unit_span(unit, today, sign * few), unit_span(unit, today, sign * many)
        return Span(min(near.first, far.first), max(near.after, far.after))
    sign = -1 if mode is Mode.PAST else 1
    if unit in (Unit.HOUR, Unit.MINUTE):
        edge = (now.replace(tzinfo=None) + sign * timedelta(**{f"{unit}s": many})).date()
    elif unit in (Unit.DAY, Unit.WEEK, Unit.WEEKEND):
        edge = today + DAY * (sign * many * (1 if unit is Unit.DAY else 7))
    else:
        edge = _same_day(today, sign * many * {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.YEAR: 12}.get(unit, 120))
    return Span(min(edge, today), max(edge, today) + DAY)


def _same_day(day: date, months: int) -> date:
    """`day` moved by months; a day that the month lacks becomes its last (31 March less a month: 28 or 29 February)."""
    span = month_span(day.year, day.month + months)
    return min(span.first + DAY * (day.day - 1), span.after - DAY)


def _dated(fields: Fields, today: date) -> Span:
    if fields.year is not None:
        return _in_year(fields, fields.year)
    if fields.year_direction is not None:
        return _in_year(fields, today.year + fields.year_direction)
    candidates = []
    for year in range(today.year - 9, today.year + 10):  # 29 February may be eight years away
        try:
            candidates.append(_in_year(fields, year))
        except ValueError:
            continue
    match fields.direction:
        case None:
            return max((span for span in candidates if span.first <= today), default=None, key=_first) or _none()
        case 0:
            return _in_year(fields, today.year)
        case direction if direction < 0:
            past = [span for span in candidates if span.after <= today]
            return past[direction] if len(past) >= -direction else _none()
        case direction:
            coming = [span for span in candidates if span.first > today]
            return coming[direction - 1] if len(coming) >= direction else _none()


def _none() -> Span:
    raise ValueError("there is no such day")


def _first(span: Span) -> date:
    return span.first


def _in_year(fields: Fields, year: int) -> Span:
    assert fields.month is not None
    if fields.day is None:
        return month_span(year, fields.month, fields.months)
    first = date(year, fields.month, fields.day)
    last = date(year, fields.month, fields.last_day or fields.day)
    if last < first:
        raise ValueError("a range ends before it begins")
    return Span(first, last + DAY)


def _on_weekday(fields: Fields, weekday: int, today: date) -> Span:
    week = fields.week_direction if fields.week_direction is not None else (0 if fields.direction == 0 else None)
    if week is not None:
        return unit_span(Unit.DAY, unit_span(Unit.WEEK, today, week).first, weekday)
    return _weekday(fields, today + (DAY if (fields.direction or -1) > 0 else -DAY), fields.direction or -1)


def _weekday(fields: Fields, day: date, direction: int) -> Span:
    """The nearest such weekday on `day` or in `direction` from it."""
    assert fields.weekday is not None
    distance = (fields.weekday - day.weekday()) % 7 if direction > 0 else -((day.weekday() - fields.weekday) % 7)
    return unit_span(Unit.DAY, day, distance)

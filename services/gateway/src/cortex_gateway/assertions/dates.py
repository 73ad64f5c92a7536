"""Dates and times of day in a list of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cortex_decision import arabic, english
from cortex_gateway.assertions.values import Clock, Kind, Moment, Value
from cortex_gateway.assertions.words import Role, Word

_ISO: Final = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[t ].*)?")
_FIGURES: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})")
_MONTH_YEAR: Final = re.compile(r"(\d{1,2})[/.](\d{4})|(\d{4})-(\d{2})")
_DAY: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?")
_ORDINAL: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_CLOCK: Final = re.compile(r"(\d{1,2})(?::(\d{2})(?::\d{2})?)?(am|pm|h|z|utc)?")
_QUARTER: Final = re.compile(r"q([1-4])")

MONTHS: Final = {
    name: index % 12 + 1
    for row in (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "_ _ _ _ _ _ _ _ sept _ _ _",
        "يناير فبراير مارس ابريل مايو يونيو يوليو اغسطس سبتمبر اكتوبر نوفمبر ديسمبر",
        "_ شباط اذار نيسان ايار حزيران تموز اب ايلول _ _ _",
        "جانفي فيفري _ افريل ماي جوان جويليه اوت _ _ _ _",
    )
    for index, name in enumerate(row.split())
    if name != "_"
}
_TWO: Final = {
    ("كانون", "الثاني"): 1, ("كانون", "الاول"): 12, ("تشرين", "الاول"): 10, ("تشرين", "الثاني"): 11,
}  # fmt: skip
_UNSURE: Final = frozenset("may mar march sun sat mon wed jan dec اب ماي".split())
"""Names of times that are other words, too: they count beside a figure, or in a capital."""
WEEKDAYS: Final = {
    name: index % 7
    for row in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "mon tue wed thu fri sat sun",
        "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
        "_ tues _ thurs _ _ _",
        "الاثنين الثلاثاء الاربعاء الخميس الجمعه السبت الاحد",
        "اثنين ثلاثاء اربعاء خميس جمعه سبت احد",
    )
    for index, name in enumerate(row.split())
    if name != "_"
}
_MORNING: Final = frozenset("am a.m صباحا فجرا الصبح الفجر".split())
_EVENING: Final = frozenset("pm p.m مساء عصرا ليلا المسا المساء العصر".split())
_OCLOCK: Final = frozenset({"o'clock", "hrs"})
_OF_CLOCKS: Final = _MORNING | _EVENING | _OCLOCK
_HOURS: Final = {
    "الواحده": 1, "الثانيه": 2, "الثالثه": 3, "الرابعه": 4, "الخامسه": 5, "السادسه": 6, "السابعه": 7, "الثامنه": 8,
    "التاسعه": 9, "العاشره": 10, "الحاديه": 11,
}  # fmt: skip
_MINUTES: Final = {"half": "30", "quarter": "15"}
_TO: Final = frozenset({"to", "-", "–", "until", "till", "الي"})
_YEAR_BEFORE: Final = frozenset("in since of from until by during عام سنه لعام لسنه founded established".split())


def _days(words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """ "4 to 6 June": a date that is told by its first day, since that is when it begins."""
    if at + 3 >= len(words) or words[at + 1].norm not in _TO or words[at + 3].norm not in MONTHS:
        return None
    first, last = (_DAY.fullmatch(words[place].norm) for place in (at, at + 2))
    if first is None or last is None or not 0 < int(first[1]) < int(last[1]) < 32:
        return None
    moment = Moment(month=MONTHS[words[at + 3].norm], day=int(first[1]))
    return Value(Kind.DATE, _spelled(words, at, at + 4), moment), at + 4


def date(words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """The date that begins at word `at`, with the place after it."""
    start, weekday = at, None
    if (days := _days(words, at)) is not None:
        return days
    if words[at].norm in WEEKDAYS and _sure(words, at):
        weekday = WEEKDAYS[words[at].norm]
        at += 1
        if at < len(words) and words[at].role is Role.COMMA:
            at += 1
    found = _calendar(words, at) if at < len(words) else None
    if found is None:
        if weekday is None:
            return None
        found = _nth(words, at, weekday) or (Moment(weekday=weekday), start + 1)
    elif weekday is not None:
        moment, after = found
        found = Moment(moment.year, moment.month, moment.day, weekday, moment.quarter, moment.ambiguous), after
    moment, after = found
    return Value(Kind.DATE, _spelled(words, start, after), moment), after


def _calendar(words: Sequence[Word], at: int) -> tuple[Moment, int] | None:
    norm = words[at].norm
    if words[at].role is Role.FIGURE:
        if found := _ISO.fullmatch(norm):
            return _checked(int(found[1]), int(found[2]), int(found[3])), at + 1
        if (found := _FIGURES.fullmatch(norm)) and (found[2] == "/" or len(found[4]) == 4):
            first, second, year = int(found[1]), int(found[3]), int(found[4])
            year += 2000 if year < 100 else 0
            if first > 12 >= second or found[2] == ".":
                return _checked(year, second, first), at + 1
            if second > 12:
                return _checked(year, first, second), at + 1
            return Moment(year, second, first, ambiguous=first != second), at + 1
        if (found := _MONTH_YEAR.fullmatch(norm)) and 1 <= int(found[1] or found[4]) <= 12:
            return Moment(int(found[2] or found[3]), int(found[1] or found[4])), at + 1
        day = _DAY.fullmatch(norm)
        month = _month(words, at + 1 + _of(words, at + 1))
        if day and 1 <= int(day[1]) <= 31 and month:
            given, after = _year(words, month[1])
            return Moment(given, month[0], int(day[1])), after
        if _YEAR.fullmatch(norm) and at and words[at - 1].norm in _YEAR_BEFORE:
            return Moment(int(norm)), at + 1
        if norm[-1].isalpha() and day and _recurs(words, at + 1):
            return Moment(day=int(day[1])), at + 1
        return None
    if quarter := _QUARTER.fullmatch(norm):
        given, after = _year(words, at + 1)
        return Moment(given, quarter=int(quarter[1])), after
    month = _month(words, at)
    if month is None:
        return None
    after = month[1]
    day = _DAY.fullmatch(words[after].norm) if after < len(words) else None
    if day and 1 <= int(day[1]) <= 31:
        given, end = _year(words, after + 1)
        return Moment(given, month[0], int(day[1])), end
    given, end = _year(words, after)
    return (Moment(given, month[0]), end) if given or _sure(words, at) else None


def _nth(words: Sequence[Word], at: int, weekday: int) -> tuple[Moment, int] | None:
    """ "Friday the 4th": a day of a month that both sides know."""
    at += at < len(words) and words[at].norm == "the"
    day = _ORDINAL.fullmatch(words[at].norm) if at < len(words) else None
    return (Moment(day=int(day[1]), weekday=weekday), at + 1) if day and 1 <= int(day[1]) <= 31 else None


def _recurs(words: Sequence[Word], at: int) -> bool:
    """Whether a day is "of each month", or at the end of its sentence."""
    follows = [word.norm for word in words[at : at + 3]]
    return not follows or (follows[0] == "of" and ("month" in follows or "every" in follows or "each" in follows))


def _checked(year: int, month: int, day: int) -> Moment:
    return Moment(year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else Moment(year)


def _of(words: Sequence[Word], at: int) -> int:
    return int(at < len(words) and words[at].norm in {"of", "من"})


def _sure(words: Sequence[Word], at: int) -> bool:
    """Whether a name of a month or day is one."""
    raw = words[at].raw
    return words[at].norm not in _UNSURE or (raw[:1].isupper() and (at > 0 or len(raw) > 4))


def _month(words: Sequence[Word], at: int) -> tuple[int, int] | None:
    if at >= len(words):
        return None
    pair = (words[at].norm, words[at + 1].norm) if at + 1 < len(words) else ("", "")
    if pair in _TWO:
        return _TWO[pair], at + 2
    month = MONTHS.get(words[at].norm)
    return (month, at + 1) if month else None


def _year(words: Sequence[Word], at: int) -> tuple[int | None, int]:
    for skip in (0, 1):
        if at + skip < len(words) and _YEAR.fullmatch(words[at + skip].norm):
            between = words[at : at + skip]
            if all(word.role is Role.COMMA or word.norm in {"of", "عام", "سنه"} for word in between):
                return int(words[at + skip].norm), at + skip + 1
    return None, at


def clock(words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """The time of day that begins at word `at`, with the place after it."""
    if at >= len(words):
        return None
    norm = words[at].norm
    before = words[at - 1].norm if at else ""
    follows = words[at + 1].norm if at + 1 < len(words) else ""
    if (told := _told_hour(words, at)) is not None:
        return told
    if norm in {"noon", "midday", "midnight"}:
        return Value(Kind.CLOCK, words[at].raw, Clock(0 if norm == "midnight" else 720)), at + 1
    if norm in _HOURS and (before in {"الساعه", "ساعه", "من", "حتي", "بعد"} or follows in _OF_CLOCKS):
        hour, minute, half = _HOURS[norm], 0, ""
    elif (hours := arabic.NUMBERS.get(norm)) is not None and before == "الساعه" and 1 <= int(hours) <= 12:
        hour, minute, half = int(hours), 0, ""
    else:
        found = _CLOCK.fullmatch(norm) if words[at].role is Role.FIGURE else None
        if found is None:
            return None
        spoken = follows in _OF_CLOCKS or before == "الساعه"
        spoken = spoken or (before == "at" and norm.isdecimal() and 1 <= int(norm) <= 12 and _closes(words, at + 1))
        if not (found[2] or found[3] in {"am", "pm"} or spoken):
            return None
        hour, minute, half = int(found[1]), int(found[2] or 0), found[3] or ""
    after = at + 1
    if follows in _OF_CLOCKS:
        half = "am" if follows in _MORNING else "pm" if follows in _EVENING else half
        after += 1
    if hour > 24 or minute > 59:
        return None
    vague = not half and 1 <= hour <= 12 and ":" not in norm
    if half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    return Value(Kind.CLOCK, _spelled(words, at, after), Clock((hour * 60 + minute) % 1440, vague)), after


def _told_hour(words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """ "Half past nine", "ten to six": minutes of an hour, in the morning or the evening."""
    if at + 2 >= len(words) or words[at + 1].norm not in {"past", "to"}:
        return None
    minutes = _MINUTES.get(words[at].norm) or english.NUMBERS.get(words[at].norm)
    named = words[at + 2].norm
    hour = english.NUMBERS.get(named, named)
    if minutes is None or not hour.isdecimal() or not 1 <= int(hour) <= 12:
        return None
    told = int(hour) * 60 + (int(minutes) if words[at + 1].norm == "past" else -int(minutes))
    return Value(Kind.CLOCK, _spelled(words, at, at + 3), Clock(told % 1440, vague=True)), at + 3


def _closes(words: Sequence[Word], at: int) -> bool:
    """Whether nothing that a figure could count follows."""
    return at >= len(words) or words[at].role in {
        Role.COMMA,
        Role.AND,
        Role.END,
        Role.PLACE,
        Role.PREPOSITION,
        Role.CAUSE,
        Role.NEGATION,
    }


def _spelled(words: Sequence[Word], start: int, end: int) -> str:
    return " ".join(word.raw for word in words[start:end])

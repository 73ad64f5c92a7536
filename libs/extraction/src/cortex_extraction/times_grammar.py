"""What a language must say for its time expressions to be read: patterns with named groups, and the words in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

from cortex_extraction.spans import Fields, Mode, Part, Unit

_Word = TypeVar("_Word")

YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
LEFT: Final = r"(?<![\w.#/:@$€£+-])"
"""Where a number may begin: not inside an identifier, a version, a path, an amount or a clock time."""
RIGHT: Final = r"(?![\w%€$]|[./:-]\w)"


class Bound(StrEnum):
    """Which side of the span the words before it ask for."""

    SINCE = "since"
    AFTER = "after"
    BEFORE = "before"
    UNTIL = "until"


Accepts = Callable[[str, bool], bool]
"""Whether an expression counts, given the folded text before it and whether its month or first word is capitalised."""


def always(_before: str, _capital: bool) -> bool:
    """Nothing else looks like this expression."""
    return True


def capitalised(_before: str, capital: bool) -> bool:
    """Only the capital letter tells it from a common word: "this May"."""
    return capital


def after(words: str) -> Accepts:
    """Accept what directly follows one of `words`, a regular expression."""
    license_ = re.compile(rf"(?<![\w'-])(?:{words})\s+$")
    return lambda before, _capital: license_.search(before) is not None


def unless_after(words: str) -> Accepts:
    """Refuse what directly follows one of `words`."""
    refused = after(words)
    return lambda before, capital: not refused(before, capital)


def both(one: Accepts, other: Accepts) -> Accepts:
    """Accept what both accept."""
    return lambda before, capital: one(before, capital) and other(before, capital)


def either(one: Accepts, other: Accepts) -> Accepts:
    """Accept what one of the two accepts."""
    return lambda before, capital: one(before, capital) or other(before, capital)


@dataclass(frozen=True, slots=True)
class Expression:
    """One form of time expression: its pattern, when it counts outside a range, and how its count is laid out."""

    pattern: re.Pattern[str]
    accepts: Accepts = always
    mode: Mode | None = None
    count: tuple[int, int] = (1, 1)
    direction: int | None = None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The meaning of every word that a named group can hold, by its folded form; the group's name is the field's."""

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    seasons: Mapping[str, int]
    units: Mapping[str, Unit]
    counts: Mapping[str, tuple[int, int]]
    ordinals: Mapping[str, int]
    directions: Mapping[str, int]
    offsets: Mapping[str, int]
    parts: Mapping[str, Part]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The time expressions of one language.

    `bound` ends where an expression begins and has the groups `bound` and `event`, and may have `count` and `unit`
    ("two weeks before"); `bounds` gives the sense of the word. `opening` stands before a range, `joining` is all that
    stands between its ends, `dash` is a joint that needs no opening, `onwards` follows what an opening made open-ended.
    """

    vocabulary: Vocabulary
    expressions: tuple[Expression, ...]
    bound: re.Pattern[str]
    bounds: Mapping[str, Bound]
    opening: re.Pattern[str]
    joining: re.Pattern[str]
    dash: re.Pattern[str]
    onwards: re.Pattern[str]


def alternatives(words: Mapping[str, object] | tuple[str, ...] | list[str]) -> str:
    """A regular expression that matches any of `words`, longest first; a space in them is any white space."""
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=len, reverse=True))


def expression(
    pattern: str,
    accepts: Accepts = always,
    *,
    mode: Mode | None = None,
    count: tuple[int, int] = (1, 1),
    direction: int | None = None,
) -> Expression:
    """An expression from the text of its pattern; `mode`, `count` and `direction` are what its form says by itself."""
    return Expression(re.compile(pattern), accepts, mode, count, direction)


DIGITS: Final = (
    expression(rf"{LEFT}{YEAR}-(?P<month>\d\d)-(?P<day>\d\d)(?:t\d\d:\d\d[\d:.]{{0,12}}(?:z|[+-]\d\d:?\d\d)?)?{RIGHT}"),
    expression(rf"{LEFT}{YEAR}/(?P<month>\d\d)/(?P<day>\d\d){RIGHT}"),
    expression(rf"{LEFT}(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.{YEAR}{RIGHT}"),
    expression(rf"{LEFT}{YEAR}-?w(?P<week>\d\d){RIGHT}"),
    expression(rf"{LEFT}{YEAR}[\s/-]?q(?P<quarter>[1-4]){RIGHT}"),
)
"""The forms that every language shares (ISO 8601 and its neighbours), to be followed by those of the language."""


def count_of(word: str, vocabulary: Vocabulary) -> tuple[int, int]:
    """How many, at least and at most."""
    return (int(word), int(word)) if word.isdecimal() else vocabulary.counts[" ".join(word.split())]


def read(found: re.Match[str], form: Expression, vocabulary: Vocabulary) -> Fields:
    """The fields of a match."""
    groups = {name: " ".join(value.split()) for name, value in found.groupdict().items() if value}

    def look(name: str, table: Mapping[str, _Word]) -> _Word | None:
        return table[groups[name]] if name in groups else None

    def number(name: str, table: Mapping[str, int]) -> int | None:
        word = groups.get(name)
        return None if word is None else int(word) if word.isdecimal() else table[word]

    month, months = number("month", vocabulary.months), 1
    if "season" in groups:
        month, months = vocabulary.seasons[groups["season"]], 3
    elif quarter := number("quarter", vocabulary.ordinals):
        month, months = quarter * 3 - 2, 3
    elif half := number("half", vocabulary.ordinals):
        month, months = half * 6 - 5, 6
    year, last_year = number("year", {}), number("last_year", {})
    if "decade" in groups:
        year = int(groups["decade"])
        last_year = year + 9
    direction = look("direction", vocabulary.directions)
    count = count_of(groups["count"], vocabulary) if "count" in groups else None
    return Fields(
        year=year,
        last_year=last_year,
        month=month,
        months=months,
        day=number("day", vocabulary.ordinals),
        last_day=number("last_day", vocabulary.ordinals),
        week=number("week", {}),
        weekday=look("weekday", vocabulary.weekdays),
        unit=look("unit", vocabulary.units),
        direction=form.direction if direction is None else direction,
        year_direction=look("year_direction", vocabulary.directions),
        week_direction=look("week_direction", vocabulary.directions),
        mode=form.mode,
        count=count or form.count,
        day_offset=look("day_offset", vocabulary.offsets),
        part=look("part", vocabulary.parts),
    )

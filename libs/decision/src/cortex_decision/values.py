"""Values: of what kind a few words are, and whether two of them can only be true one after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cortex_decision import arabic, english

NUMBER: Final = re.compile(r"-?[$€£]?\d+(?:[.,]\d+)?")
VERSION: Final = re.compile(r"v?\d+(?:\.\d+){1,3}(?:-[\w.]+)?")
CLOCK: Final = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?")
DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}")

_DIMENSIONS: Final = {
    unit: dimension
    for dimension, units in {
        "time": "ms millisecond s sec second min minute h hour day week month year ثانيه دقيقه ساعه يوم اسبوع شهر "
        "سنه عام",
        "bytes": "b byte kb kib mb mib gb gib tb tib ميجا جيجا ميغابايت غيغابايت كيلوبايت جيجابايت ميجابايت",
        "length": "mm cm m km meter metre kilometer mile متر كيلومتر",
        "mass": "g kg gram kilogram lb pound كيلوغرام غرام",
        "money": "eur euro usd dollar gbp € $ £ دينار ريال درهم جنيه دولار يورو",
        "share": "% percent",
        "count": "time مره",
    }.items()
    for unit in units.split()
}

_STATES: Final[tuple[frozenset[str], ...]] = tuple(
    frozenset(group.replace("_", " ") for group in line.split())
    for line in (
        "on off",
        "up down",
        "true false",
        "yes no",
        "open closed resolved done fixed reopened in_progress",
        "open closed shut ajar",
        "enabled disabled",
        "active inactive stopped paused suspended down dead",
        "running stopped paused down",
        "healthy unhealthy degraded down failing broken",
        "working broken",
        "locked unlocked",
        "online offline",
        "available unavailable",
        "public private internal",
        "dark light",
        "pending shipped delivered returned cancelled in_progress done completed complete blocked "
        "todo started finished approved rejected draft published closed open paused confirmed "
        "scheduled in_review",
        "single married divorced engaged widowed",
        "alpha beta stable deprecated generally_available",
        "full empty",
        "green red yellow passing failing",
        "مفعل معطل",
        "مفتوح مغلق",
        "مضاء مطفا",
        "نشط متوقف خامل موقوف",
        "يعمل معطل متوقف معطوب",
        "سليم متوقف معطل متدهور",
        "متصل منفصل",
        "متاح محجوب",
        "عام خاص",
        "اعزب متزوج مطلق خاطب ارمل",
        "قيد_الانتظار مكتمل قيد_التنفيذ ملغي منجز معلق مرفوض مقبول مشحون مسلم",
        "مكتمل جار متوقف",
    )
)
"""Words for states of one thing that exclude each other."""

STATE_WORDS: Final = frozenset(word for group in _STATES for state in group for word in state.split())
PERSONAL: Final = frozenset("single married divorced engaged widowed اعزب متزوج مطلق خاطب ارمل".split())
RUNNING: Final = frozenset("active running up healthy online working operational alive نشط يعمل تعمل سليم متصل".split())
PARTICLES: Final = frozenset("on off up down".split())


_COUNTED: Final = frozenset(arabic.COUNTED.values())


def state(words: Sequence[str]) -> str:
    """The words as a state is looked up: Arabic without the feminine ending."""
    text = " ".join(words)
    return text.removesuffix("ه") if len(words) == 1 and len(text) > 3 and "\u0621" <= text[0] <= "\u064a" else text


def opposite(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether both are states and exclude each other."""
    left, right = state(one), state(other)
    return left != right and any(left in group and right in group for group in _STATES)


def halted(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether something that ran does so no longer: an end, not another value."""
    return state(one) in RUNNING and state(other) in {"stopped", "متوقف", "موقوف"}


def kind(words: Sequence[str]) -> str | None:
    """The kind of a measured value, with its dimension: two of one kind can be compared; none: no such value."""
    if not words:
        return None
    if all(word in english.DAYS or word in arabic.DAYS for word in words):
        return "day"
    first, *rest = words
    if rest and any(word in english.MONTHS or word in arabic.MONTHS for word in words):
        return "date" if all(_dated(word) for word in words) else None
    if rest:
        unit = _DIMENSIONS.get(rest[0]) if len(rest) == 1 else None
        return f"number {unit}" if unit and NUMBER.fullmatch(first) else None
    if DATE.fullmatch(first):
        return "date"
    if CLOCK.fullmatch(first):
        return "clock"
    if NUMBER.fullmatch(first.rstrip("%")):
        return "number"
    if VERSION.fullmatch(first):
        return "version"
    return "month" if first in english.MONTHS or first in arabic.MONTHS else None


def comparable(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether both are measured values of one kind, and not the same one written in two ways."""
    left, right = kind(one), kind(other)
    if left is None or right is None or not (left == right or {left, right} <= {"number", "version", "clock"}):
        return False
    if left == "date":
        return _dates_differ(one, other)
    # Miles are seldom written to more than two figures.
    near = 0.03 if left in {"number length", "number mass"} and one[-1] != other[-1] else 1e-9
    return not any(
        abs(first - second) < near * max(1.0, abs(first)) for first in _amounts(one) for second in _amounts(other)
    )


def unit(word: str) -> bool:
    """Whether a word after a number says of what it is a number, as far as the rules know units."""
    return word in _DIMENSIONS or word in _COUNTED


def _amounts(words: Sequence[str]) -> tuple[float, ...]:
    """A number in the base unit of its dimension (bytes by 1000 and by 1024); empty if it is no number."""
    figure = words[0].strip("$€£%")
    if CLOCK.fullmatch(figure):
        hour, minute, *_ = figure.split(":")
        return (int(hour) + int(minute) / 60,)
    if not re.fullmatch(r"-?\d+(?:\.\d+)?", figure):
        return ()
    unit = words[1] if len(words) > 1 else ""
    power = next((at for at, letter in enumerate("kmgt", start=1) if re.fullmatch(f"{letter}i?b", unit)), 0)
    if power:
        return float(figure) * 1000**power, float(figure) * 1024**power
    return (float(figure) * _BASE.get(unit, 1.0),)


_BASE: Final = {
    unit: base
    for units, base in (
        ("ms millisecond", 0.001),
        ("s sec second ثانيه", 1.0),
        ("min minute دقيقه", 60.0),
        ("h hour ساعه", 3600.0),
        ("day يوم", 86_400.0),
        ("week اسبوع", 604_800.0),
        ("month شهر", 2_629_746.0),
        ("year سنه عام", 31_556_952.0),
        ("mm", 0.001),
        ("cm", 0.01),
        ("m meter metre متر", 1.0),
        ("km kilometer كيلومتر", 1_000.0),
        ("mile", 1_609.344),
        ("g gram غرام", 1.0),
        ("kg kilogram كيلوغرام", 1_000.0),
        ("lb pound", 453.592),
    )
    for unit in units.split()
}


def _dates_differ(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two dates contradict each other in a part that both give; days and months in figures only as written."""
    left, right = _parts(one), _parts(other)
    if left is None or right is None:
        return left is None and right is None
    return any(left[part] != right[part] for part in left.keys() & right.keys())


def _parts(words: Sequence[str]) -> dict[str, int] | None:
    if len(words) == 1:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", words[0]):
            return None
        return dict(zip(("year", "month", "day"), map(int, words[0].split("-")), strict=True))
    parts: dict[str, int] = {}
    for word in words:
        if word in MONTHS:
            parts["month"] = MONTHS[word]
        elif word.isdecimal():
            parts["day" if int(word) <= 31 else "year"] = int(word)
    return parts


MONTHS: Final = {
    name: index % 12 + 1
    for row in (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "يناير فبراير مارس ابريل مايو يونيو يوليو اغسطس سبتمبر اكتوبر نوفمبر ديسمبر",
    )
    for index, name in enumerate(row.split())
}


def _dated(word: str) -> bool:
    return word in english.MONTHS or word in arabic.MONTHS or NUMBER.fullmatch(word) is not None or word == "of"

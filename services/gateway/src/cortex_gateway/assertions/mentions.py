"""Mentions: the numbers, versions, dates and times in a list of words, each with its unit, as one item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from cortex_gateway.assertions.dates import MONTHS, WEEKDAYS, clock, date
from cortex_gateway.assertions.numbers import CURRENCIES, SHARES, Item, Mention, number, unit_of
from cortex_gateway.assertions.units import EVERY, MULTIPLES
from cortex_gateway.assertions.values import Kind, Moment, Quantity, Value, Version
from cortex_gateway.assertions.words import Role, Word

_VERSION: Final = re.compile(r"v?(\d+(?:\.\d+)*)(?:[-+]?((?:alpha|beta|rc|a|b|pre|dev|snapshot|lts|final)[\w.-]*))?")
_ADDRESS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?(?::\d+)?")
_ONE: Final = frozenset({"واحد", "واحده"})
_VERSION_WORDS: Final = frozenset("version release v ver firmware".split())


def merged(words: Sequence[Word], *, versions: bool = False, years: bool = False) -> list[Item]:
    """The words with those of each value as one mention; `versions` and `years` tell what bare numbers are."""
    versions = versions or not _VERSION_WORDS.isdisjoint([word.key for word in words])
    if years and len(words) == 1 and len(words[0].norm) == 4 and words[0].norm[:2] in {"19", "20"}:
        return [Mention(Value(Kind.DATE, words[0].raw, Moment(int(words[0].norm))))]
    items: list[Item] = []
    at = 0
    while at < len(words):
        word = words[at]
        found = None
        if (
            word.norm in {"per", "/"}
            or (word.norm in {"a", "an"} and items and isinstance(items[-1], Mention))
            or (word.norm in {"each", "every"} and any(_priced(item) for item in items))
        ):
            rated = unit_of(words[at + 1]) if at + 1 < len(words) else None
            if rated is not None and rated[0] == "time":
                items.append(replace(word, key=f"per_{rated[1]:g}", role=Role.CONTENT))
                at += 2
                continue
        if word.norm == "every" and (other := _every_other(words, at)) is not None:
            items.append(other[0])
            at = other[1]
            continue
        if (word.arabic or word.norm in _LONE or (items and _is_every(items[-1]))) and (
            single := _single(words, at, items)
        ) is not None:
            items.append(single[0])
            at = single[1]
            continue
        if word.norm in _ONE and items and isinstance(unit := items[-1], Word) and (sized := unit_of(unit)) is not None:
            items[-1:] = [Mention(Value(Kind.NUMBER, f"{unit.raw} {word.raw}", Quantity(sized[1], sized[1], sized[0])))]
            at += 1
            continue
        if word.role is Role.FIGURE or word.norm in _OPENING or word.norm[0] in _SIGNS:
            found = _mention(words, at, items, versions)
        if found is None:
            items.append(word if word.role is not Role.FIGURE else _identifier(word))
            at += 1
            continue
        mention, at = found
        if mention.value.kind is Kind.DATE and items and _is_every(items[-1]):
            items.pop()
            mention = replace(mention, every=True)
        _add(items, mention)
    return [item for at, item in enumerate(items) if not _lone_every(items, at)]


def _lasting(one: Item, other: Mention) -> Mention | None:
    """The sum of two durations, the smaller unit behind the larger."""
    if not isinstance(one, Mention):
        return None
    long, short = one.value.content, other.value.content
    if not (isinstance(long, Quantity) and isinstance(short, Quantity) and long.dimension == short.dimension == "time"):
        return None
    if long.low != long.high or short.low != short.high or short.low >= 3600 or long.low < 60 or short.low >= long.low:
        return None
    total = replace(long, low=long.low + short.low, high=long.high + short.high)
    return replace(one, value=Value(Kind.NUMBER, f"{one.value.text} {other.value.text}", total))


def _every_other(words: Sequence[Word], at: int) -> tuple[Mention, int] | None:
    """ "Every other Thursday", "every second week": how often, and the place of the day."""
    if at + 2 >= len(words) or words[at + 1].norm not in {"other", "second"}:
        return None
    day = words[at + 2].norm in WEEKDAYS
    unit = ("time", EVERY["weekly"]) if day else unit_of(words[at + 2])
    if unit is None or unit[0] != "time":
        return None
    text = " ".join(word.raw for word in words[at : at + 3])
    value = Value(Kind.NUMBER, text, Quantity(2 * unit[1], 2 * unit[1], "time"))
    return Mention(value, every=True), at + 2 + (not day)


def _priced(item: Item) -> bool:
    return isinstance(item, Mention) and getattr(item.value.content, "dimension", "").startswith("money")


def opens(word: Word) -> bool:
    """Whether a value may begin with the word."""
    return word.role is Role.FIGURE or word.arabic or word.norm in _FIRST or word.norm[0] in _SIGNS


def _single(words: Sequence[Word], at: int, items: list[Item]) -> tuple[Mention, int] | None:
    """One unit without a figure: "takes an hour", "half an hour", and Arabic "takes a week"."""
    before = items[-1] if items else None
    word = words[at]
    if at + 1 < len(words) and words[at + 1].norm in WEEKDAYS:
        return None
    lasting = (
        word.arabic
        and word.norm.endswith("ا")
        and any(isinstance(each, Word) and each.role is Role.VERB for each in items)
    )
    if lasting and (alone := unit_of(word)) is not None and alone[0] == "time":
        return Mention(Value(Kind.NUMBER, word.raw, Quantity(alone[1], alone[1], "time"))), at + 1
    if not isinstance(before, Word) or (before.role is not Role.VERB and before.norm not in _SPANS):
        return None
    start, amount = at, 1.0
    if words[at].norm == "half" and at + 1 < len(words):
        at, amount = at + 1, 0.5
    if words[at].norm in {"a", "an"} and at + 1 < len(words):
        at += 1
    elif at == start and before.norm != "every" and (not words[at].arabic or words[at].definite):
        return None
    unit = unit_of(words[at])
    if unit is None or unit[0] != "time":
        return None
    after = at + 1
    if [word.norm for word in words[after : after + 3]] == ["and", "a", "half"]:
        amount, after = amount + 0.5, after + 3
    size = amount * unit[1]
    text = " ".join(word.raw for word in words[start:after])
    return Mention(Value(Kind.NUMBER, text, Quantity(size, size, "time"))), after


_SPANS: Final = frozenset("is within after for lasts every in".split())


def _lone_every(items: list[Item], at: int) -> bool:
    """Whether "every" is about all of something, not about how often."""
    item = items[at]
    return (
        isinstance(item, Word)
        and item.key == "interval"
        and item.norm in {"every", "كل"}
        and not (at + 1 < len(items) and isinstance(items[at + 1], Mention))
    )


_STARTS: Final = (
    frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | EVERY.keys()
    | {"noon", "midnight", "midday", "كانون", "تشرين"}
    | {
        "الواحده",
        "الثانيه",
        "الثالثه",
        "الرابعه",
        "الخامسه",
        "السادسه",
        "السابعه",
        "الثامنه",
        "التاسعه",
        "العاشره",
        "الحاديه",
    }
)


_LONE: Final = frozenset({"a", "an", "half"})
"""Words that may count one unit without a figure."""
_OPENING: Final = _STARTS | SHARES.keys() | {"dozen"}
_FIRST: Final = _OPENING | _LONE | _ONE | {"per", "/"}
_SIGNS: Final = frozenset("qv~") | CURRENCIES


def _is_every(item: Item) -> bool:
    return isinstance(item, Word) and item.norm == "every"


def _identifier(word: Word) -> Word:
    return replace(word, role=Role.CONTENT)


def _mention(words: Sequence[Word], at: int, items: list[Item], versions: bool) -> tuple[Mention, int] | None:
    word = words[at]
    if (
        len(word.norm) == 4
        and word.norm[:2] in {"19", "20"}
        and word.norm.isdecimal()
        and any(each.key in {"found", "birthday"} for each in words)
    ):
        return Mention(Value(Kind.DATE, word.raw, Moment(int(word.norm)))), at + 1
    if (found := date(words, at)) is not None:
        return Mention(found[0]), found[1]
    if (timed := clock(words, at)) is not None:
        return Mention(timed[0]), timed[1]
    if word.norm in EVERY:
        if at and at + 1 < len(words) and words[at + 1].role in {Role.CONTENT, Role.LOOSE}:
            return None
        value = Value(Kind.NUMBER, word.raw, Quantity(EVERY[word.norm], EVERY[word.norm], "time"))
        return Mention(value, every=True), at + 1
    if _ADDRESS.fullmatch(word.norm):
        return None
    before = next((item for item in reversed(items) if isinstance(item, Word)), None)
    version = _version(word, versions, before, words, at)
    if version is not None:
        return Mention(version), at + 1
    return number(words, at, items)


def _version(word: Word, versions: bool, before: Word | None, words: Sequence[Word], at: int) -> Value | None:
    found = _VERSION.fullmatch(word.norm)
    follows = words[at + 1] if at + 1 < len(words) else None
    if found is None or (word.norm[0] == "v" and "." not in word.norm and follows and follows.role is Role.CONTENT):
        return None  # "The v1 API" is a name.
    parts = found[1].split(".")
    dotted = len(parts) > 2 or (word.norm[0] == "v" and word.norm != "v")
    unit = follows is not None and (unit_of(follows) is not None or follows.norm in MULTIPLES)
    named = before is not None and before.name and before.role is Role.CONTENT and len(parts) == 2 and not unit
    if not (dotted or (versions and not unit) or named or found[2]) or len(parts) > 5:
        return None
    suffix = "" if found[2] in {"lts", "final"} else found[2] or ""
    return Value(Kind.VERSION, word.raw, Version(tuple(int(part[:9]) for part in parts), suffix))


def _add(items: list[Item], mention: Mention) -> None:
    """Append a mention; "1 h 56 min" is one, and values of one kind joined by "and" or commas are one list."""
    if items and (sum_ := _lasting(items[-1], mention)) is not None:
        items[-1] = sum_
        return
    back = len(items)
    while (
        back
        and isinstance(item := items[back - 1], Word)
        and (item.role in {Role.AND, Role.COMMA} and item.raw not in "()")
    ):
        back -= 1
    last = items[back - 1] if back else None
    if (
        back < len(items)
        and isinstance(last, Mention)
        and isinstance(last.value.content, Quantity)
        and isinstance(mention.value.content, Quantity)
        and last.value.content.dimension == mention.value.content.dimension == ""
    ):
        one, other = last.value.content, mention.value.content
        many = (one.more or frozenset({one.low})) | {other.low}
        text = f"{last.value.text}, {mention.value.text}"
        items[back - 1 :] = [replace(last, value=Value(Kind.NUMBER, text, replace(one, more=many)))]
        return
    items.append(mention)

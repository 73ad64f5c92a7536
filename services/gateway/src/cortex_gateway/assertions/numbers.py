"""Numbers in a list of words: figures and number words, with their units, bounds and rates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from cortex_decision import arabic as arabic_decision
from cortex_decision import english as english_decision
from cortex_decision.clauses import lemma
from cortex_gateway.assertions import arabic, english
from cortex_gateway.assertions.units import BINARY, EVERY, MULTIPLES, UNITS
from cortex_gateway.assertions.values import Kind, Quantity, Value
from cortex_gateway.assertions.words import Role, Word

_NUMBER: Final = re.compile(r"([-−]?\d+(?:,\d{3})+(?:\.\d+)?|[-−]?\d+(?:[.]\d+)?)(?: ?(%|-?[^\W\d_][\w/]*))?")
_COMMA_DECIMAL: Final = re.compile(r"(\d+),(\d{1,2})(%?)")
_RANGE: Final = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)([a-z%]*)")
_BOUNDS: Final = english.BOUNDS | arabic.BOUNDS
SHARES: Final = {"half": 0.5, "quarter": 0.25, "third": 1 / 3, "نصف": 0.5, "ربع": 0.25, "ثلث": 1 / 3}
_THIRDS: Final = frozenset({"third", "ثلث"})
CURRENCIES: Final = frozenset("$€£¥")


@dataclass(frozen=True, slots=True)
class Mention:
    """A value in a sentence: `words` of it, and `rate` ("per minute") that belongs to it."""

    value: Value
    rate: str = ""
    every: bool = False


Item = Word | Mention
"""What a sentence is made of."""


def number(words: Sequence[Word], at: int, items: list[Item]) -> tuple[Mention, int] | None:
    """The number at `at` with its unit, bound and rate, and the place after it; a bound is taken off `items`."""
    start, currency = at, ""
    if words[at].raw in CURRENCIES:
        currency = words[at].raw
        at += 1
        if at == len(words):
            return None
    word = words[at]
    if word.role is not Role.FIGURE and word.norm not in SHARES and word.norm != "dozen":
        return None
    low = high = 0.0
    glued = ""
    if spread := _RANGE.fullmatch(word.norm):
        low, high, glued = float(spread[1]), float(spread[2]), spread[3]
        if high <= low:
            return None
        at += 1
    elif (figure := _figure(words, at)) is not None:
        low, at, glued = figure
        high = low
    else:
        return None
    dimension, size, after = _sized(words, at, glued)
    if dimension is None:
        return None
    binary = BINARY.get(_unit_word(words, at, glued))
    if currency:
        dimension = UNITS[currency][0]
    # "10 to 20 s", "between 10 and 20".
    joined = after < len(words) and (
        words[after].norm in {"to", "-", "–", "الي"} or (_between(items) and words[after].role is Role.AND)
    )
    if joined and after + 1 < len(words) and words[after + 1].role is Role.FIGURE:
        second = _figure(words, after + 1)
        if second is not None and second[0] > low:
            more = _sized(words, second[1], second[2])
            if more[0] is not None and (not dimension or more[0] == dimension):
                size = more[1] if not dimension else size
                dimension, high, after = more[0], second[0] * more[1] / size, more[2]
    scaled = (low * size, high * size)
    other = (low * binary, high * binary) if binary else None
    text = "".join((currency, " ".join(each.raw for each in words[start + bool(currency) : after])))
    bound = _bound(items, words, after)
    if bound in {"or_more", "or_less", "or_fewer"}:
        after += 1
    quantity = _bounded(Quantity(*scaled, dimension, other, about=word.norm in _THIRDS), _BOUNDS.get(bound, ""))
    rate, after = _rate(words, after, priced=dimension.startswith("money"))
    return Mention(Value(Kind.NUMBER, text, quantity), rate), after


def _figure(words: Sequence[Word], at: int) -> tuple[float, int, str] | None:
    """The number at `at`, the place after it, and what is glued to it."""
    norm = words[at].norm
    if found := _COMMA_DECIMAL.fullmatch(norm):
        return float(f"{found[1]}.{found[2]}"), at + 1, found[3]
    if found := _NUMBER.fullmatch(norm):
        number, glued = float(found[1].replace(",", "").replace("−", "-")), (found[2] or "").lstrip("-")
        if glued in MULTIPLES:
            return number * MULTIPLES[glued], at + 1, ""
        if (
            glued == "m"
            and at + 1 < len(words)
            and unit_of(words[at + 1])
            and (unit_of(words[at + 1]) or ("", 0))[0].startswith("money")
        ):
            return number * 1e6, at + 1, ""
        return number, at + 1, glued
    share = SHARES.get(norm)
    if (
        share
        and at + 1 < len(words)
        and (words[at + 1].norm == "of" or (words[at].arabic and unit_of(words[at + 1]) is not None))
    ):
        return (share * 100, at + 1, "%") if words[at + 1].norm == "of" else (share, at + 1, "")
    if norm == "dozen":
        return 12.0, at + 1, ""
    total, after = 0.0, at
    while after < len(words):
        part = words[after].norm
        spelled = english_decision.NUMBERS.get(part) or arabic_decision.NUMBERS.get(part) or arabic.THOUSANDS.get(part)
        if spelled is None and "-" in part:
            halves = [half for each in part.split("-") if (half := english_decision.NUMBERS.get(each))]
            spelled = str(sum(map(int, halves))) if len(halves) == part.count("-") + 1 else None
        if spelled is None and part in MULTIPLES and after > at:
            total = max(total, 1.0) * MULTIPLES[part]
        elif spelled is not None:
            total += float(spelled)
        elif part in _TWOS and after + 1 < len(words) and words[after + 1].norm in {"عشر", "عشره"}:
            total += 2.0
        elif not (words[after].role is Role.AND and after > at and _tens(words, after + 1)):
            break
        after += 1
    return (total, after, "") if after > at else None


_TWOS: Final = frozenset("اثنا اثني اثنتا اثنتي".split())


def _tens(words: Sequence[Word], at: int) -> bool:
    number = arabic_decision.NUMBERS.get(words[at].norm) if at < len(words) else None
    return number is not None and int(number) >= 20


def _sized(words: Sequence[Word], at: int, glued: str) -> tuple[str | None, float, int]:
    """Dimension and size of the unit at `at`, and the place after it; no dimension for what is no number at all."""
    if glued:
        if glued in UNITS:
            return *UNITS[glued], at
        if lemma(glued) in UNITS:
            return *UNITS[lemma(glued)], at
        return (None, 1.0, at) if len(glued) > 0 else ("", 1.0, at)
    scale = 1.0
    if at + 1 < len(words) and words[at].norm in _COUNTING and unit_of(words[at + 1]) is not None:
        at += 1
    if at < len(words) and words[at].norm in MULTIPLES:
        scale = MULTIPLES[words[at].norm]
        at += 1
    elif at < len(words) and words[at].raw == "M":
        following = unit_of(words[at + 1]) if at + 1 < len(words) else None
        if following is None or following[0].startswith("money"):
            scale = 1e6
            at += 1
    if (
        at + 1 < len(words)
        and words[at].norm in {"square", "sq"}
        and (side := unit_of(words[at + 1])) is not None
        and side[0] == "length"
    ):
        return "area", side[1] ** 2 * scale, at + 2
    unit = unit_of(words[at]) if at < len(words) else None
    if unit is not None and unit[0] == "length" and at + 1 < len(words) and words[at + 1].norm.startswith("مربع"):
        return "area", unit[1] ** 2 * scale, at + 2
    if unit is None and at + 1 < len(words) and words[at].norm == "°":
        unit = UNITS.get("°" + words[at + 1].norm)
        at += 1
    if (
        unit is None
        and at + 1 < len(words)
        and words[at].norm == "في"
        and words[at + 1].norm in {"الميه", "المايه", "المييه"}
    ):
        return "share", 0.01, at + 2
    if unit is None:
        return "", scale, at
    return unit[0], unit[1] * scale, at + 1


def unit_of(word: Word) -> tuple[str, float] | None:
    """Dimension and size of the unit that a word names."""
    norm = word.norm
    if norm in {"b", "c", "v", "l", "m", "g", "d", "y", "w"} and word.raw.isupper() and norm != "v":
        return UNITS.get(norm) if norm in {"b", "c"} else None
    return (
        UNITS.get(norm)
        or UNITS.get(arabic_decision.COUNTED.get(norm, ""))
        or (
            UNITS.get(lemma(norm))
            if norm.isascii()
            else UNITS.get(word.key)
            or UNITS.get(norm + "ه")
            or (UNITS.get(arabic_decision.COUNTED.get(norm[:-1], norm[:-1])) if norm.endswith("ا") else None)
        )
    )


def _unit_word(words: Sequence[Word], at: int, glued: str) -> str:
    norm = glued or (words[at].norm if at < len(words) else "")
    return {"kib": "kb", "mib": "mb", "gib": "gb", "tib": "tb"}.get(norm, norm)


def _between(items: list[Item]) -> bool:
    return bool(items) and isinstance(items[-1], Word) and items[-1].norm in {"between", "بين"}


def _bound(items: list[Item], words: Sequence[Word], after: int) -> str:
    """The word that bounds the number, taken off `items`."""
    if after < len(words) and words[after].norm in {"or_more", "or_less", "or_fewer"}:
        return words[after].norm
    if after < len(words) and words[after].norm in {
        "علي_الاقل",
        "علي_الاكثر",
        "تقريبا",
        "كحد_ادني",
        "كحد_اقصي",
        "approximately",
    }:
        return words[after].norm
    for back in (1, 2):
        if len(items) >= back:
            item = items[-back]
            if isinstance(item, Word) and item.norm == "up_to" and len(items) > back and _moves(items[-back - 1]):
                del items[-back]
                return ""
            if (
                isinstance(item, Word)
                and item.norm in _BOUNDS
                and item.norm not in {"minimum", "maximum", "min", "max"}
            ):
                del items[-back]
                return item.norm
            if not (isinstance(item, Word) and item.role is Role.DROPPED):
                break
    # Arabic says "does not exceed" before what it counts.
    for at, item in enumerate(items):
        if isinstance(item, Word) and item.norm in arabic.BOUNDS and "_" in item.norm:
            del items[at]
            return item.norm
    return ""


def _moves(item: Item) -> bool:
    """Whether a verb of change stands before "up to": what "has gone up to 5" is 5."""
    return isinstance(item, Word) and item.norm in _MOVES


_COUNTING: Final = frozenset("business working calendar consecutive full".split())
_MOVES: Final = frozenset(
    "go goes going gone went move moved rise risen rose raised climbed increased grew grown bumped scaled "
    "crept jumped shot".split()
)


def _bounded(quantity: Quantity, bound: str) -> Quantity:
    low, high = quantity.low, quantity.high
    tiny = max(abs(low), 1.0) * 1e-9
    match bound:
        case "about":
            return replace(quantity, about=True)
        case "min":
            return replace(quantity, high=float("inf"), other=None, bound="min")
        case "max":
            return replace(quantity, low=float("-inf"), other=None, bound="max")
        case "over":
            return replace(quantity, low=low + tiny, high=float("inf"), other=None)
        case "under":
            return replace(quantity, low=float("-inf"), high=high - tiny, other=None)
    return quantity


def _rate(words: Sequence[Word], after: int, *, priced: bool) -> tuple[str, int]:
    """ "per minute", "a month", "each month" after a number; "EUR/month", whose stroke is no word, after a price."""
    if priced and after < len(words) and (unit := unit_of(words[after])) is not None and unit[0] == "time":
        return f"per_{unit[1]:g}", after + 1
    if after < len(words) and words[after].norm in EVERY:
        return f"per_{EVERY[words[after].norm]:g}", after + 1
    if after + 1 < len(words) and words[after].norm in {"per", "a", "an", "لكل", "في", "each", "every", "/"}:
        unit = unit_of(words[after + 1])
        if unit is not None and unit[0] == "time":
            return f"per_{unit[1]:g}", after + 2
    return "", after

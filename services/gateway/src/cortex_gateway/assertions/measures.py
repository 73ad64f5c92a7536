"""Measures: the numbers, versions, dates and times that a clause gives of something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cortex_gateway.assertions import english
from cortex_gateway.assertions.clauses import HAVING, Clause, role_of
from cortex_gateway.assertions.numbers import Item, Mention
from cortex_gateway.assertions.statement import Stated, Tense
from cortex_gateway.assertions.subjects import CONTENT, Bag
from cortex_gateway.assertions.values import Kind, Moment, Quantity, Value, Version
from cortex_gateway.assertions.words import Role, Word

_LISTENING: Final = frozenset("listen bind expose serve".split())
_DEMANDS: Final = frozenset("require need use run support install upgrade".split())
_INSTALLED: Final = frozenset(
    "installed deployed live running released in_use active online used required needed supported runs run "
    "منشور مثبت".split()
)
_MEASURED_BY: Final = {
    "tall": "height", "high": "height", "long": "length", "wide": "width", "deep": "depth", "thick": "thickness",
    "heavy": "weight", "old": "age",
}  # fmt: skip
_MEASURES: Final = frozenset("temperature weight salary budget درج سعر ثمن طول عرض مساح سرع ضغط".split())
"""Nouns that a number belongs to, whatever stands between."""
_VARIED: Final = frozenset("affect mention fix accept".split())
"""Verbs whose object may be one version of many."""
_YEARS: Final = frozenset("عام سنه year".split())
_LASTING: Final = frozenset(
    "take last run cost be need start begin happen sit stand come amount total charge end_".split()
)
_NUMBERED_ARABIC: Final = frozenset("طابق دور غرف room رحل بند ماد صفح فصل عنبر ابقا رق مبن قاع شارع".split())


def stamp(clause: Clause, dates: Sequence[int]) -> frozenset[str]:
    """The time of day of a line that begins with date and time."""
    second = clause.items[1] if len(clause.items) > 3 and dates[:1] == [0] else None
    if isinstance(second, Mention) and second.value.kind is Kind.CLOCK and not isinstance(clause.items[2], Mention):
        return frozenset({second.value.text})
    return frozenset()


def measured(clause: Clause, at: int, told: Sequence[int]) -> Stated | None:
    """The statement of the value at `at`; `told` are all values of the clause."""
    item = clause.items[at]
    assert isinstance(item, Mention)
    start, end = clause.chunk(at)
    if item.value.kind is Kind.VERSION and any(
        isinstance(each, Word) and each.key in _VARIED for each in clause.items[:at]
    ):
        return None
    split = clause.split if clause.split is not None and clause.split < at else None
    start = start if split is None else max(start, split + 1)
    if clause.split is not None and at < clause.split:
        end = min(end, clause.split)
    bag = _subject(clause, at, told, split, start)
    subject = bool(bag.topic)
    _between(clause, bag, split, start)
    _around(clause, bag, at, (start, end), subject)
    if split is not None:
        _verb(clause, bag, item, split, start == at)
        if split < start:
            clause.adjuncts(bag, split + 1, start)
    clause.adjuncts(bag, end, len(clause.items), told)
    _trim(bag, item)
    count(clause, bag, at)
    clause.settle(bag)
    if not bag.topic and bag.loose:
        bag.topic, bag.loose = bag.loose, set()
    if not bag.topic:
        if item.value.kind is not Kind.VERSION:
            return None
        bag.topic.add("version")
    if isinstance(content := item.value.content, Quantity) and content.bound:
        bag.topic -= {"limit", "minimum"} if bag.topic - {"limit", "minimum"} else set()
        bag.loose |= {"limit", "minimum"}
    value = Value(item.value.kind, item.value.text, content, clause.denied(at))
    attribute = {Kind.VERSION: "version", Kind.DATE: "date", Kind.CLOCK: "time"}.get(item.value.kind, "")
    if attribute:
        bag.spelled += [word for word in bag.attribute if word.casefold() not in {"version", "release", "date", "time"}]
    tense = Tense.PAST if (clause.was or clause.past()) and not clause.changes() else Tense.NOW
    if clause.changes():
        # What was changed lasts; two changes at two times do not contradict each other.
        bag.loose |= {f"@{time}" for time in clause.frame}
        clause.frame = frozenset()
    return clause.statement(bag, attribute, value, "", tense)


def _subject(clause: Clause, at: int, told: Sequence[int], split: int | None, start: int) -> Bag:
    """The words of what is measured."""
    item = clause.items[at]
    assert isinstance(item, Mention)
    if split == 0:
        bag = clause.bag(range(1, start), {at, *told})
    else:
        bag = clause.bag(range(0, min(start, split if split is not None else start)), {at, *told})
    if (
        split is None
        and clause.split is not None
        and at < clause.split
        and not bag.topic
        and item.value.kind is Kind.VERSION
    ):
        bag = clause.bag(range(clause.split + 1, len(clause.items)), set())
    elif clause.split is not None and at < clause.split:
        # "4 alerts are firing": what they do says which.
        behind_it = clause.bag(range(clause.split, clause.end(clause.split)), set())
        bag.loose |= behind_it.topic | behind_it.loose
    return bag


def _between(clause: Clause, bag: Bag, split: int | None, start: int) -> None:
    """Words between the verb and those around the value: "uses a timeout of"."""
    for place in range(split + 1, start) if split else ():
        word = clause.items[place]
        if isinstance(word, Word) and word.role in {Role.CONTENT, Role.VERB}:
            if place and role_of(clause.items[place - 1]) in {Role.PLACE, Role.PREPOSITION}:
                break
            if word.norm not in _INSTALLED and (word.role is Role.CONTENT or word.key in english.CONCEPTS.values()):
                bag.add(word, loose=word.key not in english.CONCEPTS.values())


def _around(clause: Clause, bag: Bag, at: int, span: tuple[int, int], subject: bool) -> None:
    """Words beside the value: what is counted, and by what it is measured ("8 m wide")."""
    item = clause.items[at]
    assert isinstance(item, Mention)
    split = clause.split if clause.split is not None and clause.split < at else None
    joined = split is not None and role_of(clause.items[split]) in {Role.BE, Role.BREAK}
    for place in range(*span):
        word = clause.items[place]
        if isinstance(word, Word) and word.norm in english.HOUSED:
            continue
        if isinstance(word, Word) and word.norm in {"full", "used"} and place > at and item.value.text.endswith("%"):
            bag.topic.add("use")
            continue
        if isinstance(word, Word) and place != at and place != split and word.role in CONTENT:
            if (
                place > at
                and word.norm in _MEASURED_BY
                and isinstance(item.value.content, Quantity)
                and item.value.content.dimension
            ):
                bag.topic.add(_MEASURED_BY[word.norm])
                continue
            behind = place > at and subject and (joined or (split is None and word.arabic and len(bag.topic) > 1))
            bag.add(word, loose=behind or word.role is Role.VERB)
            bag.attribute.append(word.raw)


def _verb(clause: Clause, bag: Bag, item: Mention, split: int, alone: bool) -> None:
    """What the verb before a value says of it; `alone` when nothing stands between."""
    verb = clause.items[split]
    assert isinstance(verb, Word)
    if (
        verb.key in _LISTENING
        and isinstance(item.value.content, Quantity)
        and not item.value.content.dimension
        and alone
    ):
        bag.topic.add("port")
    if verb.role is Role.VERB and verb.norm not in HAVING:
        dimension = item.value.content.dimension if isinstance(item.value.content, Quantity) else ""
        strict = verb.key in {"use", "consume"} and dimension in {"bytes", "share"}
        if not (
            verb.key in _LASTING
            and (dimension == "time" or dimension.startswith("money") or item.value.kind in {Kind.CLOCK, Kind.DATE})
        ):
            bag.add(verb, loose=not strict and (verb.key == "use" or verb.key not in english.CONCEPTS.values()))


def _trim(bag: Bag, item: Mention) -> None:
    """Leave out the words that the value itself implies."""
    content = item.value.content
    if item.rate:
        bag.topic.add(item.rate)
    if item.every and item.value.kind is Kind.NUMBER:
        bag.topic.add("interval")
    if item.value.kind is Kind.VERSION:
        bag.topic -= {"version", "release"}
        bag.loose -= {"version", "release"}
        bag.topic -= {"use", "run", "deploy", "install", "minimum"}
    implied = english.implied(item.value)
    bag.topic -= _YEARS
    bag.loose -= _YEARS
    if bag.topic - implied or bag.loose - implied:
        bag.topic -= implied
        bag.loose -= implied
    elif bag.topic | bag.loose:
        bag.topic, bag.loose = (
            {f"@{content.dimension if isinstance(content, Quantity) else item.value.kind}"},
            set(),
        )


def count(clause: Clause, bag: Bag, at: int) -> None:
    """Arabic counts with a plural behind "number of" and a singular behind the number: both are one word."""
    counted = next((i for i, item in enumerate(clause.items) if isinstance(item, Word) and item.norm == "عدد"), None)
    plural = clause.items[counted + 1] if counted is not None and counted + 1 < len(clause.items) else None
    single = clause.items[at + 1] if at + 1 < len(clause.items) else None
    if isinstance(single, Word) and single.arabic and single.role is Role.CONTENT:
        bag.topic.discard(single.key)
        bag.topic.add(skeleton(single.key))
        if isinstance(plural, Word) and plural.arabic and counted is not None and counted + 1 < at:
            bag.topic.discard(plural.key)
    elif isinstance(plural, Word) and plural.arabic and plural.key in bag.topic:
        bag.topic.discard(plural.key)
        bag.topic.add(skeleton(plural.key))


def is_value(clause: Clause, at: int, state: int | None) -> bool:
    """Whether the value at `at` is what is said, not part of a name ("node 7", "2 h ago")."""
    if clause.split is not None and at < clause.split:
        item = clause.items[at]
        assert isinstance(item, Mention)
        content = item.value.content
        counted = all(role_of(each) is Role.DROPPED for each in clause.items[:at])
        if any(isinstance(each, Mention) for each in clause.items[clause.split :]):
            return False
        if isinstance(content, Version):
            left = [each for each in clause.items[: clause.split] if isinstance(each, Word) and each.role in CONTENT]
            return all(each.key in {"version", "release"} for each in left) and state is None and not clause.was
        year = isinstance(content, Quantity) and not content.dimension and 1900 <= content.low < 2100
        if (
            isinstance(of := clause.items[at + 1], Word)
            and of.norm == "of"
            and not isinstance(clause.items[min(at + 2, len(clause.items) - 1)], Mention)
            and not (isinstance(content, Quantity) and content.dimension)
        ):
            return False
        shared = isinstance(content, Quantity) and content.dimension == "share"
        return counted and isinstance(content, Quantity) and (state is None or shared) and not year
    before = clause.items[at - 1] if at else None
    after = clause.items[at + 1] if at + 1 < len(clause.items) else None
    if isinstance(after, Word) and after.norm == "ago":
        return False
    item = clause.items[at]
    assert isinstance(item, Mention)
    if _names(clause, at):
        return False
    bare = (
        isinstance(item.value.content, Quantity) and not item.value.content.dimension
    ) or item.value.kind is Kind.VERSION
    if any(
        isinstance(each, Word) and (each.norm in {"رقم", "عدد"} or each.key in _MEASURES) for each in clause.items[:1]
    ):
        return True
    if isinstance(after, Word) and after.arabic and after.role is Role.CONTENT and not after.definite:
        return True
    if isinstance(before, Word) and before.norm == "node" and clause.split is not None and at == clause.split + 2:
        verb = clause.items[clause.split]
        return isinstance(verb, Word) and verb.key in _DEMANDS
    return not (
        bare and isinstance(before, Word) and (before.norm in english.NUMBERED or before.key in _NUMBERED_ARABIC)
    )


def _names(clause: Clause, at: int) -> bool:
    """Whether a bare number belongs to the name of a place, and another value follows: "in tank 1 reads 20 °C"."""
    item, before = clause.items[at], clause.items[at - 2 : at]
    assert isinstance(item, Mention)
    bare = isinstance(item.value.content, Quantity) and not item.value.content.dimension and item.value.text.isdecimal()
    placed = len(before) == 2 and role_of(before[0]) is Role.PLACE and role_of(before[1]) in CONTENT
    return bare and placed and any(isinstance(each, Mention) for each in clause.items[at + 1 :])


def is_event(clause: Clause) -> bool:
    """Whether a date is what the clause says, not when it is true."""
    words = [item for item in clause.items if isinstance(item, Word)]
    if any(isinstance(item, Mention) and item.every and item.value.kind is Kind.DATE for item in clause.items):
        return True
    weekly = any(isinstance(item, Mention) and item.value.text.endswith("days") for item in clause.items)
    if weekly and clause.split is not None and any(word.norm.endswith("ed") for word in words) and not clause.was:
        return True
    keys = {name for word in words for name in (word.key, word.norm, word.norm.removeprefix("ال"))}
    first = next((at for at, item in enumerate(clause.items) if isinstance(item, Mention)), 0)
    before = clause.items[first - 1] if first else None
    joined = (
        clause.split is None and not (isinstance(before, Word) and before.norm in {"in", "during", "في", "خلال"})
    ) or (clause.split is not None and role_of(clause.items[clause.split]) is Role.BREAK)
    return bool(keys & english.EVENTS) or (joined and len(words) <= 6) or _alone(clause)


def _alone(clause: Clause) -> bool:
    """Whether nothing but the date is said: "rehearsals are on Mondays"."""
    split = clause.split
    if split is None or role_of(clause.items[split]) is not Role.BE:
        return False
    dates = (Role.PLACE, Role.PREPOSITION, Role.DROPPED)
    return all(isinstance(item, Mention) or item.role in dates for item in clause.items[split + 1 :])


def framed(clause: Clause, at: int) -> bool:
    """Whether a date in front only says when something was somewhere: "in 2024 the fair was in Lyon"."""
    split = clause.split
    if split is None or at > split or split + 1 >= len(clause.items) or role_of(clause.items[split]) is not Role.BE:
        return False
    return role_of(clause.items[split + 1]) is Role.PLACE


def until(clause: Clause, at: int) -> bool:
    """Whether the time at `at` is an end."""
    before = clause.items[at - 1] if at else None
    return isinstance(before, Word) and before.norm in {"until", "till"}


def skeleton(key: str) -> str:
    """An Arabic noun without the letters in which its singular and plural differ; short ones as they are."""
    if not "\u0621" <= key[0] <= "\u064a":
        return key
    bones = [char for char in key if char not in "اويه"]
    kept = "".join(char for at, char in enumerate(bones) if not at or char != bones[at - 1])
    return kept if len(kept) > 1 else key


def frame(item: Item) -> str:
    """A date as the time in which something else is true."""
    assert isinstance(item, Mention)
    moment = item.value.content
    assert isinstance(moment, Moment)
    return f"{moment.year}-{moment.quarter}-{moment.month}-{moment.day}-{moment.weekday}"

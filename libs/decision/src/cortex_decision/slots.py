"""Slots: two statements in the same words but for one value, in whatever order and with whatever verb of change.

`differences` compares sentences of one build, word by word. Here the words that say what a statement is about are
compared as a set; what is left over on each side must be one value, of one kind, for which there is room once only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from cortex_decision import english, values
from cortex_decision.clauses import Clause, stem
from cortex_decision.differences import may_be_one
from cortex_decision.findings import Effect, Finding
from cortex_decision.folding import fold
from cortex_decision.identifiers import identifying

MAX_NAME: Final = 3
"""Words of a value that is a name."""

CHANGES: Final = english.CHANGED | frozenset(
    "went slipped slid climbed fell dropped shrank halved doubled grown fallen risen put brought became become taken "
    "took over as renamed got gone turned switched promoted appointed elected named ارتفع ارتفعت انخفض انخفضت زاد زادت "
    "تغير تغيرت تاجل تاجلت انتقل انتقلت نقل نقلت رفع رفعنا خفض خفضنا عدل عدلنا غيرنا اصبح اصبحت صار صارت تولي تولت "
    "عين عينت تقدم تم تغيير تعديل تعيين".split()
)
"""Verbs of change: they say that there is a new value, and belong to no thing."""
_BENIGN: Final = frozenset(
    "now currently again back finally just already officially meanwhile newly instead here الان حاليا موخرا مجددا "
    "اخيرا رسميا".split()
)
_PLACED_BACK: Final = frozenset({"back", "again", "here"})
_FILLERS: Final = frozenset(
    "of is was were be been being have had do get for to from in on at by with within after every per as the a an and "
    "it 's that take place happen occur until في علي الي من عن هو هي يوم الساعه بعد كل لدي عند قد ان و ب ل".split()
)
_PAST: Final = frozenset(
    "was were had did went ran took made met got ate saw came won lost paid sold bought left spent wrote read said "
    "told gave found knew held kept stood sent built fell drove flew slept spoke began كان كانت قابلت ذهبت".split()
)
_HELD_ONCE: Final = frozenset(
    "hosted stored kept located based written built managed owned maintained led handled done powered deployed run "
    "served backed called named licensed rendered tracked prefer".split()
)
"""What a thing has one of at a time: a host, an owner, a language that it is written in."""
_CASES: Final = frozenset("for in on at during within under per with without of when while في عند خلال ل مع".split())
"""What follows one of these is a case: another value may hold in others."""
_PLACE: Final = frozenset("in at on with by via to into في الي".split())


@dataclass(frozen=True, slots=True)
class _Parts:
    """A clause as what it is about (`things`, keys), its measured values, the place of each word that is a thing, and
    where the last value ends."""

    things: frozenset[str]
    values: tuple[tuple[str, ...], ...]
    places: dict[str, int]
    end: int


def exchanged(newer: Clause, older: Clause, *, marked: bool) -> Finding | None:
    """The value that `newer` puts in the place of one of `older`. `marked`: the newer one says that something changed,
    by a word such as "now" or a verb."""
    if newer.negated or older.negated or newer.bounded or newer.arabic != older.arabic or _is_past(older):
        return None
    if _owners(newer) > _owners(older):
        return None  # "Mona's manager's manager" is another one
    changes = _tells_change(newer.words)
    if _is_past(newer) and not changes:
        return None
    marked = marked or changes or newer.changed or "new" in newer.words
    if (newer.own or older.own) and (newer.me != older.me or not marked):
        return None
    one, other = _parts(older, after_from=True), _parts(newer, after_from=False)
    return _measured(newer, older, one, other, marked=marked) or _named(newer, older, one, other, marked=marked)


_WITH_PARTICLE: Final = frozenset("took taken over as got".split())
"""They tell of a change only together: "took over", "got raised"."""


def _owners(clause: Clause) -> int:
    return clause.words.count("'s") + clause.words.count("of")


def _tells_change(words: Sequence[str]) -> bool:
    alone = set(words) & CHANGES - _WITH_PARTICLE
    return bool(alone) or any(one in {"took", "taken"} and other == "over" for one, other in pairwise(words))


def _measured(newer: Clause, older: Clause, one: _Parts, other: _Parts, *, marked: bool) -> Finding | None:
    if not one.things or (one.things != other.things and not (marked and _told_more(newer, one, other))):
        return None
    left = [value for value in one.values if value not in other.values]
    right = [value for value in other.values if value not in one.values]
    if any(identifying(newer.words, value) for value in right) or any(
        identifying(older.words, value) for value in left
    ):
        return None
    if len(left) != 1 or len(right) != 1 or not values.comparable(left[0], right[0]):
        return None
    kind = values.kind(left[0])
    if kind == "day" and not marked:
        return None  # a shop is open on several days
    plain = "is" in older.words and "is" in newer.words
    said_once = kind is not None and (kind.startswith("number") or kind == "version")
    if not (marked or plain or (said_once and english.STATIVES & set(older.words))):
        return None
    return Finding(Effect.REPLACED, older.spelling_of(left[0]), newer.spelling_of(right[0]))


def _told_more(newer: Clause, one: _Parts, other: _Parts) -> bool:
    """Whether the newer clause is about the same and says more: who changed it, or something behind the new value that
    names no case."""
    more = sorted(other.places[thing] for thing in other.things - one.things)
    if not one.things < other.things or len(one.things) < 2:
        return False
    words = newer.words
    who = [at for at in more if at < other.end]
    changed_by = who == list(range(len(who))) and (not who or words[len(who)] in CHANGES)
    behind = [at for at in more if at >= other.end]
    return changed_by and (not behind or words[behind[0] - 1] not in _CASES)


def _named(newer: Clause, older: Clause, one: _Parts, other: _Parts, *, marked: bool) -> Finding | None:
    if sorted(one.values) != sorted(other.values) or not one.things & other.things:
        return None
    gone, come = one.things - other.things, other.things - one.things
    before, after = _span(one, gone), _span(other, come)
    if before is None or after is None:
        return None
    left, right = older.words[before[0] : before[1]], newer.words[after[0] : after[1]]
    if set(older.words) & english.ROLES and may_be_one(left, right):
        return None
    opposite = len(left) == len(right) == 1 and values.opposite(left, right)
    if not opposite and not (marked and _has_room_once(newer, older, before, after)):
        return None
    return Finding(Effect.REPLACED, older.spelling(*before), newer.spelling(*after))


def _has_room_once(newer: Clause, older: Clause, before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether there is one such value at a time: where something is, who has a role, what is used for a purpose."""
    if not newer.arabic and not (_proper(newer, after[0]) and _proper(older, before[0])):
        # "I prefer dark mode": a taste needs no name.
        return "prefer" in older.words and "prefer" in newer.words and newer.own and older.own
    words = older.words
    if before[0] == 0 or set(words[: before[0]]) <= _FILLERS:
        rest = set(words[before[1] :])
        return bool(rest & english.ROLES) and "is" in rest and (after[0] == 0 or newer.arabic)
    head = words[: before[0]]
    last = head[-1]
    if last in _PLACE and (head[-2:-1] == ("is",) or set(head) & _HELD_ONCE) and not newer.arabic:
        return newer.words[after[0] - 1] in {last, "to"}
    if last == "في" and newer.arabic:
        return newer.words[after[0] - 1] in {"في", "الي"} and len(head) >= 2
    if last == "use":
        purpose = words[before[1] : before[1] + 1] == ("for",)
        return purpose and newer.words[after[0] - 1] in {"use", "to"}
    return last == "is" and bool(set(head) & (english.ROLES | english.ATTRIBUTES))


def _parts(clause: Clause, *, after_from: bool) -> _Parts:
    words = clause.words
    things: dict[str, int] = {}
    found: list[tuple[str, ...]] = []
    at = end = 0
    while at < len(words):
        size = next((n for n in (3, 2, 1) if at + n <= len(words) and values.kind(words[at : at + n])), 0)
        word = words[at]
        if size:
            # "From 5 to 8 seconds" tells the old value as well, and its unit once.
            told_as_old = not after_from and at and words[at - 1] == "from" and "to" in words[at + size :]
            if not told_as_old:
                found.append(words[at : at + size])
                end = at + size
            at += size
            continue
        renewed = word == "new" and words[at + 1 : at + 2] and words[at + 1] in english.ROLES | english.ATTRIBUTES
        # "The flight back is …": in front of the verb it says which one; "2,000 euros over" is no change.
        last = at == len(words) - 1 or "is" in words[:at]
        told_where = word in _PLACED_BACK and not last
        beyond = word == "over" and (not at or words[at - 1] not in {"took", "taken", "take"})
        empty = word in _FILLERS | CHANGES | _BENIGN and not (told_where or beyond)
        if not empty and word[0] != "@" and not renewed:
            things.setdefault(_key(word), at)
        at += 1
    return _Parts(frozenset(things), tuple(found), things, end)


def _span(parts: _Parts, keys: frozenset[str]) -> tuple[int, int] | None:
    """The place of a few things if they stand together."""
    places = sorted(parts.places[key] for key in keys)
    if not places or len(places) > MAX_NAME or places[-1] - places[0] != len(places) - 1:
        return None
    return places[0], places[-1] + 1


def _key(word: str) -> str:
    if word.isascii():
        return stem(word)
    bare = fold(word)
    return bare[2:] if bare.startswith("ال") and len(bare) > 4 else bare


def _proper(clause: Clause, at: int) -> bool:
    return clause.proper(at) or any(not char.isalpha() for char in clause.words[at])


def _is_past(clause: Clause) -> bool:
    """Whether a clause tells of something that happened."""
    words = clause.words
    return any(
        word in _PAST or (word.endswith("ed") and len(word) > 4 and word not in CHANGES and _active(words, at))
        for at, word in enumerate(words)
    )


def _active(words: Sequence[str], at: int) -> bool:
    return at > 0 and words[at - 1] not in {"is", "be", "been", "get"}

"""Conditions: what a clause says of how a thing is."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Final

from cortex_gateway.assertions import english
from cortex_gateway.assertions.clauses import HAVING, Clause, role_of
from cortex_gateway.assertions.numbers import Mention
from cortex_gateway.assertions.statement import Stated, Tense
from cortex_gateway.assertions.states import STATES
from cortex_gateway.assertions.subjects import CONTENT, PLACE, STATUS, Bag
from cortex_gateway.assertions.values import Kind, Quantity, Value, Words
from cortex_gateway.assertions.words import Role, Word

_PARTICLES: Final = frozenset("on off up down".split())
_INSTALLED: Final = frozenset(
    "installed deployed live running in_use active online used required needed runs run منشور مثبت".split()
)
_VERBAL: Final = frozenset(
    "stopped crashed died fails crashes failed passed exited halted resumed started streaming works work up "
    "down".split()
)
_RESULTS: Final = frozenset(
    "closed merged stopped disabled enabled deactivated activated terminated killed cancelled canceled "
    "accepted approved rejected declined refused resolved fixed repaired archived published decommissioned "
    "retired shut_down halted switched_off switched_on turned_off turned_on completed finished delivered "
    "paid renewed deleted revoked granted signed encrypted deployed installed uninstalled removed opened "
    "reopened locked unlocked "
    "banned".split()
)
"""Participles whose result lasts: what was closed is closed."""
_MARKS: Final = frozenset("✓ ✔ ☑ ✅ ✗ ✘ ☒ ❌".split())
_LASTING: Final = frozenset(
    "fixed repaired merged archived deleted approved rejected cancelled canceled delivered signed paid "
    "renewed resolved".split()
)
"""Of those the ones that are true from their date on."""


def state_at(clause: Clause) -> int | None:
    """Where the state is that the clause states; none when it states none."""
    for at, item in enumerate(clause.items):
        if not isinstance(item, Word) or item.state is None or item.definite:
            continue
        if item.norm in _PARTICLES and not clause.ends(at + 1):
            continue
        if item.norm == "عام" and at + 1 < len(clause.items) and isinstance(clause.items[at + 1], Mention):
            continue
        if item.norm in {"works", "working", "work"} and not works(clause, at + 1):
            continue
        if prefers(clause, at):
            return at
        if item.role is Role.VERB and item.arabic:
            follows = clause.items[at + 1] if at + 1 < len(clause.items) else None
            if isinstance(follows, Word) and follows.norm in {"ب", "مع", "لدي", "كل"}:
                continue
            return at
        if attributive(clause, at):
            continue
        if clause.split is not None and clause.split < at and reaches(clause, at):
            return at
        if clause.split is None or (item.norm in _VERBAL and first_after_subject(clause, at)):
            return at
    return None


def installed(clause: Clause, state: int | None) -> int | None:
    """ "Python 3.12 is installed" is about the version."""
    split = clause.split if clause.split is not None else state
    if split is None or split < 2 or not isinstance(item := clause.items[split - 1], Mention):
        return None
    said = next((each for each in clause.items[split:] if isinstance(each, Word) and each.role in CONTENT), None)
    before = clause.items[split - 2]
    named = isinstance(before, Word) and before.name and before.norm not in english.NUMBERED
    numbered = isinstance(item.value.content, Quantity) and not item.value.content.dimension and named
    return (
        split - 1
        if (item.value.kind is Kind.VERSION or numbered) and said is not None and said.norm in _INSTALLED
        else None
    )


def works(clause: Clause, at: int) -> bool:
    """Whether "works" says that something works, not where, for whom or with what."""
    item = clause.items[at] if at < len(clause.items) else None
    return item is None or (
        isinstance(item, Word) and item.role in {Role.AND, Role.COMMA, Role.END, Role.CAUSE, Role.DROPPED}
    )


def prefers(clause: Clause, at: int) -> bool:
    """Whether the state is what somebody prefers."""
    split = clause.items[clause.split] if clause.split is not None else None
    return isinstance(split, Word) and split.key == "prefer" and clause.split is not None and clause.split < at


def attributive(clause: Clause, at: int) -> bool:
    """Whether a state only describes the noun behind it."""
    follows = clause.items[at + 1] if at + 1 < len(clause.items) else None
    item = clause.items[at]
    assert isinstance(item, Word)
    if item.arabic:
        return False
    if item.norm in _VERBAL and first_after_subject(clause, at):
        return False
    if isinstance(follows, Word):
        participle = item.norm.endswith("ed") or item.norm in _RESULTS
        helped = any(isinstance(each, Word) and each.norm in HAVING for each in clause.items[:at])
        if participle and helped:
            return False
        return follows.role in CONTENT and follows.state is None and not follows.arabic
    return False


def reaches(clause: Clause, at: int) -> bool:
    """Whether only adverbs stand between the joining word and the state."""
    assert clause.split is not None
    between = clause.items[clause.split + 1 : at]
    joint = clause.items[clause.split]
    if isinstance(joint, Word) and joint.role is Role.VERB and joint.state is None and not joint.arabic:
        return False
    if isinstance(joint, Word) and joint.norm in HAVING and len(between) <= 4 and clause.ends(at + 1):
        return all(isinstance(item, Word) and item.role in {*CONTENT, Role.DROPPED} for item in between)
    return all(
        isinstance(item, Word)
        and (item.role in {Role.DROPPED, Role.BE, Role.LOOSE} or item.state is not None or item.arabic)
        for item in between
    ) or (any(isinstance(item, Word) and item.role is Role.BREAK for item in clause.items[:at]) and len(between) <= 4)


def first_after_subject(clause: Clause, at: int) -> bool:
    """Whether nothing but the subject stands before a state that is a verb."""
    before = clause.items[:at]
    return bool(before) and not any(isinstance(item, Word) and item.role in {Role.VERB, Role.BREAK} for item in before)


def coloured(clause: Clause, at: int) -> bool:
    """Whether the state is a colour: one of a thing, and none of its other attributes."""
    item = clause.items[at]
    return isinstance(item, Word) and item.state is not None and any(axis == "color" for axis, _ in item.state.places)


def states(clause: Clause, at: int) -> list[Stated]:
    """The statements of a state, one for each of its subjects."""
    item = clause.items[at]
    assert isinstance(item, Word)
    assert item.state is not None
    negated = clause.denied(at)
    content = item.state.negated() if negated else item.state
    text = f"not {item.raw}" if negated and not item.arabic else f"غير {item.raw}" if negated else item.raw
    end = clause.end(at + 1)
    bag = clause.bag(range(0, at), {at})
    if prefers(clause, at):
        bag = clause.bag(range(0, end), {at})
    if item.arabic and not bag.topic and not bag.loose:
        bag = clause.bag(range(at + 1, end), {at})
    else:
        clause.adjuncts(bag, at + 1, end)
    tense = Tense.PAST if clause.was and item.norm not in _RESULTS else Tense.NOW
    if coloured(clause, at):
        bag.topic -= {"colour", "color"}
    bag.topic -= english.STATUS | _MARKS
    bag.loose -= english.STATUS
    clause.settle(bag)
    if not bag.topic and bag.loose:
        bag.topic, bag.loose = bag.loose, set()
    if not bag.topic and not item.arabic:
        add_object(clause, bag, at + 1, end)
    if not bag.topic:
        return []
    # "Not encrypted in transit": a phrase of place that is a state, too.
    phrases = (each for each in clause.items[at + 1 : end] if isinstance(each, Word))
    bag.loose |= {
        each.key for each in phrases if each.state is not None and each.norm.startswith(("in_", "on_", "at_"))
    }
    if not item.arabic:
        add_object(clause, bag, at + 1, end)
    if item.norm in _LASTING and (negated is False):
        clause.frame = frozenset()
    value = Value(Kind.STATE, text, content)
    if (parts := conjoined(clause, at)) and not item.arabic:
        return [clause.statement(part, "status", value, STATUS, tense) for part in parts]
    return [clause.statement(bag, "status", value, STATUS, tense)]


def add_object(clause: Clause, bag: Bag, start: int, end: int) -> None:
    """What a participle does something to: "has signed the lease"."""
    for at in range(start, end):
        item = clause.items[at]
        if not isinstance(item, Word) or item.role not in {*CONTENT, Role.DROPPED}:
            return
        if item.role in CONTENT and item.state is None:
            bag.add(item)
            bag.spelled.append(item.raw)


def conjoined(clause: Clause, at: int) -> list[Bag]:
    """The subjects of "A and B are down"; none when there is one."""
    end = clause.split if clause.split is not None and clause.split < at else at
    cuts = [-1, *(i for i in range(end) if role_of(clause.items[i]) in {Role.AND, Role.COMMA}), end]
    if Role.AND not in map(role_of, clause.items[:end]) or Role.PLACE in map(role_of, clause.items[:end]):
        return []
    bags = [clause.bag(range(start + 1, stop), set()) for start, stop in itertools.pairwise(cuts)]
    return bags if all(0 < len(bag.topic) <= 2 for bag in bags) else []


def running(clause: Clause, housed: Stated) -> Stated:
    """What "is running on node3" says beside the place."""
    content = STATES["running"].negated() if clause.negated else STATES["running"]
    value = Value(Kind.STATE, "not running" if clause.negated else "running", content)
    loose = housed.loose | (housed.value.content.words if isinstance(housed.value.content, Words) else frozenset())
    return replace(housed, attribute="status", value=value, topic=housed.topic - {PLACE} | {STATUS}, loose=loose)


def with_state(clause: Clause, at: int, state: int) -> bool:
    """Whether a number is what is said, and the state only completes it ("71 % full", "3 open")."""
    item = clause.items[at]
    assert isinstance(item, Mention)
    if item.value.kind is Kind.DATE:
        return False
    word = clause.items[state]
    assert isinstance(word, Word)
    before = clause.items[at - 1] if at else None
    bare = isinstance(item.value.content, Quantity) and not item.value.content.dimension
    named = bare and isinstance(before, Word) and before.role in CONTENT
    return (
        (at < state and isinstance(item.value.content, Quantity) and item.value.content.dimension == "share")
        or (at + 1 == state and not named)
        or (word.role is Role.VERB and at > state)
    )

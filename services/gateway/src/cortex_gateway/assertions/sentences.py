"""Sentences: everything that a clause states, and the clause as a whole as something that is so or is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cortex_decision.folding import fold
from cortex_gateway.assertions import conditions, descriptions, english, measures, roles, wording
from cortex_gateway.assertions.clauses import MAX_ITEMS, Clause, role_of
from cortex_gateway.assertions.forms import stem, verb_of
from cortex_gateway.assertions.numbers import Mention
from cortex_gateway.assertions.statement import Stated, Tense
from cortex_gateway.assertions.subjects import CLAUSE, CONTENT, DATED, GONE, Bag
from cortex_gateway.assertions.values import Kind, Quantity, Value, Words
from cortex_gateway.assertions.words import Role, Word

_ONLY: Final = frozenset("only solely exclusively فقط حصرا".split())
_HELPING: Final = frozenset("can do does did there no".split())
_HAPPENING: Final = frozenset({"take_place", "takes_place"})


def stated(clause: Clause) -> list[Stated]:
    """What the clause states; empty when nothing can be told."""
    if not clause.items or len(clause.items) > MAX_ITEMS:
        return []
    dates = [at for at, item in enumerate(clause.items) if isinstance(item, Mention) and item.value.kind is Kind.DATE]
    stamp = measures.stamp(clause, dates)
    if (compared := descriptions.compared(clause)) is not None:
        return [compared]
    if any(isinstance(item, Word) and item.key == english.OBLIGED for item in clause.items):
        return said(clause)
    owned = roles.holder(clause.items, clause.split)
    if owned is not None:
        role, holder, thing = owned
        bag = clause.bag(thing, set())
        clause.settle(bag)
        if holder is not None:
            return [clause.statement(bag, role, Value(Kind.NAME, holder[1], holder[0], clause.negated), f"@{role}")]
    first = clause.items[0]
    exists = isinstance(first, Word) and first.norm in {"there", "يوجد", "توجد"}
    state = None if exists else conditions.state_at(clause)
    if (installed := conditions.installed(clause, state)) is not None:
        return [each for each in (measures.measured(clause, installed, [installed]),) if each is not None]
    values = [
        at for at, item in enumerate(clause.items) if isinstance(item, Mention) and measures.is_value(clause, at, state)
    ]
    values = [at for at in values if not (stamp and at == 1)]
    told = [at for at in values if at not in dates]
    state = _outweighed(clause, state, values, dates, told)
    timed = all(isinstance(item := clause.items[at], Mention) and item.value.kind is Kind.CLOCK for at in told)
    if state is None and timed and dates and measures.is_event(clause) and not measures.framed(clause, dates[-1]):
        told = [*told, dates[-1]]
    clause.frame = _frame(clause, dates, told) | stamp
    found: list[Stated] = []
    if (housed := descriptions.housed(clause)) is not None:
        found.append(housed)
        if any(isinstance(item, Word) and item.norm == "running_on" for item in clause.items) and not clause.was:
            found.append(conditions.running(clause, housed))
    found += _of_state(clause, state, told, housed) if state is not None else _of_values(clause, told, housed)
    return [*found, *said(clause), *none(clause)]


def _outweighed(
    clause: Clause, state: int | None, values: Sequence[int], dates: Sequence[int], told: Sequence[int]
) -> int | None:
    """Where the state is, unless a value is what the clause says and the state only completes it."""
    if state is not None and values and any(conditions.with_state(clause, at, state) for at in values):
        state = None
    if state is not None and any(
        isinstance(item := clause.items[at], Mention) and item.value.kind is Kind.CLOCK and measures.until(clause, at)
        for at in values
    ):
        state = None
    if (
        state is not None
        and dates
        and (clause.was or clause.split is None or role_of(clause.items[clause.split]) is not Role.BE)
        and isinstance(word := clause.items[state], Word)
        and word.key in english.EVENTS
        and word.norm.endswith("ed")
    ):
        state = None
    if state is not None and dates and isinstance(word := clause.items[state], Word) and word.key in _HAPPENING:
        state = None
    if state is not None and isinstance(word := clause.items[state], Word) and word.norm == "valid" and told:
        state = None
    return state


def _frame(clause: Clause, dates: Sequence[int], told: Sequence[int]) -> frozenset[str]:
    """The times that the clause gives for what it says."""
    return frozenset(measures.frame(clause.items[at]) for at in dates if at not in told and not clause.since(at)) | {
        item.norm
        for at, item in enumerate(clause.items)
        if isinstance(item, Word) and item.role is Role.TIME and not clause.since(at)
    }


def _of_state(clause: Clause, state: int, told: Sequence[int], housed: Stated | None) -> list[Stated]:
    """What a clause with a state says, and the values beside it."""
    found = conditions.states(clause, state)
    for at in told:
        start, _ = clause.chunk(at)
        noun = any(isinstance(item, Word) and item.role is Role.CONTENT for item in clause.items[start:at])
        if at > state and start > state and noun and (each := measures.measured(clause, at, [at])) is not None:
            found.append(each)
    if (
        not conditions.coloured(clause, state)
        and not clause.was
        and housed is None
        and (text := descriptions.attributed(clause)) is not None
    ):
        found.append(text)
    return found


def _of_values(clause: Clause, told: Sequence[int], housed: Stated | None) -> list[Stated]:
    """What a clause without a state says: its values, or a description."""
    found = [each for at in told if (each := measures.measured(clause, at, told)) is not None]
    if (
        housed is None
        and (
            text := descriptions.formed(clause)
            or descriptions.attributed(clause)
            or descriptions.listed(clause)
            or descriptions.nominal(clause)
            or descriptions.named(clause)
        )
        is not None
    ):
        found.append(text)
    return found


def said(clause: Clause) -> list[Stated]:
    """The clause as a whole, as something that is so or is not."""
    if len(clause.items) > 16 or not predicates(clause):
        return []
    bag = Bag()
    placed = False
    seen = 0
    for at, item in enumerate(clause.items):
        if isinstance(item, Mention):
            if item.value.kind is not Kind.DATE:
                (bag.loose if placed and seen > 1 else bag.topic).add(fold(item.value.text))
                bag.spelled.append(item.value.text)
            continue
        if item.role in {Role.COMMA, Role.CAUSE, Role.END} and seen > 1:
            break
        if item.role is Role.BREAK:
            return []
        if item.role is Role.PLACE:
            placed = at > 0
        elif item.role in {Role.PREPOSITION, Role.AND}:
            placed = False
        elif item.role in CONTENT and item.key != "contain":
            bag.add(item, _verbal(item), loose=placed and seen > 1)
            bag.spelled.append(item.raw)
            seen += 1
            placed = placed or item.norm in english.HOUSED
    if not bag.topic and len(bag.loose) > 1:
        bag.topic, bag.loose = bag.loose, set()
    if not bag.topic or len(bag.topic) + len(bag.loose) < 2:
        return []
    tense = Tense.PAST if clause.was or clause.past() else Tense.NOW
    clause.settle(bag)
    if bag.loose and any(isinstance(item, Word) and item.norm in _ONLY for item in clause.items) and not clause.negated:
        content = Words(frozenset(bag.loose))
        bag.loose = set()
        return [clause.statement(bag, "", Value(Kind.TEXT, " ".join(bag.spelled), content), "@only", tense)]
    arabic = any(isinstance(item, Word) and item.arabic for item in clause.items)
    text = ("لا" if clause.negated else "نعم") if arabic else "no" if clause.negated else "yes"
    if clause.universal and clause.negated:
        text = "none"
    first = clause.items[0]
    exists = isinstance(first, Word) and first.norm == "there"
    dated = not clause.frame and any(isinstance(item, Mention) and _timed(item) for item in clause.items)
    value = Value(Kind.CLAUSE, text, Words(frozenset({CLAUSE, DATED} if dated else {CLAUSE})), clause.negated)
    one_of_many = clause.indefinite() or clause.negated or clause.experienced
    slots: wording.Slots = () if one_of_many else wording.slots(clause.items, clause.split)
    return [clause.statement(bag, "", value, CLAUSE, tense, wording.EXISTS if exists else slots)]


def gone(clause: Clause, words: Sequence[Word]) -> list[Stated]:
    """That what `words` name is so no longer; of one word only if it is a name."""
    bag = Bag()
    for word in words:
        if roles.role_of(word) is None:
            bag.add(word, _verbal(word))
            bag.spelled.append(word.raw)
    named = any(word.name for word in words)
    if len(bag.topic) < 2 - named:
        return []
    value = Value(Kind.CLAUSE, "no more", Words(frozenset({CLAUSE, GONE})), True)
    return [clause.statement(bag, "", value, CLAUSE)]


def _timed(item: Mention) -> bool:
    return item.value.kind in {Kind.DATE, Kind.CLOCK}


def _verbal(word: Word) -> str:
    """A word as all its forms are: a clause may be active or passive, in the past or not."""
    if word.arabic and word.key.startswith(("تم_", "تمت_")):
        return measures.skeleton(word.key.partition("_")[2])
    if word.arabic:
        return measures.skeleton(word.key.removesuffix("ت") if len(word.key) > 3 else word.key)
    if word.norm in english.HOUSED or word.norm in english.HELD:
        return verb_of(word.norm.split("_")[0]) or word.key
    key = verb_of(word.norm) or word.key
    return key if key in english.VOCABULARY else stem(key)


def predicates(clause: Clause) -> bool:
    """Whether there is a predicate: a joining word or a verb; Arabic verbs are too many to be listed."""
    if clause.split is not None or clause.negated:
        return True
    words = [item for item in clause.items if isinstance(item, Word)]
    content = [word for word in words if word.role in CONTENT]
    joined = any(word.role is Role.VERB or word.norm in _HELPING or word.arabic or word.state for word in words)
    acts = len(content) == 2 and content[0].name and content[1].raw.islower() and content[1].raw.endswith("s")
    return joined or acts or (len(content) > 2 and any(word.raw.islower() for word in content))


def none(clause: Clause) -> list[Stated]:
    """ "There are no open incidents": none of them."""
    if not clause.negated or not any(True for _ in clause.items):
        return []
    first = clause.items[0]
    if not isinstance(first, Word) or not (
        first.norm in {"there", "no"} or first.norm in {"يوجد", "توجد"} or 0 in clause.denials
    ):
        return []
    words = [item for item in clause.items if isinstance(item, Word)]
    bag = Bag()
    for word in words:
        if word.role in {Role.COMMA, Role.CAUSE, Role.END}:
            break
        if word.role in CONTENT:
            bag.add(word, measures.skeleton(word.key) if word.arabic and not bag.topic else None)
            bag.spelled.append(word.raw)
    if not bag.topic or len(bag.topic) > 5:
        return []
    return [clause.statement(bag, "", Value(Kind.NUMBER, "none", Quantity(0.0, 0.0)), "", Tense.NOW)]

"""Comparison: whether two statements, or two texts, can both be true."""

from __future__ import annotations

from typing import Final

from cortex_gateway.assertions import arabic, english, wording
from cortex_gateway.assertions.clauses import TELLING
from cortex_gateway.assertions.extraction import extract
from cortex_gateway.assertions.relations import Relation
from cortex_gateway.assertions.statement import Stated, Tense
from cortex_gateway.assertions.states import State
from cortex_gateway.assertions.subjects import CLAUSE, DATED, GONE, PLACE, STATUS
from cortex_gateway.assertions.surroundings import GENERAL
from cortex_gateway.assertions.values import Kind, Words, compare

VERBS: Final = english.VERBS | arabic.VERBS
_ASKED: Final = {
    PLACE: frozenset("region zone location city country datacenter datacentre venue town site office".split()),
    "@written": frozenset("language stack framework code".split()),
}
"""What a phrase answers, by the nouns that ask for it in a key."""
_USING: Final = frozenset("use run live work own keep play drive member belong host store lead power build do".split())
"""Verbs of what one has or is at, and may leave."""
_TIMELESS: Final = frozenset({Kind.DATE, Kind.NAME, Kind.CLOCK})


def related(one: Stated, other: Stated) -> Relation:
    """How two statements stand to each other: unrelated unless about one attribute of one thing at one time."""
    if not meets(one, other):
        if _answers(one, other) or _answers(other, one):
            return Relation.CONFLICT
        if _opposed(one, other):
            return Relation.SAME if one.value.negated is not other.value.negated else Relation.CONFLICT
        return Relation.CONFLICT if _excluded(one, other) else Relation.UNRELATED
    if _excluded(one, other):
        return Relation.CONFLICT
    if any(_dated(each) and (each.value.negated or _dated(mate)) for each, mate in ((one, other), (other, one))):
        return Relation.UNRELATED
    if one.frame != other.frame:
        return Relation.UNRELATED
    both = not (one.value.negated or other.value.negated)
    if both and one.tense is other.tense and wording.compare(one.slots, other.slots) is Relation.CONFLICT:
        return Relation.CONFLICT
    if one.tense is not other.tense and not one.frame and one.value.kind not in _TIMELESS:
        return Relation.UNRELATED
    denied = any(statement.value.text.startswith(("not ", "غير ")) for statement in (one, other))
    if one.tense is other.tense is Tense.PAST and one.value.kind is Kind.STATE and not one.frame and not denied:
        return Relation.UNRELATED
    return compare(one.value, other.value)


def meets(one: Stated, other: Stated) -> bool:
    """Whether two statements are about one attribute of one thing."""
    left, right = one.topic, other.topic
    if not (left <= right or left <= right | other.loose) or not (right <= left or right <= left | one.loose):
        return False
    # What one leaves out is understood; when each says something that the other does not, they speak of two things.
    more, less = one.loose - right - other.loose, other.loose - left - one.loose
    return not (more and less) or {_sort(word) for word in more}.isdisjoint(_sort(word) for word in less)


def _answers(one: Stated, other: Stated) -> bool:
    """Whether a phrase answers what the other asks by a noun: "is in eu-west-1", "region: us-east-1"."""
    left, right = one.value.content, other.value.content
    if one.value.kind is not Kind.TEXT or other.value.kind is not Kind.TEXT or one.value.negated or other.value.negated:
        return False
    marks = one.topic & _ASKED.keys()
    if len(marks) != 1 or other.topic & _ASKED.keys() or one.tense is not other.tense or one.frame != other.frame:
        return False
    assert isinstance(left, Words)
    assert isinstance(right, Words)
    (mark,) = marks
    asking = other.topic - one.topic - one.loose
    subject = one.topic - marks
    return (
        bool(subject)
        and asking <= _ASKED[mark]
        and subject <= other.topic | other.loose
        and not (left.more or right.more or left.words & right.words)
        and {_shape(word) for word in left.words} == {_shape(word) for word in right.words}
    )


def _called_off(one: Stated, other: Stated) -> bool:
    """Whether one says when something is that the other says is cancelled."""
    return (
        one.value.kind in {Kind.DATE, Kind.CLOCK}
        and not one.value.negated
        and isinstance(other.value.content, State)
        and ("progress", "dropped") in other.value.content.places
        and not other.value.content.denied
        and one.tense is Tense.NOW
        and one.topic == other.topic - {STATUS}
    )


def _shape(word: str) -> tuple[bool, bool]:
    """How a name is written: with figures, with a stroke."""
    return any(char.isdigit() for char in word), "/" in word


def _ended(one: Stated, other: Stated) -> bool:
    """Whether one says that something is over which the other still says: "left the guild", "is in the guild"."""
    for over, said in ((one, other), (other, one)):
        content, held = over.value.content, said.value.content
        if not isinstance(content, Words) or GONE not in content.words or said.value.negated:
            continue
        named = held.words if isinstance(held, Words) else frozenset()
        told, more = over.topic - {CLAUSE}, said.topic - over.topic - {PLACE, CLAUSE}
        # Of a name alone only that it is used, or what something is, was said: it may have its own story.
        held_by = len(told) > 1 or told <= named or not more.isdisjoint(_USING)
        if (
            held_by
            and told <= said.topic | said.loose | named
            and not told <= said.loose
            and len(more - _USING) <= 2
            and not any(word[0].isdigit() for word in more)
            and said.tense is Tense.NOW
            and said.frame == over.frame
            and not _dated(said)
        ):
            return True
    return False


def _excluded(one: Stated, other: Stated) -> bool:
    """Whether one denies what the other says more closely: "no access", "read access"."""
    kinds = {one.value.kind, other.value.kind}
    if Kind.CLAUSE in kinds and _ended(one, other):
        return True
    if Kind.STATE in kinds and len(kinds) > 1 and (_called_off(one, other) or _called_off(other, one)):
        return True
    if not one.value.kind is other.value.kind is Kind.CLAUSE or one.value.negated is other.value.negated:
        return False
    denied, said = (one, other) if one.value.negated else (other, one)
    same_time = denied.frame == said.frame and denied.tense is said.tense
    if denied.value.text == "none" and not denied.frame and not _dated(denied):
        more = said.topic - denied.topic
        if one.loose - other.loose and other.loose - one.loose:
            return False
        return (
            denied.topic <= said.topic | said.loose and len(more) <= 2 and not any(word[0].isdigit() for word in more)
        )
    return (
        same_time
        and len(denied.topic) > 3
        and denied.topic <= said.topic | said.loose
        and len(said.topic - denied.topic) <= 2
        and TELLING.isdisjoint(said.topic - denied.topic)
    )


def _opposed(one: Stated, other: Stated) -> bool:
    """Whether two clauses are alike but for one word, and its opposite: "won the match", "lost the match"."""
    if not one.value.kind is other.value.kind is Kind.CLAUSE or (one.value.negated and other.value.negated):
        return False
    if _dated(one) or _dated(other):
        return False
    left, right = one.topic - other.topic, other.topic - one.topic
    same_time = one.frame == other.frame and one.tense is other.tense
    positive = not (one.value.negated or other.value.negated)
    if same_time and positive and wording.compare(one.slots, other.slots) is Relation.CONFLICT:
        return True
    if any(word[0].isdigit() for word in one.topic | other.topic | one.loose | other.loose):
        return False
    if wording.EXISTS in (one.slots, other.slots):
        return False
    if any(each.slots and (left | right) & each.slots[0].words for each in (one, other)):
        return False
    if one.loose - other.loose - right and other.loose - one.loose - left:
        return False
    if (
        len(left) != 1
        or len(right) != 1
        or one.frame != other.frame
        or one.tense is not other.tense
        or len(one.topic) < 3
    ):
        return False
    (a,), (b,) = left, right
    if wording.opposite(left, right):
        return True
    return positive and any(
        long == prefix + short
        for prefix in ("un", "dis", "non-", "de")
        for long, short in ((a, b), (b, a))
        if len(short) > 3
    )


def _dated(statement: Stated) -> bool:
    """Whether a clause says when it is so."""
    return isinstance(statement.value.content, Words) and DATED in statement.value.content.words


def _sort(word: str) -> int:
    """Words that only help to name a thing, verbs, and all others: only two of one sort speak against each other."""
    return 1 if word in GENERAL else 2 if word in VERBS else 0


def relation(one: str, other: str, *, titles: tuple[str, str] = ("", "")) -> Relation:
    """How two texts stand to each other: a conflict of any two of their statements counts most."""
    found = Relation.UNRELATED
    others = extract(other, titles[1])
    for left in extract(one, titles[0]):
        for right in others:
            match related(left, right):
                case Relation.CONFLICT:
                    return Relation.CONFLICT
                case Relation.SAME:
                    found = Relation.SAME
    return found

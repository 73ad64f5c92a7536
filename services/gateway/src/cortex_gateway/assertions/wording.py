"""Wordings: two clauses that are alike but for one slot, and whether what fills it leaves room for the other.

A clause is kept as slots: the word before a filler (a preposition, a form of "be", a verb) and the filler's words. "The
fence is made of oak" and "The fence is made of pine" differ in the slot after "of"; a thing has one of those. What
follows "with", "for" or a verb such as "like" may be one of many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from cortex_gateway.assertions import english, opposites, states
from cortex_gateway.assertions.forms import stem, verb_of
from cortex_gateway.assertions.numbers import Item, Mention
from cortex_gateway.assertions.relations import Relation
from cortex_gateway.assertions.states import STATES
from cortex_gateway.assertions.words import Role, Word

_CONTENT: Final = frozenset({Role.CONTENT, Role.LOOSE})
_SAID: Final = _CONTENT | {Role.VERB}
_ENDS: Final = frozenset({Role.CAUSE, Role.END, Role.COMMA, Role.AND, Role.TIME})
_SINGLE: Final = frozenset(
    "in at on from by as of under into via behind over inside beside في علي ب من تحت عبر الي".split()
)
"""Prepositions behind which a thing that is, or was put, somewhere or somehow has one answer."""
_LASTING: Final = frozenset(
    "live belong stay sit stand lie hang reside sleep work run lead point leave start depart arrive terminate "
    "end hash sign "
    "encrypt build make write paint base locate store keep bury serve deliver house park host print heat "
    "power compile "
    "يقع تقع يسكن تسكن يعيش تعيش يقيم تقيم يعمل تعمل".split()
)
"""Verbs that join a thing and its place, means or material as long as nothing is said of when."""
_HAVING: Final = frozenset("له لها لهم لدي لدينا عنده عندها عندنا".split())
"""Arabic for "has": one of what a thing has may be here, another there."""
_MEANS: Final = frozenset("hash encrypt sign build make compile write heat".split())
"""Verbs that are done "with" one means."""
_AGAINST: Final = frozenset(
    frozenset(pair.split("/"))
    for pair in "for/against with/without before/after above/below inside/outside مع/ضد قبل/بعد فوق/تحت".split()
)
"""Prepositions that exclude each other before one filler."""
_PLACES: Final = frozenset(
    "floor room street road avenue building hall wing shelf drawer city town district country طابق طبق دور "
    "شارع غرف قاع مبن "
    "مدين حي".split()
)
"""Sorts of places: a thing is on a floor and in a street."""
TIMES: Final = frozenset(
    "morning evening night noon afternoon day summer winter spring autumn week month year "
    "مساء صباح ليل نهار ظهر فجر عصر صيف شتاء ربيع خريف يوم شهر سنه عام اسبوع مسء صبح".split()
)
"""Fillers that say when."""
_ONE: Final = frozenset(
    "study return emit output choose pick select elect prefer marry chair captain weigh cost equal mean occupy "
    "replace follow precede face speak_for represent import teach play_for measure يدرس تدرس يفضل تفضل يقود "
    "تقود".split()
)
"""Verbs whose object is one."""
_NAMED: Final = frozenset("return emit output import teach".split())
"""Verbs whose object is one when it is a name: "returns JSON"."""
_OPPOSED: Final = {
    frozenset(map(stem, (words[0], other)))
    for line in opposites.VERBS.strip().splitlines()
    if len(words := line.split()) > 1
    for other in words[1:]
} | {frozenset(map(stem, pair)) for pair in english.OPPOSITES}
_STEMS: Final = {stem(word): state for word, state in STATES.items()} | STATES


class Slot(NamedTuple):
    """A filler and what stands before it."""

    link: str
    words: frozenset[str]
    named: bool
    """All its words are written like names, or stand behind "the"; of a verb: it is passive."""


Slots = tuple[Slot, ...]
EXISTS: Final[Slots] = (Slot("there", frozenset(), False),)
"""Of a clause that only says that there is something: beside it there may be its opposite."""


def slots(items: Sequence[Item], split: int | None) -> Slots:
    """The slots of a clause, the subject first; empty when it has another form."""
    if split is None:
        split = next((at for at, item in enumerate(items) if isinstance(item, Word) and _phrase(item)), None)
    if split is None:
        split = next((at for at, item in enumerate(items) if at and isinstance(item, Word) and _past(item)), None)
    if split is None:
        return _verb_first(items) if not any(_role(item) is Role.PLACE for item in items) else _nominal(items)
    if split == 0:
        return _nominal(items) if any(_role(item) is Role.PLACE for item in items) else _verb_first(items)
    found: list[Slot] = []
    passive = _role(items[split]) is Role.BE
    link, article = "", False
    words: list[Word] = []
    for at, item in enumerate(items):
        if isinstance(item, Mention):
            return ()
        role = item.role
        if at >= split and _phrase(item):
            if words:
                found.append(_slot(link, words, article))
            held, _, place = item.norm.rpartition("_")
            link = f"!{place}"
            found.append(Slot("", frozenset({verb_of(held) or held}), False))
            words, article = [], False
            continue
        if role in _ENDS or role is Role.BREAK:
            if at <= split:
                return ()
            break
        verb = role is Role.VERB or (at == split and role is not Role.BE) or (at > split and item.norm.endswith("ed"))
        if at >= split and (verb or role in {Role.BE, Role.PLACE, Role.PREPOSITION} or item.norm in {"of", "as"}):
            if words:
                found.append(_slot(link, words, article))
            link, words, article = _link(item), [], False
            if verb:
                found.append(Slot("", frozenset({verb_of(item.norm) or item.key}), passive and at > split))
                link = f"@{verb_of(item.norm) or item.key}"
        elif role in _CONTENT:
            words.append(item)
        elif item.norm == "the":
            article = True
    if words:
        found.append(_slot(link, words, article))
    return tuple(found) if found and not found[0].link else ()


def _role(item: Item) -> Role | None:
    return item.role if isinstance(item, Word) else None


def _link(word: Word) -> str:
    """A joining word, all forms of "be" as one; an Arabic one stands between a definite subject and what it is."""
    if word.role is not Role.BE:
        return word.norm
    return "!is" if word.arabic else "is"


def _past(word: Word) -> bool:
    """Whether a word that is in no list is a verb of the past by its ending."""
    return word.role is Role.CONTENT and word.norm.endswith("ed") and word.state is None and word.raw.islower()


def _phrase(word: Word) -> bool:
    """Whether a word is a verb with its preposition: "belongs to", "stored in"."""
    return word.norm in english.HOUSED or word.norm in english.HELD


def _nominal(items: Sequence[Item]) -> Slots:
    """Arabic says "the meeting in the small hall" without a verb."""
    words = [item for item in items if isinstance(item, Word) and (item.state is None or item.role is Role.VERB)]
    at = next((at for at, word in enumerate(words) if word.role is Role.PLACE), 0)
    left, right = ([word for word in part if word.role in _SAID] for part in (words[:at], words[at + 1 :]))
    if len(words) != len(items) or not left or not right or not words[0].arabic or len(words) > 6:
        return ()
    if any((word.role is Role.VERB and word.norm not in _LASTING) or word.norm in _HAVING for word in words):
        return ()
    return _slot("", left, False), _slot(words[at].norm, right, False)


def _verb_first(items: Sequence[Item]) -> Slots:
    """Arabic says "studies Sami law"."""
    words = [item for item in items if isinstance(item, Word)]
    if len(words) != len(items) or not words[0].arabic or words[0].norm[0] not in "يت" or not 3 <= len(words) <= 5:
        return ()
    if any(word.role not in _CONTENT for word in words[1:]):
        return ()
    return Slot("", frozenset({words[0].norm}), False), _slot(f"@{words[0].norm}", words[1:], False)


def _slot(link: str, words: Sequence[Word], article: bool) -> Slot:
    keys = frozenset(word.key for word in words if word.role is not Role.LOOSE) or frozenset(word.key for word in words)
    return Slot(link, keys, (article or all(word.name and not word.arabic for word in words)))


def compare(one: Slots, other: Slots) -> Relation:
    """A conflict when two clauses that neither is denied differ in one slot that has room for one filler."""
    if len(one) != len(other) or len(one) < 2:
        return Relation.UNRELATED
    differing = [(left, right) for left, right in zip(one, other, strict=True) if left[:2] != right[:2]]
    if len(differing) != 1:
        return Relation.UNRELATED
    left, right = differing[0]
    at = one.index(left)
    if left.words == right.words:
        return Relation.CONFLICT if frozenset((left.link, right.link)) in _AGAINST else Relation.UNRELATED
    if (left.words | right.words) & _PLACES and not left.words & right.words & _PLACES:
        return Relation.UNRELATED
    if (left.words | right.words) & TIMES:
        return Relation.UNRELATED
    mine, yours = left.words - right.words, right.words - left.words
    if not at or left.link != right.link or not mine or not yours:
        return Relation.UNRELATED
    if opposite(mine, yours):
        return Relation.CONFLICT
    if len(mine) < len(left.words) and (max(len(mine), len(yours)) > 1 or left.link == "is"):
        return Relation.UNRELATED
    return Relation.CONFLICT if _single(one, at, left, right) else Relation.UNRELATED


def _single(clause: Slots, at: int, left: Slot, right: Slot) -> bool:
    """Whether the slot at `at` has room for one filler."""
    link = left.link
    verbs = {word for slot in clause if not slot.link for word in slot.words} - clause[0].words
    if max(len(left.words), len(right.words)) > 3:
        return False
    if link[:1] == "!":
        return at == len(clause) - 1
    if link[:1] == "@":
        return link[1:] in _ONE and (link[1:] not in _NAMED or (left.named and right.named))
    if link == "is":
        # Only what is named is one: "is fast" and "is dear" can both be true.
        return left.named and right.named and at == len(clause) - 1
    if not verbs and clause[at].link == clause[-1].link and len(clause) == 2:
        return link in _SINGLE
    if link in {"by", "from"} and any(not slot.link and slot.named for slot in clause[1:]):
        return at == len(clause) - 1
    if link == "with":
        return bool(verbs & _MEANS)
    placed = link in _SINGLE and at == len(clause) - 1
    return placed and (not verbs or bool(verbs & _LASTING))


def opposite(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether two words are opposites."""
    if len(left) != 1 or len(right) != 1:
        return False
    (a,), (b,) = left, right
    if frozenset((a, b)) in _OPPOSED:
        return True
    return a in _STEMS and b in _STEMS and states.compare(_STEMS[a], _STEMS[b]) is Relation.CONFLICT

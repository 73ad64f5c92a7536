"""Replacements: the name that takes the place of another one: a holder, a place, a means.

Either the old one is told to be left, given up or denied (`displaced`), or there is room for one only and the sentence
says that it has changed (`renamed`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from cortex_decision import english, values
from cortex_decision.differences import may_be_one
from cortex_decision.displacements import form, is_value
from cortex_decision.findings import Effect, Finding
from cortex_decision.frames import Span as Words
from cortex_decision.frames import credible
from cortex_decision.leftovers import MAX_NAME, SLOTS, Leftovers, Span, joined, one_span, proper, slot
from cortex_decision.topics import CHANGES, key

_SUCCEEDING: Final = frozenset(
    "replaced replaces took taken succeeded succeeds superseded supersedes تولي تولت عين عينت استلم استلمت خلف خلفت "
    "اصبح اصبحت صار صارت".split()
)
"""What stands beside the one who has somebody's place now."""
_INTRODUCING: Final = frozenset("to into with by called named as favour favor الي".split())
"""What leads up to the new value where the old one is told to be left."""
_MEANS: Final = frozenset("with by via through use on called named".split())
_ASIDE: Final = frozenset("for during when while without within per under".split())
_MOTION: Final = frozenset(
    "picked came arrived returned fetched خرج خرجت رجع رجعت طلع طلعت شال شلنا جاب جبنا اخذ اخذنا سحب سحبنا".split()
)
_ADDING: Final = frozenset("support supports like speak speaks know teach love own has have".split())
_PLACING: Final = frozenset("in on at with by via from through use to في على علي عبر الي".split())
_HOLDING: Final = frozenset("drive prefer use".split())


def displaced(left: Leftovers, named: Iterator[tuple[tuple[str, ...], bool]]) -> Finding | None:
    """The old value is named as one that is left, given up or denied; what came instead may be told beside it."""
    if left.older.negated or left.twice or left.new_values:
        return None
    for words, _ in named:
        old = {key(word) for word in words} & left.known
        if not old or not is_value(left.older, {form(word) for word in words}):
            continue
        if left.older.own and not (left.own or any(part.keys[0] in old for part in left.parts)):
            continue
        rest = [at for at in left.gone if key(left.older.words[at]) not in old]
        if (not rest or _wholly(left, rest, old)) and _instead(left, old):
            return Finding(Effect.ENDED, left.older.spelling_of(words))
    return None


def _wholly(left: Leftovers, rest: Sequence[int], old: set[str]) -> bool:
    """Whether what something is done with is left altogether: then what it was used for need not be said."""
    words = left.older.words
    at = next((at for at in left.topic if key(words[at]) in old), 0)
    before = words[at - 1] if at else ""
    means = before[1:] in {"ستخدم", "ستعمل"} or before in _MEANS
    named = any((left.older.proper(one) and one > 0) or not words[one].isalpha() for one in rest)
    ours = any(part.words[0][0] == "@" or part.keys[0] in old for part in left.parts)
    return means and not named and ours


def _instead(left: Leftovers, old: set[str]) -> bool:
    """Whether all that is new is one value in the place of the old one."""
    come = [span for span in left.come if span.words[0] not in _MOTION]
    if not come:
        return True
    span = one_span(come)
    if span is None or len(span.words) > MAX_NAME:
        return False
    if old & set(span.part.keys):
        verb = span.lead if left.older.arabic else " ".join(span.part.words[span.end : span.end + 1])
        subject = verb in _SUCCEEDING and (left.older.arabic or span.start == 0)
        if subject or slot((span.lead,)) == "use" or span.lead in _INTRODUCING:
            return True
        named = span.proper or bool({"swapped", "exchanged"} & set(span.part.words))
        return named and span.lead in {"for", "of"} and span.part.words[span.start - 2 : span.start - 1] != ("is",)
    return span.lead not in _ASIDE


def renamed(left: Leftovers) -> Finding | None:
    """Another name, place, holder or way of the same."""
    if left.negated or left.older.negated or left.figures[0] != left.figures[1]:
        return None
    before, after = joined(left.gone), one_span(left.come)
    if before is None or after is None or before[1] - before[0] > MAX_NAME or len(after.words) > MAX_NAME:
        return None
    older, clause = left.older, after.part.clause
    old = older.words[before[0] : before[1]]
    if may_be_one(old, after.words):
        return None
    names = after.proper, proper(older, before[0])
    somewhere = left.marked and after.lead in {"in", "on", "at"}
    if names[0] != names[1] and not older.arabic and not somewhere:
        return None
    if not _room(left, before, after, named=names[0]):
        return None
    return Finding(Effect.REPLACED, older.spelling(*before), clause.spelling_of(after.words))


def _room(left: Leftovers, before: tuple[int, int], after: Span, *, named: bool) -> bool:
    """Whether there is one such value at a time, and the newer sentence puts the new one there."""
    words = left.older.words
    lead = words[before[0] - 1] if before[0] else ""
    old = words[before[0] : before[1]]
    clause = after.part.clause
    at = clause.words.index(after.words[0])
    if slot(words) == "home" and not credible("home", clause, Words(at, at + 1, " ".join(after.words))):
        return False
    to = after.lead in {"to", "into", "الي", "لـ"} and bool(set(after.part.words[: after.start]) & CHANGES)
    verbs = slot(words), {slot(part.words) for part in left.parts} - {""}
    if verbs[0] and verbs[1] and verbs[0] not in verbs[1]:
        return False
    if before[0] == 0:
        role = bool(set(words[before[1] :]) & english.ROLES)
        return role and (left.marked or left.changes) and after.start == 0
    if "renamed" in after.part.words and key("called") not in {key(word) for word in words} | {lead}:
        return bool(set(words) & {"name"})
    if to and lead == "is" and (old[-1].endswith("ed") or set(old) & values.STATE_WORDS):
        return False
    if to:
        works = verbs[0] == "work" and {"moved", "relocated"} & set(after.part.words)
        return lead not in _ADDING and not works
    if not left.marked and not left.changes:
        return False
    if lead == after.lead and lead in {"=", ":"}:
        return True
    if after.start == 0 and lead == "is" and before[1] == len(words):
        return bool(set(words) & english.ROLES) and left.changes
    if lead in {"is", "called", "named"} or key(lead) == "call":
        return after.lead in {"is", "called", "named", "as", "became", "become"} and (named or lead != "is")
    if lead in _PLACING and after.lead in _PLACING:
        held = words[before[0] - 2] if before[0] > 1 else ""
        done = lead == after.lead and lead in {"by", "via", "through"} and held.endswith(("ed", "id", "nt", "en"))
        return held == "is" or held in SLOTS or done
    return lead == after.lead and lead in _HOLDING


def new_holder(left: Leftovers) -> Finding | None:
    """ "Fenwick has a new director, Aisha"."""
    words = left.words
    roles = english.ROLES | {"contact", "supplier", "provider", "vendor", "flat", "phone", "job"}
    renewed = next((one for one in pairwise(words) if one[0] == "new" and one[1] in roles), None)
    if renewed is None or "have" not in words or left.negated or renewed[1] not in left.older.words:
        return None
    span = joined(left.gone)
    outer = span is not None and (span[0] == 0 or span[1] == len(left.older.words))
    if not outer or span is None or len(left.come) > MAX_NAME or (left.come and one_span(left.come) is None):
        return None
    return Finding(Effect.ENDED, left.older.spelling(*span))

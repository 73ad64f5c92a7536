"""Changes: what a clause that tells of a change says of now: what is so since, and what is so no longer.

"The registry moved from Leeds to Bern", "the board cut the budget to 28,000 EUR", "we replaced Jenkins with Drone",
"the tool is Drone, not Jenkins", "Jonas left the guild": each names what came, or what is over, or both. What came is
read like any other clause, without the words for what went; what went is denied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from cortex_gateway.assertions import english
from cortex_gateway.assertions.dates import date
from cortex_gateway.assertions.words import Role, Word, plain, words


class Change(NamedTuple):
    """A clause of change: `now` is the clause without what went, `gone` the words for what is so no longer."""

    now: Sequence[Word]
    gone: tuple[Word, ...] = ()


MAX_NAMED: Final = 4
"""Words of what went, behind "from" or "not"; more are a clause of their own."""
_MOVED: Final = frozenset(
    "moved moves migrated switched relocated transferred changed changes converted ported upgraded downgraded raised "
    "lowered reduced increased cut dropped rose fell went grew shrank extended shortened bumped upped doubled halved "
    "brought expanded shifted انتقل انتقلت انتقلنا نقل نقلت نقلنا تحول تحولت تحولنا غير غيرنا غيرت ارتفع ارتفعت انخفض "
    "انخفضت رفع رفعت رفعنا زاد زادت خفض خفضت خفضنا مدد مددت عدل عدلت".split()
)
"""Verbs that say from what to what."""
_REPLACED: Final = frozenset("replaced swapped exchanged استبدل استبدلت استبدلنا".split())
_STEPS: Final = frozenset({Role.PREPOSITION, Role.COMMA, Role.CAUSE, Role.END, Role.AND, Role.BREAK, Role.PLACE})
_NAMING: Final = frozenset({Role.CONTENT, Role.LOOSE, Role.VERB})
_HELPERS: Final = frozenset("has have had was were is are been be being got".split())
_MARKS: Final = english.INSTEAD | frozenset("not ليس ليست لا مش مو".split())
_FROM: Final = frozenset({"from", "من"})
_TO: Final = frozenset({"to", "الي"})
_KNOWN: Final = _MOVED | _REPLACED | english.RESCHEDULED | english.LEAVING | english.SUCCEEDING | frozenset({"renamed"})


def contrast(found: Sequence[Word]) -> Change:
    """A sentence without what it names only to deny it: "instead of B", "…, not B"."""
    marks = [at for at, word in enumerate(found) if word.norm in _MARKS]
    at = next((at for at in marks if at > 1 and _contrasts(found, at)), None)
    if at is None:
        return Change(found)
    end = _end(found, at + 1 + (at + 1 < len(found) and found[at + 1].role in _STEPS))
    begin = at - (found[at - 1].role in {Role.COMMA, Role.AND})
    return Change([*found[:begin], *found[end:]], _names(found[at + 1 : end]))


def change(found: Sequence[Word]) -> Change:
    """What a clause says of now; of one that tells of no change, the clause itself."""
    places = [at for at, word in enumerate(found) if word.norm in _KNOWN]
    if not places or any(word.role is Role.NEGATION for word in found):
        return Change(found)
    at = places[0]
    norm = found[at].norm
    if norm in english.RESCHEDULED:
        return _rescheduled(found, at)
    if norm in _MOVED:
        return _to_value(found, at) or _moved(found, at)
    if norm == "renamed":
        return _renamed(found, at)
    if norm in _REPLACED:
        return _replaced(found, at)
    if norm in english.SUCCEEDING:
        return _succeeded(found, at)
    return _left(found, at)


def _contrasts(found: Sequence[Word], at: int) -> bool:
    """Whether what follows the mark at `at` is named only to be denied."""
    if found[at].norm in english.INSTEAD:
        return True
    if found[at - 1].role not in {Role.COMMA, Role.AND}:
        return False
    rest = found[at + 1 :]
    return 0 < len(rest) <= MAX_NAMED and not any(
        each.role in {Role.BE, Role.VERB, Role.BREAK, Role.COMMA}
        or (each.state is not None and each.role is not Role.PLACE)
        or each.norm.endswith("ed")
        for each in rest
    )


def _rescheduled(found: Sequence[Word], at: int) -> Change:
    """ "The retro was moved to Tuesday"; what was moved to a place is read as such."""
    start = at + 1 + (at + 1 < len(found) and found[at + 1].norm in {"the", "next"})
    if start >= len(found) or (found[start].role is not Role.FIGURE and date(found, start) is None):
        return Change(found)
    return Change([*found[: _begin(found, at)], plain("is", "is"), *found[at + 1 :]])


def _to_value(found: Sequence[Word], at: int) -> Change | None:
    """ "The board cut the budget to 28,000 EUR", "it rose from 4 to 5": of what was changed, or else of the subject."""
    places = range(len(found) - 2, at, -1)
    to = next((i for i in places if found[i].norm in _TO and found[i + 1].role is Role.FIGURE), None)
    if to is None:
        return None
    start = next((i for i in range(at + 1, to) if found[i].norm in _FROM), to)
    thing = found[at + 1 : start]
    if not _names(thing):
        thing = found[: _begin(found, at)]
    return Change([*thing, plain("is", "is"), *found[to + 1 :]]) if _names(thing) else None


def _moved(found: Sequence[Word], at: int) -> Change:
    """ "Moved from A to B"; without both it is a clause like any other."""
    start = next((i for i in range(at + 1, len(found)) if found[i].norm in _FROM), len(found))
    end = next((i for i in range(start + 2, len(found)) if found[i].norm in _TO), None)
    if end is None or end - start > MAX_NAMED + 1:
        return Change(found)
    left = found[start + 1 : end]
    figures = any(word.role is Role.FIGURE for word in left)
    gone = () if figures else _names([*found[:at], *found[at + 1 : start], *left])
    if start > at + 1 or found[end].norm != "to":
        return Change([*found[:start], *found[end:]], gone)
    return Change([*found[:at], *words(f"{found[at].raw} to"), *found[end + 1 :]], gone)


def _renamed(found: Sequence[Word], at: int) -> Change:
    """ "The project Kestrel has been renamed to Osprey"."""
    name = found[at + 1 :]
    name = name[1:] if name and name[0].norm == "to" else name
    begin = _begin(found, at)
    return Change([*found[:begin], *words("is called"), *name]) if name and 0 < begin < at else Change(found)


def _replaced(found: Sequence[Word], at: int) -> Change:
    """ "We replaced A with B for C", "A was replaced by B"."""
    if at and found[at - 1].norm in _HELPERS - {"has", "have", "had"}:
        return Change(found, _names(found[: _begin(found, at)]))
    end = next((i for i in range(at + 1, len(found)) if found[i].norm in {"with", "by", "for", "ب"}), len(found))
    if end >= len(found):
        return Change(found)  # "A replaced B": what it was replaced with is the subject
    gone = _names([*found[:at], *found[at + 1 : end], *_scope(found, end + 1)])
    return Change([*found[:at], plain("use", "use"), *found[end + 1 :]], gone)


def _succeeded(found: Sequence[Word], at: int) -> Change:
    """ "Liang took over the newsletter from Petra", "Jurgen took over from Amal as lead of Beacon"."""
    from_whom = any(word.norm in _FROM for word in found[at + 1 :])
    return Change(found, _names(found[at + 1 :]) if from_whom else ())


def _left(found: Sequence[Word], at: int) -> Change:
    """ "Jonas left the guild"; "12 seats are left" is another word."""
    end = _end(found, at + 1)
    behind = _names(found[at + 1 : end])
    passive = at > 0 and found[at - 1].norm in _HELPERS - {"has", "have", "had"}
    if not behind or passive or any(word.role is Role.FIGURE for word in found):
        return Change(found)
    return Change(found, (*_names(found[:at]), *behind, *_names(_scope(found, end))))


def _scope(found: Sequence[Word], at: int) -> Sequence[Word]:
    """What a change is about besides: "for the builds", "from the list"."""
    start = next((i for i in range(at, len(found)) if found[i].norm in {"for", "from", "من", "ل"}), len(found))
    return found[start + 1 : _end(found, start + 1)]


def _begin(found: Sequence[Word], at: int) -> int:
    """Where the verb at `at` begins, with its helpers."""
    while at and found[at - 1].norm in _HELPERS:
        at -= 1
    return at


def _end(found: Sequence[Word], at: int) -> int:
    while at < len(found) and found[at].role not in _STEPS:
        at += 1
    return at


def _names(found: Sequence[Word]) -> tuple[Word, ...]:
    return tuple([word for word in found if word.role in _NAMING and word.norm not in _HELPERS])

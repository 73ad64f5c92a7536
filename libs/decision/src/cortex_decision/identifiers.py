"""Identifiers: numbers that say which one is meant, and are no value of it.

"Port 80 is open" and "port 8080 is open" are about two ports. What stands in front of the predicate names the subject;
behind it, a number after a noun names one of several where there is room for several: "allows port 80".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cortex_decision import arabic, english, values

_SEVERAL: Final = frozenset(
    "allow support accept include cover handle contain serve expose process store publish read write return "
    "leave".split()
)
"""Verbs that are true of one thing beside another."""
_LINKS: Final = frozenset("is = : of to at in on by with for from than least most every after within about v".split())
_TIMES: Final = frozenset("الساعه يوم سنه عام حوالي نحو".split())
_PARTS_OF_DAY: Final = frozenset("صباح مساء ظهر ليل فجر عصر".split())
_LIKE: Final = frozenset("مدعوم مدعومه مستقر مستقره متوفر متوفره مطلوب مطلوبه قديم قديمه جديد جديده ملغي ملغاه".split())
_MEANS: Final = frozenset("في علي من ل لكل ب كل".split())


def identifying(words: Sequence[str], value: Sequence[str]) -> bool:
    """Whether `value`, a measured one, stands in `words` as the name of something."""
    size = len(value)
    at = next((at for at in range(len(words)) if tuple(words[at : at + size]) == tuple(value)), None)
    if at is None:
        return False
    before, after = words[:at], words[at + size :]
    if any("\u0621" <= word[0] <= "\u064a" for word in words):
        return _arabic(before, after, counted=size > 1)
    if "=" in before or ":" in before:
        return False
    verbs = [place for place, word in enumerate(words) if place and word in english.STATIVES]
    predicate = words.index("is") if "is" in words[1:] else verbs[0] if verbs else None
    if predicate is None:
        return False
    if at < predicate:
        return True
    noun = size == 1 and before[-1] not in english.STATIVES | _LINKS and before[-1].isalpha()
    if noun and any(place > at for place in verbs):
        return True
    held_by = next((word for word in reversed(before) if word in english.STATIVES), "")
    unit = bool(after) and after[0] not in english.SCOPES | _LINKS
    return noun and held_by in _SEVERAL and not unit


def _arabic(before: Sequence[str], after: Sequence[str], *, counted: bool) -> bool:
    """Arabic has no copula: a number after a noun is its value at the end, and its name in front of something else."""
    if not before:
        return bool(after)
    if after and not counted and values.unit(after[0]):
        counted, after = True, after[1:]
    if before[-1] in _TIMES or before[-1] in {"=", ":"} or not after or after[0] in _PARTS_OF_DAY:
        return False
    verb = next((at for at, word in enumerate(before) if word[0] in "يتنا" and word[1:] in arabic.STATIVES), None)
    if verb is not None:
        return verb == 0 and len(before) == 2 and not counted
    stated = values.state(after[-1:]) in values.STATE_WORDS or after[-1] in _LIKE
    if before[0] in arabic.MEASURES and len(before) > 1:
        return after[0].isdecimal() or (not counted and stated)
    return not (counted or after[0] in _MEANS) or stated

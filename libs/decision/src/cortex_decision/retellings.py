"""Retellings: a later sentence about all that an older one is about, with one difference, and words of change.

What is left over on both sides (`leftovers`) and the words of change decide together: another figure, another name, an
end, an outcome that the old state does not survive. Whatever else is named, and was not named before, is another case,
and nothing is concluded.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from cortex_decision import english, values
from cortex_decision.clauses import Clause
from cortex_decision.comparison import same_number
from cortex_decision.displacements import HABITS, asks, left_values, of_others
from cortex_decision.figures import refigured
from cortex_decision.findings import Effect, Finding, tail
from cortex_decision.leftovers import Leftovers, bare, parts_of
from cortex_decision.outcomes import contradicts
from cortex_decision.replacements import displaced, new_holder, renamed
from cortex_decision.topics import MARKS, STRONG_ENDS, is_past, key, tells_change

_SITUATIONS: Final = frozenset("down up closed open off on back out offline online available away free live".split())
"""What something can have been for a while: "it was down" may tell of yesterday."""
_QUITTING: Final = frozenset("quit stopped ceased بطل بطلت بطلنا توقفت توقفنا ترك تركت".split())
"""Whoever does so does it no more, however often it was."""
_THERE: Final = frozenset(
    "member part provided available offered needed possible active valid feature flag ساري جميع متاح متوفر".split()
)
"""That there is something at all."""
_OFTEN: Final = frozenset("every day week month year time morning evening night daily weekly monthly".split())


def retold(sentence: str, whole: Clause, older: Clause, *, marked: bool) -> Finding | None:
    """What a sentence, `whole` as it was read, does to an older statement; none when both can be true. `marked`: what
    was said before it says that something has changed ("Correction: …")."""
    if whole.doubtful or whole.bounded:
        return None
    if (whole.own or older.own) and whole.me != older.me:
        return None
    if not same_number(whole, older) or asks(whole) or is_past(older) or of_others(whole, older):
        return None
    if tells_change(older.words) and {"was", "were", "got"} & set(older.words):
        return None
    if older.words[0][:2] == "@i" and not older.words[0].endswith("'s") and not _of_self(whole):
        return None
    if f"{whole.me}'s" in whole.words and not older.own:
        return None
    dated = any(values.kind((word,)) in {"day", "month", "date"} for word in older.words)
    parts = list(parts_of(sentence, older, dated=dated))
    if not parts:
        return None
    own, marked = _of_self(whole), marked or MARKS.search(sentence) is not None
    left = Leftovers(parts, older, own=own, marked=marked)
    found = _found(left) or displaced(left, left_values(sentence, older, denied=whole.negated and not whole.ended))
    if found is None and len(parts) > 1:
        alone = (Leftovers([part], older, own=own, marked=marked) for part in parts)
        found = next((one for each in alone if (one := _ended(each)) is not None), None)
    return found


def _found(left: Leftovers) -> Finding | None:
    if left.apart:
        return None
    return (
        refigured(left)
        or _ended(left)
        or _happened(left)
        or renamed(left)
        or _begun(left)
        or _reversed(left)
        or new_holder(left)
    )


def _of_self(clause: Clause) -> bool:
    return clause.own or (clause.arabic and clause.words[0].endswith(("ت", "نا")))


def _ended(left: Leftovers) -> Finding | None:
    """The same, and that it is not so any more."""
    told = set(left.figures[1])
    if left.come or left.older.negated or not told <= set(left.figures[0]):
        return None
    # Who left Berlin may be back tonight.
    if "left" in left.ends and not set(left.older.words) & (english.ROLES | {"work", "contact", "member"}):
        return None
    apart = not left.gone or (not left.apart and _habit(left))
    whole = apart and (len(told) == len(left.old_values) or bool(left.ends & _QUITTING))
    no_longer = any(part.clause.ended for part in left.parts)
    if whole and (no_longer or (left.ends and not left.negated)):
        return Finding(Effect.ENDED, tail(left.older))
    if left.ends & STRONG_ENDS and not left.negated and _subject_named(left):
        return Finding(Effect.ENDED, tail(left.older))
    return None


def _habit(left: Leftovers) -> bool:
    """Whether nothing is left over but the verb and how often."""
    words = left.older.words
    at = next((at for at, word in enumerate(words) if at and word in english.STATIVES), 1 if len(words) > 2 else 0)
    verb = 0 if left.older.arabic and words[0][0] in "يتناب" else at
    rest = [words[at] for at in left.gone if at != verb and words[at] not in _OFTEN | _THERE]
    rest = [word for word in rest if not word.endswith("ing")]
    fond = words[verb] in HABITS and not left.ends & _QUITTING
    return not rest and not fond and not left.ends & {"left", "lost", "finished", "closed"}


def _subject_named(left: Leftovers) -> bool:
    """Whether all in front of what is left over is named, and that is what the older statement says of it."""
    named = [at for at in left.topic if at not in left.gone]
    return bool(named) and (not left.gone or max(named) < min(left.gone))


def _happened(left: Leftovers) -> Finding | None:
    """Something that the state it was in does not survive: what was open is closed, who was ill is well."""
    if set(left.figures[0]) != set(left.figures[1]) or left.negated or left.older.negated:
        return None
    gone = [left.older.words[at] for at in left.gone]
    state = [left.older.words[at] for at in left.topic]
    told = [bare(word) for part in left.parts for word in part.words[part.agent :]]
    # "It was down" may tell of yesterday.
    if any(one in {"was", "were"} and other in _SITUATIONS for one, other in pairwise(told)):
        return None
    if (found := contradicts(state, told)) is None:
        return None
    # What a single thing became may be told more closely: "PR 884 was merged into main".
    single = any(char.isdigit() for word in left.older.words for char in word)
    at = next((at for part in left.parts for at, word in enumerate(part.words) if bare(word) in found), 0)
    if any(not (single and span.start > at) and bare(span.words[0]) not in found for span in left.come):
        return None
    if gone and contradicts(gone, told) is None:
        return None
    was = next((at for at in left.topic if contradicts([left.older.words[at]], told)), 0)
    if left.gone and min(left.gone) < was:
        return None
    return Finding(Effect.ENDED, tail(left.older))


def _begun(left: Leftovers) -> Finding | None:
    """What was not so is so now, and what was still to be done is done."""
    old, new = left.figures
    older, words = left.older, set(left.older.words)
    lacking = older.negated or words & {"no", "بلا", "بدون"}
    due = words & {"still", "لازم"} or ("have", "to") in pairwise(older.words)
    if not (lacking or due) or left.gone or left.come or "no" in left.words or set(new) - set(old) or (old and not new):
        return None
    if any(part.clause.negated for part in left.parts):
        return None
    told = any(is_past(part.clause) or {"was", "is"} & set(part.words) for part in left.parts)
    return Finding(Effect.ENDED, tail(older)) if told or left.marked or left.changes else None


def _reversed(left: Leftovers) -> Finding | None:
    """ "Tea over coffee", then "coffee over tea"."""
    if left.gone or left.come or left.negated or not {"prefer", "افضل", "يفضل", "تفضل", "نفضل"} & set(left.older.words):
        return None
    order = [key(left.older.words[at]) for at in left.topic]
    again = [each for part in left.parts for each in part.keys if each in left.known]
    return Finding(Effect.REPLACED, tail(left.older), tail(left.parts[-1].clause)) if order != again else None

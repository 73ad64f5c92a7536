"""Wording: a statement as the words that count when two of them are compared, and what ties it to its moment. Pure.

Built on the readings of the write decision (`cortex_decision.clauses`). Beyond their folding, nothing here makes two
statements alike but spelling (British and American, hyphens, units, clock times) and a few words that add nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cortex_decision import Statement, arabic, english
from cortex_decision.clauses import Clause, present, read
from cortex_decision.differences import agreed
from cortex_decision.folding import content, fold, signs

EMPTY: Final = frozenset("also really actually basically simply please fyi btw : ايضا فعلا رجاء".split())
"""Words without which a statement says the same; none that limits, grades, doubts or dates it."""
UNITS: Final = {
    short: unit
    for unit, names in {
        "second": "s sec", "minute": "m min", "hour": "h hr", "millisecond": "ms msec", "kilometer": "km kilometre",
        "kilogram": "kg", "litre": "l liter",
    }.items()
    for short in names.split()
}  # fmt: skip
"""After a number, by the names that `clauses.lemma` leaves."""
RECURRING: Final = english.DAYS | frozenset("morning afternoon evening night".split())
"""What their plural makes a habit: "on Friday" is one day, "on Fridays" are many."""
PAST: Final = frozenset(
    "was were had did went came got made said told took gave saw met knew found lost won left felt thought bought "
    "brought caught taught sold sent spent built paid ran rode drove broke chose spoke wrote ate drank fell flew grew "
    "threw began became kept slept held heard stood understood woke wore sang swam hurt ago earlier recently".split()
)
"""What a verb in the past is, or what goes with one, where it does not end in -ed."""
PRESENT_ED: Final = frozenset("need feed seed speed breed bleed exceed proceed succeed embed indeed hundred".split())
STATE_STEMS: Final = arabic.STATIVES | frozenset("فضل حب كره ملك".split())
_SPELLINGS: Final = (("isation", "ization"), ("ourite", "orite"), ("ogue", "og"), ("our", "or"), ("alise", "alize"),
    ("nise", "nize"), ("tise", "tize"), ("iz", "ize"))  # fmt: skip
"""The last one is what the folding leaves of "organizes"."""
_DOUBLED: Final = re.compile(r"ll(ed|ing|er)$")
_MOMENT: Final = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|soon|just|(?:last|next|this) (?:\w+day|night|morning|afternoon|evening|"
    r"week|weekend|month|quarter|year|spring|summer|autumn|fall|winter|time)|(?:the )?day (?:after|before)|"
    r"in (?:\d+|an?|one|two|three|few) (?:minute|hour|day|week|month)s?|غدا|امس|اليوم|البارحه|الليله|قريبا|قبل قليل|"
    r"(?:الماضي|الماضيه|القادم|القادمه|المقبل|المقبله))\b"
)
"""What means another day when it is said on another day."""
_ASKS: Final = re.compile(
    r"[?؟]|^\W*(?:what|when|where|who|whom|whose|why|how|which|do|does|did|is|are|was|were|can|could|will|would|shall|"
    r"should|may|have|has|هل|متي|كيف|لماذا|ماذا|اين|كم)\b"
)
_PREPARED: Final = (
    (re.compile("[\u0640\u064b-\u065f\u0670]"), ""),
    (re.compile(r"(?<=\d)\s*per ?cent\b", re.IGNORECASE), "%"),
    (re.compile(r"(?<=\d)\s*([ap])\.?m\b\.?", re.IGNORECASE), r" \1-m"),
    (re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])"), ""),
)


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence: its words in order, and what was taken out of them."""

    words: tuple[str, ...]
    negated: bool
    ended: bool


@dataclass(frozen=True, slots=True)
class Wording:
    """A statement to be compared. `content`: all of it, folded; `lines`: none when it is prose, which is compared by
    its content; `own`: it speaks of its speaker; `asks`: it is a question; `dated`: another day makes it another
    statement; `event`: it tells what happened, once."""

    content: str
    signs: tuple[str, ...]
    lines: tuple[Line, ...] | None
    own: bool
    asks: bool
    dated: bool
    event: bool

    @property
    def size(self) -> int:
        """How many words it has."""
        return len(self.content.split()) if self.lines is None else sum(len(line.words) for line in self.lines)

    @property
    def key(self) -> str:
        """Equal for all that can say the same: its words in no order."""
        if self.lines is None:
            return self.content
        return "\n".join(" ".join(sorted(line.words)) for line in self.lines)


@lru_cache(maxsize=4_096)
def worded(statement: Statement) -> Wording:
    """The wording of a statement."""
    text = statement.text
    for pattern, plain in _PREPARED:
        text = pattern.sub(plain, text)
    said, folded = content(text), fold(text)
    reading = read(text, speaker=statement.speaker, session=statement.session)
    return Wording(
        content=said,
        signs=tuple(signs(said)),
        lines=tuple(map(_line, reading.clauses)) if reading.complete else None,
        own=any(clause.own for clause in reading.clauses),
        asks=_ASKS.search(folded) is not None,
        dated=_MOMENT.search(folded) is not None,
        event=not reading.complete or any(map(_happened, reading.clauses)),
    )


def _line(clause: Clause) -> Line:
    kept = [pair for pair in zip(clause.words, clause.spelled, strict=True) if pair[0] not in EMPTY]
    return Line(agreed(tuple(_spelled(kept))), clause.negated, clause.ended)


def _spelled(pairs: Iterable[tuple[str, str]]) -> Iterable[str]:
    counted = False
    for word, raw in pairs:
        if counted and word in UNITS:
            yield UNITS[word]
        elif word in RECURRING and raw.casefold().endswith("s"):
            yield f"{word}s"
        else:
            yield _american(word)
        counted = word[-1:].isdigit()


def _american(word: str) -> str:
    """One spelling for words that English writes in two; short words are left alone ("filling" is not "filing")."""
    if len(word) < 5 or not (word.isascii() and word.isalpha()):
        return word
    if len(word) > 7:
        word = _DOUBLED.sub(r"l\1", word)
    for british, american in _SPELLINGS:
        if len(word) > len(british) + 1 and word.endswith(british):
            return word.removesuffix(british) + american
    return word.removesuffix("re") + "er" if word.endswith("re") and word[-3] == "t" else word


def _happened(clause: Clause) -> bool:
    """Whether a sentence may tell of something that happened once: when in doubt it does."""
    if clause.arabic:
        nominal = clause.words[0].startswith("ال") or clause.words[0] in arabic.MEASURES | arabic.NAMED
        stative = any((stem := present(word)) is not None and stem in STATE_STEMS for word in clause.words)
        return not (nominal or stative or {"هو", "هي", "عندي", "لدي"} & set(clause.words))
    before = ""
    for word in clause.words:
        past = word in PAST or (len(word) > 4 and word.endswith("ed") and word not in PRESENT_ED)
        if past and before != "is":  # "is kept" is a state
            return True
        before = word
    return False

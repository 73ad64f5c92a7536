"""Leftovers: what a sentence and an older statement do not share.

Nothing is parsed. What the older statement holds and the newer sentence does not (`gone`), and what the newer one holds
and the older does not (`come`), are all that tells the two apart, beside the words by which the newer one says that
something changed or ended.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cortex_decision import arabic, english
from cortex_decision.clauses import Clause, read
from cortex_decision.displacements import REASONS
from cortex_decision.moments import undated
from cortex_decision.outcomes import EVENTS
from cortex_decision.topics import BENIGN, CASES, CHANGES, EMPTY, ENDS, PARTICLES, key, measured, tells_change

_PART: Final = re.compile(
    r"\s*[,;:،؛]\s+|\s+[–—-]\s+|\s+(?=(?:because|since|as of|after|thanks to|due to|but|and|so|لأن|بسبب|بعد|منذ)\s)|"
    r"\s+(?=و(?:صار|أصبح|اصبح|لم|نحن|هو|هي)\S*\s)",
    re.IGNORECASE,
)
_WHY: Final = re.compile(r"^(?:for \S+(?: \S+)? reasons?|not(?: \S+){1,4}|(?:\S+ )?included)\W*$", re.IGNORECASE)
_JOINT: Final = re.compile(r"^(?:and|but|so|because|since|as of|after|thanks to|due to)\s+", re.IGNORECASE)
_BACKGROUND: Final = re.compile(r"^(?:because|since|as of|after|thanks to|due to|so|لأن|بسبب|بعد|منذ)\b", re.IGNORECASE)
MAX_NAME: Final = 3
"""Words of a value that is a name."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the newer sentence; `agent` words at its front did something to what follows."""

    clause: Clause
    words: tuple[str, ...]
    keys: tuple[str, ...]
    agent: int


@dataclass(frozen=True, slots=True)
class Span:
    """Words `start` to `end` of a part."""

    part: Part
    start: int
    end: int

    @property
    def words(self) -> tuple[str, ...]:
        """The words themselves."""
        return self.part.words[self.start : self.end]

    @property
    def lead(self) -> str:
        """The word before it; "to" also before a name of several words of which some were named before."""
        words = self.part.words[: self.start]
        named = words[-2:-1] in {("to",), ("into",), ("الي",)} and self.part.clause.proper(self.start - 1)
        return words[-2] if named else words[-1] if words else ""

    @property
    def proper(self) -> bool:
        """Whether it is written like a name."""
        words = self.part.clause.words
        return self.words[0] in words and proper(self.part.clause, words.index(self.words[0]))


def slot(words: Sequence[str]) -> str:
    """What kind of value the first verb that holds one has: a home, a place, a means; empty if there is none."""
    return next((SLOTS[one] for word in words for one in (word, word[1:]) if one in SLOTS), "")


def proper(clause: Clause, at: int) -> bool:
    """Whether a word is written like a name, or like a path or a number."""
    return clause.proper(at) or any(not char.isalpha() for char in clause.words[at])


def joined(places: Sequence[int]) -> tuple[int, int] | None:
    """The span of a few places that stand together."""
    return (places[0], places[-1] + 1) if places and places[-1] - places[0] < MAX_NAME else None


def one_span(spans: Sequence[Span]) -> Span | None:
    """Spans that stand together, as one."""
    if not spans or len(spans) > MAX_NAME or any(span.part is not spans[0].part for span in spans):
        return None
    start, end = spans[0].start, spans[-1].end
    return Span(spans[0].part, start, end) if end - start == len(spans) else None


SLOTS: Final = {
    word: group.partition(" ")[0]
    for group in (
        "home live lives lived reside resides سكن عيش قيم",
        "place sit sat based located hosted stored kept housed",
        "work work works worked study studies studied",
        "make written built implemented developed coded",
        "use use uses using run runs running powered rely drive drives wear wears",
        "lead lead led managed owned maintained",
        "use نستخدم استخدم يستخدم تستخدم نستعمل استعمل يستعمل تستعمل",
    )
    for word in group.split()[1:]
}
"""Verbs that hold a value, by what they say of it."""


def parts_of(sentence: str, older: Clause, *, dated: bool) -> Iterator[Part]:
    """The parts that name what the older statement names, or tell a change."""
    known = {key(word) for word in older.words if _content(word)}
    for text in _PART.split(sentence):
        if not text or not text.strip() or _WHY.match(text):
            continue
        background = _BACKGROUND.match(text) is not None
        reading = read(_JOINT.sub("", text), speaker=None, session=None)
        if len(reading.clauses) != 1:
            continue
        clause = reading.clauses[0]
        words = clause.words if dated else undated(clause.words, clause.spelled)
        keys = tuple(key(word) for word in words)
        if not words or (background and not known & set(keys)):
            continue
        anaphoric = words[0] in {"he", "she", "it", "they"}
        if not (anaphoric or known & set(keys) or set(map(bare, words)) & (CHANGES | ENDS) - {"finished"}):
            if words[0] in CASES:
                yield Part(clause, words, keys, 0)
            continue
        yield Part(clause, words, keys, _agent(words, keys, known))


def _agent(words: Sequence[str], keys: Sequence[str], known: set[str]) -> int:
    """How many words at the front name who changed it: "the board cut the budget"."""
    at = next((at for at, word in enumerate(words) if word in _DONE), 0)
    after = next((each for each, word in zip(keys[at + 1 :], words[at + 1 :], strict=True) if _object(word)), None)
    if not 0 < at <= 4 or after not in known or known & set(keys[:at]) or set(words[:at]) & (CASES | {"to"}):
        return 0
    return at if words[at - 1] not in {"is", "was", "were", "been", "get", "got"} else 0


_DONE: Final = CHANGES | ENDS | {word for word in EVENTS if word.endswith("ed") or not word.isascii()}


def _holds(word: str) -> bool:
    """Whether a verb only holds a value: where, by what, how something is."""
    return word in SLOTS or (word[1:] in arabic.STATIVES - _TIMED and word[0] in "يتنا")


_TIMED: Final = frozenset("بدا نتهي غلق فتح".split())


def _object(word: str) -> bool:
    return (word[0] != "@" and word not in EMPTY | PARTICLES | english.PRONOUNS) or word in CASES | {"to"}


def _content(word: str) -> bool:
    return word[0] not in "@=:?" and word not in EMPTY


def bare(word: str) -> str:
    """An Arabic word of change without "and"."""
    return word[1:] if word[0] == "و" and word[1:] in CHANGES | ENDS | EVENTS | BENIGN else word


def outcome(words: Sequence[str]) -> int:
    """Where what something was changed to begins."""
    return next((at for at, word in enumerate(words) if word in {"to", "into", "الي"}), len(words))


class Leftovers:
    """The parts of a sentence beside an older statement. `own`: somebody tells it of themselves; `marked`: it says that
    something has changed. `topic` and `gone` are places in the older statement, `come` words of the parts."""

    def __init__(self, parts: Sequence[Part], older: Clause, *, own: bool, marked: bool) -> None:
        self.parts, self.older, self.own, self.marked = parts, older, own, marked
        self.words = [bare(word) for part in parts for word in part.words]
        said = {each for part in parts for each in part.keys}
        self.changes = tells_change(self.words)
        self.ends = set(self.words) & ENDS - set(older.words)
        self.old_values = measured(older.words)
        self.new_values = [Span(part, *span) for part in parts for span in measured(part.words)]
        numbers = {at for start, end in self.old_values for at in range(start, end)}
        mine = {older.me, f"{older.me}'s"}
        self.topic = [
            at
            for at, word in enumerate(older.words)
            if _content(word) and at not in numbers and word not in mine and not (_holds(word) or word in CHANGES)
        ]
        reason = next((at for at, word in enumerate(older.words) if at and word in REASONS), len(older.words))
        self.topic = [at for at in self.topic if at < reason]
        known = {key(older.words[at]) for at in self.topic}
        every = {key(word) for word in older.words if _content(word)}
        self.gone = [at for at in self.topic if key(older.words[at]) not in said]
        self.come = [Span(part, at, at + 1) for part in parts for at in self._unknown(part, every)]
        self.known = known
        counted = Counter(key(older.words[at]) for at in self.topic)
        again = Counter(each for part in parts for each in part.keys[: outcome(part.words)])
        self.twice = len(parts) == 1 and any(again[each] > times for each, times in counted.items())

    def _unknown(self, part: Part, known: set[str]) -> Iterator[int]:
        numbers = {at for start, end in measured(part.words) for at in range(start, end)}
        mine = {self.older.me, f"{self.older.me}'s"}
        told = False
        for at, (spoken, each) in enumerate(zip(part.words, part.keys, strict=True)):
            word = bare(spoken)
            skipped = at < part.agent or at in numbers or not _content(word) or word in mine
            told = told or word in CHANGES or word in ENDS
            if skipped or each in known or _holds(word) or word in BENIGN or (told and word in PARTICLES):
                continue
            if (word in CHANGES and word != "over") or word in ENDS:
                continue
            # "The flight back is at 6": in front of the verb it says which one.
            if word in {"back", "again"} and (at == len(part.words) - 1 or "is" in part.words[:at]):
                continue
            renewed = part.words[at + 1 : at + 2]
            if word == "new" and renewed and renewed[0] in english.ROLES | english.ATTRIBUTES:
                continue
            if word in english.PRONOUNS and not part.agent:
                continue
            yield at

    @property
    def negated(self) -> bool:
        """Whether something is denied, and not said to have ended."""
        return any(part.clause.negated and not part.clause.ended for part in self.parts)

    @property
    def apart(self) -> bool:
        """Whether there is nothing to tell by: the older statement is not named at all, or names a thing more often."""
        return self.twice or len(self.gone) == len(self.topic)

    @property
    def figures(self) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """The measured values of both."""
        return [self.older.words[start:end] for start, end in self.old_values], [one.words for one in self.new_values]

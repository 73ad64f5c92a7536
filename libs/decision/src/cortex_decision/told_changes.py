"""Changes that are told as such: "moved from A to B", "not A but B", "B instead of A", "no longer A", "صار B بدل A".

The write decision wants two sentences of the same build. People tell a change in other words, and then they mostly name
what it changes: the old value, or that something was raised, moved, finished. So this asks for more evidence than the
same build would give: whoever tells the change says what it is about in the words of the older statement, and names no
case, place or time that the older one does not name ("for trial accounts", "in staging"). A statement that is doubtful
in any part ends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from cortex_decision import arabic, english, values
from cortex_decision.clauses import Clause, Reading, read, sentences
from cortex_decision.comparison import compare, same_number
from cortex_decision.displacements import displaced
from cortex_decision.findings import Effect, Finding
from cortex_decision.folding import fold
from cortex_decision.phrasing import plain
from cortex_decision.retellings import retold
from cortex_decision.topics import CHANGES, EMPTY, key

_SAID_FIRST: Final = (
    "actually|correction|update|fyi|btw|by the way|sorry|my mistake|oops|scratch that|to be exact|heads[- ]up|no|yes|"
    "for the record|in fact|as of now|right now|note that|it turned out that|it turned out|it turns out that|"
    "it turns out|turns out that|turns out|with (?:the|this) (?:last|latest|new|newest) (?:release|version|update)|"
    "as of (?:this|the (?:last|latest|new)) (?:release|version|update)|as of today|from today on|"
    "i made a typo(?: earlier)?|scratch that|i misspoke|تصحيح|عفوا|"
    "معذرة|للعلم|بالمناسبه|بالمناسبة|في الحقيقة|في الواقع|تحديث|الصحيح أن|الصحيح ان"
)
_LEAD: Final = re.compile(
    rf"^\s*(?:(?:{_SAID_FIRST})\s*[:,،–—-]?\s+|(?:since|as of|from|منذ) (?:v?\d[\w.]*|[A-Z][a-z]+(?: \d{{4}})?),? )",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"[,;،؛]?\s+(?:since|because|thanks to|due to|these days|at the moment|from now on|as of|منذ|بسبب|لأن|لان|بناء على)"
    r"\b.*$|[,،]\s+(?:so|and so|which|لذلك|لذا)\b.*$",
    re.IGNORECASE,
)
"""Why and since when: it narrows nothing."""
_AFTER: Final = re.compile(r"\s+بعد\b.*$")
_LATER: Final = re.compile(rf"{english.LATER}[.!]?$".replace(")?[", ")["), re.IGNORECASE)
_MARK: Final = re.compile(
    r"\b(?:now|nowadays|currently|these days|from now on|as of|since|correction|actually|my mistake|instead|any ?more|"
    r"again|back)\b|الآن|الان|حاليا|صار|أصبح|اصبح|تصحيح|بدل|من جديد|مجددا",
    re.IGNORECASE,
)
"""Words that say that something has changed."""
_TOKENS: Final = re.compile(r"[\w]+(?:[.\-_/'][\w]+)*")
_PART: Final = re.compile(r"\s*[,،;؛]\s+|\s+[–—-]\s+")
_RESERVED: Final = (
    (english.HEDGES | arabic.HEDGES) - {"about", "how", "who", "which", "what", "did", "when", "going", "هناك", "اليوم"}
) | frozenset(
    "except exception only unless also too both some most part partly sometimes usually test trial experiment example "
    "else fools joke kidding used formerly until till sandbox according gossip tried tested testing evaluated "
    "evaluating compared pilot prototype mock بعض فقط ايضا كذلك مثلا تجربه عدا "
    "باستثناء سابقا غالبا احيانا حتي".split()
)
"""Words of doubt, of exception and of something else beside: with one of them nothing is told for certain."""
_PASSING: Final = re.compile(
    r"\b(?:for (?:this|the|a|one|two|\d+) (?:\w+ )?(?:hours?|days?|weeks?|months?|sprint|release|while|moment|"
    r"holidays?)|(?:this|today|tonight) only|only (?:this|today|tonight)|just (?:this|today|tonight)|"
    r"(?:after|before|besides|beyond|of|like|than) (?:that|this|it)|by (?:default|mistake|accident|hand|itself)|"
    r"هذا الأسبوع فقط)\b",
    re.IGNORECASE,
)
"""How long something holds that is otherwise, and that it is otherwise in some respect only."""
_BECAME: Final = re.compile(r"^(?:و?(?:صار|صارت|اصبح|اصبحت|بات|باتت|صرت|صرنا|اصبحت|أصبح|أصبحت)) ")


def told(text: str, speaker: str | None, session: str | None, other: Reading) -> Finding | None:
    """What a later statement tells of a change of an earlier one, which `other` is the reading of; none when it tells
    of none, or not for certain."""
    if not other.complete or len(other.clauses) != 1:
        return None
    older = other.clauses[0]
    if older.doubtful or older.ended or older.bounded or not _related(text, older.words):
        return None
    said = [plain(sentence) for sentence in sentences(text)]
    if any(_reserved(bare) or _passing(bare, older) for bare in (_LEAD.sub("", sentence) for sentence in said)):
        return None
    if len(said) == 1 and any(
        clause.words == older.words and clause.negated == older.negated
        for clause in read(said[0], speaker=speaker, session=session).clauses
    ):
        return None
    for sentence in (*said, *(f"{one.rstrip('.;!')}, {other}" for one, other in pairwise(said))):
        bare = _LEAD.sub("", sentence)
        for clause in read(bare, speaker=speaker, session=session).clauses:
            if (found := retold(bare, clause, older, marked=bare != sentence)) is not None:
                return found
        if older.negated:
            continue
        whole = read(sentence, speaker=speaker, session=session)
        for variant in _variants(sentence):
            for clause in read(variant, speaker=speaker, session=session).clauses:
                found = _told(clause, older)
                if found is not None and not (variant != sentence and _still_named(found, sentence)):
                    return found
        for clause in whole.clauses:
            if (found := displaced(sentence, clause, older)) is not None:
                return found
    return None


def _told(clause: Clause, older: Clause) -> Finding | None:
    if clause.doubtful or clause.arabic != older.arabic or ((clause.own or older.own) and clause.me != older.me):
        return None
    if not same_number(clause, older):
        return None
    return compare(clause, older) or _renamed(clause, older)


@lru_cache(maxsize=2_048)
def _keys(text: str) -> frozenset[str]:
    return frozenset(key(word) for part in sentences(text) for word in _TOKENS.findall(fold(part)))


@lru_cache(maxsize=2_048)
def _topic(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(key(word) for word in words if word not in EMPTY and word[0] not in "@=:?%")


MAX_UNSAID: Final = 5
"""Words of the older statement that whoever tells its change may leave out: its value and its verb."""


def _related(text: str, words: tuple[str, ...]) -> bool:
    """Whether a text names enough of what an older statement names to be about it at all."""
    topic = _topic(words)
    unsaid = topic - _keys(text)
    return len(unsaid) <= MAX_UNSAID and (len(unsaid) < len(topic) or len(topic) <= 2)


def _passing(sentence: str, older: Clause) -> bool:
    """Whether something holds for so long, or in some respect, only; "for 30 days" may be the value itself."""
    found = _PASSING.search(sentence)
    if found is None:
        return False
    lasting = any(values.kind(older.words[at : at + 2]) == "number time" for at in range(len(older.words)))
    itself = lasting and any(char.isdigit() for char in found[0])
    return not itself and found[0].lower() not in older.text


def _still_named(found: Finding, sentence: str) -> bool:
    """Whether the rest of the sentence names the old value, and not as what was left: "Neukölln, Berlin"."""
    words = set(re.findall(r"[\w'./-]+", fold(sentence)))
    told = words & _LEAVING_WORDS or _MARK.search(sentence)
    return found.effect is Effect.REPLACED and set(fold(found.old).split()) <= words and not told


_LEAVING_WORDS: Final = frozenset("not no from instead than never longer n't was were من ليس بدل لا".split())


def _reserved(sentence: str) -> bool:
    plain = re.sub(r"['’]ll\b", " will", re.sub(r"['’]d\b", " would", sentence))
    words = set(re.findall(r"[\w'][\w'./-]*", fold(plain)))
    words |= {word.strip(".'/-") for word in words}
    return bool(words & _RESERVED) or "?" in sentence or "؟" in sentence


def _variants(sentence: str) -> Iterator[str]:
    """The sentence without what leads up to it and what follows from it, and its parts that can stand alone."""
    seen: set[str] = set()
    whole = _LEAD.sub("", sentence)
    if _MARK.search(sentence):
        whole = _AFTER.sub("", whole)
    parts = [part for part in _PART.split(whole) if part]
    alone = [part for part in parts if len(part.split()) >= 3 and _harmless([one for one in parts if one is not part])]
    for text in (whole, *(alone if len(parts) > 1 else ())):
        for variant in (text, _TAIL.sub("", text)):
            bare = _BECAME.sub("", _LEAD.sub("", variant)).strip()
            told = _LATER.sub("", bare) if set(bare.casefold().split()) & CHANGES else bare
            for one in (variant, bare, told, re.sub(r"\b(?:at all|for everyone|for all|still)\b", "", bare)):
                if len(one.split()) >= 2 and one not in seen:
                    seen.add(one)
                    yield one


_SCOPE: Final = re.compile(
    r"^(?:for|in|on|at|with|without|within|during|under|per|but|and only|or|لـ|ل|في|عند|خلال|مع|بدون|لكن|أو|او)\b",
    re.IGNORECASE,
)


def _harmless(parts: Sequence[str]) -> bool:
    """Whether the other parts of a sentence narrow nothing."""
    return not any(_SCOPE.match(part) for part in parts)


_CALLED: Final = (("is", "called"), ("is", "named"), ("اسمه",), ("اسمها",))


def _renamed(newer: Clause, older: Clause) -> Finding | None:
    """ "The manager is called Martin Hale", then Marvin Hale: a whole name, though a part of it is the same."""
    for called in _CALLED:
        for end in range(len(called) + 1, len(older.words)):
            one, other = older.words[end:], newer.words[end:]
            if older.words[end - len(called) : end] == called and newer.words[:end] == older.words[:end]:
                whole = 0 < len(one) <= 3 and len(one) == len(other) and set(one) & set(other)
                proper = newer.proper(end) and older.proper(end)
                if whole and one != other and proper and not newer.negated:
                    return Finding(
                        Effect.REPLACED, older.spelling(end, len(older.words)), newer.spelling(end, len(newer.words))
                    )
    return None

"""Clauses: the sentences of a text as words that can be compared, and what kind of saying each is.

A clause is read by closed word lists (`english`, `arabic`), not by a grammar: what is not understood stays a word like
any other, and only words that agree on both sides ever lead to a retirement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cortex_decision import arabic, english
from cortex_decision.folding import READ_LIMIT, fold, ungrouped

MAX_CLAUSES: Final = 12
MAX_WORDS: Final = 30
"""A longer sentence is prose: it is not compared clause by clause."""

_SENTENCE: Final = re.compile(
    r"(?<=[.!?؟;؛…])(?<!\b[A-Z]\.)(?<!\b[DMS][rst]\.)(?<!\b(?:Mrs|Eng)\.)(?<!\bProf\.)(?<!\b[ei]\.[ge]\.)"
    r"[\"')\]]?\s+|\n+"
)
_TOKEN: Final = re.compile(
    r"https?://\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[$€£]?-?\d+(?:[.,:/-]\d+)+|[$€£]\d+|[\w\u064b-\u0652\u0670]+(?:[.\-_/'][\w\u064b-\u0652\u0670]+)*|"
    r"[=:%؟?$€£]"
)
_APOSTROPHES: Final = str.maketrans("’‘ʼ", "'''")
_GLUED: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|sec|min|h|[kmgt]i?b|%)")
_ADDITIVE: Final = re.compile(r"\b(?:not|لا|ليس|ليست) (?:\S+ ){0,4}?(?:only|just|merely|فقط|فحسب)\b")
_NOT_MEANT: Final = re.compile(
    r"\[ \]|\b(?:ha){2,}h?\b|\b(?:he){2,}\b|\b(?:as if|yeah right|/s)\b|"
    r"^\s*(?:#|//)\s*[\w.-]+\s*[=:]|[~≈±] ?\d|\d\+(?=\s|$)|\bfor (?:now|the time being)\b|ه{3,}|[😂🤣😜😝😆🙃😏☐]",
    re.IGNORECASE,
)
"""A joke, a box that is not ticked, a setting that is commented out, about a number, or what holds for a while only."""
_SCHEDULED: Final = re.compile(r"\b(is|are) (?:planned|scheduled|set) (?:for|on)(?= (?:\d|[A-Z]))")
_OFFER: Final = re.compile(r"\b(?:the|a|an|our|my) (?:\w+ ){1,2}plans?\b(?! (?:(?:is|was) )?to\b)", re.IGNORECASE)
"""A plan that one subscribes to."""
_YEAR: Final = re.compile(r"(?<![\w.-])(?:19|20)\d\d(?![\w.-])")
_FRAMED: Final = re.compile(r"\b(?:in|since|by|between|from|عام|سنه|في|منذ|بين|من) (?:19|20)\d\d\b")
_SPAN: Final = re.compile(r"(?:19|20)\d\d ?- ?(?:19|20)\d\d|\b(?:until|till|during|used to|حتي)\b")
_WHOLE: Final = arabic.HEDGES | arabic.DROPPED | arabic.VAGUE | arabic.SUBJECTLESS | {"مطفا"}
"""Arabic words whose last alef is their own."""
_SPLIT: Final = english.CONTRACTIONS.keys() | english.TIMES.keys()
_WHO: Final = frozenset("it he she that there what here who how where".split())


@dataclass(frozen=True, slots=True)
class Clause:
    """One sentence. `words` are compared, `spelled[i]` is how `words[i]` was written."""

    words: tuple[str, ...]
    spelled: tuple[str, ...]
    negated: bool = False
    ended: bool = False
    doubtful: bool = False
    bounded: bool = False
    changed: bool = False
    own: bool = False
    arabic: bool = False
    indefinite: bool = False
    me: str = ""
    us: str = ""

    @property
    def text(self) -> str:
        """The compared words in one line."""
        return " ".join(self.words)

    def spelling(self, start: int, end: int) -> str:
        """The words from `start` to `end` as they were written."""
        return " ".join(dict.fromkeys(word for word in self.spelled[start:end] if word))

    def spelling_of(self, words: Sequence[str]) -> str:
        """Some of the compared words as they were written, where they are in the clause."""
        written = dict(zip(self.words, self.spelled, strict=True))
        return " ".join(word for each in words if (word := written.get(each, each)))

    def proper(self, start: int) -> bool:
        """Whether the word at `start` is written like a name: a capital, a digit, or letters that have no case."""
        word = self.spelled[start] if start < len(self.spelled) else ""
        return (bool(word) and not word[0].islower()) or any(char.isupper() for char in word)


@dataclass(frozen=True, slots=True)
class Reading:
    """The clauses of a text; `complete` tells whether they are all of it."""

    clauses: tuple[Clause, ...]
    complete: bool


@lru_cache(maxsize=2_048)
def read(text: str, *, speaker: str | None, session: str | None) -> Reading:
    """Read the first sentences of `text`; "I" and "we" become the speaker, or the session when nobody is named."""
    me = " ".join(_norm(word) for word in fold(speaker).split()) if speaker else ""
    who = (me or f"@i:{session}", f"@we:{me or session}")
    parts = sentences(text)
    clauses = [clause for part in parts[:MAX_CLAUSES] if (clause := _clause(part, who)) is not None]
    whole = len(text) <= READ_LIMIT and len(parts) <= MAX_CLAUSES and len(clauses) == len(parts)
    return Reading(tuple(clauses), whole)


def sentences(text: str) -> list[str]:
    """The sentences of the part of `text` that is read."""
    return [part for part in _SENTENCE.split(text[:READ_LIMIT]) if part.strip()]


def lemma(word: str) -> str:
    """An English word without plural or third person; short words and names in -ss, -us, -is stay."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def stem(word: str) -> str:
    """An English verb without its ending, to tell "smoking" and "smokes" as one."""
    base = re.sub(r"(?:ing|ed|es|s|e)$", "", word) if len(word) > 3 else word
    return base[:-1] if len(base) > 3 and base[-1] == base[-2] else base


def present(word: str) -> str | None:
    """The stem of an Arabic word that may be a verb in the present, else none."""
    return word[1:] if len(word) > 2 and word[0] in "يتنا" else None


def _clause(sentence: str, who: tuple[str, str]) -> Clause | None:
    plain = _SCHEDULED.sub(r"\1 on", sentence.translate(_APOSTROPHES))
    if len(plain) > 40 * MAX_WORDS:
        return None
    pairs: list[tuple[str, str]] = []
    for raw in _TOKEN.findall(ungrouped(plain)):
        pairs += _words(raw)
        if len(pairs) > MAX_WORDS:
            return None
    if not pairs:
        return None
    is_arabic = not sentence.isascii() and any("\u0621" <= word[0] <= "\u064a" for word, _ in pairs)
    marks = {word for word, _ in pairs}
    if _OFFER.search(plain):
        marks.discard("plan")
    joined = " ".join(word for word, _ in pairs)
    doubtful = (
        bool(marks & (english.HEDGES | english.ADDRESSED | arabic.HEDGES | arabic.ADDRESSED | {"?", "؟"}))
        or pairs[0][0] in english.OPEN_SUBJECTS
        or pairs[0][0] in arabic.SUBJECTLESS
        or ("may", "may") in pairs
        or _ADDITIVE.search(joined) is not None
        or (is_arabic and any((verb := present(word)) and verb in arabic.INTENTIONS for word in marks))
        or joined.startswith(("one of ", "in favour", "in favor"))
        or _NOT_MEANT.search(sentence) is not None
    )
    pairs, negated, ended = _polarity(pairs)
    changed = bool(marks & (english.DROPPED - {"the", "a", "an"} | arabic.DROPPED))
    own = bool(marks & {"i", "my", "me", "we", "our", "us", "mine", "انا", "نحن"}) or (is_arabic and _arabic_own(pairs))
    kept = [
        (_person(word, who), raw)
        for index, (word, raw) in enumerate(pairs)
        if (word not in english.DROPPED or (index and raw == "A")) and word not in arabic.DROPPED
    ]
    kept = _completed(_gerund([pair for pair in kept if pair[0]]), who[0])
    if not kept:
        return None
    return Clause(
        words=tuple(word for word, _ in kept),
        spelled=tuple(raw for _, raw in kept),
        negated=negated,
        ended=ended,
        doubtful=doubtful,
        bounded=_bounded(joined),
        changed=changed,
        own=own,
        arabic=is_arabic,
        indefinite=pairs[0][0] in {"a", "an"},
        me=who[0],
        us=who[1],
    )


@lru_cache(maxsize=16_384)
def _words(raw: str) -> tuple[tuple[str, str], ...]:
    """The compared words of one token, each with its spelling; that of a split token stays with its first word."""
    if raw.isascii() and raw.isalpha():
        word = raw.lower()
        if word not in _SPLIT:
            return ((_norm(word), raw),)
    word = fold(raw).strip("_")
    if not word:
        return ()
    expanded = english.CONTRACTIONS.get(word)
    if expanded is None:
        for ending, plain in english.ENDINGS.items():
            if word.endswith(ending):
                expanded = word.removesuffix(ending) + plain
                break
    if expanded is None and word.endswith("'s"):
        base = word[:-2]
        expanded = f"{base} is" if base in _WHO else f"{base} 's"
    if expanded is None and (glued := _GLUED.fullmatch(word)):
        expanded = f"{glued[1]} {glued[2]}"
    expanded = expanded or english.TIMES.get(word) or arabic.DUALS.get(word) or word
    parts = [_norm(part) for part in expanded.split()]
    return tuple((part, raw if index == 0 else "") for index, part in enumerate(parts))


def _norm(word: str) -> str:
    if word in english.COPULAS:
        return "is"
    if word in {"has", "have", "having"}:
        return "have"
    if word == "does":
        return "do"
    if word.isascii():
        number = english.NUMBERS.get(word)
        return number or (lemma(word) if word.isalpha() and word not in english.HEDGES else word)
    if (number := arabic.NUMBERS.get(word)) is not None:
        return number
    counted = arabic.COUNTED.get(word, word)
    # The accusative of an indefinite noun ends in alef: a matter of syntax only. Verbs of "we" end in "na".
    accusative = counted.endswith("ا") and not counted.endswith("نا") and not counted.startswith("ال")
    known = counted in _WHOLE or counted[1:] in arabic.STATIVES
    bare = counted[:-1] if len(counted) > 3 and accusative and not known else counted
    return arabic.NUMBERS.get(bare, bare)


def _polarity(pairs: list[tuple[str, str]]) -> tuple[list[tuple[str, str]], bool, bool]:
    """The words without their negation; whether there was one; whether it says that something ended."""
    words = [word for word, _ in pairs]
    joined = f" {' '.join(words)} "
    if " no longer " in joined:
        at = next(i for i in range(len(words) - 1) if words[i] == "no" and words[i + 1] == "longer")
        return pairs[:at] + pairs[at + 2 :], True, True
    if "not" in words or "never" in words:
        at = next(i for i, word in enumerate(words) if word in {"not", "never"})
        start = at - 1 if at and words[at - 1] == "do" else at
        rest = pairs[:start] + pairs[at + 1 :]
        tail = [word for word, _ in rest]
        for phrase in (["anymore"], ["any", "more"], ["any", "longer"]):
            if tail[-len(phrase) :] == phrase:
                return rest[: -len(phrase)], True, True
        return rest, True, False
    for at, word in enumerate(words[:-1]):
        if word == "لم" and words[at + 1] in {"يعد", "تعد", "نعد", "اعد", "يعودوا"}:
            return pairs[:at] + pairs[at + 2 :], True, True
        if word in {"لا", "ليس", "ليست", "لست", "لم", "غير"}:
            rest = pairs[:at] + pairs[at + 1 :]
            if [w for w, _ in rest[-2:]] in (["بعد", "الان"], ["بعد", "اليوم"]):
                return rest[:-2], True, True
            return rest, True, False
    return pairs, False, False


def _person(word: str, who: tuple[str, str]) -> str:
    if word in {"i", "me", "my", "mine", "انا"}:
        return who[0] + ("'s" if word in {"my", "mine"} else "")
    if word in {"we", "us", "our", "ours", "نحن"}:
        return who[1] + ("'s" if word in {"our", "ours"} else "")
    return word


def _completed(pairs: list[tuple[str, str]], me: str) -> list[tuple[str, str]]:
    """Notes in telegram style with their subject and verb; an Arabic verb of leaving stands first."""
    words = [word for word, _ in pairs]
    if pairs and pairs[0][1].lower() in english.IMPLICIT:
        return [(me, ""), *pairs]
    if 2 <= len(pairs) <= 4 and words[-1] in english.STATES and not english.STATIVES & set(words):
        return [*pairs[:-1], ("is", ""), pairs[-1]]
    for at in range(1, min(4, len(pairs))):
        if words[at] in arabic.LEAVING and words[0] not in arabic.LEAVING:
            return [pairs[at], *pairs[:at], *pairs[at + 1 :]]
    return pairs


def _gerund(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """ "is running on" says what "runs on" says; a bare "is running" is a state."""
    for at in range(len(pairs) - 2):
        if pairs[at][0] == "is" and pairs[at + 1][0].endswith("ing"):
            for verb in english.STATIVES:
                if stem(verb) == stem(pairs[at + 1][0]):
                    return [*pairs[:at], (verb, pairs[at + 1][1]), *pairs[at + 2 :]]
    return pairs


def _arabic_own(pairs: list[tuple[str, str]]) -> bool:
    """Whether an Arabic sentence may speak of its speaker: "my" is a last letter, "I" and "we" a first one."""
    return any(
        (word.endswith("ي") and len(word) > 3 and not word.startswith("ال") and word not in {"التي", "علي"})
        or word == "لدي"
        or (word[0] in "نا" and word[1:] in arabic.STATIVES)
        or (index == 0 and len(word) > 3 and word.endswith(("ت", "نا")))
        for index, (word, _) in enumerate(pairs)
    )


def _bounded(joined: str) -> bool:
    """Whether a time span or a past time frames the statement, so that another one may be true beside it."""
    return _SPAN.search(joined) is not None or (
        _YEAR.search(joined) is not None and (_FRAMED.search(joined) is not None or len(_YEAR.findall(joined)) > 1)
    )

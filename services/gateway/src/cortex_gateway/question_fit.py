"""How well a sentence answers a question, by its words and by what kind of thing is asked for. Pure functions.

English and Arabic. A word counts by its stem, and more the fewer of the other sentences have it. Who, when, where, how
many and the like ask for something that a sentence has or has not: a name, a date, a place, a number.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final

from cortex_extraction.folding import fold
from cortex_extraction.stop_words import STOP_WORDS

CONTEXT: Final = 0.7
"""Weight of a word that only the heading or title above a sentence has, against 1 for one in the sentence."""
KIND: Final = 0.3
"""What a sentence gains that has the kind of thing that is asked for."""
HINT: Final = 4
"""Letters of a stem that a text is looked through for."""

_WORD: Final = re.compile(r"\w+(?:['’./:@-]\w+)*")
_JOINT: Final = re.compile(r"[./:@_-]+")
_ARABIC: Final = re.compile("[\u0621-\u064a]")
_ASKING: Final = frozenset(
    "tell show give explain describe list find please many much long often old version know "
    "كم متي اين مين ليه ليش عدد".split()
)
_NEGATIONS: Final = frozenset(
    "not no never none nobody neither nor without cannot isn't aren't wasn't weren't don't doesn't didn't won't can't "
    "couldn't shouldn't hasn't haven't لا لم لن ليس ليست غير بدون بلا ما مش".split()
)


class Asked(StrEnum):
    """What kind of thing a question asks for."""

    WHO = "who"
    WHEN = "when"
    WHERE = "where"
    NUMBER = "number"
    DURATION = "duration"
    VERSION = "version"
    WHY = "why"
    HOW = "how"
    OTHER = "other"


_KINDS: Final = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (Asked.VERSION, r"\bversions?\b|اصدار|نسخه"),
        (
            Asked.DURATION,
            r"\bhow (?:long|old|often)\b|\bwhat (?:duration|interval|timeout)\b|كم (?:مده|يوم|ساعه|دقيقه|سنه|شهر)",
        ),
        (
            Asked.NUMBER,
            r"\bhow (?:many|much|big|large|fast|high)\b|\b(?:what|which) (?:is |are |was )?(?:the )?(?:\w+ )?"
            r"(?:number|count|port|size|price|cost|budget|percentage|limit|threshold|amount|total)\b|(?:^|\s)[وف]?كم\b",
        ),
        (
            Asked.WHO,
            r"\bwh(?:o|ose|om)\b|\b(?:what|which) (?:person|team|engineer|owner|author)\b|"
            r"(?:^|[.؟?] )من\b|(?:^|\s)مين\b|\bمن (?:هو|هي|الذي|التي)\b",
        ),
        (
            Asked.WHEN,
            r"\bwhen\b|\bwhat (?:date|day|time|year|month)\b|\bsince what\b|"
            r"(?:^|\s)(?:متي|امتي)\b|اي (?:يوم|تاريخ|سنه|ساعه)",
        ),
        (
            Asked.WHERE,
            r"\bwhere\b|\b(?:what|which) (?:is |are )?(?:the )?(?:\w+ )?(?:address|url|host|path|folder|directory|file|"
            r"server|location|city|machine)\b|(?:^|\s)(?:[وف]?اين|فين|وين)\b",
        ),
        (Asked.WHY, r"\bwhy\b|\bwhat (?:is the )?reason\b|\bhow come\b|(?:^|\s)(?:لماذا|ليش|ليه)\b|ما سبب"),
        (Asked.HOW, r"\bhow\b|(?:^|\s)(?:كيف|ازاي)\b"),
    )
)
MONTHS: Final = (
    "january|february|march|april|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|"
    "oct|nov|dec|may (?=\\d)|(?<=\\d )may|يناير|فبراير|مارس|ابريل|مايو|يونيو|يوليو|اغسطس|سبتمبر|اكتوبر|نوفمبر|ديسمبر"
)
DAYS: Final = (
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|yesterday|today|tonight|tomorrow|midnight|noon|"
    "(?:last|next|every|each|this) (?:day|night|morning|week|month|quarter|year|sprint)|daily|nightly|weekly|monthly|"
    "الاحد|الاثنين|الثلاثاء|الاربعاء|الخميس|الجمعه|السبت|امس|اليوم|غدا"
)
_UNIT: Final = (
    r"(?:ms|s|sec|seconds?|min|minutes?|h|hrs?|hours?|days?|weeks?|months?|years?|d|"
    r"ثواني|ثانيه|دقيقه|دقائق|ساعه|ساعات|يوم|ايام|اسبوع|اسابيع|شهر|اشهر|سنه|سنوات)"
)
_COUNTED: Final = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred|thousand|half|both|none|"
    r"zero|dozen)\b|(?:^|\s)(?:واحد|اثنان|اثنين|ثلاثه|اربعه|خمسه|سته|سبعه|ثمانيه|تسعه|عشره|مئه|مائه|الف)\b"
)
_HAS: Final[Mapping[Asked, re.Pattern[str]]] = {
    kind: re.compile(pattern)
    for kind, pattern in {
        Asked.WHEN: r"\b\d{4}-\d\d|\b\d{1,2}[:.]\d\d\b|\b(?:19|20)\d\d\b|\b\d{1,2}/\d{1,2}\b|"
        rf"\b(?:{MONTHS}|{DAYS})",
        Asked.WHERE: r"\w/\w|(?:^|\s)[/~]\w|https?:|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b\w+\.(?:\w+\.)*(?:com|org|net|io|dev|"
        r"local|internal|lan|py|md|ya?ml|json|toml|ts|js|go|rs|sql|sh)\b|"
        r"\b(?:in|at|on|under|inside|behind|near|from) \S|(?:^|\s)(?:في|علي|داخل|تحت)\s",
        Asked.NUMBER: _COUNTED,
        Asked.DURATION: rf"(?:{_COUNTED})[^.]{{0,12}}?\s?\b{_UNIT}\b|\b(?:daily|nightly|weekly|monthly|hourly|every)\b",
        Asked.VERSION: r"\bv?\d+(?:\.\d+)+|\bv\d+\b|\b(?:version|release)s? \d|اصدار \d|نسخه \d",
        Asked.WHY: rf"\bsince (?!\W*\d|last |{MONTHS}|{DAYS})"
        r"|\b(?:because|due to|so that|reason|caused?|therefore|in order to|to avoid|thanks to|"
        r"as a result)\b|لان|بسبب|لكي|حتي|نتيجه|سبب",
        Asked.HOW: r"\b(?:run|use|call|set|install|start|click|open|add|by \w+ing|first|then|step|via|through|with)\b|"
        r"شغل|استخدم|اضبط|افتح|اضف|عن طريق|بواسطه",
    }.items()
}
_NAMED: Final = re.compile(r"(?<!^)(?<![.!?:] )\b[^\W\d_a-z]\w*[^\W\d_]")
"""Words that may have a capital, but for the first one of a sentence."""
_ROLE: Final = re.compile(
    r"\bby \w|\b(?:owner|lead|author|maintainer|contact|manager)s?(?: is| are|:) \w|@\w|\bteam\b|"
    r"مسؤول|مالك|يملك|تملك|كتب|بواسطه|السيد|المهندس|الدكتور|فريق|مدير|يدير"
)


@dataclass(frozen=True)
class Question:
    """A question: its kind, the stems of its content words, and what each of them weighs."""

    asked: Asked
    weights: Mapping[str, float]

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems."""
        return frozenset(self.weights)


def read(query: str, texts: Sequence[str] = ()) -> Question:
    """The question `query`; a word that few of `texts` hint at weighs more than one of all (idf, smoothed)."""
    folded = fold(query)
    asked = next((kind for kind, pattern in _KINDS if pattern.search(folded)), Asked.OTHER)
    wanted = content(query) - _ASKING_STEMS
    held = Counter(word for text in texts for word in hinted(wanted, text))
    return Question(asked, {word: 1.0 + math.log((1 + len(texts)) / (1 + held[word])) for word in wanted})


def hinted(wanted: Iterable[str], text: str) -> list[str]:
    """Those of the stems `wanted` that `text` may have, for it has their beginning somewhere: quickly found out."""
    folded = _folded(text)
    return [word for word in wanted if word[:HINT] in folded]


def fit(question: Question, text: str, context: str = "") -> float:
    """How well `text` answers, in [0, 1 + KIND]: the share of the question's words that it has, with what is asked for.

    `context` is what stands above it. In a text without a word of the question, nothing is what was asked for.
    """
    weights = question.weights
    own = among(question.words, text)
    above = among(question.words, context) - own if context else own - own
    if not own and not above:
        return 0.0
    covered = sum(weights[word] for word in own) + CONTEXT * sum(weights[word] for word in above)
    return covered / sum(weights.values()) + (KIND if own and has(question, text) else 0.0)


def coverage(question: Question, text: str) -> float:
    """The share of the question's words that `text` has, by their weights, in [0, 1]."""
    held = sum(question.weights[word] for word in among(question.words, text))
    return held / sum(question.weights.values()) if held else 0.0


def among(wanted: frozenset[str], text: str) -> frozenset[str]:
    """Those of the stems `wanted` that `text` has."""
    return wanted & content(text) if hinted(wanted, text) else frozenset()


def has(question: Question, text: str) -> bool:
    """Whether `text` has a thing of the kind that is asked for, and not only in the words of the question."""
    if question.asked is Asked.OTHER:
        return False
    folded = _folded(text)
    if question.asked is not Asked.WHO:
        return _HAS[question.asked].search(folded) is not None
    words = text.split(None, 1)
    first = words[:1] if words and fold(words[0]) not in STOP_WORDS else []
    named = (name for name in (*first, *_NAMED.findall(text)) if name[0].isupper())
    return any(not content(name) <= question.words for name in named) or _ROLE.search(folded) is not None


@lru_cache(2_048)
def content(text: str) -> frozenset[str]:
    """The stems of the words of `text` that mean something."""
    return frozenset(stems(text))


@lru_cache(2_048)
def stems(text: str) -> tuple[str, ...]:
    """The stems of the words of `text` that mean something, in their order."""
    return tuple(chain.from_iterable(map(_stems_of, _WORD.findall(_folded(text)))))


@lru_cache(16_384)
def _stems_of(word: str) -> tuple[str, ...]:
    """The stem of a word, and those of the names in a path or address; none of a word that means nothing."""
    if word in STOP_WORDS:
        return ()
    parts = [word, *(part for part in _JOINT.split(word) if part.isalpha())] if not word.isalnum() else [word]
    return tuple(stem(part) for part in parts if len(part) > 1 or part.isdigit())


def negations(text: str) -> int:
    """How many words of `text` negate."""
    return sum(word in _NEGATIONS or word.endswith("n't") for word in _WORD.findall(_folded(text).replace("’", "'")))


@lru_cache(16_384)
def stem(word: str) -> str:
    """`word`, folded, without the endings that grammar gives it; two words with one stem mean nearly the same.

    Lighter than Porter's: at least three letters stay (of a short word with an ending, two), and words with digits or
    signs are names.
    """
    if _ARABIC.match(word):
        return _arabic(word)
    if word in ("used", "using"):
        return "use"
    word = word.removesuffix("'s").removesuffix("’s")
    if not word.isalpha() or len(word) < 4:
        return word.removesuffix("s") if word.isalpha() and len(word) == 3 and not word.endswith("ss") else word
    for ending in ("ers", "ing", "ies", "ed", "er", "es", "s", "y"):
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= 3
            and not (ending == "s" and word.endswith(("ss", "us", "is")))
        ):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] in "ei" else word


def _arabic(word: str) -> str:
    for prefix in ("وال", "فال", "بال", "كال", "ولل", "لل", "ال", "و", "ف", "ب", "ل", "ي", "ت"):
        if word.startswith(prefix) and len(word) - len(prefix) >= 3:
            word = word[len(prefix) :]
            break
    for ending in ("هما", "ها", "هم", "ات", "ون", "ين", "ان", "ه", "ي", "ا"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@lru_cache(2_048)
def _folded(text: str) -> str:
    return text.casefold() if text.isascii() else fold(text)


_ASKING_STEMS: Final = frozenset(stem(word) for word in _ASKING)

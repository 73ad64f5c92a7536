"""Claims: the sentences of a memory that state something and can be read alone. Pure functions.

Precision first: what is left out stays in its memory, what is let in is quoted years later without what stood around
it. So a sentence that asks, plans, supposes, repeats somebody else's words, jokes, greets, addresses its listener or
points at something outside of itself is no claim. Closed word lists in two languages, no grammar and no model; the
hedges are those of the write decision (`cortex_decision`), so that retain and sleep doubt the same sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cortex_decision import arabic, english
from cortex_decision.clauses import lemma
from cortex_extraction.entities import EntityKind, extract
from cortex_extraction.folding import fold, words
from cortex_extraction.stop_words import STOP_WORDS
from cortex_sleep.consolidation import phrases

MIN_WORDS: Final = 4
MIN_CONTENT: Final = 3
"""Words that mean something: "I like it a lot" has too few to say what about."""
MAX_WORDS: Final = 45
MAX_CHARS: Final = 320
"""A longer sentence is prose or data: it is not quoted."""
READ_CHARS: Final = 8_000
"""Of a memory; a longer one is a text of its own, not something said."""
MAX_TITLE: Final = 6
"""Words between quotation marks that may be a title; more of them are somebody's words."""
ANTECEDENT: Final = 3
"""Words that mean something before "it" or "they": with fewer, what is pointed at stands outside of the sentence."""

_SENTENCE: Final = re.compile(
    r"(?<=[.!?؟;؛…])(?<!\b[A-Z]\.)(?<!\b[A-Z][a-z]\.)(?<!\bMrs\.)(?<!\be\.g\.)(?<!\bi\.e\.)[\"'”’»)\]]*\s+|\s*[\r\n]+\s*"
)
_QUOTED: Final = re.compile(r"[\"“«„]([^\"”»“\n]+)[\"”»“]")
_NO_FUTURE: Final = frozenset(
    "ساعات ساعتين ساعدت ساعدني سنوات سنتين سياره سيارتي سيارات سياسه ستين ستون ساحه ساخن ساحل".split()
)
"""Arabic words that begin as "I will" and "we will" do."""
_ARABIC_WORD: Final = re.compile("[\u0621-\u064a]")


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence, as it was written; `place`: which one of its memory. `own`: its speaker says it of themselves or
    theirs; else it is about what it names."""

    text: str
    place: int
    own: bool


def claims(text: str, *, speaker: str | None) -> tuple[Claim, ...]:
    """The claims of what somebody said, in their order; `speaker`: none for a note that nobody signed."""
    if len(text) > READ_CHARS or phrases.LAUGHS.search(text.casefold()):
        return ()
    parts = [part for part in _SENTENCE.split(phrases.ASIDE.sub(" ", text)) if part.strip()]
    found = []
    for place, part in enumerate(parts):
        if place + 1 < len(parts) and takes_back(parts[place + 1]):
            continue
        stated = _stated(part, speaker)
        if stated is not None:
            found.append(Claim(stated[0], place, stated[1]))
    return tuple(found)


def topical(text: str) -> list[str]:
    """The words of a claim that tell what it is about, folded."""
    return [
        bare
        for word in words(text)
        if (bare := word.removesuffix("'s")) not in STOP_WORDS and bare not in phrases.TOPICLESS and len(bare) > 1
    ]


def laughs(text: str) -> bool:
    """Whether a text is meant, or taken, as a joke."""
    return phrases.LAUGHS.search(text.casefold()) is not None


def takes_back(text: str) -> bool:
    """Whether somebody takes back what was said just before."""
    return phrases.TAKEN_BACK.search(fold(text)) is not None


def _stated(sentence: str, speaker: str | None) -> tuple[str, bool] | None:
    """The sentence without how it begins as an answer, and whether it is about its speaker; none if it is no claim."""
    text = phrases.LEAD.sub("", " ".join(sentence.split())).strip()
    text = text[:1].upper() + text[1:] if text[:1].isascii() else text
    if (
        not MIN_CONTENT < len(text) <= MAX_CHARS
        or text.endswith(("?", "؟", ":", "…", "..."))
        or "?" in text
        or "؟" in text
    ):
        return None
    if phrases.PROSE.search(text) or not _is_prose(text) or _speaks_for_others(text):
        return None
    plain = fold(text).replace("’", "'")
    said = words(text)
    if not MIN_WORDS <= len(said) <= MAX_WORDS or _meaningful(said) < MIN_CONTENT:
        return None
    in_arabic = _ARABIC_WORD.search(text) is not None
    # "may" is a month with a capital.
    if "may" in text.split() or _doubtful(said, plain, in_arabic) or _points_away(said, text):
        return None
    own = bool(phrases.FIRST_PERSON & set(said)) or (in_arabic and speaker is not None)
    if not own and not _named(text, said, spoken=speaker is not None):
        return None
    if own and not in_arabic and not phrases.SUBJECTS & set(said):
        return None
    return f"{text[:-1]}." if text.endswith((";", ",")) else text, own


def _is_prose(text: str) -> bool:
    letters = sum(char.isalpha() or char.isspace() for char in text)
    return text[0].isalnum() and letters >= 0.8 * len(text)


def _speaks_for_others(text: str) -> bool:
    """Whether a quotation in it is more than a title."""
    for found in _QUOTED.finditer(text):
        quoted = words(found[1])
        if len(quoted) > MAX_TITLE or phrases.FIRST_PERSON & set(quoted):
            return True
    return False


def _meaningful(said: Sequence[str]) -> int:
    return len({word for word in said if word not in STOP_WORDS and len(word) > 1})


def _doubtful(said: Sequence[str], plain: str, in_arabic: bool) -> bool:
    marks = set(said)
    marks |= {word.partition("'")[0] for word in marks if "'" in word and not word.endswith("'t")}
    if marks & phrases.DOUBTS or any(word.endswith(("'ll", "'d")) for word in said):
        return True
    if phrases.CONNECTIVE.match(plain) or phrases.CHATTER.match(plain):
        return True
    if phrases.HEARSAY.search(plain) or phrases.UNREAL.search(plain) or phrases.LABEL.match(plain):
        return True
    if phrases.PHRASES.search(plain) or phrases.FUTURE.search(plain):
        return True
    if not in_arabic:
        return False
    return bool(
        marks & phrases.ARABIC_DOUBTS
        or phrases.ARABIC_CHATTER.match(plain)
        or any(len(word) > 3 and word[0] in "سي" and word[1:] in arabic.INTENTIONS for word in marks)
        or any(len(word) > 4 and word[0] == "س" and word[1] in "انيت" and word not in _NO_FUTURE for word in marks)
        or any(len(word) > 2 and word[0] in "يتنا" and word[1:] in arabic.INTENTIONS for word in marks)
    )


def _points_away(said: Sequence[str], text: str) -> bool:
    """Whether it points at what was said elsewhere: "I made this last year", "They loved it"."""
    if phrases.POINTING.search(fold(text)):
        return True
    names = {word for one in extract(text) for word in one.key.split()}
    before = 0
    persons = several = False
    for at, word in enumerate(said):
        if (word in phrases.SHE and not persons) or (word in phrases.THEY and not several):
            return True
        needed = ANTECEDENT - 1 if word in phrases.OWNERS else ANTECEDENT
        if word in phrases.POINTS and before < needed and (at == 0 or word not in phrases.MIDWAY):
            return True
        bare = word.removesuffix("'s")
        plural = bare.endswith("s") and len(bare) > 3 and bare not in STOP_WORDS
        persons = persons or bare in phrases.PERSONS or bare in names
        several = several or plural or bare in phrases.MANY or bare in names
        before += word not in STOP_WORDS and len(word) > 2 and word not in phrases.FIRST_PERSON
    return False


def _named(text: str, said: Sequence[str], *, spoken: bool) -> bool:
    """Whether it is about something that can be told by its name: in a conversation it begins with one (and "Life's
    tough" with none), in a note it has one and says how it is or what it did."""
    kinds = (EntityKind.PERSON_OR_THING, EntityKind.IDENTIFIER, EntityKind.WIKILINK)
    if not spoken:
        first, *rest = said[:8]
        return (
            any(one.kind in kinds for one in extract(text))
            and first not in phrases.IMPERATIVES
            and any(lemma(word) in english.STATIVES | phrases.BEING or word.endswith("ed") for word in rest)
        )
    opening = re.sub(r"^(?:the|our|a|an)\s+", "", text, flags=re.IGNORECASE)
    return any(
        opening.startswith(one.name) and not opening[len(one.name) :].startswith(("'s", "’s"))
        for one in extract(opening)
        if one.kind in kinds
    )

"""What a model wrote, held against the sources that it cites. Pure functions.

Checked is what can be checked cheaply, and what cannot is cut. A sentence stays when

- it cites sources that exist, in the form it was asked for, and no other;
- it is one plain statement: no question, not too long, none that addresses a model, none that was said before;
- for every clause of it there is one place (a sentence with its neighbours and the title) in one of the sources that it
  cites, where every number, name, identifier and quotation of the clause stands, and at least `SUPPORTED` of its words
  by their stems (`SUPPORTED_ARABIC` in Arabic, whose names have no capitals);
- it is written in the script of the question or of those sources;
- it does not negate what they affirm, or the other way round, makes no end of a beginning in time, and states no value
  against theirs (`assertions`).

A source that has nothing of the sentence is taken off it. Words in a script that a place has none of are translated;
then only numbers and names can be told, so there has to be one of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from cortex_extraction.entities import EntityKind, extract
from cortex_extraction.folding import fold, words
from cortex_extraction.stop_words import OPENERS, STOP_WORDS
from cortex_gateway.answer import alike
from cortex_gateway.assertions import Relation, relation
from cortex_gateway.directives import addresses_a_model
from cortex_gateway.plain_text import bare, sentence
from cortex_gateway.question_fit import DAYS, MONTHS, content, negations, stem, stems
from cortex_gateway.sentences import split
from cortex_gateway.synthesis_prompt import NOTHING, Source

MAX_SENTENCE: Final = 400
"""Characters; four times the length that is asked for."""
SUPPORTED: Final = 0.6
SUPPORTED_ARABIC: Final = 0.8

_RECEIPTS: Final = re.compile(r"\s?[\[【]\s*(r\d{1,4}(?:\s*[,;،]?\s*r\d{1,4})*)\s*[\]】]")
_LIKE_A_RECEIPT: Final = re.compile(
    r"[\[【（(［]\s*(?:r|source|id|receipt)?\s*[:#]?\s*\d+\b[^\[\]]{0,40}[\])】）］]", re.IGNORECASE
)
_GAP: Final = re.compile(r"(?<!\s)\s+(?=[.,;:!?؟،؛])")
_NUMBER: Final = re.compile(r"\d+(?:[.,:/٫٬-]\d+)*")
_THOUSANDS: Final = re.compile(r"(?<=\d)[,٬](?=\d{3}(?!\d))")
_PARTS: Final = re.compile(r"[.,:/-]")
_COUNTS: Final = {
    word: str(number)
    for number, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split(), 2
    )
}
_MONTHS: Final = {
    name: str(number) for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
_CLAUSES: Final = re.compile(
    r"; |, (?:and|but|while|which|whereas|so) | (?:but|while|whereas) |؛ ?|، ?و(?=\w)|، (?:لكن|بينما|حيث) "
)
_QUOTED: Final = re.compile(r"[\"“«„]([^\"”»“\n]{2,200})[\"”»“]")
_WORD: Final = re.compile(r"(?<![\w'’.])[^\W\d_][\w'’-]*")
_MOMENT: Final = rf"(?: [^\W\d]+){{0,2}}? (?:\d|{MONTHS}|{DAYS})"
_UNTIL: Final = re.compile(rf"\b(?:until|till|before|حتي|قبل){_MOMENT}")
_SINCE: Final = re.compile(rf"\b(?:since|after|as of|منذ|بعد){_MOMENT}")
_COMMON: Final = OPENERS | frozenset(
    "according currently overall together additionally moreover furthermore therefore thus instead specifically "
    "originally previously recently later earlier sources source notes note memory memories page pages records "
    "both three two one several different".split()
)


class Verdict(StrEnum):
    """What became of a sentence."""

    ACCEPTED = "accepted"
    UNCITED = "uncited"
    INVENTED = "invented"
    """It cites what does not exist."""
    FORM = "form"
    REPEATED = "repeated"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True)
class Checked:
    """A sentence in plain text without its receipts and last stop, the sources that it stands on, and the verdict."""

    verdict: Verdict
    text: str = ""
    sources: tuple[Source, ...] = ()


class Checker:
    """Checks the sentences of one answer, in their order."""

    def __init__(self, query: str, sources: Sequence[Source]) -> None:
        self._sources = {source.id: source for source in sources}
        self._scripts = scripts(query)
        self._said: list[str] = []

    def check(self, written: str) -> Checked:
        """The verdict on a sentence as the model wrote it."""
        ids = [one for found in _RECEIPTS.finditer(written) for one in re.findall(r"r\d+", found[1])]
        text = bare(_GAP.sub("", sentence(_RECEIPTS.sub("", written)))).lstrip(" .,;:!?،؛؟")
        if not ids:
            return Checked(Verdict.INVENTED if _LIKE_A_RECEIPT.search(written) else Verdict.UNCITED, text)
        if not set(ids) <= self._sources.keys() or _LIKE_A_RECEIPT.search(_RECEIPTS.sub("", written)):
            return Checked(Verdict.INVENTED, text)
        if not _is_statement(written, text):
            return Checked(Verdict.FORM, text)
        if any(text == one or alike(text, one) for one in self._said):
            return Checked(Verdict.REPEATED, text)
        cited = [source for one in dict.fromkeys(ids) if shares(text, (source := self._sources[one]).support)]
        written_in = self._scripts.union(*(scripts(source.support) for source in cited))
        if not scripts(text) <= written_in or not supported(text, cited):
            return Checked(Verdict.UNSUPPORTED, text)
        if contradicts(text, cited):
            return Checked(Verdict.CONTRADICTED, text)
        self._said.append(text)
        return Checked(Verdict.ACCEPTED, text, tuple(cited))


def _is_statement(written: str, text: str) -> bool:
    asks = _RECEIPTS.sub("", written).rstrip(" \"'”’»)").endswith(("?", "؟", "？"))
    return (
        not asks
        and len(text) <= MAX_SENTENCE
        and bool(content(text))
        and NOTHING not in text.split()
        and not addresses_a_model(text)
    )


def supported(text: str, cited: Sequence[Source]) -> bool:
    """Whether every clause of `text` stands in one place of one source."""
    clauses = [clause for clause in _CLAUSES.split(text) if clause and content(clause)]
    return bool(clauses) and all(
        any(supports(clause, place) for source in cited for place in places(source)) for clause in clauses
    )


@lru_cache(256)
def places(source: Source) -> tuple[str, ...]:
    """The sentences of a source, each with its neighbours, under the title and the day it was last seen."""
    said = [part for line in source.text.split("\n") for part in split(line)]
    around = ("\n".join(said[max(0, at - 1) : at + 2]) for at in range(len(said)))
    return tuple("\n".join(filter(None, (source.title, place, source.seen))) for place in around)


def supports(clause: str, place: str) -> bool:
    """Whether `place` has the numbers, names and quotations of `clause`, and enough of its words."""
    given = numbers(place)
    if not numbers(clause) <= given:
        return False
    if _turned_in_time(clause, place):
        return False
    folded = " ".join(words(place))
    if any(" ".join(words(quoted)) not in folded for quoted in _QUOTED.findall(clause)):
        return False
    known = _known(place)
    named = (one for one in extract(clause) if one.kind not in (EntityKind.DATE, EntityKind.QUOTED))
    parts = {part for one in named for part in one.key.split()} - STOP_WORDS
    if not all(part in known or stem(part) in known for part in parts):
        return False
    for name in _capitalised(clause):
        if not set(stems(name)) <= known and _MONTHS.get(fold(name)[:3]) not in given:
            return False
    # In a script that the place has none of, a word is translated.
    said = [one for one in stems(clause) if scripts(one) <= scripts(place)]
    enough = SUPPORTED_ARABIC if "ARABIC" in scripts(" ".join(said)) else SUPPORTED
    return bool(said) and sum(one in known for one in said) >= enough * len(said)


def _turned_in_time(clause: str, place: str) -> bool:
    """Whether one says until when and the other only since when: the words and the date are the same."""
    own, given = fold(clause), fold(place)
    return any(
        one.search(own) and other.search(given) and not one.search(given)
        for one, other in ((_UNTIL, _SINCE), (_SINCE, _UNTIL))
    )


@lru_cache(512)
def _known(place: str) -> frozenset[str]:
    return frozenset(stem(form) for word in words(place) for form in _forms(word)) | content(place)


def _forms(word: str) -> Iterator[str]:
    """A word, and what is joined in it: `auth/login.py` has `auth`, `login` and `py`."""
    yield word
    yield word.removesuffix("'s")
    if not word.isalpha():
        yield from (part for part in re.split(r"\W+|_", word) if part)


def _capitalised(text: str) -> Iterator[str]:
    """Words with a capital; the first one too, unless many sentences begin with it."""
    for found in _WORD.finditer(text):
        word = found.group()
        if word[0].isupper() and (found.start() or fold(word) not in _COMMON):
            yield word


def shares(text: str, support: str) -> bool:
    """Whether `support` has anything of `text`: a word, or where it is in another script a number or name."""
    return bool(content(text) & content(support)) or bool(numbers(text) & numbers(support))


@lru_cache(1_024)
def numbers(text: str) -> frozenset[str]:
    """The numbers in `text`, however they are written: without marks of thousands, in ASCII digits, small ones that are
    spelt out as digits. Those of a date or time also one by one, and as a date whatever their order."""
    folded = _THOUSANDS.sub("", fold(text))
    found: set[str] = set()
    for token in _NUMBER.findall(folded):
        found.add(token)
        parts = _PARTS.split(token)
        if len(parts) == 3 and ("-" in token or "/" in token):
            found.discard(token)
            found |= {str(int(part)) for part in parts}
        elif token.isdigit():
            found.discard(token)
            found.add(str(int(token)))
    return frozenset(found | {_COUNTS[word] for word in folded.split() if word in _COUNTS})


def contradicts(text: str, cited: Sequence[Source]) -> bool:
    """Whether `text` says the opposite of what its sources say, as far as rules can tell."""
    nearest, best = "", 0
    conflict = False
    own = content(text)
    for source in cited:
        for said in (part for line in source.text.split("\n") for part in split(line)):
            stated = relation(text, said, titles=("", source.title))
            if stated is Relation.SAME:
                return False
            conflict = conflict or stated is Relation.CONFLICT
            if (common := len(own & content(said))) > best:
                nearest, best = said, common
    # "is not stopped" has every word of "is stopped".
    turned = bool(negations(text)) != bool(negations(nearest)) and best >= SUPPORTED * len(own)
    return conflict or turned


@lru_cache(1_024)
def scripts(text: str) -> frozenset[str]:
    """The scripts of the letters in `text`, as Unicode calls them; what Chinese and Japanese mix is one."""
    return frozenset(_script(char) for char in set(text) if char.isalpha())


@lru_cache(4_096)
def _script(char: str) -> str:
    name = unicodedata.name(char, "").split(" ", 1)[0].removesuffix("-")
    return (
        "CJK"
        if name in ("HIRAGANA", "KATAKANA", "CJK")
        else "LATIN"
        if name in ("MICRO", "FEMININE", "MASCULINE")
        else name
    )

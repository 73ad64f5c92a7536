"""Terms: the words that a text is found by. Writer and reader share this module, so both fold alike.

Words are folded as names are (`cortex_extraction.folding`). Identifiers stay whole and are split as well: `svc-auth-2`
is `svc-auth-2`, `svc`, `auth`, `2`, and `getUserById` is also `get`, `user`, `by`, `id`. Chinese and Japanese put no
spaces between words: they come in overlapping pairs of characters as well (as in Lucene's CJKAnalyzer). Other scripts
without spaces (Thai, Khmer) are not segmented.

Memories and pages are found by the stems of their terms (`analyse`, `content_terms`: BM25, see `lexical`): Snowball for
Latin words, light10 (Larkey, Ballesteros and Connell, 2007) for Arabic ones, chosen per word, so a text in two
languages needs no language of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final

import snowballstemmer

from cortex_extraction.folding import INVISIBLE, fold
from cortex_store import stop_words

MAX_TERM_LENGTH: Final = 80
"""Longer runs are encoded data, not words."""
MAX_QUERY_TERMS: Final = 64

# `\w` lacks the combining marks that are vowels and accents elsewhere: those of Latin and of the Indic scripts.
_CHAR = r"[\w\u0300-\u036f\u0900-\u0963\u0966-\u109f\u1780-\u17d3]"
_WORD = re.compile(rf"{_CHAR}+(?:[-.:/@+#]{_CHAR}+)*")
# The same in a text that is not normalised yet.
_WRITTEN_CHAR = f"{_CHAR[:-1]}{INVISIBLE.pattern[1:]}"
_WRITTEN = re.compile(rf"{_WRITTEN_CHAR}+(?:[-.:/@+#]{_WRITTEN_CHAR}+)*")
_WRITTEN_PART = re.compile(r"[^-.:/@+#_]+")
_UNSPACED = re.compile(
    "[\u2e80-\u2fdf\u3040-\u30ff\u3105-\u312f\u31a0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]{2,}"
)
_SEPARATOR = re.compile(r"[-.:/@+#_]+")
_ARABIC = re.compile("[\u0620-\u064a]+")
_LATIN = re.compile("[a-z]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def terms(text: str) -> Iterator[str]:
    """The terms of `text` in its order; an identifier comes whole, then in parts."""
    for match in _WORD.finditer(INVISIBLE.sub("", unicodedata.normalize("NFKC", text))):
        word = match.group()
        # The words of a language are few; what is long is none of them, and need not be kept.
        yield from _terms_of(word) if len(word) <= MAX_TERM_LENGTH else _terms_of.__wrapped__(word)


def analyse(text: str) -> list[str]:
    """The terms that a memory is indexed by and a question asks for: stems, in the order of `text`, repeated as there.

    An identifier comes whole and unstemmed, then its parts. Stop words are kept: a question may consist of them.
    """
    return [_stem(term) for term in terms(text)]


def located(text: str, wanted: Collection[str]) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Where words stand in `text`, as it is written, that are found by stems of `wanted`, with those stems: of an
    identifier the whole, then its parts, of Chinese and Japanese the overlapping pairs."""
    asked = frozenset(wanted)
    # The English stemmer never changes how a word begins: most words need not be stemmed.
    beginnings = {stem[0] for stem in asked}
    for match in _WRITTEN.finditer(text):
        word = match.group()
        if word.isascii() and word.isalpha() and (word[1:].islower() or len(word) == 1):
            if word[0].lower() in beginnings and (hit := _stems_of(word) & asked):
                yield *match.span(), hit
            continue
        places = [part.span() for part in _WRITTEN_PART.finditer(text, *match.span())]
        places = places if len(places) > 1 else []
        for run in _UNSPACED.finditer(text, *match.span()):
            places += [(at, at + 2) for at in range(run.start(), run.end() - 1)]
        parts = [(start, end, _stems_of(text[start:end]) & asked) for start, end in places]
        if hit := (_stems_of(word) & asked).difference(*(stems for _, _, stems in parts)):
            yield *match.span(), hit
        yield from (part for part in parts if part[2])


def content_terms(query: str) -> tuple[str, ...]:
    """The distinct terms of a question that can tell texts apart, in order; at most `MAX_QUERY_TERMS`.

    Without its stop words, unless it has nothing else ("Who is it?", a band named The Who).
    """
    every = [(term, _stem(term)) for term in terms(query)]
    telling = [stem for term, stem in every if term not in STOP_WORDS] or [stem for _, stem in every]
    return tuple(dict.fromkeys(telling))[:MAX_QUERY_TERMS]


def script(text: str) -> int:
    """The script of most letters of `text`: 1 Latin, 2 Arabic, 0 neither or as much of both."""
    folded = fold(text)
    latin, arabic = (sum(map(len, pattern.findall(folded))) for pattern in (_LATIN, _ARABIC))
    return 0 if latin == arabic else 1 if latin > arabic else 2


@lru_cache(maxsize=65_536)
def _terms_of(word: str) -> tuple[str, ...]:
    parts = [piece for part in _SEPARATOR.split(word) for piece in _CAMEL.split(part) if piece]
    written = [word, *parts] if len(parts) > 1 else [word]
    folded = [fold(term).strip("_") for term in written]
    for run in _UNSPACED.findall(word):
        folded += [fold(pair) for pair in _pairs(run) if pair != word]
    return tuple(term for term in folded if 0 < len(term) <= MAX_TERM_LENGTH)


@lru_cache(maxsize=65_536)
def _stems_of(word: str) -> frozenset[str]:
    return frozenset(analyse(word))


@lru_cache(maxsize=65_536)
def _stem(term: str) -> str:
    if _LATIN.fullmatch(term):
        # A stemmer keeps its state in itself and costs nothing to make: threads do not share one.
        stem: str = snowballstemmer.stemmer("english").stemWord(term)
        return stem
    return _light10(term) if _ARABIC.fullmatch(term) else term


def _light10(word: str) -> str:
    """The stem of a folded Arabic word: light10 as Larkey et al. define it, a letter less than its minimum kept."""
    word = word.translate(_HAMZA_CARRIERS)
    if word.startswith("و") and len(word) >= 4:
        word = word[1:]
    for prefix in _ARABIC_PREFIXES:
        if word.startswith(prefix) and len(word) >= len(prefix) + 2:
            word = word[len(prefix) :]
            break
    for suffix in _ARABIC_SUFFIXES:
        if word.endswith(suffix) and len(word) >= len(suffix) + 2:
            word = word[: -len(suffix)]
    return word


_HAMZA_CARRIERS = str.maketrans("ئؤ", "يو")
_ARABIC_PREFIXES: Final = ("ال", "بال", "كال", "فال", "لل")
_ARABIC_SUFFIXES: Final = ("ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي")

STOP_WORDS: Final = frozenset(fold(word) for word in f"{stop_words.ENGLISH} {stop_words.ARABIC}".split())


def _pairs(run: str) -> Iterator[str]:
    return (run[at : at + 2] for at in range(len(run) - 1))

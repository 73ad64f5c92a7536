"""Terms: the words that a text is found by. Writer and reader share this module, so both fold alike.

Words are folded as names are (`cortex_extraction.folding`). Identifiers stay whole and are split as well: `svc-auth-2`
is `svc-auth-2`, `svc`, `auth`, `2`, and `getUserById` is also `get`, `user`, `by`, `id`. Scripts without spaces
(Chinese, Japanese, Thai) are not segmented.

Pages are found by these terms as they are (`document`, `query`: PostgreSQL's own index). Memories are found by their
stems (`analyse`, `content_terms`: BM25, see `lexical`): Snowball for Latin words, light10 (Larkey, Ballesteros and
Connell, 2007) for Arabic ones, chosen per word, so a text in two languages needs no language of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import snowballstemmer

from cortex_extraction.folding import INVISIBLE, fold
from cortex_store import stop_words

MAX_TERM_LENGTH: Final = 80
"""Longer runs are encoded data, not words."""
MAX_QUERY_TERMS: Final = 64
MAX_DOCUMENT_BYTES: Final = 800_000
"""PostgreSQL refuses a tsvector above 1 MiB; the terms of a longer text beyond this are not indexed."""
MAX_POSITION: Final = 16_383
MAX_POSITIONS_PER_TERM: Final = 64

# `\w` lacks the combining marks that are vowels and accents elsewhere: those of Latin and of the Indic scripts.
_CHAR = r"[\w\u0300-\u036f\u0900-\u0963\u0966-\u109f\u1780-\u17d3]"
_WORD = re.compile(rf"{_CHAR}+(?:[-.:/@+#]{_CHAR}+)*")
_SEPARATOR = re.compile(r"[-.:/@+#_]+")
_ARABIC = re.compile("[\u0620-\u064a]+")
_LATIN = re.compile("[a-z]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def terms(text: str) -> Iterator[str]:
    """The terms of `text` in its order; an identifier comes whole, then in parts."""
    for match in _WORD.finditer(INVISIBLE.sub("", unicodedata.normalize("NFKC", text))):
        word = match.group()
        parts = [piece for part in _SEPARATOR.split(word) for piece in _CAMEL.split(part) if piece]
        for term in (word, *parts) if len(parts) > 1 else (word,):
            folded = fold(term).strip("_")
            if folded and len(folded) <= MAX_TERM_LENGTH:
                yield folded


def analyse(text: str) -> list[str]:
    """The terms that a memory is indexed by and a question asks for: stems, in the order of `text`, repeated as there.

    An identifier comes whole and unstemmed, then its parts. Stop words are kept: a question may consist of them.
    """
    return [_stem(term) for term in terms(text)]


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


def document(text: str) -> str:
    """The terms of `text` with their positions, as the text of a PostgreSQL tsvector."""
    positions: dict[str, list[int]] = {}
    size = 0
    for position, term in enumerate(terms(text), start=1):
        known = positions.setdefault(term, [])
        if len(known) < MAX_POSITIONS_PER_TERM:
            size += 2 if known else len(term.encode()) + 6
            if size > MAX_DOCUMENT_BYTES:
                positions = {term: at for term, at in positions.items() if at}
                break
            known.append(min(position, MAX_POSITION))
    return " ".join(f"{_quote(term)}:{','.join(map(str, at))}" for term, at in positions.items())


def query(text: str) -> str | None:
    """The text of a PostgreSQL tsquery that matches a document with any term of `text`; none if it has no term."""
    distinct = list(dict.fromkeys(terms(text)))[:MAX_QUERY_TERMS]
    return " | ".join(map(_quote, distinct)) or None


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


def _quote(term: str) -> str:
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"

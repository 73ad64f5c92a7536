"""Needles: pieces of a question's words that a server can look for as substrings, where it has no search. Pure."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from cortex_extraction.folding import fold
from cortex_store import terms

MOST: Final = 12
"""Needles of one question; the words after them are judged all the same, in what the first ones found."""
SHORTEST: Final = 2
"""Letters of a needle; of Latin and Arabic script, three of a word's beginning would still be in every text."""

ALEF: Final = "ا"
HAMZAS: Final = "أإ"
"""How an alef at the beginning of a word is written as well."""


def needles(question: str) -> list[tuple[str, ...]]:
    """For each telling word of `question` what its forms have in common, in order, each once, in lower case.

    `policies` and `policy` are both found by `polic`, `الخدمات` by `خدم`. A server compares letters: a word that can be
    written with other letters than it is folded to has several spellings, and any will do. They hold letters, digits
    and the marks inside of identifiers, never quotes, backslashes or white space.
    """
    found: dict[tuple[str, ...], None] = {}
    for begin, end, stems in terms.located(question, terms.content_terms(question)):
        written = question[begin:end].lower()
        folded = fold(written)
        stem = max(stems, key=len)
        needle = stem if stem in folded else _beginning(stem, folded)
        needle = needle if len(needle) > SHORTEST else folded
        spellings = [needle, *([] if needle in written else [written])]
        if needle.startswith(ALEF):
            spellings += [hamza + needle[1:] for hamza in HAMZAS]
        if forms := tuple(dict.fromkeys(form for form in spellings if len(form) >= SHORTEST)):
            found.setdefault(forms)
    return list(found)[:MOST]


def _beginning(one: str, other: str) -> str:
    """How both begin."""
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))

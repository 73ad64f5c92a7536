"""Folding: what two spellings of the same content have in common.

Compatibility forms, case, Latin accents, punctuation, white space, Arabic tashkeel and tatweel, the forms of alef, ya,
kaf and ta marbuta (the rules of Lucene's ArabicNormalizer) and the digits of every script make no different content.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

READ_LIMIT: Final = 4_000
"""Characters of a text that are read as clauses; a longer text is compared as a whole and retires nothing."""

_INVISIBLE: Final = frozenset({"Mn", "Me", "Cf"})
_LETTERS: Final = str.maketrans("ٱىیکةە٫٬’‘ʼ´`“”«»„–—−‐‒", "اييكهه.,'''''" + '"' * 5 + "-" * 5)
_SEPARATORS: Final = re.compile(r"(?<=\d)[.,:/](?=\d)|(?<!\w)\.(?=\d)")
_GROUPED: Final = re.compile(r"(?<![\d.,])(\d{1,3})((?:[, ]\d{3})+)(?![\d,])")


def fold(text: str) -> str:
    """`text` in the form in which words are compared; separators stay where they are."""
    if text.isascii():
        return text.casefold()
    return unicodedata.normalize("NFKD", text.casefold()).translate(_FOLDED)


class _Characters(dict[int, str | None]):
    """What each character becomes, for `str.translate`; filled as characters are met."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        if char == "ـ" or unicodedata.category(char) in _INVISIBLE:
            self[code] = None
        else:
            self[code] = (str(unicodedata.decimal(char)) if char.isdecimal() else char).translate(_LETTERS)
        return self[code]


_FOLDED: Final = _Characters()


def ungrouped(folded: str) -> str:
    """The text with the thousands of its numbers written together: "1,250" and "12 000" become "1250", "12000"."""
    return _GROUPED.sub(lambda found: found[1] + re.sub("[, ]", "", found[2]), folded)


def content(text: str) -> str:
    """What `text` says, without what no reader would call a difference; equal contents are a repeat.

    Signs that change what is said stay: a question mark, a minus before a number, `+`, `%`, currency signs, operators,
    ticks and crosses, and the separators inside numbers, versions, dates and times.
    """
    folded = ungrouped(fold(text.replace("≠", "!=").replace("؟", "?")))
    marked = _SEPARATORS.sub(lambda found: _HELD[found[0]], folded)
    words = _PUNCTUATION.sub(" ", _MINUS.sub("\ue004", marked)).translate(_RELEASED).split()
    return " ".join(words)


def signs(kept: str) -> list[str]:
    """The signs that `content` kept, in order of code point: what words alone do not show."""
    return sorted(char for char in kept if not (char.isalnum() or char.isspace() or char == "_"))


def may_equal(one: str, other: str) -> bool:
    """Whether two texts can have the same content, judged by their first `READ_LIMIT` characters only."""
    # The cut may fall into a word or a grouped number: the last words are not compared.
    left, right = (content(text[:READ_LIMIT]).split() for text in (one, other))
    shared = min(len(left), len(right)) - 3
    return shared <= 0 or left[:shared] == right[:shared]


_MINUS: Final = re.compile(r"(?<![^\W_])-(?=\d)")
_PUNCTUATION: Final = re.compile(
    r"!(?!=)|[^\w\s!?%+=<>$€£¥₪₹﷼¢₽₺&@#*^/\\~≤≥≈±×÷→←↑↓✅❌👍👎✓✗✔✖\ue000-\ue004]|(?<!\w)_+|_+(?!\w)|\*+|\ufe0f",
    re.UNICODE,
)
_HELD: Final = {".": "\ue000", ",": "\ue001", ":": "\ue002", "/": "\ue003"}
_RELEASED: Final = {ord(held): plain for plain, held in _HELD.items()} | {0xE004: "-"}

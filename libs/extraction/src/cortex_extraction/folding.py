"""Folding: the differences between two spellings of a word that no search should see.

Compatibility forms are unified (NFKC), case is folded, Arabic loses tashkeel, tatweel and the differences between
forms of alef, ya, kaf and ta marbuta (the rules of Lucene's ArabicNormalizer, and the Persian letters that keyboards
mix in), digits of any script become ASCII. The lexical index of the store folds with it too.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

# Tashkeel and Quranic marks, tatweel, and format characters that are invisible: joiners, bidi marks, soft hyphen.
INVISIBLE: Final = re.compile(
    "[\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08d3-\u08e1\u08e3-\u08ff"
    "\u0640\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)
_LETTERS: Final = str.maketrans("آأإٱىیکۀةە", "ااااييكههه")
APOSTROPHES = str.maketrans("’‘ʼ", "'''")
_DASHES = str.maketrans("‐‒–—−", "-----")
_EDGES = ".,;:!?…\"'()[]{}<>«»“”„*`~|_-–—؟،؛"


def fold(text: str) -> str:
    """`text` with every difference removed that a search should not see; separators stay."""
    if text.isascii():
        return text.casefold()
    folded = INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_FOLDED)


class _Characters(dict[int, str]):
    """What each character becomes, for `str.translate`; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = found = str(unicodedata.decimal(char)) if char.isdecimal() else char.translate(_LETTERS)
        return found


_FOLDED: Final = _Characters()


def words(text: str) -> list[str]:
    """The folded words of `text`: split at white space, without the punctuation around them; `#`, `@` and `/` stay."""
    return [
        word for token in fold(text).translate(APOSTROPHES).translate(_DASHES).split() if (word := token.strip(_EDGES))
    ]


def key(name: str) -> str:
    """The form in which a name is compared: its folded words, one space between them; empty if it has none."""
    return " ".join(words(name))


@dataclass(frozen=True, slots=True)
class Aligned:
    """A folded text that knows where each of its characters stood: `origin[i]` is the index in `text` of `folded[i]`.

    Folded character by character, so that positions survive; words of the grammars come out as `fold` gives them.
    """

    text: str
    folded: str
    origin: tuple[int, ...]

    def slice(self, start: int, end: int) -> str:
        """The original words behind `folded[start:end]`, which must not be empty."""
        return self.text[self.origin[start] : self.origin[end - 1] + 1]


def align(text: str) -> Aligned:
    """Fold `text` and keep the positions."""
    pieces: list[str] = []
    origin: list[int] = []
    for index, char in enumerate(text):
        piece = char.lower() if char.isascii() else fold(char).translate(APOSTROPHES)
        pieces.append(piece)
        origin.extend([index] * len(piece))
    return Aligned(text, "".join(pieces), tuple(origin))

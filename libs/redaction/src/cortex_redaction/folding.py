"""The view in which tags are looked for: what a reader, a search or a later normalisation would take for the same
text.

Every character is decomposed for compatibility (NFKD: full-width letters, ligatures, small forms), loses its marks
and is case-folded; characters that are not seen (format and default-ignorable characters, Unicode 16 sections 2.11
and 5.21) vanish. Marks are what NFC composes, so no tag can appear in the NFC form of a text that is not in its view
already.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

# Default-ignorable characters outside the categories that are dropped anyway: Hangul fillers.
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0")
_UNSEEN: Final = frozenset({"Mn", "Me", "Cf"})
# Control characters vanish too: whoever stores the text may drop NUL and its like.
_UNSEEN_ASCII: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


class _Fold(dict[str, str]):
    """What each character becomes, worked out once; bounded by the number of characters there are."""

    def __missing__(self, char: str) -> str:
        folded = "".join(
            part
            for part in unicodedata.normalize("NFKD", char)
            if unicodedata.category(part) not in _UNSEEN and part not in _FILLERS and not _UNSEEN_ASCII.match(part)
        ).casefold()
        self[char] = folded
        return folded


_FOLD: Final = _Fold()


@dataclass(frozen=True)
class View:
    """A text folded, with the way back: `start` and `end` turn positions in `folded` into positions in the text."""

    pieces: tuple[str, ...] | None
    folded: str

    @classmethod
    def of(cls, text: str) -> View:
        """The view of `text`; plain ASCII keeps its positions."""
        if text.isascii() and not _UNSEEN_ASCII.search(text):
            return cls(None, text.lower())
        pieces = tuple(_FOLD[char] for char in text)
        return cls(pieces, "".join(pieces))

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(map(len, self.pieces or ())))

    def start(self, position: int) -> int:
        """Where the character in the text begins that `folded[position]` came from."""
        return position if self.pieces is None else bisect_right(self._ends, position)

    def end(self, position: int) -> int:
        """Where the character in the text ends that `folded[position - 1]` came from."""
        return position if self.pieces is None else self.start(position - 1) + 1

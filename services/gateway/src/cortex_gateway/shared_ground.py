"""Shared ground: the sentences and lines of hits that another hit may contradict, few enough to be read at once.

To read a text for what it states costs microseconds for each character (ADR 0019), and an answer waits for it. Two
texts can contradict each other only where they speak of one thing. So those sentences are read that have a word of the
question which another text has, too, then those that share a rare word with another text, up to `BUDGET` characters in
all. Words are told by their beginnings, which is rough and fast, and never decides a conflict.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from cortex_extraction.stop_words import STOP_WORDS
from cortex_gateway.assertions.lines import MAX_SENTENCE, READ_LIMIT

BUDGET: Final = 1_000
"""Characters that are read for one question: about a dozen sentences (`tests/bench/ask.py` tells what that costs)."""
SEARCHED: Final = 16
"""Hits whose words are compared; the words of the question are looked for in all."""
STEM: Final = 5
"""Letters that a word is told by."""
FIELDS: Final = 6
"""Lines with a field that are read of one page for its title's sake."""

_WORD: Final = re.compile(r"[^\W_]{3,}")
_ARTICLE: Final = re.compile(r"^(?:[وفبك]?ال|لل)(?=..)")
_FIELD: Final = re.compile(r"^[^\n:=]{1,60}[:=][^\n]+$", re.MULTILINE)
_ENDS: Final = ("\n", ". ", "! ", "? ", "؟ ", "؛ ")

_Span: TypeAlias = tuple[int, int]


class Source(NamedTuple):
    """The text of a hit, what its lines are about (the title of a page; or empty), and what it names besides."""

    text: str
    title: str
    named: str = ""


def passages(sources: Sequence[Source], query: str) -> list[tuple[str, ...]]:
    """What to read of each of `sources`, which come in the order in which they fit the question: sentences and lines in
    their order, those together that stand together; none where nothing is on shared ground.

    Each is a passage of its own, so that what was read of it for one question is known for the next.
    """
    texts = [_Text(source) for source in sources]
    asked = stems(query)
    left = BUDGET
    for stem in chain(_known(asked, texts), _shared(texts[:SEARCHED], asked)):
        for text in texts:
            for start, end in text.about(stem) if text.has(stem) else ():
                if (start, end) in text.chosen or end - start > MAX_SENTENCE or text.spelled.startswith("#", start):
                    continue
                left -= end - start
                if left < 0:
                    return [tuple(text.passages()) for text in texts]
                text.chosen.add((start, end))
    return [tuple(text.passages()) for text in texts]


@lru_cache(512)
def stems(text: str) -> frozenset[str]:
    """The beginnings of the words of a text that name something."""
    words = set(_WORD.findall(text.casefold()))
    if not text.isascii():
        words = set(map(_without_article, words))
    return frozenset([word[:STEM] for word in words - STOP_WORDS])


@lru_cache(16_384)
def _without_article(word: str) -> str:
    return _ARTICLE.sub("", word)


class _Text:
    """The text of a hit, and the places of it that were chosen."""

    def __init__(self, source: Source) -> None:
        self.spelled = spelled = source.text[:READ_LIMIT]
        folded = spelled.casefold()
        # A letter that folds to two would move all places.
        self.folded = folded if len(folded) == len(spelled) else spelled
        self.title = stems(source.title)
        self.named = self.title | stems(source.named)
        self.chosen: set[_Span] = set()

    @cached_property
    def _signs(self) -> list[str]:
        """Of the ends of sentences those that the text has."""
        return [sign for sign in _ENDS if sign in self.spelled]

    def has(self, stem: str) -> bool:
        """Whether the text, or what it names besides, has a word that may begin so."""
        return stem in self.folded or stem in self.named

    def about(self, stem: str) -> Iterator[_Span]:
        """The sentences with such a word; fields of a page whose title has it."""
        at = self.folded.find(stem)
        while at >= 0:
            before = self.folded[at - 1 : at]
            if not before.isalnum() or not before.isascii():
                start, end = self._sentence(at)
                yield start, end
                at = self.folded.find(stem, max(end, at + 1))
            else:
                at = self.folded.find(stem, at + 1)
        if stem in self.title:
            fields = _FIELD.finditer(self.spelled)
            yield from (found.span() for found, _ in zip(fields, range(FIELDS), strict=False))

    def passages(self) -> Iterator[str]:
        """The chosen places in their order, each under its heading."""
        places = sorted(self.chosen)
        for at, (start, end) in enumerate(places):
            if at and start <= places[at - 1][1] + 1:
                continue
            for following, until in places[at + 1 :]:
                if following > end + 1:
                    break
                end = max(end, until)
            heading = self._heading(start)
            yield f"{heading}\n{self.spelled[start:end]}" if heading else self.spelled[start:end]

    def _sentence(self, at: int) -> _Span:
        starts = [start + len(sign) for sign in self._signs if (start := self.spelled.rfind(sign, 0, at)) >= 0]
        ends = [end + len(sign) - 1 for sign in self._signs if (end := self.spelled.find(sign, at)) >= 0]
        return max(starts, default=0), min(ends, default=len(self.spelled))

    def _heading(self, start: int) -> str:
        """The heading above a line, or the first row above a row of a table."""
        line = self.spelled[self.spelled.rfind("\n", 0, start) + 1 : start + 1]
        if line.lstrip()[:1] == "|":
            first = self.spelled.rfind("\n\n", 0, start)
            return self.spelled[first + 2 if first >= 0 else 0 :].split("\n", 1)[0]
        mark = self.spelled.rfind("\n#", 0, start) + 1
        return self.spelled[mark:].split("\n", 1)[0] if self.spelled[mark : mark + 1] == "#" and mark < start else ""


def _known(asked: Iterable[str], texts: Sequence[_Text]) -> list[str]:
    """Words of the question that two texts have, the rarest first."""
    spread = [(len({text.spelled for text in texts if text.has(stem)}), stem) for stem in asked]
    return [stem for count, stem in sorted(spread) if count > 1]


def _shared(texts: Sequence[_Text], asked: frozenset[str]) -> Iterator[str]:
    """Other words that two texts have, the rarest first."""
    distinct = {text.spelled: text for text in texts}.values()
    counts = Counter(stem for text in distinct for stem in stems(text.spelled) | text.named)
    for count, stem in sorted((count, stem) for stem, count in counts.items()):
        if count > 1 and stem not in asked:
            yield stem

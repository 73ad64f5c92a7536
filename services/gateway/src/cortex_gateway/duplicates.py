"""Hits of one thing: what an engine gave twice, and what several engines found. Pure.

Two hits of one engine are the same when path, title and text are. Two hits of different engines are the same when their
paths certainly name one memory, memo, symbol or address; when they certainly name one file or page and the texts
overlap, or one is too short to be a passage of its own; when they likely do, and the texts overlap. Never when they
contradict each other: that is a conflict, and told as one.

Whether hits are the same depends on paths, titles, texts and assertions alone, never on what the score is made of, so
that a hit that gets better cannot lose by it (`scoring`). How much is compared for one question is bounded: engines
that answer with every passage of one file must not hold the others up, and what was not compared stays apart.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from cortex_contracts.messages.base import Assertion
from cortex_contracts.rpc.engine import Hit
from cortex_gateway.assertions import Relation, relation
from cortex_gateway.loci import Likeness, Locus, locus

OVERLAP: Final = 0.5
"""Share of the words of the shorter text that the other has, from which on both are one passage. Measured on XQuAD in
English and Arabic and on Markdown notes: two passages of one document share 0.10 to 0.19 of them (median; 0.35 at the
95th percentile), two windows of 300 characters on one text 0.57 to 0.66 with half in common, 0.78 to 0.84 with three
quarters."""
PASSAGE_WORDS: Final = 8
"""Different words of a text from which on it is a passage of its own."""
COMPARED: Final = 4_000
"""Pairs of hits that are compared for one question: all of seven engines' twelve hits, were they of one file. About
5 µs each."""
READ: Final = 24
"""Pairs of texts that are read for one question, to see whether they contradict each other: some ms each, and more than
most questions have."""

_WORD: Final = re.compile(r"\w+")


def things(hits: Iterable[Hit]) -> list[tuple[Hit, ...]]:
    """The hits in groups of one thing each; the groups do not depend on the order of `hits`."""
    buckets: dict[tuple[str, str], list[tuple[Locus, Hit]]] = defaultdict(list)
    for hit in hits:
        where = locus(hit.path)
        buckets[where.bucket].append((where, hit))
    left = _Left(COMPARED, READ)
    found: list[tuple[Hit, ...]] = [(bucket[0][1],) for bucket in buckets.values() if len(bucket) == 1]
    # In one order, since what is compared for one bucket is not left for the next.
    for name in sorted(name for name, bucket in buckets.items() if len(bucket) > 1):
        found += _things_of(buckets[name], left)
    return found


def confidence(hits: Sequence[Hit]) -> float:
    """How far to believe what all of `hits` say: 1 − Π(1 − confidence), one factor for each engine ("noisy or", Pearl,
    Probabilistic Reasoning in Intelligent Systems, 1988, section 4.3), as if engines erred independently.

    In [0, 1], never below the most confident hit, never lower when a hit is more confident. What an engine says twice
    counts once.
    """
    best: dict[str, float] = {}
    for hit in hits:
        best[hit.engine] = max(hit.confidence, best.get(hit.engine, 0.0))
    # The maximum itself is exact, and the only factor in most cases.
    return max(max(best.values()), 1.0 - math.prod(1.0 - best[engine] for engine in sorted(best)))


def united(hits: Sequence[Hit]) -> tuple[Assertion, ...]:
    """What any of the hits asserts, each once, in the order of the hits."""
    return tuple(dict.fromkeys(assertion for hit in hits for assertion in hit.assertions))


@dataclass(slots=True)
class _Left:
    """How many pairs may still be compared, and read, for the question."""

    compared: int
    read: int


class _Entry:
    """The hits of one engine that are the same, and what they are compared by."""

    def __init__(self, where: Locus, text: str, hits: tuple[Hit, ...]) -> None:
        self.where = where
        self.text = text
        self.hits = hits
        self.engine = hits[0].engine
        self.values = _values(hits)

    @cached_property
    def words(self) -> frozenset[str]:
        """The different words of the text."""
        return frozenset(_WORD.findall(self.text.casefold()))

    def overlap(self, other: _Entry) -> float:
        """Share of the words of the shorter text that both have."""
        if self.text == other.text:
            return 1.0
        shorter = min(len(self.words), len(other.words))
        return len(self.words & other.words) / shorter if shorter else 0.0

    def alike(self, other: _Entry) -> bool:
        """Whether both are of one thing, if they do not contradict each other."""
        likeness = self.where.likeness(other.where)
        if self.engine == other.engine or likeness is Likeness.NONE:
            return False
        if self.overlap(other) >= OVERLAP:
            return True
        # Where the paths leave no doubt, only a passage of its own speaks against them.
        passages = self.where.has_passages and min(len(self.words), len(other.words)) >= PASSAGE_WORDS
        return likeness is Likeness.CERTAIN and not passages

    def contradicts(self, other: _Entry, left: _Left) -> bool:
        """Whether one says what the other denies, or it may not be found out any more."""
        if any(other.values.get(claim, values).isdisjoint(values) for claim, values in self.values.items()):
            return True
        if self.text in other.text or other.text in self.text:
            return False
        if not left.read:
            return True
        left.read -= 1
        one, two = self.hits[0], other.hits[0]
        return relation(one.snippet, two.snippet, titles=(one.title, two.title)) is Relation.CONFLICT


def _things_of(bucket: Sequence[tuple[Locus, Hit]], left: _Left) -> list[tuple[Hit, ...]]:
    same: dict[tuple[str, str, str, str], list[Hit]] = defaultdict(list)
    places: dict[str, Locus] = {}
    for where, hit in bucket:
        same[hit.path, flat(hit.title), flat(hit.snippet), hit.engine].append(hit)
        places[hit.path] = where
    groups: list[list[_Entry]] = []
    for key in sorted(same):
        path, _, text, _ = key
        # Spelled in several ways, the first of them is compared: the groups must not depend on who came first.
        entry = _Entry(places[path], text, tuple(sorted(same[key], key=lambda hit: (hit.title, hit.snippet))))
        group = _group_of(entry, groups, left)
        if group is None:
            groups.append([entry])
        else:
            group.append(entry)
    return [tuple(hit for entry in group for hit in entry.hits) for group in groups]


def _group_of(entry: _Entry, groups: Sequence[list[_Entry]], left: _Left) -> list[_Entry] | None:
    """The group of the thing that `entry` is of: of several, the one that has most of its words."""
    left.compared -= sum(map(len, groups))
    if left.compared < 0:
        return None
    fitting = [group for group in groups if all(entry.alike(one) for one in group)]
    fitting.sort(key=lambda group: -max(entry.overlap(one) for one in group))
    return next((group for group in fitting if not any(entry.contradicts(one, left) for one in group)), None)


def _values(hits: Sequence[Hit]) -> Mapping[tuple[str, str], set[str]]:
    """What is said of each claim."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for hit in hits:
        for one in hit.assertions:
            found[normalise(one.subject), normalise(one.attribute)].add(normalise(one.value))
    return dict(found)


def normalise(text: str) -> str:
    """Text as it is compared: compatibility forms, case and white space do not matter."""
    return flat(unicodedata.normalize("NFKC", text).casefold())


def flat(text: str) -> str:
    """Text in one line."""
    return " ".join(text.split())

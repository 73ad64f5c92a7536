"""Where hits disagree: assertions of the same subject and attribute with different values (gateway contract section 3).

Hits carry assertions, and their texts are read for more (`assertions`, docs/conflicts.md).
The value of the hit with the highest score wins; every hit that says something else is listed as a loser with a reason
a person understands. Saying the same thing twice is corroboration. Nothing is dropped: a losing hit stays a hit.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from cortex_contracts.rpc.ask import Conflict
from cortex_contracts.rpc.engine import SourceClass
from cortex_gateway.assertions import (
    Kind,
    Relation,
    Stated,
    assigned,
    compare_assigned,
    extract,
    meets,
    related,
)
from cortex_gateway.duplicates import flat, normalise
from cortex_gateway.scoring import ScoredHit, order
from cortex_gateway.shared_ground import Source, passages

NOUNS: Final = {
    SourceClass.LIVE_INFRA: "live reading",
    SourceClass.RECENT_FILE: "file",
    SourceClass.AGENT_MEMORY: "memory",
    SourceClass.OLDER_NOTE: "older note",
}
"""What a person calls a hit of each class."""


CODE: Final = frozenset(
    "py pyi js jsx ts tsx go rs java kt c h cc cpp hpp cs rb php swift scala sh bash zsh ps1 sql lua pl r jl ex exs "
    "clj dart vue svelte ipynb".split()
)
"""Ends of the names of files of source code."""


MAX_SAID: Final = 1_000
"""Statements of the strongest hits that are compared: 84 hits with a dozen fields each; more cost tens of milliseconds
for nothing that a reader could take in."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A hit that asserts something else than the winner, and why it lost."""

    hit: ScoredHit
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One claim about which hits differ."""

    claim: str
    value: str
    winner: ScoredHit
    losses: tuple[Loss, ...]

    @property
    def unsettled(self) -> Loss | None:
        """The most trustworthy loser, if it is more so than the winner and only fits the question less.

        The score decides who wins, and relevance is part of it; but how well a text fits a question is no evidence for
        what it says. The answer then tells both sides.
        """
        best = max(self.losses, key=lambda loss: loss.hit.trust)
        return best if best.hit.trust > self.winner.trust else None

    @property
    def reason(self) -> str:
        """Why each loser lost, in the order of `losses`."""
        return "; ".join(loss.reason for loss in self.losses)

    def conflict(self) -> Conflict:
        """This disagreement as the reply tells it."""
        return Conflict(
            claim=self.claim,
            winner=self.winner.source_class,
            losers=tuple(loss.hit.source_class for loss in self.losses),
            reason=self.reason,
            value=self.value,
            losing_values=tuple(loss.value for loss in self.losses),
            paths=(self.winner.hit.path, *(loss.hit.hit.path for loss in self.losses)),
        )


def reconcile(hits: Sequence[ScoredHit], query: str = "") -> tuple[Disagreement, ...]:
    """Every disagreement among the hits, the one with the strongest winner first.

    What a hit says are the assertions that it carries and those that are read from its text, where it is on ground that
    others share (`shared_ground`). Two that are about one attribute of one thing at one time, and cannot both be true,
    disagree.
    """
    ranked = sorted(hits, key=order)
    texts = _texts(ranked, query)
    said = list(islice((each for hit in ranked for each in _said(hit, texts[id(hit)])), MAX_SAID))
    sayings = [_Saying(number, *each) for number, each in enumerate(said)]
    index = _Index(sayings)
    settled: set[int] = set()
    found: dict[tuple[str, int, frozenset[int]], Disagreement] = {}
    for saying in sayings:
        if saying.number in settled:
            continue
        agreeing, differing = index.around(saying)
        # A hit that also says the winning value (in a list of values, say) does not contradict it.
        believers = {id(each.hit) for each in agreeing}
        losers = [each for each in differing if id(each.hit) not in believers]
        settled.update(each.number for each in (*agreeing, *differing))
        if losers:
            # The same hits may differ in more than one way of saying one thing.
            key = (normalise(saying.claim), id(saying.hit), frozenset(id(each.hit) for each in losers))
            found.setdefault(key, _settle(saying, losers))
    return tuple(sorted(found.values(), key=lambda d: (order(d.winner), d.claim)))


def _settle(best: _Saying, losers: Sequence[_Saying]) -> Disagreement:
    losses: dict[tuple[int, str], Loss] = {}
    for each in losers:
        # Of "accepts" and "rejects" both are so: what the loser says is the clause.
        value = each.claim if each.value == best.value and each.stated.value.kind is Kind.CLAUSE else each.value
        losses.setdefault((id(each.hit), normalise(value)), Loss(each.hit, value, reason(best.hit, each.hit)))
    return Disagreement(best.claim, best.value, best.hit, tuple(losses.values()))


@dataclass(frozen=True, slots=True, eq=False)
class _Saying:
    """One thing that one hit says; `key` when it is an assertion that the hit carries."""

    number: int
    hit: ScoredHit
    stated: Stated
    claim: str
    value: str
    key: tuple[str, str] | None


class _Index:
    """Sayings by the words that they are about, so that each is compared with few others."""

    def __init__(self, sayings: Sequence[_Saying]) -> None:
        self._about: dict[str, list[_Saying]] = defaultdict(list)
        self._keyed: dict[tuple[str, str], list[_Saying]] = defaultdict(list)
        for saying in sayings:
            for word in saying.stated.topic | saying.stated.loose:
                self._about[word].append(saying)
            if saying.key is not None:
                self._keyed[saying.key].append(saying)

    def around(self, saying: _Saying) -> tuple[list[_Saying], list[_Saying]]:
        """Those that say the same, itself among them, and those that contradict it; in the order of the sayings."""
        agreeing = [saying]
        differing: list[_Saying] = []
        postings = [self._about[word] for word in saying.stated.topic if word[0] != "@"] or [
            self._about[word] for word in saying.stated.topic
        ]
        # Clauses may differ in a word and its opposite; all others share every word of their topics.
        if saying.stated.value.kind is not Kind.CLAUSE:
            postings = [min(postings, key=len)]
        others = {each.number: each for posting in postings for each in posting}
        if saying.key is not None:
            others |= {each.number: each for each in self._keyed[saying.key]}
        for number in sorted(others):
            other = others[number]
            if other is saying:
                continue
            relation = _relation(saying, other)
            if relation is Relation.SAME:
                agreeing.append(other)
            elif relation is Relation.CONFLICT and other.hit is not saying.hit:
                differing.append(other)
        return agreeing, differing


def _relation(one: _Saying, other: _Saying) -> Relation:
    """Assertions of one subject and attribute have one value unless their kinds leave room for both."""
    if one.key is not None and one.key == other.key:
        if normalise(one.value) == normalise(other.value):
            return Relation.SAME
        return compare_assigned(one.stated.value, other.stated.value)
    return related(one.stated, other.stated)


def _texts(hits: Sequence[ScoredHit], query: str) -> dict[int, list[Stated]]:
    """What the text of each hit states, by the hit's identity."""
    # The best fit first: who loses for its age must still be heard.
    fitting = sorted(hits, key=lambda each: -each.hit.relevance * each.hit.confidence)
    sources = [_source(each) for each in fitting]
    return {
        id(each): [stated for passage in chosen for stated in _read(passage, source.title)]
        for each, source, chosen in zip(fitting, sources, passages(sources, query), strict=True)
    }


def _source(hit: ScoredHit) -> Source:
    named = " ".join(f"{each.subject} {each.attribute}" for each in hit.hit.assertions)
    # The title of a memory is where it came from, not what it is about.
    title = "" if hit.hit.source_class is SourceClass.AGENT_MEMORY else hit.hit.title
    return Source("" if _is_code(hit.hit.path) else hit.hit.snippet, title, named)


def _said(
    hit: ScoredHit, read: Iterable[Stated]
) -> Iterator[tuple[ScoredHit, Stated, str, str, tuple[str, str] | None]]:
    carried: list[Stated] = []
    for assertion in hit.hit.assertions:
        key = (normalise(assertion.subject), normalise(assertion.attribute))
        claim = f"{flat(assertion.subject)} {flat(assertion.attribute)}"
        stated = assigned(assertion.subject, assertion.attribute, assertion.value)
        carried.append(stated)
        yield hit, stated, claim, flat(assertion.value), key
    for stated in read:
        # Two texts that do not say what they are about need not be about one thing; and what a hit carries counts more
        # than what is read from its text.
        if stated.anchored and not any(meets(stated, each) for each in carried):
            yield hit, stated, stated.claim, flat(stated.value.text), None


def _read(passage: str, title: str) -> Iterator[Stated]:
    read = extract(passage, title)
    valued = {stated.span for stated in read if stated.value.kind is not Kind.CLAUSE}
    for stated in read:
        # A sentence that says a state or a value says more than that it is so.
        if stated.value.kind is not Kind.CLAUSE or stated.value.negated or stated.span not in valued:
            yield stated


def reason(winner: ScoredHit, loser: ScoredHit) -> str:
    """Why `loser` lost against `winner`: the factor of the score that weighed most, in words."""
    noun = NOUNS[loser.source_class]
    undated = loser.hit.last_seen is None
    losses = {
        f"{noun} has no date" if undated else f"{noun} stale {_days(loser.age_days)}": _gap(
            winner.recency, loser.recency
        ),
        f"{noun} has less authority than {NOUNS[winner.source_class]}": _gap(winner.authority, loser.authority),
        f"{noun} less certain ({loser.hit.confidence:.0%} against {winner.hit.confidence:.0%})": _gap(
            winner.hit.confidence, loser.hit.confidence
        ),
        f"{noun} fits the question less ({loser.hit.relevance:.0%} against {winner.hit.relevance:.0%})": _gap(
            winner.hit.relevance, loser.hit.relevance
        ),
    }
    words = max(losses, key=lambda text: losses[text])
    return words if losses[words] > 0 else f"{noun} as strong as {NOUNS[winner.source_class]}, ordered by name"


def _is_code(path: str) -> bool:
    """Whether a hit is source code: what it assigns is no statement about the world."""
    file, _, _ = path.partition("#")
    return file.rpartition(".")[2].casefold() in CODE


def _gap(winner: float, loser: float) -> float:
    """How many times stronger the winner is, as a logarithm."""
    if winner <= loser:
        return 0.0
    return math.inf if loser == 0 else math.log(winner / loser)


def _days(age: float) -> str:
    return f"{age:.0f}d" if age >= 1 else f"{age * 24:.0f}h"

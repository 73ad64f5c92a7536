"""Relevance: what an engine's own score means for the question, in [0, 1] and comparable between engines. Pure.

The yardstick is what `memory` and `pages` say, which were measured (`cortex_ranking.fusion`): 0.2 is the least that
answers anything, a right answer is about 0.5, and 0.9 is nearly the question's own words. Their relevance is half the
share of the question's words that a text has, half how near its meaning is. The same two halves are used here:

- Words are judged by ourselves and alike for every engine: `coverages`.
- Meaning is what the engine's score says of it, and how far to believe that depends on the score. A cosine of a model
  that nobody measured says little by itself (E5 puts unrelated texts at 0.8): it is believed as far as words agree, and
  a hit that shares no word with the question stays far below the floor. Where the operator says what unrelated and
  perfect texts score (`Measure.ends`), meaning counts by itself and by half, as it does in `cortex_ranking.fusion`.

More words never make a hit less relevant, nor does a better score, nor a better rank.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cortex_gateway.adapters.word_places import places
from cortex_store import terms

WORDS_ALONE: Final = 0.8
WORDS_POWER: Final = 1.5
"""Relevance by words is 0.8 × coverage^1.5: a third of the words is no answer (0.15 < 0.2), half of them may be one
(0.28). So it agrees with the share of the best possible BM25 score of `memory` and `pages` (tests/bench/relevance.py:
for the paragraph that answers the median is 0.60 by either; of questions about something else 96 % find nothing)."""
NAME_WEIGHT: Final = 2.0
"""Of a word that is a name by its look, against 1: capital inside a sentence, digits, the parts of an identifier."""
RARE_WEIGHT: Final = 2.0
"""Most that a word counts for being in few of the hits; what all of them have tells nothing of them apart."""
STOP_WORDS_DOUBT: Final = 5.0
"""As in `cortex_recall.recall`: what a question of stop words alone shares with a text is next to nothing."""
UNPROVED_SHARE: Final = 0.3
"""Of relevance, for a score that nobody measured."""
UNPROVED_ALONE: Final = 0.1
"""Part of that share which counts without a shared word: 0.03 at most, which orders hits and makes none an answer."""
COSINE: Final = (0.45, 0.85)
"""Unrelated and perfect, for a cosine of a model that was not measured (`cortex_ranking.calibration.NEUTRAL`)."""
RANK_K: Final = 60
"""Cormack, Clarke and Büttcher, SIGIR 2009: the second place is worth 60/61 of the first."""
LEAST_OF_BEST: Final = 0.7
"""What the last by a score without a scale keeps of the relevance that its words give."""
LEAST_COSINE: Final = 0.1
"""A best score below it is no cosine of an answer: reciprocal ranks (1/61) and probabilities look like that."""


class Scale(StrEnum):
    """What an engine's score is."""

    SIMILARITY = "similarity"
    """A cosine or the like, larger is nearer."""
    DISTANCE = "distance"
    """A distance, smaller is nearer. One of unknown kind is read as a cosine distance, the smallest of the usual ones
    between normalised vectors (1 - s, √(2(1 - s)), 2(1 - s)): none is read as nearer than it is."""
    UNBOUNDED = "unbounded"
    """BM25, a cross-encoder's logit, a sum of reciprocal ranks: larger is better, by what measure is not known."""
    RANK = "rank"
    """There is no score: the order is all there is."""
    WORDS = "words"
    """There is neither score nor order: a server that filters by words and sorts by date."""
    RELEVANCE = "relevance"
    """Calibrated already, as above: the operator vouches for it."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A scale, and its `ends` where they are known: the scores of unrelated and of perfect texts, which differ."""

    scale: Scale
    ends: tuple[float, float] | None = None

    def meaning(self, score: float) -> float:
        """How far `score` is from unrelated to perfect, in [0, 1]. Only for similarities and distances."""
        assumed = COSINE if self.scale is not Scale.DISTANCE else (1 - COSINE[0], 1 - COSINE[1])
        unrelated, perfect = self.ends or assumed
        return _clipped((score - unrelated) / (perfect - unrelated))


RANKED: Final = Measure(Scale.RANK)
WORDED: Final = Measure(Scale.WORDS)


def relevances(question: str, texts: Sequence[str], scores: Sequence[float | None], measure: Measure) -> list[float]:
    """The relevance of every hit of one answer.

    Args:
        question: as it was asked.
        texts: what stands in each hit, its title and path as well, in the engine's order, best first.
        scores: the engine's own, none where a hit has none; a number that is not finite counts as none.
        measure: what the scores are; where a hit has none its rank is what there is.
    """
    given = [score if score is not None and math.isfinite(score) else None for score in scores]
    least = min((score for score in given if score is not None and score < 0), default=0.0)
    span = max((score for score in given if score is not None), default=0.0) - least
    found = []
    for rank, (text, covered, score) in enumerate(zip(texts, coverages(question, texts), given, strict=True), start=1):
        if measure.scale is Scale.WORDS:
            found.append(by_words(covered))
        elif measure.scale is Scale.RANK or score is None:
            found.append(by_rank(covered, rank))
        elif measure.scale is Scale.RELEVANCE:
            found.append(_clipped(score))
        elif measure.scale is Scale.UNBOUNDED:
            found.append(by_share(covered, (score - least) / span if span > 0 else 1.0))
        elif measure.ends is None:
            found.append(by_meaning(covered, measure.meaning(score)))
        else:
            found.append(by_measured_meaning(covered, measure.meaning(score), foreign=_foreign(question, text)))
    return found


def coverages(question: str, texts: Sequence[str]) -> list[float]:
    """The share of the question's words that stands in each of `texts`, in [0, 1], by stems, in English and Arabic.

    A word counts more when it is a name by its look, and when few of the texts have it (as an inverse document
    frequency over them, Robertson and Spärck Jones 1976, kept between 1 and `RARE_WEIGHT`): of "the status of Zanzibar"
    every hit has the status. A question without a telling word is doubted.
    """
    wanted = terms.content_terms(question)
    if not wanted:
        return [0.0 for _ in texts]
    held = [frozenset().union(*(stems for *_, stems in places(text, wanted))) for text in texts]
    names = _names(question)
    weights = {
        word: (NAME_WEIGHT if word in names else 1.0)
        * min(RARE_WEIGHT, 1 + math.log((len(texts) + 1) / (1 + sum(word in one for one in held))))
        for word in wanted
    }
    total = sum(weights.values())
    if all(term in terms.STOP_WORDS for term in terms.terms(question)):
        total *= STOP_WORDS_DOUBT
    return [_clipped(sum(weights[word] for word in wanted if word in one) / total) for one in held]


def by_words(coverage: float) -> float:
    """Relevance when words are all that is known."""
    return WORDS_ALONE * math.pow(coverage, WORDS_POWER)


def by_rank(coverage: float, rank: int) -> float:
    """Relevance of the hit at `rank` (from 1) of an engine that gives no scores."""
    return by_words(coverage) * RANK_K / (RANK_K + rank - 1)


def by_share(coverage: float, share: float) -> float:
    """Relevance by a score without a scale; `share` of the best score of the same answer."""
    return by_words(coverage) * (LEAST_OF_BEST + (1 - LEAST_OF_BEST) * _clipped(share))


def by_meaning(coverage: float, meaning: float) -> float:
    """Relevance by a similarity whose scale nobody measured: believed as far as words agree."""
    believed = UNPROVED_ALONE + (1 - UNPROVED_ALONE) * math.pow(coverage, WORDS_POWER)
    return (1 - UNPROVED_SHARE) * by_words(coverage) + UNPROVED_SHARE * meaning * believed


def by_measured_meaning(coverage: float, meaning: float, *, foreign: bool = False) -> float:
    """Relevance by a similarity whose scale is known; between two scripts meaning counts alone where it says more."""
    both = 0.5 * by_words(coverage) + 0.5 * meaning
    return max(both, meaning) if foreign else both


def recognised(scores: Sequence[float | None], *, distance: bool = False) -> Measure:
    """What the scores of one answer look like, for an engine that does not say what they are."""
    given = [score for score in scores if score is not None and math.isfinite(score)]
    if not given:
        return RANKED
    if distance:
        return Measure(Scale.DISTANCE)
    if min(given) < -1 or not LEAST_COSINE <= max(given) <= 1:
        return Measure(Scale.UNBOUNDED)
    return Measure(Scale.SIMILARITY)


def _foreign(question: str, text: str) -> bool:
    asked, written = terms.script(question), terms.script(text)
    return bool(asked and written) and asked != written


def _names(question: str) -> frozenset[str]:
    """The stems of what looks like a name in `question`, as it is written."""
    found: set[str] = set()
    first = True
    for written in question.split():
        letters = written.strip("\"'([{«“‘.,;:!?؟،؛)]}»”’")
        marked = any(sign.isdigit() or sign in "_/@#" for sign in letters) or "-" in letters[1:-1]
        capital = any(sign.isupper() for sign in (letters[1:] if first else letters))
        if marked or capital:
            found.update(terms.content_terms(letters))
        first = written.endswith((".", "!", "?", "؟", ":"))
    return frozenset(found)


def _clipped(value: float) -> float:
    return min(1.0, max(0.0, value))

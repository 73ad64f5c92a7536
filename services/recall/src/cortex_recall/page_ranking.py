"""Ranking of pages: fusion of the two ways of searching, and what a score means. Pure functions.

Ranking is reciprocal rank fusion with k = 60 (Cormack, Clarke and Büttcher, SIGIR 2009) plus 0.15 × importance, as the
source specification of recall has it. A rank says nothing about how good a hit is, so relevance is measured apart, from
the cosine similarity and the share of the question's words that a text holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from cortex_extraction.folding import fold
from cortex_store import terms
from cortex_store.page_search import Match

RRF_K: Final = 60
SALIENCE: Final = 0.15

COSINE_OF_NOTHING: Final = 0.80
COSINE_OF_SAME: Final = 0.92
"""Unrelated texts have a cosine of about 0.7 to 0.8 in this family of models, an answer and its question 0.84 and more
(measured on the example vault, tests/unit/recall/test_page_ranking.py holds the pairs)."""


def fused(ranks: Sequence[Match | None], importance: float) -> float:
    """Score in [0, 1] of a candidate found at `ranks` (none: not found that way): 1 is first everywhere and salient."""
    best = len(ranks) / (RRF_K + 1)
    reciprocal = sum(1 / (RRF_K + match.rank) for match in ranks if match is not None)
    return (reciprocal / best + SALIENCE * importance) / (1 + SALIENCE)


def relevance(question: Iterable[str], text: str, by_vector: Match | None) -> float:
    """How well `text` answers the question, in [0, 1], comparable between engines.

    `question` are the distinct terms of the question; `by_vector` holds the cosine similarity. The larger of closeness
    of meaning and shared words counts; words alone reach at most 0.8, since a shared word may mean something else.
    """
    cosine = by_vector.score if by_vector is not None else 0.0
    meaning = (cosine - COSINE_OF_NOTHING) / (COSINE_OF_SAME - COSINE_OF_NOTHING)
    return min(1.0, max(0.0, meaning, 0.8 * _weight_found(set(question), text)))


def content_terms(query: str) -> tuple[str, ...]:
    """The distinct terms of a question that can tell texts apart, in order."""
    return tuple(dict.fromkeys(term for term in terms.terms(query) if term not in FUNCTION_WORDS))


def _weight_found(question: set[str], text: str) -> float:
    """Share of the question's terms that `text` holds; one term in common of a long question is little evidence."""
    if not question:
        return 0.0
    return len(question & set(terms.terms(text))) / len(question)


# Words that say how one asks and not what about, English and Arabic, folded as `terms` folds.
FUNCTION_WORDS: Final = frozenset(
    fold(word)
    for word in (
        "a an the is are was were be been do does did who what when where why how which whose whom and or of in on at "
        "to for from by with about as it its this that these those there we you i they he she our your their my me us "
        "can could should would will has have had not no so if than then "
        "من ما ماذا متى اين كيف لماذا هل في على الى عن مع هو هي هم هذا هذه ذلك تلك التي الذي و او كان كانت كم اي لم لن "
        "قد ان"
    ).split()
)

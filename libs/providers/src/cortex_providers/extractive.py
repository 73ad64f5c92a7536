"""The built-in summariser: the sentences that say most of what all of them say, in their own words and order.

A sentence weighs as much as it has in common with everything there is to say: the cosine between its term weights and
their sum over all sentences (the centroid), with tf × idf over the sentences as in Radev, Jing, Styś and Tam,
"Centroid-based summarization of multiple documents" (2004). Sentences are taken one by one, each time the one with the
best 0.7 × centrality - 0.3 × greatest likeness to those already taken: maximal marginal relevance, Carbonell and
Goldstein (1998), whose middle range of λ that is. Deterministic: equal weights are taken in the order of the texts.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cortex_extraction.folding import words
from cortex_extraction.stop_words import STOP_WORDS
from cortex_providers.drivers import InProcess
from cortex_providers.language_model import LanguageModelConfig
from cortex_providers.summariser import Summary

CENTRALITY: Final = 0.7
"""λ of maximal marginal relevance."""
LIKE: Final = 0.95
"""Cosine above which two sentences say the same: one of them is enough."""
MAX_SENTENCES: Final = 400
"""That are compared with each other; of more, those with the highest centrality."""

_END: Final = re.compile(
    r"(?<=[.!?؟…])(?<!\b[A-Z]\.)(?<!\b[A-Z][a-z]\.)[\"'”’»)\]]*\s+|(?<=[。！？])|\s*[\r\n\x0b\x0c\x85\u2028\u2029]+\s*"
)
"""After a sentence: a sign with a gap behind it but for initials and "Dr.", a sign of scripts without gaps, a line."""
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}")
"""Runs of scripts that put no gap between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""

Weights = dict[str, float]


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    source: int
    text: str
    terms: Mapping[str, int]


class ExtractiveSummariser(InProcess):
    """The driver `builtin`."""

    def __init__(self, _: LanguageModelConfig | None = None) -> None:
        pass

    async def summarise(self, texts: Sequence[str], *, limit: int) -> Summary:
        """Choose sentences (see `Summariser.summarise`)."""
        return summarise(texts, limit=limit)


def summarise(texts: Sequence[str], *, limit: int) -> Summary:
    """The sentences of `texts` that matter most, one a line, in their order: at most `limit` characters.

    What is said twice is said once. When not even one sentence fits, the most central is cut at a word, with "…".
    """
    found = _sentences(texts)
    weights = _weights(found)
    central = _centrality(weights)
    order = sorted(range(len(found)), key=lambda at: (-central[at], at))[:MAX_SENTENCES]
    chosen: list[int] = []
    room = limit
    nearest = dict.fromkeys(order, 0.0)
    while order:
        best = max(order, key=lambda at: (CENTRALITY * central[at] - (1 - CENTRALITY) * nearest[at], -at))
        order.remove(best)
        size = len(found[best].text) + (1 if chosen else 0)
        if size > room:
            continue
        chosen.append(best)
        room -= size
        for at in order:
            nearest[at] = max(nearest[at], _cosine(weights[at], weights[best]))
        order = [at for at in order if nearest[at] < LIKE]
    if not chosen and found:
        most = max(range(len(found)), key=lambda at: (central[at], -at))
        cut = _cut(found[most].text, limit)
        return Summary(cut, (found[most].source,) if cut else ())
    chosen.sort()
    return Summary("\n".join(found[at].text for at in chosen), tuple(sorted({found[at].source for at in chosen})))


def _sentences(texts: Sequence[str]) -> list[_Sentence]:
    """Every sentence once, by its folded words; those without a word are none."""
    found: dict[tuple[str, ...], _Sentence] = {}
    for source, text in enumerate(texts):
        for part in _END.split(text):
            spoken = tuple(words(part))
            if any(any(char.isalnum() for char in word) for word in spoken) and spoken not in found:
                found[spoken] = _Sentence(len(found), source, " ".join(part.split()), Counter(_terms(spoken)))
    return list(found.values())


def _terms(spoken: Sequence[str]) -> Iterator[str]:
    """Words that mean something; pairs of letters where a script has no gaps."""
    for word in spoken:
        if _UNSPACED.search(word):
            for run in _UNSPACED.findall(word):
                yield from (run[at : at + 2] for at in range(len(run) - 1))
        elif word not in STOP_WORDS:
            yield word


def _weights(found: Sequence[_Sentence]) -> list[Weights]:
    """tf × idf of every sentence, of length 1; the idf is smoothed, so that a term of every sentence keeps some."""
    holding = Counter(term for sentence in found for term in sentence.terms)
    weights = [
        {term: count * (1.0 + math.log(len(found) / holding[term])) for term, count in sentence.terms.items()}
        for sentence in found
    ]
    return [_normalised(one) for one in weights]


def _centrality(weights: Sequence[Weights]) -> list[float]:
    centroid: Weights = {}
    for one in weights:
        for term, weight in one.items():
            centroid[term] = centroid.get(term, 0.0) + weight
    centroid = _normalised(centroid)
    return [_cosine(one, centroid) for one in weights]


def _normalised(weights: Weights) -> Weights:
    length = math.sqrt(sum(weight * weight for weight in weights.values()))
    return {term: weight / length for term, weight in weights.items()} if length else weights


def _cosine(one: Weights, other: Weights) -> float:
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    return sum(weight * long.get(term, 0.0) for term, weight in short.items())


def _cut(text: str, limit: int) -> str:
    """The beginning of `text` that ends with a whole word if it has one; empty where there is no room."""
    if limit < 2:
        return ""
    kept = text[: limit - 1]
    if text[limit - 1 : limit].strip() and " " in kept.strip():
        kept = kept[: kept.rstrip().rindex(" ")]
    return kept.rstrip() + "…"

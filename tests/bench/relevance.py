"""What relevance by words says beside the share of the best BM25 score that `memory` and `pages` go by.

    python tests/bench/relevance.py --xquad-en dev.en.json --xquad-ar dev.ar.json

A played engine gives the twelve paragraphs that BM25 likes best for every question: those that answer one of them, then
`off_topic`, which none of them answers. For each, quantiles of the value of the right paragraph (or of the best one),
and the part that is at the floor of answers or above it. `cosine 0.80`: the same by a similarity that nobody measured,
of a model that gives every text 0.80, as E5 does.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from off_topic import OFF_TOPIC
from quality_data import Bank, read_xquad

from cortex_gateway.adapters import relevance
from cortex_gateway.adapters.passage import passage
from cortex_store import lexical, terms

FLOOR: Final = 0.2
HITS: Final = 12
COSINE: Final = 0.80
QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)


class Paragraphs:
    """The paragraphs of one language, as an index of BM25 sees them."""

    def __init__(self, bank: Bank) -> None:
        self.texts = [draft.content for draft in bank.drafts.values()]
        self.keys = list(bank.drafts)
        self._impacts = [lexical.impacts(terms.analyse(text)) for text in self.texts]
        self._df = Counter(term for impacts in self._impacts for term in impacts)
        self._highest: dict[int, int] = {}
        for impacts in self._impacts:
            for term, impact in impacts.items():
                self._highest[term] = max(self._highest.get(term, 0), lexical.bucket(impact))

    def shares(self, question: str) -> list[float]:
        """The share of the best possible score that each paragraph reaches (`lexical.Plan.best`)."""
        wanted = [lexical.term_hash(term) for term in terms.content_terms(question)]
        count = max(len(self.texts), lexical.SMALLEST_STORE)
        idfs = {term: lexical.idf(self._df[term], count) for term in wanted}
        best = lexical.DOUBT * lexical.idf(1, count) + sum(
            worth * (lexical.TOPS[self._highest[term]] if term in self._highest else 1.0)
            for term, worth in idfs.items()
        )
        return [sum(idfs[term] * impacts.get(term, 0.0) for term in wanted) / best for impacts in self._impacts]


def measured(paragraphs: Paragraphs, question: str, right: str | None) -> tuple[float, float, float] | None:
    """BM25 share, relevance by words and relevance by an unmeasured cosine, of the right paragraph or of the best one;
    none when the right one is not among the hits."""
    shares = paragraphs.shares(question)
    hits = sorted(range(len(shares)), key=lambda at: -shares[at])[:HITS]
    covered = relevance.coverages(question, [passage(question, paragraphs.texts[at]) for at in hits])
    meaning = relevance.Measure(relevance.Scale.SIMILARITY).meaning(COSINE)
    if right is None:
        best = max(covered)
        return max(shares), relevance.by_words(best), relevance.by_meaning(best, meaning)
    at = paragraphs.keys.index(right)
    if at not in hits:
        return None
    coverage = covered[hits.index(at)]
    return shares[at], relevance.by_words(coverage), relevance.by_meaning(coverage, meaning)


def table(name: str, rows: Sequence[tuple[float, float, float]]) -> None:
    """Print quantiles of each value and the part that an answer would use."""
    print(f"\n{name}: {len(rows)} questions")
    heads = " ".join(f"{f'q{100 * quantile:.0f}':>5}" for quantile in QUANTILES)
    print(f"{'':14} {heads}   at the floor or above")
    for column, label in enumerate(("BM25 share", "words", f"cosine {COSINE:.2f}")):
        values = sorted(row[column] for row in rows)
        quantiles = " ".join(f"{values[int(q * (len(values) - 1))]:5.2f}" for q in QUANTILES)
        print(f"{label:14} {quantiles}   {sum(value >= FLOOR for value in values) / len(values):.3f}")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xquad-en", type=Path, required=True)
    parser.add_argument("--xquad-ar", type=Path, required=True)
    options = parser.parse_args()
    for language, path in (("en", options.xquad_en), ("ar", options.xquad_ar)):
        bank = read_xquad(path, language)
        paragraphs = Paragraphs(bank)
        rows = [measured(paragraphs, question.text, question.evidence[0]) for question in bank.questions]
        table(f"{language}, with an answer", [row for row in rows if row is not None])
        foreign = [measured(paragraphs, question, None) for question, _ in OFF_TOPIC]
        table(f"{language}, about something else", [row for row in foreign if row is not None])


if __name__ == "__main__":
    main()

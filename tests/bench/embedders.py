"""The bundled embedding models against each other: how fast, and how well what they embed is found.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    python tests/bench/embedders.py --locomo dev.json --xquad folder/with/dev.en.json/and/dev.ar.json [--json out.json]

Prints one table and, on request, writes the same numbers as JSON. Rates are taken by turns in every round, in processor
seconds of one thread: another load on the machine hardly moves their ratio. Quality is exact:

- LoCoMo: a turn (with its speaker) is a memory, a conversation is a bank; mean share of a question's evidence turns
  among the first ten, adversarial questions left out; by vectors alone, and fused with BM25 (k1 = .9, b = .25, speaker
  and date in the indexed text) as .6 × share of the best possible BM25 + .4 × cosine between the model's background
  and top, plus .3 of both neighbours in the session.
- XQuAD: share of questions whose paragraph is among the first five, by vectors alone, in and across languages.

The background of a model is the median cosine of a question and a turn; its top is what nineteen in twenty questions'
best turns stay below. Both are printed: they are what a fusion by absolute scores needs to know of a model.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cortex_infra import embedding_models
from cortex_infra.embedding_models import Model
from cortex_infra.embedding_queue import SLICE_TEXTS
from cortex_infra.servers.embedder import MODELS
from cortex_store.terms import analyse, content_terms

Array = NDArray[np.float32]

ADVERSARIAL: Final = 5
ROUNDS: Final = 12
K1, B = 0.9, 0.25
LEXICAL_SHARE, SMOOTHING = 0.6, 0.3
DIRECTIONS: Final = (("en", "en"), ("ar", "ar"), ("ar", "en"), ("en", "ar"))
"""(language of the question, language of the paragraphs)"""


@dataclass(frozen=True)
class Turn:
    session: int
    spoken: str
    """What is embedded."""
    indexed: str
    """What BM25 reads: with the date."""


@dataclass(frozen=True)
class Conversation:
    turns: list[Turn]
    questions: list[tuple[str, list[int]]]
    """(question, positions of its evidence)"""


@dataclass(frozen=True)
class Paragraphs:
    texts: list[str]
    questions: list[tuple[str, int]]


def read_locomo(path: Path) -> list[Conversation]:
    conversations = []
    for item in json.loads(path.read_text(encoding="utf-8")):
        turns: list[Turn] = []
        position: dict[str, int] = {}
        for session in item["sessions"]:
            for turn in session["turns"]:
                position[turn["id"]] = len(turns)
                said = f"{turn['speaker']}: {turn['text']} {turn.get('caption') or ''}".strip()
                turns.append(Turn(session["session"], said, f"{session['date']} {said}"))
        questions = [
            (question["question"], evidence)
            for question in item["questions"]
            if question["category"] != ADVERSARIAL
            and (evidence := [position[e] for e in question["evidence"] if e in position])
        ]
        conversations.append(Conversation(turns, questions))
    return conversations


def read_xquad(path: Path) -> Paragraphs:
    texts: list[str] = []
    questions: list[tuple[str, int]] = []
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            questions += [(qa["question"], len(texts)) for qa in paragraph["qas"]]
            texts.append(paragraph["context"])
    return Paragraphs(texts, questions)


def embed(model: Model, texts: Sequence[str], *, is_query: bool) -> Array:
    """As the server does it, but for windows: no text here is longer than one."""
    slices = [
        model.encode(list(texts[start : start + SLICE_TEXTS]), is_query) for start in range(0, len(texts), SLICE_TEXTS)
    ]
    return np.concatenate(slices)


def rates(models: dict[str, Model], loads: dict[str, tuple[list[str], bool, int]]) -> dict[str, dict[str, float]]:
    """Texts per processor second of every model and load: {load: {model: median over rounds}}.

    `loads` has for each name (texts, are they queries, texts in a round).
    """
    seconds: dict[str, dict[str, list[float]]] = {load: {name: [] for name in models} for load in loads}
    for round_ in range(ROUNDS):
        for load, (texts, is_query, count) in loads.items():
            sample = [texts[(round_ * count + i) % len(texts)] for i in range(count)]
            for name, model in models.items():
                started = time.process_time()
                if is_query:  # a question comes alone
                    for text in sample:
                        model.encode([text], True)
                else:
                    embed(model, sample, is_query=False)
                seconds[load][name].append((time.process_time() - started) / count)
    return {
        load: {name: 1 / statistics.median(taken) for name, taken in by_model.items()}
        for load, by_model in seconds.items()
    }


def lexical(conversation: Conversation) -> Array:
    """Share of the best possible BM25: (questions, turns). A term that no turn has counts with the largest idf."""
    documents = [Counter(analyse(turn.indexed)) for turn in conversation.turns]
    lengths = np.array([sum(document.values()) for document in documents], dtype=np.float32)
    norm = K1 * (1 - B + B * lengths / lengths.mean())
    frequency = Counter(term for document in documents for term in document)
    largest_idf = _idf(len(documents), 1)
    scores = np.zeros((len(conversation.questions), len(documents)), dtype=np.float32)
    for row, (question, _) in enumerate(conversation.questions):
        best = 0.0
        for term in content_terms(question):
            counts = np.array([document[term] for document in documents], dtype=np.float32)
            gain = _idf(len(documents), frequency[term]) * counts * (K1 + 1) / (counts + norm)
            best += float(gain.max()) or largest_idf
            scores[row] += gain
        scores[row] /= best or 1.0
    return scores


def _idf(documents: int, frequency: int) -> float:
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def smoothed(scores: Array, conversation: Conversation) -> Array:
    session = np.array([turn.session for turn in conversation.turns])
    same = (session[1:] == session[:-1]).astype(np.float32)
    result = scores.copy()
    result[:, 1:] += SMOOTHING * same * scores[:, :-1]
    result[:, :-1] += SMOOTHING * same * scores[:, 1:]
    return result


def evidence_recall(scores: Array, conversation: Conversation, k: int) -> list[float]:
    first = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return [
        len(set(evidence) & set(row.tolist())) / len(set(evidence))
        for row, (_, evidence) in zip(first, conversation.questions, strict=True)
    ]


def quality(model: Model, locomo: list[Conversation], xquad: dict[str, Paragraphs]) -> dict[str, float]:
    cosines = [
        embed(model, [question for question, _ in bank.questions], is_query=True)
        @ embed(model, [turn.spoken for turn in bank.turns], is_query=False).T
        for bank in locomo
    ]
    background = float(np.median(np.concatenate([table.ravel() for table in cosines])))
    top = float(np.quantile(np.concatenate([table.max(axis=1) for table in cosines]), 0.95))
    fused = [
        LEXICAL_SHARE * lexical(bank)
        + (1 - LEXICAL_SHARE) * np.clip((table - background) / (top - background), 0, 1).astype(np.float32)
        for bank, table in zip(locomo, cosines, strict=True)
    ]
    result = {"background": background, "top": top}
    rows: dict[str, Callable[[int], Array]] = {
        "LoCoMo R@10, vectors": lambda i: cosines[i],
        "LoCoMo R@10, fused": lambda i: smoothed(fused[i], locomo[i]),
    }
    for name, scores in rows.items():
        result[name] = _mean([r for i, bank in enumerate(locomo) for r in evidence_recall(scores(i), bank, 10)])
    passages = {language: embed(model, part.texts, is_query=False) for language, part in xquad.items()}
    questions = {
        language: embed(model, [q for q, _ in part.questions], is_query=True) for language, part in xquad.items()
    }
    for asked, stored in DIRECTIONS:
        gold = [paragraph for _, paragraph in xquad[asked].questions]
        first = np.argsort(-(questions[asked] @ passages[stored].T), axis=1, kind="stable")[:, :5]
        result[f"XQuAD R@5, {asked}→{stored}"] = _mean([float(g in row) for g, row in zip(gold, first, strict=True)])
    return result


def _mean(values: Sequence[float]) -> float:
    return 100 * sum(values) / len(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--locomo", type=Path, required=True, help="conversations with questions")
    parser.add_argument("--xquad", type=Path, required=True, help="folder with dev.en.json and dev.ar.json")
    parser.add_argument("--model", action="append", choices=list(MODELS), help="only these models (may be repeated)")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    given = parser.parse_args()
    locomo = read_locomo(given.locomo)
    xquad = {language: read_xquad(given.xquad / f"dev.{language}.json") for language in ("en", "ar")}
    models = {name: embedding_models.load(name) for name in given.model or MODELS}
    loads = {
        "queries/s": ([question for bank in locomo for question, _ in bank.questions], True, 16),
        "turns/s": ([turn.spoken for bank in locomo for turn in bank.turns], False, 16),
        "English paragraphs/s": (xquad["en"].texts, False, 4),
        "Arabic paragraphs/s": (xquad["ar"].texts, False, 4),
    }
    rows: dict[str, dict[str, float]] = rates(models, loads)
    for name, model in models.items():
        for row, value in quality(model, locomo, xquad).items():
            rows.setdefault(row, {})[name] = value
    print(table(rows, list(models)))
    if given.json:
        given.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def table(rows: dict[str, dict[str, Any]], names: list[str]) -> str:
    """One line a row; the last column is the second model over the first, for rates."""
    lines = ["| | " + " | ".join(names) + (" | ratio |" if len(names) == 2 else " |")]
    lines.append("|" + "---|" * (len(lines[0].split("|")) - 2))
    for row, values in rows.items():
        cells = [f"{values[name]:.2f}" if row in ("background", "top") else f"{values[name]:.1f}" for name in names]
        if len(names) == 2:
            cells.append(f"{values[names[1]] / values[names[0]]:.1f}" if row.endswith("/s") else "")
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

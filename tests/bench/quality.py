"""How well what was retained is found again, through the real services.

    python tests/bench/quality.py --locomo dev.json --xquad-en dev.en.json --xquad-ar dev.ar.json \\
        [--ablation] [--off-topic] [--facts] [--json out.json]

Starts servers of its own, retains every turn and paragraph verbatim as one memory with its provenance (no language
model, the bundled embedder), and asks every question through NATS. LoCoMo: mean share of a question's evidence among
the first k, adversarial questions left out of "all". XQuAD: share of questions whose paragraph is among the first k.
Recall is asked without a floor; `--off-topic` prints what a floor keeps and what it silences. `--facts` asks again
after sleep has consolidated the conversations.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import consolidating
import numpy as np
from deployment import Deployment, open_cluster, open_deployment
from off_topic import OFF_TOPIC
from quality_data import Bank, Question, mixed, read_locomo, read_xquad

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import WriteDecision
from cortex_contracts.rpc.ingest import RETAIN_BATCH, RetainBatchRequest
from cortex_contracts.rpc.recall import RECALL, FusionMethod, RecallRequest
from cortex_ranking.fusion import SALIENCE, Recipe
from cortex_recall.recall import MEMORIES_PER_FACT
from cortex_runtime.bus import Bus
from cortex_testkit import provider

ME: Final = Principal(org="local", subject="bench")
DEPTH: Final = 50
CALLERS: Final = 4
BATCH: Final = 32
CUTS: Final = {"locomo": (5, 10, 20, 50), "xquad": (1, 5, 10)}
ABLATION: Final[dict[str, dict[str, Any]]] = {
    "words only, no stages": {"lexical": 1.0, "beside": (0, 0), "session": 0, "speaker": 0, "in_time": 0},
    "meaning only, no stages": {"lexical": 0.0, "beside": (0, 0), "session": 0, "speaker": 0, "in_time": 0},
    "words + meaning": {"beside": (0, 0), "session": 0, "speaker": 0, "in_time": 0},
    "without neighbours": {"beside": (0, 0)},
    "without session": {"session": 0},
    "without speaker": {"speaker": 0},
    "without time": {"in_time": 0},
    "with entity hop": {"hop": 0.6},
}


@dataclass(frozen=True)
class Answer:
    """What came back for a question: keys in order, and their relevances, which the floor applies to; `facts`: of what
    sleep made, best first."""

    question: Question
    keys: tuple[str, ...]
    relevances: tuple[float, ...]
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One line of the report."""

    recipe: str
    bank: str
    questions: int
    recall: dict[str, float]
    hit_at_10: float


async def retain(bus: Bus, banks: Sequence[Bank]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Memory id to key for each namespace, and what the write decision did beside adding."""
    known: dict[str, dict[str, str]] = {}
    decisions = []
    for bank in banks:
        ids: dict[str, str] = {}
        items = list(bank.drafts.items())
        for start in range(0, len(items), BATCH):
            part = items[start : start + BATCH]
            request = RetainBatchRequest(principal=ME, memories=tuple(draft for _, draft in part))
            reply = await bus.request(RETAIN_BATCH, request)
            for (key, draft), item in zip(part, reply.items, strict=True):
                assert item.retained is not None, item.error
                ids.setdefault(str(item.retained.memory_id), key)
                if item.retained.decision is not WriteDecision.ADD:
                    decisions.append(f"{bank.namespace} {key} {item.retained.decision}: {draft.content[:100]}")
            print(f"\r{bank.namespace}: {start + len(part)}/{len(items)} retained", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        known[bank.namespace] = ids
    return known, decisions


async def ask(
    bus: Bus, bank: Bank, ids: dict[str, str], questions: Iterable[Question], fusion: FusionMethod
) -> list[Answer]:
    """Ask some questions of a bank, a few at a time."""
    limit = asyncio.Semaphore(CALLERS)

    async def one(question: Question) -> Answer:
        request = RecallRequest(
            principal=ME, query=question.text, namespaces=(bank.namespace,), k=DEPTH, min_score=0.0, fusion=fusion
        )
        async with limit:
            reply = await bus.request(RECALL, request)
        assert not reply.degraded, reply.degraded
        # A score is the relevance with the importance on top (`fusion.salient`).
        found = [
            (ids[str(one.memory_id)], one.score * (1 + SALIENCE) / (1 + SALIENCE * one.importance))
            for one in reply.memories
        ]
        facts = tuple(str(one.memory_id) for one in reply.facts)
        return Answer(question, tuple(key for key, _ in found), tuple(relevance for _, relevance in found), facts)

    return await asyncio.gather(*map(one, questions))


def rows(
    recipe: str,
    bank: str,
    answers: Sequence[Answer],
    cuts: Sequence[int],
    quoted: Mapping[str, frozenset[str]] | None = None,
) -> list[Row]:
    """Recall by category, and of all but the adversarial questions; what the facts beside k memories quote (`quoted`)
    counts as found."""
    groups: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[answer.question.category].append(answer)
        if answer.question.category != "adversarial":
            groups["all"].append(answer)

    def share(answer: Answer, cut: int) -> float:
        evidence = set(answer.question.evidence)
        beside = answer.facts[: -(-cut // MEMORIES_PER_FACT)] if quoted else ()
        told = {key for fact in beside for key in (quoted or {})[fact]}
        return len(evidence & (told | set(answer.keys[:cut]))) / len(evidence)

    return [
        Row(
            recipe,
            f"{bank} {category}" if len(groups) > 2 else bank,
            len(group),
            {f"R@{cut}": round(100 * float(np.mean([share(one, cut) for one in group])), 1) for cut in cuts},
            round(100 * float(np.mean([share(one, 10) > 0 for one in group])), 1),
        )
        for category, group in sorted(groups.items())
        if len(groups) > 2 or category == "all"
    ]


async def measure(
    deployment: Deployment,
    banks: Sequence[Bank],
    known: dict[str, dict[str, str]],
    recipe: str,
    changes: dict[str, Any],
) -> tuple[list[Row], dict[str, list[Answer]]]:
    """All questions with one recipe, by a recall service of its own."""
    settings = {"CORTEX_RECALL_RECIPE": json.dumps(changes)} if changes else {}
    fusion = FusionMethod.RRF if recipe == "rrf k=60" else FusionMethod.SCORE
    answers: dict[str, list[Answer]] = {}
    async with deployment.running("recall", **settings), deployment.caller() as bus:
        for bank in banks:
            print(f"{recipe}: {bank.namespace}", file=sys.stderr)
            answers[bank.namespace] = await ask(bus, bank, known[bank.namespace], bank.questions, fusion)
        if len(xquad := [bank for bank in banks if bank.namespace in ("xquad-en", "xquad-ar")]) == 2:
            for asked, told in (xquad, xquad[::-1]):
                crossed = [
                    Question(one.text, tuple(f"{told.namespace[-2:]}{key[2:]}" for key in one.evidence), "crossed")
                    for one in asked.questions
                ]
                name = f"{asked.namespace[-2:]}→{told.namespace[-2:]}"
                answers[name] = await ask(bus, told, known[told.namespace], crossed, fusion)
    conversations = [one for name, group in answers.items() if name.startswith("conversation") for one in group]
    report = rows(recipe, "LoCoMo", conversations, CUTS["locomo"]) if conversations else []
    for name, group in answers.items():
        if not name.startswith("conversation"):
            report += rows(recipe, name, group, CUTS["xquad"])
    return report, answers


def best_evidence(answers: Sequence[Answer]) -> list[float]:
    """The best relevance of an evidence among the first ten, of the questions that have one there."""
    found = []
    for answer in answers:
        if answer.question.category != "adversarial":
            first = dict(zip(answer.keys[:10], answer.relevances[:10], strict=True))
            hits = first.keys() & set(answer.question.evidence)
            found += [max(first[key] for key in hits)] if hits else []
    return found


async def floor_curve(
    deployment: Deployment, banks: Sequence[Bank], known: dict[str, dict[str, str]], answers: dict[str, list[Answer]]
) -> list[dict[str, Any]]:
    """For each floor: share of the evidence kept (of questions answered in the first ten), of conversations and across
    scripts, and of off-topic questions that get nothing, by kind, and of paragraphs in the other script."""
    strange: list[tuple[str, str]] = [*OFF_TOPIC]
    for bank in banks:
        if bank.namespace in ("xquad-en", "xquad-ar"):
            strange += [(one.text, f"encyclopaedia {bank.namespace[-2:]}") for one in bank.questions[::10]]
    best: dict[str, list[float]] = defaultdict(list)
    kept: dict[str, list[float]] = defaultdict(list)
    for name, group in answers.items():
        if name.startswith("conversation") or "→" in name:
            kept["kept" if name.startswith("conversation") else f"kept {name}"] += best_evidence(group)
    async with deployment.running("recall"), deployment.caller() as bus:
        for bank in banks:
            away = {"xquad-en": ("arabic", " → en"), "xquad-ar": ("clear", " → ar")}.get(bank.namespace)
            if not away and not bank.namespace.startswith("conversation"):
                continue
            asked, named = away or ("", "")
            questions = [Question(text, ("none",), f"{kind}{named}") for text, kind in strange if asked in kind]
            for answer in await ask(bus, bank, known[bank.namespace], questions, FusionMethod.SCORE):
                best[answer.question.category].append(max(answer.relevances, default=0.0))
    return [
        {
            "floor": round(float(floor), 2),
            **{k: round(100 * float(np.mean(np.array(v) >= floor)), 2) for k, v in sorted(kept.items())},
            **{k: round(100 * float(np.mean(np.array(v) < floor)), 2) for k, v in sorted(best.items())},
        }
        for floor in np.arange(0.06, 0.42, 0.02)
    ]


async def with_facts(deployment: Deployment, banks: list[Bank], known: dict[str, dict[str, str]]) -> list[Row]:
    """The conversations asked again with what sleep made of them: what is among the memories, and with what the facts
    beside them quote."""
    async with (
        deployment.running("ingest", CORTEX_HOME=str(deployment.folder)),
        deployment.running("sleep", **consolidating.settings(deployment)),
        deployment.caller() as bus,
    ):
        await consolidating.settled(deployment)
        await consolidating.consolidate(bus, ME, [bank.namespace for bank in banks])
        await consolidating.settled(deployment)
    report, answers = await measure(deployment, banks, known, "with facts", {})
    keys = {memory: key for ids in known.values() for memory, key in ids.items()}
    quoted = {
        str(fact["id"]): frozenset(keys[str(source)] for source in fact["sources"])
        for facts in (await consolidating.facts(deployment)).values()
        for fact in facts
    }
    every = [answer for group in answers.values() for answer in group]
    return report + rows("with facts, quoted ones count", "LoCoMo", every, CUTS["locomo"], quoted)


async def run(deployment: Deployment, banks: list[Bank], options: argparse.Namespace) -> dict[str, Any]:
    """The whole report."""
    async with deployment.running("ingest", CORTEX_HOME=str(deployment.folder)), deployment.caller() as bus:
        known, decisions = await retain(bus, banks)
    report, answers = await measure(deployment, banks, known, "default", {})
    report += (await measure(deployment, banks, known, "rrf k=60", {}))[0]
    sessions = [bank for bank in banks if bank.namespace.startswith("conversation")]
    for recipe, changes in ABLATION.items() if options.ablation else ():
        report += (await measure(deployment, sessions, known, recipe, changes))[0]
    report += await with_facts(deployment, sessions, known) if options.facts else []
    curve = await floor_curve(deployment, banks, known, answers) if options.off_topic else []
    return {"rows": [asdict(row) for row in report], "decisions": decisions, "floor": curve}


def show(report: dict[str, Any]) -> None:
    """Print the report as tables."""
    for row in report["rows"]:
        recall = "  ".join(f"{cut} {value:5.1f}" for cut, value in row["recall"].items())
        print(f"{row['recipe']:34} {row['bank']:24} n={row['questions']:4}  {recall}  hit@10 {row['hit_at_10']:5.1f}")
    print(f"\nwrite decisions beside add: {len(report['decisions'])}")
    for line in report["decisions"]:
        print(f"  {line}")
    for line in report["floor"]:
        default = "  ← default" if line["floor"] == Recipe().floor else ""
        print("  ".join(f"{key} {value:6.2f}" for key, value in line.items()) + default)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--xquad-en", type=Path)
    parser.add_argument("--xquad-ar", type=Path)
    parser.add_argument("--ablation", action="store_true", help="one row for each stage")
    parser.add_argument("--off-topic", action="store_true", help="the curve of the floor")
    parser.add_argument("--facts", action="store_true", help="once more after consolidation")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    banks = read_locomo(options.locomo) if options.locomo else []
    paragraphs = [
        read_xquad(path, language) for path, language in ((options.xquad_en, "en"), (options.xquad_ar, "ar")) if path
    ]
    banks += paragraphs + ([mixed(paragraphs)] if len(paragraphs) == 2 else [])
    with ExitStack() as stack:
        postgres, _ = open_cluster(stack, stack.enter_context(provider.folder()) / "postgres", durable=False)
        asyncio.run(postgres.prepare("quality"))
        deployment = open_deployment(stack, postgres, "quality")
        report = asyncio.run(run(deployment, banks, options))
    show(report)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Speed of recall, and how exact it is, over seeded stores of any size.

    python tests/bench/recall.py --memories 10000 100000 1000000 [--keep FOLDER] [--postgres NAME=VALUE …] [--json F]

Starts servers of its own with the product's settings. Latencies are what a caller on the bus waits, the caller's own
work included; the embedder takes no part: the vectors of the questions are in the embedding cache. Cold: no question
was asked before; warm: each was, seconds ago. `--keep` keeps the seeded stores for the next run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final

import latency
import numpy as np
import seeding
import synthetic_memories as synthetic
import synthetic_questions
import writing
from deployment import Deployment, open_cluster, open_deployment, read_through
from exact import K, Reference
from seeding import Seeded
from synthetic_questions import Question

from cortex_contracts.messages.base import Principal
from cortex_recall.hot_tier import POSTINGS
from cortex_runtime.bus import Bus
from cortex_store import lexical, memory_index, terms
from cortex_store.database import Database
from cortex_testkit import provider

ME: Final = Principal(org=seeding.ORG, subject=seeding.OWNER)
SCOPES: Final = (0, 1, 4, 6, 8, 14, 18)
"""Namespaces that are looked at one by one: 40, 15, 5, 3.5, 2.8, 1 and 0.35 %."""
EACH: Final = 60
CALLERS: Final[Mapping[int, int]] = {1: 300, 8: 800, 32: 800}
"""Callers and questions."""
WARM: Final = 150
EXPLAINED: Final = 200


def line(name: str, row: Mapping[str, Any]) -> None:
    """Print a row."""
    print(f"  {name:<34}" + "".join(f"{key} {value:<10}" for key, value in row.items()), flush=True)


async def speed(deployment: Deployment, bus: Bus, seeded: Seeded) -> dict[str, Any]:
    """Latencies by namespace, by number of callers, cold and warm, and by stage."""
    rng = np.random.default_rng([synthetic.SEED, 3])
    by_scope: dict[int | None, list[Question]] = {
        scope: synthetic_questions.questions(seeded, scope, EACH, rng) for scope in (*SCOPES, None)
    }
    cold = {callers: synthetic_questions.mixed(seeded, count, rng) for callers, count in CALLERS.items()}
    explained, warm, first = (synthetic_questions.mixed(seeded, count, rng) for count in (EXPLAINED, WARM, 200))
    every = [*chain(*by_scope.values(), *cold.values()), *explained, *warm, *first]
    await synthetic_questions.prepare(deployment.cache.url, deployment.embedder.model, every)
    report: dict[str, Any] = {"by_namespace": {}, "cold": {}, "warm": {}}
    await latency.warm_up(bus, ME, first)
    for scope, asked in by_scope.items():
        size = len(seeded.scopes) if scope is None else int((seeded.scopes == scope).sum())
        name = f"{'all' if scope is None else synthetic.NAMESPACES[scope]} ({size:,})"
        report["by_namespace"][name] = (await latency.run(bus, ME, asked)).summary()
        line(f"cold, 1 caller, {name}", report["by_namespace"][name])
    for callers, asked in cold.items():
        report["cold"][callers] = (await latency.run(bus, ME, asked, callers)).summary()
        line(f"cold, {callers} callers, by size", report["cold"][callers])
    for callers in CALLERS:
        await latency.run(bus, ME, warm, 8)
        report["warm"][callers] = (await latency.run(bus, ME, warm, callers, rounds=2)).summary()
        line(f"warm, {callers} callers", report["warm"][callers])
    report["stages_ms"] = latency.stages(await latency.run(bus, ME, explained, explain=True))
    for stage, row in report["stages_ms"].items():
        line(f"stage {stage}", row)
    return report


async def exactness(database: Database, model: str, seeded: Seeded) -> dict[str, Any]:
    """How much of the exact answer both ways find, by namespace."""
    rng = np.random.default_rng([synthetic.SEED, 4])
    report: dict[str, Any] = {}
    for scope in SCOPES:
        reference = Reference(seeded, scope)
        words, meaning = [], []
        for question in synthetic_questions.questions(seeded, scope, EACH, rng):
            by_words, by_meaning = await _ways(database, model, question)
            words.append(reference.overlap(reference.words(question.text), by_words))
            meaning.append(reference.overlap(reference.meaning(question.vector), by_meaning))
        name = f"{synthetic.NAMESPACES[scope]} ({reference.size:,})"
        report[name] = {
            f"words overlap@{K}": round(float(np.mean(words)), 4),
            "lowest": round(min(words), 3),
            f"vectors recall@{K}": round(float(np.mean(meaning)), 4),
            "lowest vector": round(min(meaning), 3),
        }
        line(name, report[name])
    return report


async def _ways(database: Database, model: str, question: Question) -> tuple[list[Any], list[Any]]:
    """What the store finds by words alone and by meaning alone, as recall asks for it."""
    hashes = [lexical.term_hash(term) for term in terms.content_terms(question.text)]
    found = []
    async with database.transaction(ME) as connection:
        known = await memory_index.statistics(connection, question.namespaces, hashes)
        plan = lexical.plan(hashes, known.segments, known.memories, POSTINGS)
        for steps, embedding in ((plan.steps, None), ((), question.vector)):
            query = memory_index.Query(plan.idfs, steps, embedding, model, K, namespaces=question.namespaces)
            found.append([one.id for one in await memory_index.search(connection, query)])
    return found[0], found[1]


async def measure(deployment: Deployment, seeded: Seeded) -> dict[str, Any]:
    """Everything over one store."""
    report: dict[str, Any] = {"settings": await deployment.postgres.settings(deployment.database)}
    line("PostgreSQL", report["settings"])
    async with deployment.caller() as bus:
        async with deployment.running("recall"):
            report["speed"] = await speed(deployment, bus, seeded)
        database = Database(deployment.runtime_url)
        await database.open()
        report["exactness"] = await exactness(database, deployment.embedder.model, seeded)
        await database.close()
        report["writing"] = await writing.measure(deployment, bus, ME)
        for name, row in report["writing"].items():
            line(name, row)
    return report


def seed(folder: Path, memories: int) -> None:
    """Fill a store unless it is there: `report.json` is written last."""
    name = f"bench_{memories}"
    done = folder / name / "report.json"
    if done.exists():
        return
    with ExitStack() as stack:
        # A seed that is lost is made again; a large log keeps checkpoints away.
        postgres, _ = open_cluster(stack, folder / "postgres", durable=False, settings=["max_wal_size=8GB"])
        asyncio.run(postgres.prepare(name))
        print(f"seeding {memories:,} memories", file=sys.stderr)
        report = asyncio.run(seeding.seed(postgres.superuser(name), memories, folder / name))
    done.write_text(json.dumps(vars(report), indent=1), encoding="utf-8")


def growth(reports: Mapping[int, Mapping[str, Any]]) -> dict[str, float]:
    """How much slower the next larger store is, cold, one caller."""
    sizes = sorted(reports)
    return {
        f"{small:,} -> {large:,}, {p}": round(
            reports[large]["speed"]["cold"][1][p] / reports[small]["speed"]["cold"][1][p], 2
        )
        for small, large in pairwise(sizes)
        for p in ("p50", "p95")
    }


def main() -> None:
    """Measure and print; write JSON when asked."""
    parser = argparse.ArgumentParser(description="Measure the speed of recall.")
    parser.add_argument("--memories", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--keep", type=Path, help="folder of the seeded stores")
    parser.add_argument("--postgres", nargs="*", default=[], help="settings over the product's, NAME=VALUE")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    reports: dict[int, Any] = {}
    with ExitStack() as outer:
        folder = arguments.keep or outer.enter_context(provider.folder())
        folder.mkdir(parents=True, exist_ok=True)
        for memories in arguments.memories:
            name = f"bench_{memories}"
            seed(folder, memories)
            print(f"\n{memories:,} memories", flush=True)
            read_through(folder / "postgres")
            with ExitStack() as stack:
                postgres, _ = open_cluster(stack, folder / "postgres", settings=arguments.postgres)
                deployment = open_deployment(stack, postgres, name)
                reports[memories] = asyncio.run(measure(deployment, Seeded.load(folder / name)))
            reports[memories]["seeding"] = json.loads((folder / name / "report.json").read_text(encoding="utf-8"))
            line("index rows per second", reports[memories]["seeding"]["index_rows_per_s"])
    ratios = growth(reports)
    line("growth", ratios)
    if arguments.json:
        arguments.json.write_text(json.dumps({"stores": reports, "growth": ratios}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

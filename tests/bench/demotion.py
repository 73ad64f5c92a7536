"""Demotion at size: from a seeded hot tier into the cold store, on the embedded S3 or in a folder.

    python tests/bench/demotion.py [--memories 1000000] [--to s3 folder] [--days 30] [--keep FOLDER] [--pace] [--json F]

Everything that was learned more than `--days` ago is due, whatever it is worth. Sleep is a process of its own, which
works on one namespace after the other without pauses; with `--pace` as in the product, where it waits as long as each
transaction took. Rows per second are of the whole phase: choosing, reading, writing, reading back, comparing, deleting.
Afterwards the maintenance phase runs. `--keep` is the folder of the stores of `recall.py`; a copy is worked on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import asyncpg
import latency
import numpy as np
import recall
import synthetic_memories as synthetic
import synthetic_questions
from deployment import Deployment, Postgres, open_cluster, open_deployment, read_through
from recall import ME, line
from seeding import Seeded

from cortex_contracts.rpc.sleep import SleepCause
from cortex_contracts.subjects import SleepPhase
from cortex_infra.bootstrap import MIGRATION_ROLE, SLEEP_ROLE
from cortex_providers.cold_store import ColdStoreConfig, Upkeep
from cortex_sleep.demote import Demote
from cortex_sleep.demotion import Rules
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_sleep.maintain import Maintain
from cortex_sleep.run import PACE, Runner
from cortex_store import sleep_runs
from cortex_store.database import Database
from cortex_testkit import provider
from cortex_testkit.object_servers import ACCESS_KEY, SECRET_KEY, open_seaweed
from cortex_writing.announcements import Announcements

WORKED_ON: Final = "demotion"
QUESTIONS: Final = 400
SIZES: Final = """
SELECT CASE WHEN relname ~ '^memories_' THEN 'memories' ELSE relname END AS name,
    round(sum(pg_table_size(oid)) / 1048576)::integer AS table_mb,
    round(sum(pg_indexes_size(oid)) / 1048576)::integer AS indexes_mb
FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND relname ~ '^(memories_|memory_(terms|vectors|entities|access|occurrences)$|past_|term_)'
GROUP BY 1 HAVING sum(pg_total_relation_size(oid)) > 1048576 ORDER BY 1
"""


@dataclass(frozen=True)
class Worked:
    """What a process of sleep did."""

    memories: int
    seconds: float
    slowest_namespace: float
    peak_rss_mb: int


class _Nobody:
    async def bump(self, org: str, namespace: str) -> None:
        """Nobody has cached anything."""


async def _sleep(config: ColdStoreConfig, phase: SleepPhase, rules: Rules, pace: float) -> Worked:
    database = Database(config.database, application_name="cortex-sleep")
    await database.open()
    store = IcebergColdStore(config)
    phases = (Demote(store, Announcements(lambda: None, _Nobody()), rules), Maintain(store, Upkeep()))
    runner = Runner(database, phases, lambda: None, pace=pace, waits_s=())
    asked = []
    began = time.perf_counter()
    for namespace in synthetic.NAMESPACES:
        async with database.transaction(ME) as connection:
            asked.append(await sleep_runs.ask(connection, namespace, SleepCause.COMMAND, [phase]))
    rates = []
    while True:
        before = time.perf_counter()
        if not await runner.step():
            break
        rates.append(time.perf_counter() - before)
    took = time.perf_counter() - began
    async with database.transaction(ME) as connection:
        reports = [report for run in await sleep_runs.get(connection, asked) for report in run.reports]
    assert all(report.state == "done" for report in reports), reports
    await store.close()
    await database.close()
    return Worked(
        memories=sum(report.counts.get("demoted", 0) for report in reports),
        seconds=round(took, 1),
        slowest_namespace=round(max(rates), 1),
        peak_rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    )


def _process(results: Any, *arguments: Any) -> None:
    results.put(asyncio.run(_sleep(*arguments)))


def sleeping(*arguments: Any) -> Worked:
    """A phase on every namespace, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_process, args=(results, *arguments))
    process.start()
    worked: Worked = results.get()
    process.join()
    return worked


async def copy(postgres: Postgres, memories: int) -> None:
    """A database to work on, as the product's migrations make it now."""
    connection = await asyncpg.connect(postgres.superuser("postgres"))
    await connection.execute(f"DROP DATABASE IF EXISTS {WORKED_ON}")
    await connection.execute(
        f"CREATE DATABASE {WORKED_ON} TEMPLATE bench_{memories} OWNER {MIGRATION_ROLE} STRATEGY FILE_COPY"
    )
    await connection.close()
    await postgres.prepare(WORKED_ON)


async def sizes(postgres: Postgres) -> dict[str, dict[str, int]]:
    """Megabytes of tables and of their indexes."""
    connection = await asyncpg.connect(postgres.superuser(WORKED_ON))
    found = {
        row["name"]: {"table": row["table_mb"], "indexes": row["indexes_mb"]} for row in await connection.fetch(SIZES)
    }
    await connection.close()
    found["all"] = {kind: sum(row[kind] for row in found.values()) for kind in ("table", "indexes")}
    return found


async def speed(deployment: Deployment, seeded: Seeded) -> Mapping[str, float]:
    """Latencies of recall, one caller, each question for the first time."""
    rng = np.random.default_rng([synthetic.SEED, int(time.time())])
    first, asked = (synthetic_questions.mixed(seeded, count, rng) for count in (200, QUESTIONS))
    await synthetic_questions.prepare(deployment.cache.url, deployment.embedder.model, [*first, *asked])
    async with deployment.caller() as bus, deployment.running("recall"):
        await latency.warm_up(bus, ME, first)
        return (await latency.run(bus, ME, asked)).summary()


async def hot(postgres: Postgres) -> int:
    """Memories in the hot tier."""
    connection = await asyncpg.connect(postgres.superuser(WORKED_ON))
    count: int = await connection.fetchval("SELECT count(*) FROM memories")
    await connection.close()
    return count


async def cold(config: ColdStoreConfig) -> dict[str, Any]:
    """The cold store as it is: everything of its table, whoever it belongs to."""
    store = IcebergColdStore(config)

    def counted(table: Any) -> dict[str, Any]:
        files = table.snapshot().files
        return {
            "rows": sum(file.rows for file in files),
            "files": len(files),
            "mb": round(sum(file.size_bytes for file in files) / 1048576),
        }

    found = await store.in_thread(counted)
    await store.close()
    return found


def measure(stack: ExitStack, folder: Path, to: str, options: argparse.Namespace) -> dict[str, Any]:
    """Demote into one kind of store."""
    memories, rules = options.memories, Rules(timedelta(days=30), timedelta(days=options.days), 1.0)
    postgres, _ = open_cluster(stack, folder / "postgres")
    asyncio.run(copy(postgres, memories))
    read_through(folder / "postgres")
    deployment = open_deployment(stack, postgres, WORKED_ON)
    seeded = Seeded.load(folder / f"bench_{memories}")
    database = postgres.url(SLEEP_ROLE, WORKED_ON)
    config = ColdStoreConfig(str(stack.enter_context(provider.folder()) / "cold"), database)
    if to == "s3":
        server = open_seaweed(stack)
        config = ColdStoreConfig(
            "s3://cold", database, endpoint=server.url, access_key=ACCESS_KEY, secret_key=SECRET_KEY
        )
    report: dict[str, Any] = {"recall": {}, "mb": {}}

    def look(when: str) -> None:
        report["recall"][when] = asyncio.run(speed(deployment, seeded))
        report["mb"][when] = asyncio.run(sizes(postgres))
        line(f"recall, {when}", report["recall"][when])
        line(f"MB, {when}", {name: f"{row['table']}+{row['indexes']}" for name, row in report["mb"][when].items()})

    print(f"\n{memories:,} memories to {to}", flush=True)
    look("before")
    there = asyncio.run(hot(postgres))
    worked = sleeping(config, SleepPhase.DEMOTE, rules, PACE if options.pace else 0.0)
    report["demotion"] = vars(worked) | {"rows_per_s": round(worked.memories / worked.seconds)}
    line("demotion", report["demotion"])
    left, report["cold"] = asyncio.run(hot(postgres)), asyncio.run(cold(config))
    line("cold store", report["cold"] | {"hot": left})
    assert there == left + report["cold"]["rows"], "a memory was lost or doubled"
    look("demoted")
    report["maintenance"] = vars(sleeping(config, SleepPhase.MAINTAIN, rules, 0.0))
    line("maintenance", report["maintenance"])
    report["cold maintained"] = asyncio.run(cold(config))
    line("cold store, maintained", report["cold maintained"])
    look("maintained")
    return report


def main() -> None:
    """Measure and print; write JSON when asked."""
    parser = argparse.ArgumentParser(description="Measure demotion.")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--to", nargs="+", choices=("s3", "folder"), default=["folder", "s3"])
    parser.add_argument("--days", type=float, default=30.0, help="what was learned since then stays")
    parser.add_argument("--pace", action="store_true", help="wait between transactions as the product does")
    parser.add_argument("--keep", type=Path, help="folder of the seeded stores")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    reports = {}
    with ExitStack() as outer:
        folder = options.keep or outer.enter_context(provider.folder())
        folder.mkdir(parents=True, exist_ok=True)
        recall.seed(folder, options.memories)
        for to in options.to:
            with ExitStack() as stack:
                reports[to] = measure(stack, folder, to, options)
    if options.json:
        options.json.write_text(json.dumps(reports, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

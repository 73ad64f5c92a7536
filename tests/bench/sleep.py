"""What a full run of the background work costs whoever recalls at the same time.

    python tests/bench/sleep.py --memories 100000 [--keep FOLDER] [--limit-s 900] [--json F]

One set of processes: PostgreSQL with the product's settings, NATS, cache, recall, sleep with a cold store in a folder.
The same kind of questions is asked before the run, all the time while every phase works on every namespace, and after
it, by one caller and by four. Fails when the p95 during the run is more than 1.5 times that before it. `--keep` holds
seeded stores of `recall.py`, of which a copy is used: the run changes it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import latency
import nats
import numpy as np
import recall
import seeding
import synthetic_memories as synthetic
import synthetic_questions
from deployment import Deployment, open_cluster, open_deployment, read_through
from nats.aio.msg import Msg
from seeding import Seeded
from synthetic_questions import Question

from cortex_contracts.errors import CortexError
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import SleepRunState
from cortex_contracts.permissions import OPERATOR, inbox_prefix
from cortex_contracts.rpc.recall import RECALL, RecallRequest
from cortex_contracts.rpc.sleep import (
    SLEEP_RUN,
    SLEEP_RUNS,
    SLEEP_STOP,
    SleepRun,
    SleepRunRequest,
    SleepRunsRequest,
    SleepStopRequest,
)
from cortex_contracts.subjects import SLEEP_EVENT_PATTERN, SleepPhase
from cortex_infra.bootstrap import SLEEP_ROLE
from cortex_infra.memory import proportional_bytes
from cortex_runtime.bus import Bus
from cortex_testkit import provider

ME: Final = Principal(org=seeding.ORG, subject=seeding.OWNER)
AIM: Final = 1.5
CALLERS: Final = (1, 4)
IDLE_S: Final = 60.0
QUESTIONS: Final = 4000
"""They come round again later than recall's result cache keeps an answer."""


@dataclass
class Asked:
    """When each recall ended and what it took (ms), by number of callers; and what sleep did when."""

    walls: dict[int, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    degraded: int = 0
    failed: int = 0


async def ask(bus: Bus, questions: Sequence[Question], goes_on: Callable[[], bool], asked: Asked) -> None:
    """Ask for ten seconds by one caller, then by four, and so on, for as long as it `goes_on`."""
    at = 0
    while goes_on():
        for callers in CALLERS:
            until = time.monotonic() + 10.0

            async def caller(callers: int = callers, until: float = until) -> None:
                nonlocal at
                while goes_on() and time.monotonic() < until:
                    question, at = questions[at % len(questions)], at + 1
                    request = RecallRequest(principal=ME, query=question.text, namespaces=question.namespaces)
                    started = time.perf_counter()
                    try:
                        reply = await bus.request(RECALL, request, timeout_s=30)
                    except CortexError:
                        asked.failed += 1
                        continue
                    took = (time.perf_counter() - started) * 1000
                    asked.walls[callers].append((time.monotonic(), took))
                    asked.degraded += bool(reply.degraded)

            await asyncio.gather(*(caller() for _ in range(callers)))


class Phases:
    """What sleep works on, as its events tell it."""

    def __init__(self) -> None:
        self.changes: list[tuple[float, str]] = []

    async def heard(self, message: Msg) -> None:
        """Take in an event."""
        phase = json.loads(message.data)["phase"]
        if phase != SleepPhase.OBSERVE:
            self.changes.append((time.monotonic(), phase))

    def at(self, moment: float) -> str:
        """The phase at a moment; empty: none yet."""
        return next((phase for when, phase in reversed(self.changes) if when <= moment), "")


def summary(asked: Asked) -> dict[str, dict[str, float]]:
    """Percentiles by number of callers."""
    return {
        f"{callers} callers": {**latency.percentiles([took for _, took in walls]), "recalls": len(walls)}
        for callers, walls in asked.walls.items()
    }


def by_phase(asked: Asked, phases: Phases) -> dict[str, dict[str, float]]:
    """Percentiles of one caller by what sleep was at."""
    found: dict[str, list[float]] = defaultdict(list)
    for moment, took in asked.walls[1]:
        found[phases.at(moment)].append(took)
    return {phase: {**latency.percentiles(walls), "recalls": len(walls)} for phase, walls in found.items() if phase}


def totals(runs: Sequence[SleepRun]) -> dict[str, dict[str, Any]]:
    """Seconds and counts of each phase over all namespaces."""
    found: dict[str, dict[str, Any]] = {}
    for one in runs:
        for report in one.reports:
            row = found.setdefault(str(report.phase), {"seconds": 0.0, "states": defaultdict(int)})
            row["seconds"] = round(row["seconds"] + report.seconds, 1)
            row["states"][str(report.state)] += 1
            if report.reason:
                row["reason"] = report.reason
            for name, number in report.counts.items():
                row[name] = row.get(name, 0) + number
    return found


async def measure(
    deployment: Deployment, seeded: Seeded, phases: Sequence[SleepPhase], limit_s: float
) -> dict[str, Any]:
    """Before, during and after a run of everything."""
    rng = np.random.default_rng([synthetic.SEED, 8])
    questions = synthetic_questions.mixed(seeded, QUESTIONS, rng)
    await synthetic_questions.prepare(deployment.cache.url, deployment.embedder.model, questions)
    sleep_url = deployment.postgres.url(SLEEP_ROLE, deployment.database)
    operator = await nats.connect(deployment.nats.url(OPERATOR), inbox_prefix=inbox_prefix(OPERATOR))
    told = Phases()
    await operator.subscribe(SLEEP_EVENT_PATTERN, cb=told.heard)
    report: dict[str, Any] = {}
    async with deployment.caller() as bus, deployment.running("recall"):
        await latency.warm_up(bus, ME, questions[:200])
        async with deployment.running(
            "sleep",
            CORTEX_SLEEP_DATABASE_URL=sleep_url,
            CORTEX_HOME=str(deployment.folder),
            CORTEX_SLEEP_AT="never",
            CORTEX_SLEEP_PRESSURE="0",
        ) as sleep:
            report["sleep idle MB"] = round(proportional_bytes(sleep.pid) / 1e6)
            before, during, after = Asked(), Asked(), Asked()
            await _for(bus, questions, IDLE_S, before)
            report["before"] = summary(before)
            print(json.dumps(report), file=sys.stderr)
            request = SleepRunRequest(principal=ME, phases=tuple(phases))
            runs = (await bus.request(SLEEP_RUN, request)).runs
            peak = 0

            async def ended() -> tuple[SleepRun, ...]:
                nonlocal peak
                ids = tuple(one.run_id for one in runs)
                deadline = time.monotonic() + limit_s
                while True:
                    found = (await bus.request(SLEEP_RUNS, SleepRunsRequest(principal=ME, run_ids=ids))).runs
                    peak = max(peak, proportional_bytes(sleep.pid))
                    if all(one.finished_at is not None for one in found):
                        return found
                    if time.monotonic() > deadline:
                        await bus.request(SLEEP_STOP, SleepStopRequest(principal=ME))
                        deadline = float("inf")
                    await asyncio.sleep(0.5)

            waiting = asyncio.create_task(ended())
            began = time.monotonic()
            await ask(bus, questions, lambda: not waiting.done(), during)
            report["run s"] = round(time.monotonic() - began, 1)
            print(f"the run took {report['run s']} s", file=sys.stderr)
            finished = await waiting
            report["during"] = summary(during)
            report["during, 1 caller, by phase"] = by_phase(during, told)
            report["phases"] = totals(finished)
            report["runs"] = {state: sum(one.state is state for one in finished) for state in SleepRunState}
            report["sleep peak MB"] = round(peak / 1e6)
            await _for(bus, questions, IDLE_S / 2, after)
            report["after"] = summary(after)
            report["degraded"] = {"before": before.degraded, "during": during.degraded, "after": after.degraded}
            report["failed"] = {"before": before.failed, "during": during.failed, "after": after.failed}
    await operator.close()
    report["ratio of p95"] = {
        callers: round(report["during"][callers]["p95"] / report["before"][callers]["p95"], 2)
        for callers in report["before"]
        if callers in report["during"]
    }
    return report


async def _for(bus: Bus, questions: Sequence[Question], seconds: float, asked: Asked) -> None:
    until = time.monotonic() + seconds
    await ask(bus, questions, lambda: time.monotonic() < until, asked)


def main() -> None:
    """Measure and print; exit code 1 when the aim is missed."""
    parser = argparse.ArgumentParser(description="Measure recall while everything sleeps.")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="folder of the seeded stores of recall.py")
    parser.add_argument("--phase", action="append", type=SleepPhase, default=[], help="only this phase")
    parser.add_argument("--limit-s", type=float, default=1800.0, help="stop the run after this time")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    name = f"bench_{arguments.memories}"
    with ExitStack() as stack:
        folder = stack.enter_context(provider.folder())
        if arguments.keep is not None and (arguments.keep / name / "report.json").exists():
            with suppress(shutil.Error):  # sockets
                shutil.copytree(arguments.keep, folder, dirs_exist_ok=True)
            _own_by_server(arguments.keep / "postgres", folder / "postgres")
        else:
            recall.seed(folder, arguments.memories)
        read_through(folder / "postgres")
        postgres, _ = open_cluster(stack, folder / "postgres")
        asyncio.run(postgres.prepare(name))
        deployment = open_deployment(stack, postgres, name)
        report = asyncio.run(measure(deployment, Seeded.load(folder / name), arguments.phase, arguments.limit_s))
    print(json.dumps(report, indent=1))
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    missed = {callers: ratio for callers, ratio in report["ratio of p95"].items() if ratio > AIM}
    if missed:
        sys.exit(f"recall's p95 is more than {AIM} times that of idle: {missed}")


def _own_by_server(kept: Path, copy: Path) -> None:
    """A copy belongs to who copied it; PostgreSQL wants its own files."""
    owner = kept.stat()
    for path in (copy, *copy.rglob("*")):
        shutil.chown(path, owner.st_uid, owner.st_gid)


if __name__ == "__main__":
    main()

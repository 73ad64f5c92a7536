"""A day of random crashes in fast motion: begin, let everybody live, let it settle, count."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg
import nats
from nats.aio.client import Client

from cortex_contracts.errors import CortexError
from cortex_contracts.permissions import OPERATOR, inbox_prefix
from cortex_contracts.rpc.sleep import SLEEP_RUN, SLEEP_RUNS, SleepRun, SleepRunRequest, SleepRunsRequest
from cortex_contracts.streams import CAPTURES, DEAD_LETTERS
from cortex_infra.bootstrap import DATABASE, with_database
from cortex_runtime.rpc import call
from cortex_testkit.chaos import census, verdict
from cortex_testkit.chaos.deaths import REPLICA, Deaths
from cortex_testkit.chaos.ledger import Ledger
from cortex_testkit.chaos.life import Life
from cortex_testkit.chaos.questions import Questions
from cortex_testkit.chaos.sayings import OWNERS
from cortex_testkit.eventually import eventually
from cortex_testkit.system import System, running_system

SETTINGS: Final = {
    "CORTEX_SLEEP_AT": "never",
    "CORTEX_SLEEP_PRESSURE": "0",
    "CORTEX_SLEEP_DEMOTE_INVALID_DAYS": "0",
    "CORTEX_SLEEP_DEMOTE_LEARNED_DAYS": "0",
    "CORTEX_COLD_STORE_WAREHOUSE": "",
    "CORTEX_COLD_STORE_TIMEOUT_S": "3",
    "CORTEX_COLD_STORE_SNAPSHOT_DAYS": "0.001",
    "CORTEX_COLD_STORE_ORPHAN_DAYS": "0.02",
    "CORTEX_LOG_LEVEL": "WARNING",
}
"""Everything that may go cold goes, at once, and the cold tier is kept as if days went by in minutes."""
LEASES_ARE_OVER: Final = "UPDATE index_backlog SET leased_until = NULL"
"""Who died with a lease of five minutes on memories without a vector: they go by in a moment."""
WAITING: Final = "SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM index_backlog)"
FORGOTTEN_UPKEEP: Final = "DELETE FROM upkeep_tasks"
UPKEEP_S: Final = 15.0
SETTLE_S: Final = 900.0


@dataclass(frozen=True)
class Day:
    """What it is like. `pauses_s`: between two hits; `pause_s`: between two things that one writer says; `sample`:
    memories that are looked for at the end, of each tier."""

    seconds: float
    seed: int = 1
    namespaces: int = 2
    pauses_s: tuple[float, float] = (0.5, 6.0)
    pause_s: float = 0.3
    sample: int = 40


async def live(
    day: Day,
    settings: Mapping[str, str] | None = None,
    *,
    told: Callable[[str], None] = lambda _: None,
    evidence: Path | None = None,
) -> dict[str, Any]:
    """Live it; what it was like under `figures` and so on, and what is wrong under `faults`.

    `told` hears how far it is; `evidence` is a folder for the logs of all processes and what was found.
    """
    ledger = Ledger()
    namespaces = [f"town-{number}" for number in range(day.namespaces)]
    async with running_system({**SETTINGS, **(settings or {})}) as system:
        system.add_replica("sleep", REPLICA)
        system.launch(REPLICA)
        await system.ready(REPLICA)
        async with system.publisher() as publisher, _operator(system) as client:
            deaths = Deaths(system, ledger, day.seed, day.pauses_s)
            life = Life(ledger, publisher, client, namespaces, day.seed, day.pause_s)
            began = time.monotonic()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(life.live())
                dying = tasks.create_task(deaths.go_on())
                keeping = tasks.create_task(_forget_upkeep(system))
                await asyncio.sleep(day.seconds)
                # Who still waits for an acknowledgement gets it when everything is whole again.
                deaths.over.set()
                await dying
                await system.restore()
                life.over.set()
                keeping.cancel()
            lived = time.monotonic() - began
            told(f"lived {lived:.0f} s: {dict(deaths.hits)}; {len(ledger.acknowledged)} acknowledged")
            runs = await _settle(system, client, namespaces, told)
            counted = await census.take(system)
            if evidence is not None:
                _keep(system, ledger, counted, evidence)
            told(f"counted; faults so far: {', '.join(verdict.faults(ledger, counted)) or 'none'}")
            questions = Questions(ledger, counted, client, day.seed, day.sample)
            await questions.ask()
            dead_letters = (await client.jetstream().stream_info(DEAD_LETTERS.name)).state.messages
    if dead_letters:
        ledger.blame("dead letters", str(dead_letters))
    found = verdict.faults(ledger, counted)
    return {
        "seed": day.seed,
        "seconds": round(lived),
        "seconds to settle": round(time.monotonic() - began - lived),
        "hits": dict(sorted(deaths.hits.items())),
        "done": dict(sorted(ledger.done.items())),
        "failed calls": dict(sorted(ledger.failed.items())),
        "figures": verdict.figures(ledger, counted),
        "asked": dict(questions.found),
        "last runs": {
            run.namespace: {str(one.phase): one.reason or str(one.state) for one in run.reports} for run in runs
        },
        "faults": {kind: {"count": len(examples), "examples": examples[:5]} for kind, examples in found.items()},
    }


@asynccontextmanager
async def _operator(system: System) -> AsyncIterator[Client]:
    """A connection that may call everything and outlives outages."""

    async def ignore(_: Exception) -> None:
        """An outage is what this is about."""

    client = await nats.connect(
        system.installation.operator_url,
        inbox_prefix=inbox_prefix(OPERATOR),
        max_reconnect_attempts=-1,
        reconnect_time_wait=0.2,
        error_cb=ignore,
    )
    try:
        yield client
    finally:
        await client.close()


async def _sql(system: System, statement: str) -> Any:
    connection = await asyncpg.connect(with_database(system.installation.superuser_dsn, DATABASE), timeout=5)
    try:
        return await connection.fetchval(statement, timeout=5)
    finally:
        await connection.close(timeout=5)


async def _forget_upkeep(system: System) -> None:
    """What is kept up once a day is kept up again and again."""
    while True:
        await asyncio.sleep(UPKEEP_S)
        try:
            await _sql(system, FORGOTTEN_UPKEEP)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            continue


def _keep(system: System, ledger: Ledger, counted: census.Census, folder: Path) -> None:
    """What somebody needs who looks for the cause of a fault."""
    for log in system.installation.home.run.rglob("*.log"):
        copy = folder / "logs" / f"{log.parent.name}.log"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(log, copy)
    for name, rows in (
        ("hot", counted.hot),
        ("cold", counted.cold),
        ("batches", counted.batches.items()),
        ("said", ledger.said.values()),
        ("retained", ledger.retained.items()),
        ("wishes", ledger.wishes.items()),
    ):
        (folder / f"{name}.txt").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


async def _settle(
    system: System, client: Client, namespaces: Sequence[str], told: Callable[[str], None]
) -> list[SleepRun]:
    """Let everything come to its end: what was sent is remembered and found by meaning, and two runs are done
    everywhere; the last of them."""
    await system.restore()
    await system.all_ready()
    await _sql(system, LEASES_ARE_OVER)

    async def waiting() -> int:
        left = (await client.jetstream().stream_info(CAPTURES.name)).state.messages
        return left + int(await _sql(system, WAITING))

    ignored = (OSError, asyncpg.PostgresError, nats.errors.Error, CortexError)
    await eventually(waiting, lambda left: left == 0, within_s=SETTLE_S, ignoring=ignored)
    told("all that was sent is there")
    me = Life.principal(OWNERS[0])

    async def last() -> list[SleepRun]:
        asked = [
            run.run_id
            for namespace in namespaces
            for run in (
                await call(client, SLEEP_RUN, SleepRunRequest(principal=me, namespace=namespace), timeout_s=5)
            ).runs
        ]
        wanted = SleepRunsRequest(principal=me, run_ids=tuple(asked))

        async def over() -> list[SleepRun]:
            return list((await call(client, SLEEP_RUNS, wanted, timeout_s=5)).runs)

        return await eventually(
            over, lambda runs: all(run.finished_at for run in runs), within_s=SETTLE_S, ignoring=ignored
        )

    await last()
    told("all has slept")
    await _sql(system, FORGOTTEN_UPKEEP)
    runs = await last()
    await eventually(waiting, lambda left: left == 0, within_s=SETTLE_S, ignoring=ignored)
    return runs

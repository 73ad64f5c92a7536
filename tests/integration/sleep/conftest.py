"""Sleep on a real PostgreSQL: one phase in this process, or the service as a process that is killed at its commits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Protocol

import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import SleepRunState
from cortex_contracts.rpc.sleep import SleepCause, SleepPhaseReport
from cortex_sleep.phase import Phase
from cortex_sleep.run import Runner
from cortex_store import sleep_runs
from cortex_store.database import Database
from cortex_store.sleep_runs import OpenRun
from cortex_testkit.crashes import Crashes
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase

OPERATOR = "operator"


class RunPhase(Protocol):
    """Runs a phase, as a run of its own, under the lock of the namespace and with the role of sleep."""

    async def __call__(
        self,
        phase: Phase,
        org: str = "local",
        namespace: str = "work",
        *,
        dry_run: bool = False,
        now: datetime | None = None,
        ends: SleepRunState = SleepRunState.DONE,
    ) -> SleepPhaseReport:
        """What the phase reported; it must have ended as `ends` says."""
        ...


@pytest.fixture
async def sleep_database(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    """The test's database as the sleep service opens it."""
    database = Database(postgres.sleep_url, application_name="cortex-sleep")
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def sleep_settings(nats: NatsServer, tmp_path: Path) -> dict[str, str]:
    """What a sleep service needs beside its database; nothing is due by itself, and the cache is away."""
    return {
        "CORTEX_NATS_URL": nats.url("sleep"),
        "CORTEX_CACHE_URL": "redis://127.0.0.1:1/0",
        "CORTEX_HOME": str(tmp_path),
        "CORTEX_SLEEP_AT": "never",
        "CORTEX_SLEEP_PRESSURE": "0",
    }


@pytest.fixture
def crashes(postgres: PostgresDatabase, sleep_settings: dict[str, str], tmp_path: Path) -> Crashes:
    """Kill -9: `await crashes.through(SleepPhase.DECAY, between=check)`."""
    return Crashes(postgres, tmp_path / "crashes", sleep_settings)


@pytest.fixture
def run_phase(sleep_database: Database) -> RunPhase:
    async def run(
        phase: Phase,
        org: str = "local",
        namespace: str = "work",
        *,
        dry_run: bool = False,
        now: datetime | None = None,
        ends: SleepRunState = SleepRunState.DONE,
    ) -> SleepPhaseReport:
        operator = Principal(org=org, subject=OPERATOR)
        async with sleep_database.transaction(operator) as connection:
            asked = await sleep_runs.ask(connection, namespace, SleepCause.COMMAND, [phase.phase], dry_run=dry_run)
        runner = Runner(sleep_database, [phase], lambda: None, pace=0.0, waits_s=())
        assert await runner.work(OpenRun(asked, org, namespace), now)
        async with sleep_database.transaction(operator) as connection:
            (ended,) = await sleep_runs.get(connection, [asked])
        (report,) = ended.reports
        assert report.state is ends, report
        return report

    return run

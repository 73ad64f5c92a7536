"""Runs: the phases in their order on one namespace, by whoever holds its lock, resumed where a worker died."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Final, Protocol

from cortex_contracts.errors import CortexError, Permanent
from cortex_contracts.messages.events import SleepRunState
from cortex_contracts.rpc.sleep import SleepPhaseReport
from cortex_contracts.subjects import SleepPhase
from cortex_runtime import logs
from cortex_runtime.worker import Worker
from cortex_sleep import metrics
from cortex_sleep.phase import SLEEPER, Phase, Stopped
from cortex_sleep.work import NamespaceWork, worker
from cortex_store import sleep_runs
from cortex_store.connection import Connection
from cortex_store.locked_connection import LockedConnection
from cortex_store.sleep_runs import OpenRun, TakenRun

ORDER: Final = (
    # No fact is made of what is contradicted, and what was said twice counts once in it; what a run has found to be
    # over, double or faded goes cold at its end.
    SleepPhase.RECONSOLIDATE,
    SleepPhase.DEDUPLICATE,
    SleepPhase.CONSOLIDATE,
    SleepPhase.DECAY,
    SleepPhase.DEMOTE,
    SleepPhase.MAINTAIN,
)
PACE: Final = 1.0
"""At most half of the time a worker keeps PostgreSQL busy (measured: tests/bench/sleep.py)."""
STATEMENT_S: Final = 120.0
"""For one statement of a phase; those of the hot tier are below a second."""
WAITS_S: Final = (1.0, 5.0)
"""Before a phase goes on when something was away; then it fails, and the schedule tries it again."""
MOST_ATTEMPTS: Final = 20
"""Workers that may die in a phase before it got on once; then it fails, so that the others have their turn."""
CANDIDATES: Final = 32
KEEP: Final = timedelta(days=30)
PURGE_S: Final = 3600.0
PURGE_BATCH: Final = 1000
LONGEST_REASON: Final = 200

log = logs.get(__name__)


class Database(Protocol):
    """What the runner needs of a database."""

    def unscoped(self) -> AbstractAsyncContextManager[Connection]:
        """A transaction that is bound to no org."""
        ...

    def locked(
        self, org: str, namespace: str, command_timeout_s: float
    ) -> AbstractAsyncContextManager[LockedConnection | None]:
        """A connection that holds the lock of a namespace; none while somebody else does."""
        ...


class Runner(Worker):
    """Works on the runs that are open, `workers` at a time, and on an urgent one beside them. Any number of replicas
    may run: the lock of a namespace says whose turn it is."""

    trouble = "runs of the background work wait"

    def __init__(
        self,
        database: Database,
        phases: Sequence[Phase],
        committed: Callable[[], None],
        *,
        workers: int = 1,
        pace: float = PACE,
        waits_s: Sequence[float] = WAITS_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`committed` is called after each commit: there may be something to publish."""
        super().__init__()
        self._database = database
        self._phases = {one.phase: one for one in phases}
        self._committed = committed
        self._workers = workers
        self._pace = pace
        self._waits_s = waits_s
        self._clock = clock
        self._urgent = _Urgent(self)

    @property
    def phases(self) -> tuple[SleepPhase, ...]:
        """What it can run, in order."""
        return tuple(phase for phase in ORDER if phase in self._phases)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._purge())
            group.create_task(self._urgent.run())
            for _ in range(self._workers):
                group.create_task(super().run())

    def wake(self) -> None:
        """Say that there may be something to do."""
        super().wake()
        self._urgent.wake()

    async def step(self, *, urgent: bool = False) -> bool:
        """Work on one run to its end; says whether there was one."""
        async with self._database.unscoped() as connection:
            waiting = await sleep_runs.open_runs(connection, CANDIDATES, urgent=urgent)
        for one in waiting:
            if await self.work(one):
                return True
        return False

    async def work(self, one: OpenRun, now: datetime | None = None) -> bool:
        """Work on this run to its end, a new one as of `now`; false: somebody else does, or it has ended.

        Raises:
            Unavailable: the lock was lost. What is committed stays, and whoever gets the lock goes on with the run.
        """
        async with self._database.locked(one.org, one.namespace, STATEMENT_S) as connection:
            if connection is None:
                return False
            async with connection.transaction(worker(one, SLEEPER)) as transaction:
                run = await sleep_runs.take(transaction, one.id, now)
            if run is None:
                return False
            with metrics.RUNNING.track_inprogress():
                await self._run(connection, run)
        return True

    async def _run(self, connection: LockedConnection, run: TakenRun) -> None:
        told = {"run": str(run.id), "org": run.org, "namespace": run.namespace}
        log.info("run goes on" if run.phase else "run begins", **told, cause=run.cause, attempts=run.attempts)
        state, reason = SleepRunState.DONE, None
        for name in ORDER:
            if name not in run.phases:
                continue
            report = run.reports.get(name)
            if report is None or report.state is SleepRunState.RUNNING:
                report = await self._phase(connection, run, name)
            if report.state is SleepRunState.STOPPED:
                state, reason = SleepRunState.STOPPED, None
                break
            if report.state is SleepRunState.FAILED:
                state, reason = SleepRunState.FAILED, reason or f"{name}: {report.reason}"[:LONGEST_REASON]
        async with connection.transaction(worker(run, SLEEPER)) as transaction:
            await sleep_runs.end(transaction, run.id, state, reason)
        metrics.RUNS.labels(run.cause, state).inc()
        log.info("run has ended", **told, state=state, reason=reason)

    async def _phase(self, connection: LockedConnection, run: TakenRun, name: SleepPhase) -> SleepPhaseReport:
        work = NamespaceWork(connection, run, name, self._committed, pace=self._pace, clock=self._clock)
        if run.phase is not name:
            async with connection.transaction(worker(run, SLEEPER)) as transaction:
                await sleep_runs.begin_phase(transaction, run.id, name)
        state, reason = SleepRunState.DONE, None
        try:
            if await work.begin():
                raise Stopped
            await self._until_done(work, connection, run, name)
        except Stopped:
            state = SleepRunState.STOPPED
        except CortexError as error:
            state, reason = SleepRunState.FAILED, error.message[:LONGEST_REASON]
        except Exception as error:  # edge: one phase that has a bug must not keep the others from their turn
            state, reason = SleepRunState.FAILED, f"unexpected {type(error).__name__}"
            log.error("phase failed", phase=name, namespace=run.namespace, exc_info=error)
        # If the lock is gone, this fails as well: then the run has not ended, and the phase has not failed.
        await work.tell(state, reason)
        report = work.told
        metrics.PHASES.labels(name, state).inc()
        metrics.PHASE_SECONDS.labels(name).observe(report.seconds)
        if not run.dry_run:
            for count, number in report.counts.items():
                metrics.DONE.labels(name, count).inc(number)
        return report

    async def _until_done(
        self, work: NamespaceWork, connection: LockedConnection, run: TakenRun, name: SleepPhase
    ) -> None:
        phase = self._phases.get(name)
        if phase is None:
            raise Permanent("this installation has no such phase")
        if run.phase is name and run.attempts > MOST_ATTEMPTS:
            raise Permanent(f"its workers died {MOST_ATTEMPTS} times at the same place")
        for wait_s in self._waits_s:
            try:
                return await phase.run(work)
            except CortexError as error:
                if not error.retryable or connection.is_lost:
                    raise
                log.warning("phase waits", phase=name, namespace=run.namespace, reason=error.message)
                await asyncio.sleep(wait_s)
        await phase.run(work)

    async def _purge(self) -> None:
        while True:
            try:
                async with self._database.unscoped() as connection:
                    gone = await sleep_runs.purge(connection, KEEP, PURGE_BATCH)
            except CortexError as error:
                log.warning("ended runs stay for now", reason=error.message)
                gone = 0
            if gone < PURGE_BATCH:
                await asyncio.sleep(PURGE_S)


class _Urgent(Worker):
    """Works on what must not wait for other namespaces."""

    trouble = Runner.trouble

    def __init__(self, runner: Runner) -> None:
        super().__init__()
        self._runner = runner

    async def step(self) -> bool:
        """Work on one urgent run to its end."""
        return await self._runner.step(urgent=True)

"""What a phase is given: the connection that holds the lock, a cursor, and somebody to report to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from cortex_contracts import subjects
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import SleepRunEvent, SleepRunState
from cortex_contracts.rpc.sleep import SleepPhaseReport
from cortex_contracts.subjects import SleepPhase
from cortex_runtime import outbox
from cortex_sleep.phase import SLEEPER, Stopped
from cortex_store import sleep_runs
from cortex_store.connection import Connection
from cortex_store.ids import uuid7
from cortex_store.locked_connection import LockedConnection
from cortex_store.sleep_runs import TakenRun

REPORT_EVERY_S: Final = 1.0
LONGEST_PAUSE_S: Final = 10.0


class NamespaceWork:
    """One phase of a run (`phase.Work`).

    `pace`: after a transaction it waits this many times as long before it begins the next one, so that whoever asks in
    the meantime finds the database idle; 0: it does not wait.
    """

    def __init__(
        self,
        connection: LockedConnection,
        run: TakenRun,
        phase: SleepPhase,
        committed: Callable[[], None],
        *,
        pace: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        resumed = run.phase is phase
        self._connection = connection
        self._run = run
        self._committed = committed
        self._pace = pace
        self._clock = clock
        self._cursor = self._saved = dict(run.cursor) if resumed else {}
        before = run.reports.get(phase) if resumed else None
        self._seconds = before.seconds if before else 0.0
        self._began = clock()
        self._reported = float("-inf")
        self._idle_until = float("-inf")
        self._report = before or SleepPhaseReport(phase=phase)

    @property
    def run_id(self) -> UUID:
        """The run."""
        return self._run.id

    @property
    def org(self) -> str:
        """The org of the namespace."""
        return self._run.org

    @property
    def namespace(self) -> str:
        """What is worked on."""
        return self._run.namespace

    @property
    def now(self) -> datetime:
        """When the run began."""
        return self._run.began_at

    @property
    def dry_run(self) -> bool:
        """Count only."""
        return self._run.dry_run

    @property
    def cursor(self) -> Mapping[str, str]:
        """What was saved last."""
        return self._cursor

    @asynccontextmanager
    async def transaction(self, subject: str = SLEEPER) -> AsyncIterator[Connection]:
        """A transaction under the lock (`phase.Work.transaction`)."""
        await asyncio.sleep(max(0.0, self._idle_until - self._clock()))
        began, self._saved = self._clock(), self._cursor
        async with self._connection.transaction(worker(self._run, subject)) as connection:
            yield connection
        # What was saved in a transaction that is undone is not how far the phase is.
        ended, self._cursor = self._clock(), self._saved
        self._idle_until = ended + min(self._pace * (ended - began), LONGEST_PAUSE_S)
        self._committed()

    async def alone(self, statement: str) -> None:
        """Run a statement that allows no transaction around it."""
        await self._connection.alone(statement)

    async def save(self, connection: Connection, cursor: Mapping[str, str]) -> None:
        """Keep how far the phase is."""
        await sleep_runs.save(connection, self._run.id, cursor)
        self._saved = dict(cursor)

    async def report(self, done: int, total: int | None = None, **counts: int) -> None:
        """Say how far the phase is (`phase.Work.report`)."""
        self._report = self._report.model_copy(update={"done": done, "total": total, "counts": counts})
        if self._clock() - self._reported >= REPORT_EVERY_S and await self.tell(SleepRunState.RUNNING):
            raise Stopped

    async def begin(self) -> bool:
        """Record that the phase is worked on; is the run to be stopped? That is not announced: most phases of most
        namespaces are over before anybody could look."""
        self._reported = self._clock()
        self._report = self._report.model_copy(update={"state": SleepRunState.RUNNING})
        async with self._connection.transaction(worker(self._run, SLEEPER)) as connection:
            return await sleep_runs.report(connection, self._run.id, self._report, got_on=False)

    async def tell(self, state: SleepRunState, reason: str | None = None) -> bool:
        """Record and announce how far the phase is, or how it ended; is the run to be stopped?"""
        self._reported = self._clock()
        seconds = round(self._seconds + self._reported - self._began, 3)
        report = self._report.model_copy(update={"state": state, "seconds": seconds, "reason": reason})
        event = SleepRunEvent(
            event_id=uuid7(),
            run_id=self._run.id,
            phase=report.phase,
            org=self._run.org,
            namespace=self._run.namespace,
            state=state,
            done=report.done,
            total=report.total,
            counts=report.counts,
            dry_run=self._run.dry_run,
            reason=reason,
            occurred_at=datetime.now(UTC),
        )
        async with self._connection.transaction(worker(self._run, SLEEPER)) as connection:
            stop = await sleep_runs.report(connection, self._run.id, report)
            subject = subjects.sleep_event(report.phase, self._run.org, self._run.namespace)
            await outbox.enqueue(connection, subject, str(event.event_id), event)
        self._report = report
        self._committed()
        return stop

    @property
    def told(self) -> SleepPhaseReport:
        """The last report."""
        return self._report


def worker(run: TakenRun | sleep_runs.OpenRun, subject: str) -> Principal:
    """Who works on a run: `subject`, in its namespace only."""
    only = (run.namespace,)
    return Principal(org=run.org, subject=subject, authenticated_by="sleep", readable=only, writable=only)

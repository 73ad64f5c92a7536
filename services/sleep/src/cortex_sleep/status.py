"""The background work as seen from outside: its status, to start and to stop it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.rpc.sleep import (
    MAX_RUNS,
    NamespaceProgress,
    SleepCause,
    SleepRunRequest,
    SleepRuns,
    SleepRunsRequest,
    SleepStatus,
    SleepStatusRequest,
    SleepStopRequest,
)
from cortex_contracts.subjects import SleepPhase
from cortex_sleep.ports import Transactions
from cortex_store import memory_index, sleep_progress, sleep_runs
from cortex_store.connection import Connection


class Status:
    """Answers `cortex.v1.rpc.sleep.status`, `.run`, `.runs` and `.stop`, for the namespaces of the principal."""

    def __init__(
        self,
        database: Transactions,
        phases: tuple[SleepPhase, ...],
        asked: Callable[[], None],
        next_at: Callable[[], datetime | None],
    ) -> None:
        """`phases` are those that can be run; `asked` is called when there are new runs."""
        self._database = database
        self._phases = phases
        self._asked = asked
        self._next_at = next_at

    async def status(self, request: SleepStatusRequest) -> SleepStatus:
        """What sleep has seen of the principal's namespaces, and what it does and did there."""
        async with self._database.transaction(request.principal) as connection:
            seen = await sleep_progress.progress(connection)
            runs = await sleep_runs.current(connection, MAX_RUNS)
        return SleepStatus(
            namespaces=tuple(
                NamespaceProgress(namespace=one.namespace, events_seen=one.events_seen, last_event_at=one.last_event_at)
                for one in seen
            ),
            runs=runs,
            next_at=self._next_at(),
        )

    async def run(self, request: SleepRunRequest) -> SleepRuns:
        """Ask for runs; one that waits already and does all of it is given back.

        Raises:
            Permanent: there is no such phase, or the principal may not write the namespace.
        """
        phases = request.phases or self._phases
        if unknown := sorted(set(phases) - set(self._phases)):
            raise Permanent(f"there is no phase {unknown[0]} here; there are {', '.join(self._phases) or 'none'}")
        async with self._database.transaction(request.principal) as connection:
            namespaces = await self._namespaces(connection, request)
            asked = [
                await sleep_runs.ask(connection, namespace, SleepCause.COMMAND, phases, dry_run=request.dry_run)
                for namespace in namespaces
            ]
            runs = await sleep_runs.get(connection, asked)
        self._asked()
        return SleepRuns(runs=runs)

    async def runs(self, request: SleepRunsRequest) -> SleepRuns:
        """How far these runs are; those of namespaces that the principal may not read are left out."""
        async with self._database.transaction(request.principal) as connection:
            return SleepRuns(runs=await sleep_runs.get(connection, request.run_ids))

    async def stop(self, request: SleepStopRequest) -> SleepRuns:
        """Stop runs; none that is open is no error."""
        async with self._database.transaction(request.principal) as connection:
            return SleepRuns(runs=await sleep_runs.request_stop(connection, request.namespace, MAX_RUNS))

    async def _namespaces(self, connection: Connection, wanted: SleepRunRequest) -> tuple[str, ...]:
        if wanted.namespace is None:
            return await sleep_runs.writable_namespaces(connection, MAX_RUNS, wanted.after)
        if not await memory_index.may_write(connection, wanted.namespace):
            raise Permanent(f"you may not write the namespace {wanted.namespace}", code=ErrorCode.FORBIDDEN)
        return (wanted.namespace,)

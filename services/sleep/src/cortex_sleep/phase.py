"""What a phase of the background work is, and what it is given to work with."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cortex_contracts.subjects import SleepPhase
from cortex_store.connection import Connection

SLEEPER = "cortex"
"""Who changes what belongs to nobody: the subject of the transactions of sleep, and the owner of what it writes."""


class Stopped(Exception):
    """Somebody asked the run to stop: let it pass, what is committed stays."""


class Work(Protocol):
    """One phase of one run on one namespace, by the worker that holds the namespace's lock."""

    @property
    def run_id(self) -> UUID:
        """The run; a run that is resumed after a crash keeps its id."""
        ...

    @property
    def org(self) -> str:
        """The org of the namespace."""
        ...

    @property
    def namespace(self) -> str:
        """What is worked on, and nothing else."""
        ...

    @property
    def now(self) -> datetime:
        """When the run began, also for one that is resumed: what is old is old as of then."""
        ...

    @property
    def dry_run(self) -> bool:
        """Count what would be done, change nothing."""
        ...

    @property
    def cursor(self) -> Mapping[str, str]:
        """What the phase saved last in this run; empty at its beginning."""
        ...

    def transaction(self, subject: str = SLEEPER) -> AbstractAsyncContextManager[Connection]:
        """A transaction on the connection that holds the namespace's lock: who loses the lock loses the transaction.
        One at a time. It is bound to the org and to `subject`, whose private memories it may index and change.

        Raises:
            Unavailable: the database or the lock is gone; the run is resumed by whoever gets the lock.
        """
        ...

    async def alone(self, statement: str) -> None:
        """Run a statement that allows no transaction around it, such as VACUUM, on the same connection.

        Raises:
            Unavailable: as for `transaction`.
        """
        ...

    async def save(self, connection: Connection, cursor: Mapping[str, str]) -> None:
        """Keep how far the phase is, in the transaction of what was done."""
        ...

    async def report(self, done: int, total: int | None = None, **counts: int) -> None:
        """Say how far the phase is, of `total` units, and what it did so far (absolute numbers). Call it outside of
        transactions, as often as is convenient: events are limited to one a second.

        Raises:
            Stopped: somebody asked the run to stop.
        """
        ...


class Phase(Protocol):
    """A kind of background work on one namespace. Whenever it is killed, running it again goes on: every step is a
    transaction that leaves nothing half done, and a run over unchanged input changes nothing."""

    @property
    def phase(self) -> SleepPhase:
        """Its name."""
        ...

    async def run(self, work: Work) -> None:
        """Do all there is to do on the namespace.

        Raises:
            Unavailable: something it needs is away; the run fails with that reason and is tried again.
        """
        ...

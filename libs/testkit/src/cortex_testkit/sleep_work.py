"""A phase of sleep on its own: the work that a run gives it, without a run, its lock and its events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from cortex_contracts.messages.base import Principal
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.locked_connection import LockedConnection


@dataclass
class PlayedWork:
    """What a phase works with (`cortex_sleep.phase.Work`). `counts` is what it reported last, `reports` all of it; the
    transaction number `dies_in` (from 1) fails before it commits, as if the process were killed there. `held`: the
    connection that all of it goes over, as in a run (`Database.locked`); a phase that uses `alone` needs it."""

    database: Database
    org: str
    namespace: str
    now: datetime
    dry_run: bool = False
    dies_in: int | None = None
    run_id: UUID = field(default_factory=uuid7)
    cursor: Mapping[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    reports: list[tuple[int, int | None]] = field(default_factory=list)
    transactions: int = 0
    held: LockedConnection | None = None
    _saved: Mapping[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def transaction(self, subject: str = "cortex") -> AsyncIterator[Connection]:
        """A transaction of the sleep role bound to the org and `subject`."""
        self.transactions += 1
        number, self._saved = self.transactions, self.cursor
        over = self.database if self.held is None else self.held
        async with over.transaction(Principal(org=self.org, subject=subject)) as connection:
            yield connection
            if number == self.dies_in:
                raise Killed
        self.cursor = self._saved

    async def alone(self, statement: str) -> None:
        """Run a statement outside of transactions."""
        assert self.held is not None, "statements outside of transactions need a connection of the run"
        await self.held.alone(statement)

    async def save(self, _: Connection, cursor: Mapping[str, str]) -> None:
        """Keep the cursor if the transaction commits."""
        self._saved = dict(cursor)

    async def report(self, done: int, total: int | None = None, **counts: int) -> None:
        """Keep what was reported."""
        self.counts = counts
        self.reports.append((done, total))


class Killed(Exception):
    """The process died here."""

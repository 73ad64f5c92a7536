"""When namespaces sleep: every day at a time of day, and before it where many events came in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from cortex_contracts.errors import CortexError
from cortex_contracts.subjects import SleepPhase
from cortex_runtime import logs
from cortex_sleep.ports import Unscoped
from cortex_store import sleep_runs

LOOK_S: Final = 15.0
PAUSE: Final = timedelta(minutes=10)
"""Between a run and the next one that events or a failure cause: an import of millions is not slept on all the time."""

log = logs.get(__name__)


def last_due(now: datetime, at: time, zone: tzinfo) -> datetime:
    """The last moment, not after `now`, that the clocks of `zone` showed `at` (the first time, when they showed it
    twice; an hour later, when they left it out)."""
    day = now.astimezone(zone).date()
    # Where the clock was set forward over midnight, the day before may be two days ago.
    moments = (_moment(day - timedelta(days=back), at, zone) for back in (-1, 0, 1, 2))
    return max(moment for moment in moments if moment <= now)


def next_due(now: datetime, at: time, zone: tzinfo) -> datetime:
    """The first moment after `now` that the clocks of `zone` show `at`."""
    day = now.astimezone(zone).date()
    return min(moment for ahead in (-1, 0, 1, 2) if (moment := _moment(day + timedelta(days=ahead), at, zone)) > now)


def _moment(day: date, at: time, zone: tzinfo) -> datetime:
    return datetime.combine(day, at, zone).astimezone(UTC)


class Schedule:
    """Asks for the runs that are due, of all namespaces of all orgs; what it asked for is in the database, and so is
    what it knows: it may be killed and started anywhere, any number of times."""

    def __init__(
        self,
        database: Unscoped,
        phases: Sequence[SleepPhase],
        asked: Callable[[], None],
        *,
        at: time | None,
        zone: tzinfo,
        pressure: int,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`asked` is called when there are new runs. `at` none: by pressure only; `pressure` 0: by time only."""
        self._database = database
        self._phases = tuple(phases)
        self._asked = asked
        self._at = at
        self._zone = zone
        self._pressure = pressure
        self._now = now

    @property
    def next_at(self) -> datetime | None:
        """When it is time again; none: never."""
        return next_due(self._now(), self._at, self._zone) if self._at is not None else None

    async def look(self) -> int:
        """Ask for what is due; how many runs there were.

        Raises:
            Unavailable: the database is away.
        """
        if not self._phases:
            return 0
        since = last_due(self._now(), self._at, self._zone) if self._at is not None else None
        async with self._database.unscoped() as connection:
            asked = await sleep_runs.schedule(connection, self._phases, since, self._pressure or None, PAUSE)
        if asked:
            self._asked()
        return asked

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            try:
                await self.look()
            except CortexError as error:
                log.warning("nothing can be scheduled now", reason=error.message)
            await asyncio.sleep(LOOK_S)

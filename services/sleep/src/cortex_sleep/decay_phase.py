"""The phase that lets importance decay. Once a day all memories of a namespace are looked at, later on the same day
those that came since; what changes by less than `LEAST` is left for another day."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from typing import Final
from uuid import UUID

from cortex_contracts.subjects import SleepPhase
from cortex_sleep.decay import decayed, whole_days
from cortex_sleep.phase import Work
from cortex_store import importances, sleep_marks
from cortex_store.importances import Worth
from cortex_store.sleep_marks import SleepMarks

BATCH: Final = 2_000
"""Memories of one transaction, which holds the locks of those that it changes: 30 ms."""
LEAST: Final = 0.01
"""Changes of importance that are written: recall shows two digits, and a memory is rewritten fifty times at most."""


class Decay:
    """Writes importances; `then` is called last, except in a dry run."""

    phase = SleepPhase.DECAY

    def __init__(self, then: Callable[[Work], Awaitable[None]] | None = None) -> None:
        self._then = then

    async def run(self, work: Work) -> None:
        """Decay what is due.

        Raises:
            Unavailable: the database is away.
        """
        today = work.now.astimezone(UTC).date()
        async with work.transaction() as connection:
            marks = await sleep_marks.get(connection, work.namespace)
            last = _behind(marks, today)
            total = await importances.count(connection, work.namespace, last)
        # A run that is resumed days later has nothing to do for its own day once a newer one has begun.
        done = changed = 0
        while marks.decayed_on is None or marks.decayed_on <= today:
            async with work.transaction() as connection:
                batch = await importances.after(connection, work.namespace, last, BATCH)
                new = {one.id: value for one in batch if abs((value := due(one, work.now)) - one.importance) >= LEAST}
                last = batch[-1].id if batch else last
                if not work.dry_run:
                    if new:
                        await importances.change(connection, new)
                    await sleep_marks.decayed(connection, work.namespace, today, last)
            done, changed = done + len(batch), changed + len(new)
            await work.report(done, max(done, total), changed=changed)
            if len(batch) < BATCH:
                break
        if self._then is not None and not work.dry_run:
            await self._then(work)


def due(worth: Worth, now: datetime) -> float:
    """The importance that a memory has today."""
    return decayed(
        worth.base,
        age_days=whole_days(worth.valid_at, now),
        idle_days=None if worth.used_at is None else whole_days(worth.used_at, now),
        accesses=worth.uses,
    )


def _behind(marks: SleepMarks, today: date) -> UUID | None:
    return marks.decayed_to if marks.decayed_on == today else None

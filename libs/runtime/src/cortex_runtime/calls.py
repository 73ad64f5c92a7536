"""The cancellable calls that a server works on, and those that were cancelled before it came to them."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Final

CANCELLED_EARLY: Final = 1_024
"""Cancels that are remembered for calls that have not begun: they wait in a subscription, or another replica has them.
Who remembers too few works for nobody now and then."""

_CALL = re.compile(r"[0-9a-f]{32}")


class Calls:
    """Calls by the subject and the id that their caller gave them. A call without an id is never cancelled."""

    def __init__(self) -> None:
        self._running: dict[tuple[str, str], asyncio.Task[Any]] = {}
        self._early: dict[tuple[str, str], None] = {}

    def begin(self, subject: str, call: str | None) -> bool:
        """Note that the current task works on a call; False: it was cancelled before, and nobody waits for it."""
        task = asyncio.current_task()
        if task is None or call is None or not _CALL.fullmatch(call):
            return True
        if (subject, call) in self._early:
            del self._early[subject, call]
            return False
        # An id that is used twice names the first of the calls alone.
        self._running.setdefault((subject, call), task)
        return True

    def end(self, subject: str, call: str | None) -> None:
        """Note that the current task is done with a call: from now on it can not be cancelled."""
        if call is not None and self._running.get((subject, call)) is asyncio.current_task():
            del self._running[subject, call]

    def cancel(self, subject: str, call: str) -> None:
        """End the work on a call, or see to it that it does not begin here."""
        task = self._running.pop((subject, call), None)
        if task is not None:
            task.cancel()
            return
        self._early[subject, call] = None
        if len(self._early) > CANCELLED_EARLY:
            del self._early[next(iter(self._early))]

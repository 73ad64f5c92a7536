"""Turns: one search at a time, and an end to waiting for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from cortex_contracts.errors import ErrorCode, Unavailable

MOST_WAITING: Final = 8
"""More would wait longer than anybody does."""


class Turns:
    """Lets one after the other in, in the order of their coming."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self._free = asyncio.Lock()
        self._most = most_waiting
        self._waiting = 0

    @asynccontextmanager
    async def turn(self, limit_s: float) -> AsyncIterator[float]:
        """Wait for a turn, at most `limit_s`; what is left of that.

        Raises:
            Unavailable: too many wait already, or the time is over.
        """
        if self._waiting >= self._most:
            raise Unavailable("the archive has too many searches to do: try again in a minute")
        began = time.monotonic()
        self._waiting += 1
        try:
            try:
                async with asyncio.timeout(limit_s):
                    await self._free.acquire()
            finally:
                self._waiting -= 1
        except TimeoutError:
            raise Unavailable("the archive was busy with other searches", code=ErrorCode.DEADLINE_EXCEEDED) from None
        try:
            yield max(0.1, limit_s - (time.monotonic() - began))
        finally:
            self._free.release()

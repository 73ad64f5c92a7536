"""Turns: how much is asked of engines at once, so that their answers are never more than can be taken in.

A question weighs the hits that may come back: its engines times its `k`. One that does not fit beside those that are
being answered waits, first come, first served; one that is larger than everything is asked alone.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from cortex_gateway.errors import Busy

HITS_AT_ONCE: Final = 6_000
"""With 2,000 characters of text in each (`SNIPPET_LENGTH`) a hit has up to 8 KB on the bus: together 48 MB. NATS
disconnects a client that leaves more than 64 MB unread (`max_pending`), and then engines seem down which are not; what
is more than 128 MB in a subscription, its client drops. These are 71 questions to seven engines for 12 hits each, or
three to twenty engines for 100."""


class Turns:
    """What is left of `most` hits, and who waits for some of them."""

    def __init__(self, most: int = HITS_AT_ONCE) -> None:
        self._most = self._free = most
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def taken(self, hits: int, within_s: float) -> AsyncIterator[float]:
        """Run a block that asks for so many hits, when it is its turn; yields the seconds that it waited.

        Raises:
            Busy: its turn did not come within `within_s`.
        """
        hits = min(hits, self._most)
        waited_s = 0.0
        if self._waiting or hits > self._free:
            waited_s = await self._wait(hits, within_s)
        else:
            self._free -= hits
        try:
            yield waited_s
        finally:
            self._give(hits)

    async def _wait(self, hits: int, within_s: float) -> float:
        started = time.perf_counter()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((hits, turn))
        try:
            async with asyncio.timeout(within_s):
                await turn
        except BaseException as error:
            # Its turn may have come at the very moment at which it gave up; else those behind it may fit.
            self._give(0 if turn.cancelled() else hits)
            if isinstance(error, TimeoutError):
                raise Busy from None
            raise
        return time.perf_counter() - started

    def _give(self, hits: int) -> None:
        self._free += hits
        while self._waiting:
            wanted, turn = self._waiting[0]
            if not turn.cancelled():
                if wanted > self._free:
                    return
                self._free -= wanted
                turn.set_result(None)
            self._waiting.popleft()

"""Patience with a helper that may be away: it is waited for so long, and left alone for a while when it failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from cortex_contracts.errors import Retryable, Unavailable
from cortex_providers.language_model import UnfitAnswer

PAUSE_S: Final = 30.0
"""For which what failed is not asked again, so that a queue of captures does not wait for it one by one."""

ResultT = TypeVar("ResultT")


class Patience:
    """For one helper; `who` begins its sentences."""

    def __init__(self, who: str, limit_s: float, pause_s: float = PAUSE_S) -> None:
        self._who = who
        self._limit_s = limit_s
        self._pause_s = pause_s
        self._again_at = 0.0

    async def wait(self, ask: Callable[[], Awaitable[ResultT]], *, limit_s: float | None = None) -> ResultT:
        """The answer of `ask`.

        Raises:
            Unavailable: it took too long, or failed a moment ago and was not asked.
            CortexError: whatever `ask` raises.
        """
        clock = asyncio.get_running_loop().time
        if clock() < self._again_at:
            raise Unavailable(f"{self._who} failed a moment ago and was not asked")
        limit = self._limit_s if limit_s is None else limit_s
        try:
            async with asyncio.timeout(limit):
                return await ask()
        except TimeoutError:
            self._again_at = clock() + self._pause_s
            raise Unavailable(f"{self._who} did not answer within {limit:g} s") from None
        except UnfitAnswer:
            raise  # it works: the next question may go better
        except Retryable:
            self._again_at = clock() + self._pause_s
            raise

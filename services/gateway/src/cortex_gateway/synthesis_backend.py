"""Whether a model can be asked now, found out while nobody waits for it.

A model is there from the first check that succeeds until the first answer that fails. Then it is asked nothing more
until a check in the background has succeeded, which also gets the model ready (a local one may have to be loaded). The
pause before the check doubles with every failure in a row; so a model that passes checks and fails at answers is tried
less and less, too.
"""

from __future__ import annotations

import asyncio
import random
from typing import Final

from cortex_contracts.errors import CortexError
from cortex_gateway.synthesis_routing import Model
from cortex_providers.prose import WAKE_S, ProseWriter
from cortex_runtime import logs

FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 30.0
RECHECK_S: Final = 15.0
"""How often a local server that is there is looked at; one that falls asleep in between costs one question its wait."""

log = logs.get(__name__)


class Backend:
    """One model, and whether it is there. A resource of the service: usable from the start, whatever is there."""

    def __init__(
        self,
        model: Model,
        writer: ProseWriter,
        *,
        recheck_s: float | None = None,
        first_pause_s: float = FIRST_PAUSE_S,
        longest_pause_s: float = LONGEST_PAUSE_S,
    ) -> None:
        """`recheck_s`: look at it that often while it is there; none: not at all (a paid service in the internet)."""
        self.model = model
        self.writer = writer
        self._recheck_s = recheck_s
        self._first_pause_s = first_pause_s
        self._longest_pause_s = longest_pause_s
        self._up = False
        self._told = ""
        self._failures = 0
        """In a row; so are `_late`."""
        self._late = 0
        self._failed = asyncio.Event()
        self.changed = asyncio.Event()
        """Set whenever a check has ended."""

    @property
    def available(self) -> bool:
        """Whether it may be asked."""
        return self._up

    def failed(self, why: str) -> None:
        """An answer failed: nobody asks again until a check has succeeded."""
        self._failures += 1
        self._late = 0
        self._down(why)
        self._failed.set()

    def late(self, *, whole: bool) -> None:
        """It wrote nothing in the time that was left, which was the `whole` limit or less. The time of one who asks may
        be short; two in a row are no accident."""
        self._late += 1
        if whole or self._late > 1:
            self.failed("it wrote nothing in time")

    def succeeded(self) -> None:
        """It answered, so failures before do not count any more."""
        self._failures = self._late = 0

    async def run(self) -> None:
        """Check, again and again (a background task of the service)."""
        while True:
            self._failed.clear()
            if self._failures:
                await asyncio.sleep(self._pause())
            try:
                async with asyncio.timeout(WAKE_S):
                    await (self.writer.wake() if self._failures else self.writer.check())
            except (CortexError, TimeoutError) as error:
                self._failures += 1
                self._down(error.message if isinstance(error, CortexError) else "no answer to a check")
            except Exception as error:  # edge: whatever a check meets, the next one may succeed
                self._failures += 1
                self._down(type(error).__name__)
                log.error("unexpected failure", place="check of a language model", exc_info=error)
            else:
                if not self._up:
                    log.info("the language model can be asked", model=self.model.value)
                self._up, self._told = True, ""
                self.changed.set()
                try:
                    async with asyncio.timeout(self._recheck_s):
                        await self._failed.wait()
                except TimeoutError:
                    continue
            self.changed.set()

    async def open(self) -> None:
        """Nothing to open: the checks find out."""

    async def check(self) -> None:
        """Always usable: without it answers are merged."""

    async def close(self) -> None:
        """Close the connections."""
        await self.writer.close()

    def _down(self, why: str) -> None:
        if why != self._told:
            log.warning("the language model cannot be asked; answers are merged", model=self.model.value, reason=why)
        self._up, self._told = False, why

    def _pause(self) -> float:
        pause = min(self._longest_pause_s, self._first_pause_s * 2.0 ** min(self._failures - 1, 16))
        return pause * random.uniform(0.8, 1.2)

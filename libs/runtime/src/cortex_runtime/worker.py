"""Work that waits in a database: done in steps by a background task, which is woken by commits and looks by itself."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import ClassVar, Final

from cortex_contracts.errors import CortexError
from cortex_runtime import logs

POLL_S: Final = 1.0
"""A worker is woken after each commit of its own process; the poll finds what another process left behind."""

log = logs.get(__name__)


class Worker(ABC):
    """A background task. Any number of replicas may run: what one of them works on is for a step to say."""

    trouble: ClassVar[str]
    """What is logged while a step fails, with the reason."""

    def __init__(self) -> None:
        self._wake = asyncio.Event()

    @abstractmethod
    async def step(self) -> bool:
        """Do some of the work; says whether there is more. Raises CortexError when it cannot be done now."""

    def wake(self) -> None:
        """Say that there may be something to do."""
        self._wake.set()

    async def run(self) -> None:
        """Work until cancelled. A step that fails is tried again; its reason is logged once while it stays the same."""
        reason = ""
        while True:
            self._wake.clear()
            try:
                if await self.step():
                    continue
                reason = ""
            except CortexError as error:
                if error.message != reason:
                    log.warning(self.trouble, reason=error.message)
                reason = error.message
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await self._wake.wait()

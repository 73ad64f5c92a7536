"""The state of the pages as monitoring asks for it: often, without credentials, and cheaply."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from cortex_contracts.errors import CortexError, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.pages import BrainStatus
from cortex_gateway.brain import Brain

FRESH_S: Final = 1.0
"""How long an answer is given again: whoever asks without credentials costs one count a second at most."""
LIMIT_S: Final = 2.0


class BrainHealth:
    """The counts of the whole org, at most a second old."""

    def __init__(self, brain: Brain, principal: Principal) -> None:
        self._brain = brain
        self._principal = principal
        self._turn = asyncio.Lock()
        self._asked_at = float("-inf")
        self._status: BrainStatus | None = None

    async def status(self) -> BrainStatus:
        """What there is.

        Raises:
            Unavailable: the pages are not served now.
        """
        async with self._turn:
            if time.monotonic() - self._asked_at >= FRESH_S:
                try:
                    self._status = await self._brain.status(self._principal, timeout_s=LIMIT_S)
                except CortexError:
                    self._status = None
                self._asked_at = time.monotonic()
        if self._status is None:
            raise Unavailable("the pages are not served now")
        return self._status

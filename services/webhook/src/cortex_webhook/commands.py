"""Sending sync commands: one per vault, each under an id that a redelivery of the same GitHub delivery repeats."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from cortex_contracts import subjects
from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Message
from cortex_runtime.publishing import Published
from cortex_webhook.delivery import Wanted

PUBLISH_TIMEOUT_S: Final = 3.0
"""GitHub hangs up after 10 s; a bus that did not confirm by now is down as far as this delivery is concerned."""


class Publisher(Protocol):
    """What is needed of the bus."""

    async def check(self) -> None:
        """Is it connected? Raises Unavailable when not."""
        ...

    async def publish(self, subject: str, message: Message, *, message_id: str) -> Published:
        """Store a message and wait for the acknowledgement. Raises Unavailable."""
        ...


class SyncCommands:
    """Queues the syncs that one org's deliveries ask for."""

    def __init__(self, bus: Publisher, org: str) -> None:
        self._bus = bus
        self._org = org

    async def send(self, wanted: Wanted, delivery_id: str) -> bool:
        """Queue a sync of every wanted vault; false when all of them were queued by this delivery before.

        Repeating it after a failure is safe: what was stored already is recognised by its id.

        Raises:
            Unavailable: the bus did not confirm all of them in time.
        """
        try:
            async with asyncio.timeout(PUBLISH_TIMEOUT_S):
                await self._bus.check()
                stored = [
                    await self._bus.publish(
                        subjects.sync(self._org, vault),
                        wanted.command,
                        message_id=f"github:{delivery_id}:{vault}",
                    )
                    for vault in wanted.vaults
                ]
        except TimeoutError:
            raise Unavailable(f"the bus did not confirm within {PUBLISH_TIMEOUT_S:g} s") from None
        return not all(one.duplicate for one in stored)

"""The safety net: every vault is synced now and then, whether or not anybody told us that it changed."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from typing import Final, Protocol

from cortex_contracts import subjects
from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Message
from cortex_contracts.messages.commands import SyncReason, SyncVault
from cortex_runtime import logs
from cortex_runtime.publishing import Published
from cortex_runtime.settings_vaults import VaultSource

INTERVAL_S: Final = 900.0
RETRY_S: Final = 5.0

log = logs.get(__name__)


class Publisher(Protocol):
    """What is needed of the bus."""

    async def publish(self, subject: str, message: Message, *, message_id: str) -> Published:
        """Store a message and wait for the acknowledgement. Raises Unavailable."""
        ...


class Poll:
    """Asks for a sync of every vault at start and in every interval. Replicas ask under one id: it happens once."""

    def __init__(self, bus: Publisher, org: str, vaults: Sequence[VaultSource], interval_s: float = INTERVAL_S) -> None:
        self._bus = bus
        self._org = org
        self._vaults = vaults
        self._interval_s = interval_s

    async def run(self) -> None:
        """Ask until cancelled; an outage of the bus only delays it."""
        while True:
            now = time.time()
            try:
                await self.ask(now)
            except Unavailable as error:
                log.warning("poll waits", reason=error.message)
                await asyncio.sleep(RETRY_S)
                continue
            await asyncio.sleep(self._interval_s - now % self._interval_s)

    async def ask(self, now: float) -> None:
        """Ask for the syncs of the interval in which `now` (seconds since 1970) lies.

        Raises:
            Unavailable: the bus did not confirm.
        """
        for vault in self._vaults:
            await self._bus.publish(
                subjects.sync(self._org, vault.name),
                SyncVault(reason=SyncReason.POLL, branch=vault.branch[:200]),
                message_id=f"poll:{vault.name}:{_identity(vault)}:{int(now // self._interval_s)}",
            )


def _identity(vault: VaultSource) -> str:
    """Changes with the configuration of the vault, so that a new address is read at the next start, not later."""
    return hashlib.sha256("\x00".join((vault.repository, vault.branch)).encode()).hexdigest()[:12]

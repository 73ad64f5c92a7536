"""Partitions ahead of time: a memory lands in the partition of its month, what no one foresaw in the default one."""

from __future__ import annotations

import asyncio
from typing import Final

from cortex_contracts.errors import CortexError
from cortex_runtime import logs
from cortex_sleep.ports import Unscoped
from cortex_store import memories

MONTHS_AHEAD: Final = 6
INTERVAL_S: Final = 6 * 3600.0
RETRY_S: Final = 30.0

log = logs.get(__name__)


class Partitions:
    """Makes them at start and several times a day."""

    def __init__(self, database: Unscoped) -> None:
        self._database = database

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            try:
                async with self._database.unscoped() as connection:
                    made = await memories.ensure_partitions(connection, MONTHS_AHEAD)
                if made:
                    log.info("partitions made", partitions=made)
                pause = INTERVAL_S
            except CortexError as error:
                log.warning("partitions cannot be made now", reason=error.message)
                pause = RETRY_S
            await asyncio.sleep(pause)

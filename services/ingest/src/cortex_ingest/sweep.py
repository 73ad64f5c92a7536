"""The nightly sweep: passages of pages that have no vector are embedded again.

A write embeds before it answers; what stays behind was refused by the model, or lost to a change of it.
"""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from cortex_contracts.errors import CortexError
from cortex_ingest import page_drafts
from cortex_runtime import logs
from cortex_store import page_chunks, vaults
from cortex_writing.ports import PassageEmbedder, Transactions, Unscoped

RETRY_S: Final = 60.0
"""After a sweep that could not be finished."""
JITTER_S: Final = 900.0
"""Installations that share an embedder do not all begin at the full hour."""
SWEEP: Final = "/sweep"
"""The lock's name; no vault is called so."""

log = logs.get(__name__)


class Database(Transactions, Unscoped, Protocol):
    """What the sweep needs of a database."""


class Sweep:
    """Makes pages whole: once at the start, then every day at `hour` (UTC). Of several replicas one works at an org."""

    def __init__(self, database: Database, embedder: PassageEmbedder, hour: int) -> None:
        self._database = database
        self._embedder = embedder
        self._hour = hour

    async def run(self) -> None:
        """Sweep until cancelled. What fails is tried again; its reason is logged once while it stays the same."""
        reason = ""
        while True:
            try:
                await self.sweep()
                reason = ""
                pause_s = pause(datetime.now(UTC), self._hour) + random.uniform(0, JITTER_S)
            except CortexError as error:
                if error.message != reason:
                    log.warning("stale chunks wait", reason=error.message)
                reason, pause_s = error.message, RETRY_S
            await asyncio.sleep(pause_s)

    async def sweep(self) -> int:
        """Embed the stale chunks, org by org; returns how many got their vector.

        Raises:
            Retryable: the embedder or the database is away, or has another model by now; what was done stays.
        """
        async with self._database.unscoped() as connection:
            orgs = await page_chunks.orgs_with_stale(connection)
        return sum([await self._embed(org) for org in orgs])

    async def _embed(self, org: str) -> int:
        """Embed the stale chunks of an org, unless another replica is at it."""
        # A transaction that does nothing but hold the lock keeps neither a snapshot nor a row.
        async with self._database.transaction(org) as alone:
            if not await vaults.try_lock_sync(alone, SWEEP):
                return 0
            embedded, after = 0, 0
            while True:
                async with self._database.transaction(org) as connection:
                    chunks = await page_chunks.stale(connection, page_drafts.SLICE, after)
                if not chunks:
                    break
                after = chunks[-1].id
                texts = [chunk.text for chunk in chunks]
                # Many passages at once are a bulk load: the server lets a query go before them.
                vectors = await page_drafts.vectors_of(texts, self._embedder)
                found = [(chunk.id, vector) for chunk in chunks if (vector := vectors[chunk.text]) is not None]
                async with self._database.transaction(org) as connection:
                    embedded += await page_chunks.embed(connection, self._embedder.model, found)
        if embedded:
            log.info("stale chunks embedded", org=org, chunks=embedded)
        return embedded


def pause(now: datetime, hour: int) -> float:
    """Seconds until the clock shows `hour` next (UTC)."""
    start = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    return ((start if start > now else start + timedelta(days=1)) - now).total_seconds()

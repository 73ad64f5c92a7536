"""How the brain is: what there is of pages, and what does not work."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import Final, Protocol

from cortex_contracts.errors import CortexError
from cortex_contracts.rpc.pages import BrainStatus, BrainStatusRequest
from cortex_ranking.query_vector import Model
from cortex_recall.ports import Transactions
from cortex_store import page_overview, vaults
from cortex_store.page_views import page_type
from cortex_store.vaults import SyncResult

CHECK_S: Final = 1.0
"""How long the embedder may take to say that it is there."""
RECHECK_S: Final = 5.0
"""How old that may be: the status is asked for often, by whoever watches the installation."""


class Checked(Protocol):
    """What can be asked whether it is there."""

    async def check(self) -> None:
        """Raises CortexError when it is not."""
        ...


class Status:
    """The use case."""

    def __init__(self, database: Transactions, embedder: Checked, model: Model) -> None:
        self._database = database
        self._embedder = embedder
        self._model = model
        self._is_there = True
        self._checked_at = float("-inf")

    async def status(self, request: BrainStatusRequest) -> BrainStatus:
        """The counts of what the principal may read, and what is missing.

        Raises:
            Unavailable: the hot tier cannot be read.
        """
        async with self._database.transaction(request.principal) as connection:
            counts = await page_overview.counts(connection)
            synced = await vaults.listed(connection)
            tags = await page_overview.tags(connection) if request.details else {}
            types: Counter[str] = Counter()
            for written, count in (await page_overview.types(connection)).items() if request.details else ():
                types[page_type(written).value] += count
        degraded = [
            f"the last sync of the vault {one.vault} failed" for one in synced if one.last_result is SyncResult.FAILED
        ]
        if not await self._model.fits():
            degraded.insert(0, "the embedding model was changed: pages are searched by words until recall starts again")
        elif not await self._embedder_is_there():
            degraded.insert(0, "the embedder is away: pages are searched by words only")
        return BrainStatus(
            pages=counts.pages,
            links=counts.links,
            chunks=counts.chunks,
            stale_chunks=counts.stale,
            last_sync=max((one.last_sync for one in synced if one.last_sync is not None), default=None),
            degraded=tuple(degraded),
            tags=tags,
            types=types,
            vaults=dict(counts.vaults),
        )

    async def _embedder_is_there(self) -> bool:
        if time.monotonic() - self._checked_at >= RECHECK_S:
            try:
                async with asyncio.timeout(CHECK_S):
                    await self._embedder.check()
                self._is_there = True
            except (CortexError, TimeoutError):
                self._is_there = False
            self._checked_at = time.monotonic()
        return self._is_there

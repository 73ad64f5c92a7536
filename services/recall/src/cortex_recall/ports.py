"""What recall needs of the hot tier."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from cortex_contracts.messages.base import Principal
from cortex_providers.embedder import Vectors
from cortex_store.search import MemoryCandidate, PageCandidate


class Candidates(Protocol):
    """Candidates for an answer, by vector and by words, for one principal."""

    async def memories(
        self, principal: Principal, query: str, vector: Vectors | None, namespaces: Sequence[str] | None
    ) -> tuple[MemoryCandidate, ...]:
        """Memories near `vector` (shape (dimension,); none: by words only) or sharing words with `query`."""
        ...

    async def pages(self, principal: Principal, query: str, vector: Vectors | None) -> tuple[PageCandidate, ...]:
        """Pages with a passage near `vector` or sharing words with `query`, each page once."""
        ...


class Freshness(Protocol):
    """When the hot tier last learned something."""

    async def latest_memory(self, principal: Principal) -> datetime | None:
        """When the newest memory that the principal may read was made; none: there is none."""
        ...

    async def latest_sync(self, principal: Principal) -> datetime | None:
        """When a vault was last synced; none: never."""
        ...

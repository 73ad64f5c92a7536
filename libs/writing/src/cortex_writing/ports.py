"""What who writes memories needs of a database, of an embedder and of the cache."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from cortex_contracts.messages.base import Principal
from cortex_providers.embedder import TextKind, Vectors
from cortex_store.connection import Connection


class Transactions(Protocol):
    """Transactions that see one org, or what one principal may see."""

    def transaction(self, scope: str | Principal) -> AbstractAsyncContextManager[Connection]:
        """A transaction bound to `scope`. Raises Unavailable when the database is away."""
        ...


class Unscoped(Protocol):
    """Transactions for work that belongs to no org."""

    def unscoped(self) -> AbstractAsyncContextManager[Connection]:
        """A transaction that is bound to no org. Raises Unavailable when the database is away."""
        ...


class PassageEmbedder(Protocol):
    """Turns texts into vectors."""

    @property
    def model(self) -> str:
        """Name of the model."""
        ...

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Vectors of shape (len(texts), dimension). Raises Unavailable when the model is away."""
        ...


class Invalidation(Protocol):
    """Tells readers that what they cached of a namespace is old."""

    async def bump(self, org: str, namespace: str) -> None:
        """Call it after the commit; it never fails."""
        ...

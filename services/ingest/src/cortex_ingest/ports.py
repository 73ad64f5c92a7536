"""What ingest needs of a database and of an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from cortex_providers.embedder import TextKind, Vectors
from cortex_store.connection import Connection


class Transactions(Protocol):
    """Transactions that see one org."""

    def transaction(self, org: str) -> AbstractAsyncContextManager[Connection]:
        """A transaction bound to `org`. Raises Unavailable when the database is away."""
        ...


class PassageEmbedder(Protocol):
    """Turns texts into vectors."""

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Vectors of shape (len(texts), dimension). Raises Unavailable when the model is away."""
        ...

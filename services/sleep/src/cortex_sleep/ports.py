"""What sleep needs of a database."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from cortex_store.connection import Connection


class Transactions(Protocol):
    """Transactions that see one org."""

    def transaction(self, org: str) -> AbstractAsyncContextManager[Connection]:
        """A transaction bound to `org`. Raises Unavailable when the database is away."""
        ...

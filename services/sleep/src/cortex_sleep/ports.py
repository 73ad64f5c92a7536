"""What sleep needs of a database."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from cortex_contracts.messages.base import Principal
from cortex_store.connection import Connection


class Transactions(Protocol):
    """Transactions that see one org."""

    def transaction(self, scope: str | Principal) -> AbstractAsyncContextManager[Connection]:
        """A transaction bound to an org, or to a principal. Raises Unavailable when the database is away."""
        ...


class Unscoped(Protocol):
    """Transactions for work that belongs to no org."""

    def unscoped(self) -> AbstractAsyncContextManager[Connection]:
        """A transaction that is bound to no org. Raises Unavailable when the database is away."""
        ...

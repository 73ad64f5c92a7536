"""Who may see what of the cold tier, decided where the hot tier decides it."""

from __future__ import annotations

from collections.abc import Sequence

from cortex_contracts.messages.base import Principal
from cortex_providers.cold_search import ColdLook, ColdReader, ColdScope
from cortex_sleep.archive.ports import Looks
from cortex_sleep.ports import Transactions
from cortex_store import cold_batches, scopes, thaws


async def opened(
    store: Looks, database: Transactions, principal: Principal, namespaces: Sequence[str] | None = None
) -> tuple[ColdLook, ColdReader]:
    """A look, and who looks at `namespaces` (none: all that the principal searches).

    In this order: a batch that is not done when the look is old enough to have it is still in the hot tier, and what
    has come back from there since is known as such.

    Raises:
        Unavailable: the cold tier or the database is away.
        Permanent: the cold tier refuses.
    """
    look = await store.look()
    async with database.transaction(principal) as connection:
        searched = await scopes.searched(connection, namespaces)
        hidden = await cold_batches.not_done(connection)
        thawed = await thaws.pairs(connection)
    known = tuple(ColdScope(one.namespace, one.readable) for one in searched)
    return look, ColdReader(principal.org, principal.subject, known, hidden, thawed)

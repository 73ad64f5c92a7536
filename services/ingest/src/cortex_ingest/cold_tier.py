"""The cold tier as ingest needs it: what somebody is about to change comes back from it."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.cold import THAW, ThawRequest
from cortex_runtime.bus import Bus
from cortex_store import thaws
from cortex_writing.ports import Transactions


class ColdTier:
    """Asks sleep, which alone touches it, and only if the org has anything in it."""

    def __init__(self, database: Transactions, bus: Bus) -> None:
        self._database = database
        self._bus = bus

    async def returned(self, principal: Principal, memory_ids: Sequence[UUID]) -> bool:
        """Bring those of the memories back that are cold and the principal's to change; false: none of them can be.

        Raises:
            Permanent: there is only such as the principal may read and not write.
            Unavailable: sleep, the cold tier or the database is away.
        """
        if not memory_ids:
            return False
        async with self._database.transaction(principal) as connection:
            if not await thaws.has_cold(connection):
                return False
        reply = await self._bus.request(THAW, ThawRequest(principal=principal, memory_ids=tuple(memory_ids)))
        if len(reply.forbidden) == len(memory_ids):
            raise Permanent("no access to write the namespace of the memory", code=ErrorCode.FORBIDDEN)
        return True

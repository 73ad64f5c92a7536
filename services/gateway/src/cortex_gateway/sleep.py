"""The background work on behalf of an owner."""

from __future__ import annotations

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.keys import Role
from cortex_contracts.rpc.sleep import (
    SLEEP_RUN,
    SLEEP_STATUS,
    SLEEP_STOP,
    SleepRunRequest,
    SleepRuns,
    SleepRunWanted,
    SleepStatus,
    SleepStatusRequest,
    SleepStopRequest,
    SleepStopWanted,
)
from cortex_runtime.bus import Bus


class BackgroundWork:
    """Calls the service that does it.

    Every verb raises CortexError: forbidden for the principal, or unavailable.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def run(self, principal: Principal, wanted: SleepRunWanted) -> SleepRuns:
        """Run phases now; does not wait for their end."""
        request = SleepRunRequest(principal=_owner(principal), **dict(wanted))
        return await self._bus.request(SLEEP_RUN, request)

    async def status(self, principal: Principal) -> SleepStatus:
        """What it has seen, does and did, and when it is time again."""
        return await self._bus.request(SLEEP_STATUS, SleepStatusRequest(principal=_owner(principal)))

    async def stop(self, principal: Principal, wanted: SleepStopWanted) -> SleepRuns:
        """Stop runs after the step that they are at."""
        return await self._bus.request(SLEEP_STOP, SleepStopRequest(principal=_owner(principal), **dict(wanted)))


def _owner(principal: Principal) -> Principal:
    if principal.role != Role.OWNER:
        raise Permanent("only the role owner runs the background work", code=ErrorCode.FORBIDDEN)
    return principal

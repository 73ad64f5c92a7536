"""The status of the background work, for `cortex sleep status` and the dashboard."""

from __future__ import annotations

from cortex_contracts.rpc.sleep import NamespaceProgress, SleepStatus, SleepStatusRequest
from cortex_sleep.ports import Transactions
from cortex_store import sleep_progress


class Status:
    """Answers `cortex.v1.rpc.sleep.status`."""

    def __init__(self, database: Transactions) -> None:
        self._database = database

    async def status(self, request: SleepStatusRequest) -> SleepStatus:
        """What sleep has seen of the principal's org, per namespace."""
        async with self._database.transaction(request.principal.org) as connection:
            seen = await sleep_progress.progress(connection)
        return SleepStatus(
            namespaces=tuple(
                NamespaceProgress(namespace=one.namespace, events_seen=one.events_seen, last_event_at=one.last_event_at)
                for one in seen
            )
        )

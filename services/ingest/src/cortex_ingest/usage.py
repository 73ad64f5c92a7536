"""The RPCs about usage: counts in, totals out."""

from __future__ import annotations

from dataclasses import asdict

from cortex_contracts.rpc.usage import (
    MAX_TOTALS,
    RecordUsageRequest,
    UsageRecorded,
    UsageReply,
    UsageRequest,
    UsageTotal,
)
from cortex_runtime.inbox import claim
from cortex_store import usage
from cortex_writing.ports import Transactions

CONSUMER = "ingest-usage"
"""Whose inbox the batches are claimed in."""


class UsageRpc:
    """Serves `cortex.v1.rpc.ingest.record_usage` and `usage`."""

    def __init__(self, database: Transactions) -> None:
        self._database = database

    async def record(self, request: RecordUsageRequest) -> UsageRecorded:
        """Add a batch of counts, once."""
        counts = [usage.Count(**count.model_dump()) for count in request.counts]
        async with self._database.transaction(request.principal) as connection:
            recorded = await claim(connection, CONSUMER, str(request.batch))
            if recorded:
                await usage.add(connection, counts)
        return UsageRecorded(recorded=recorded)

    async def totals(self, request: UsageRequest) -> UsageReply:
        """What was used since a day."""
        async with self._database.transaction(request.principal) as connection:
            found = await usage.totals(connection, request.since, request.subject, MAX_TOTALS + 1)
        totals = tuple(UsageTotal(**asdict(one)) for one in found[:MAX_TOTALS])
        return UsageReply(totals=totals, truncated=len(found) > MAX_TOTALS)

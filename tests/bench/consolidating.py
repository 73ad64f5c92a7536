"""Consolidation by the real sleep service, for benches: run it to its end, and what was made."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import asyncpg
from deployment import Deployment

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import SleepRunState
from cortex_contracts.rpc.sleep import SLEEP_RUN, SLEEP_RUNS, SleepPhaseReport, SleepRunRequest, SleepRunsRequest
from cortex_contracts.subjects import SleepPhase
from cortex_infra.bootstrap import SLEEP_ROLE
from cortex_runtime.bus import Bus

PAUSE_S: Final = 0.2
MADE: Final = """
SELECT m.namespace, m.content, m.valid_at, array_agg(s.source) AS sources, m.id
FROM memories m LEFT JOIN memory_sources s ON s.memory = m.id
WHERE m.source_kind = 'sleep' AND m.invalid_at IS NULL GROUP BY m.id, m.namespace, m.content, m.valid_at
ORDER BY m.namespace, m.id
"""


def settings(deployment: Deployment) -> dict[str, str]:
    """What the sleep service needs beside the others'."""
    return {
        "CORTEX_SLEEP_DATABASE_URL": deployment.postgres.url(SLEEP_ROLE, deployment.database),
        "CORTEX_HOME": str(deployment.folder),
        "CORTEX_SLEEP_AT": "never",
        "CORTEX_SLEEP_PRESSURE": "0",
    }


async def consolidate(bus: Bus, me: Principal, namespaces: Sequence[str]) -> dict[str, SleepPhaseReport]:
    """Run the phase on namespaces by the running sleep service; what it reported of each."""
    reports = {}
    for namespace in namespaces:
        request = SleepRunRequest(principal=me, namespace=namespace, phases=(SleepPhase.CONSOLIDATE,))
        [started] = (await bus.request(SLEEP_RUN, request)).runs
        run = started
        while run.state is SleepRunState.RUNNING or run.finished_at is None:
            await asyncio.sleep(PAUSE_S)
            [run] = (await bus.request(SLEEP_RUNS, SleepRunsRequest(principal=me, run_ids=(run.run_id,)))).runs
        assert run.state is SleepRunState.DONE, run
        [reports[namespace]] = run.reports
    return reports


async def settled(deployment: Deployment) -> None:
    """Wait until every memory has its vector; ingest must be running."""
    connection = await asyncpg.connect(deployment.postgres.superuser(deployment.database))
    try:
        while await connection.fetchval("SELECT count(*) FROM index_backlog"):  # noqa: ASYNC110 - another process works
            await asyncio.sleep(PAUSE_S)
    finally:
        await connection.close()


async def facts(deployment: Deployment) -> Mapping[str, list[asyncpg.Record]]:
    """The facts of each namespace: content, valid_at, sources, id."""
    connection = await asyncpg.connect(deployment.postgres.superuser(deployment.database))
    try:
        found = defaultdict(list)
        for row in await connection.fetch(MADE):
            found[row["namespace"]].append(row)
        return found
    finally:
        await connection.close()

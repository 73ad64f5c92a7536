"""How fast memories are written through ingest when their vectors are given, and how much write-ahead log they cost."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Any, Final

import asyncpg
import numpy as np
import synthetic_memories as synthetic
from deployment import Deployment
from latency import percentiles
from seeding import MODEL

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryDraft
from cortex_contracts.rpc.ingest import RETAIN_BATCH, RetainBatchRequest
from cortex_runtime.bus import Bus

BATCH: Final = 100
BATCHES: Final = 4
SINGLE: Final = 200
SCOPES: Final = (0, 9)
"""A namespace compared by HNSW at a million memories, and one compared exactly."""


class Drafts:
    """New synthetic memories with vectors, none like another."""

    def __init__(self, seed: int) -> None:
        self._chunk = next(synthetic.chunks(synthetic.plan(synthetic.CHUNK + seed, datetime.now(UTC))))
        self._contents = self._chunk.contents()
        self._next = 0

    def take(self, scope: int, count: int) -> tuple[tuple[MemoryDraft, ...], tuple[tuple[float, ...], ...]]:
        """The next ones, as turns of sessions in a namespace."""
        at = range(self._next, self._next + count)
        self._next += count
        drafts = tuple(
            MemoryDraft(
                namespace=synthetic.NAMESPACES[scope],
                content=self._contents[i],
                source_kind="chat",
                session=f"new-{self._chunk.sessions[i]}",
                turn=int(self._chunk.turns[i]),
                speaker=synthetic.speakers()[self._chunk.speakers[i]],
            )
            for i in at
        )
        return drafts, tuple(tuple(vector) for vector in np.round(self._chunk.vectors[at.start : at.stop], 5).tolist())


async def measure(deployment: Deployment, bus: Bus, me: Principal) -> dict[str, Any]:
    """Bulk loading with and without the write decision, and single writes by 1 and 8 callers."""
    database = await asyncpg.connect(deployment.postgres.superuser(deployment.database))
    drafts = Drafts(7)
    began = await database.fetchval("SELECT clock_timestamp()")
    report: dict[str, Any] = {}

    async def write(scope: int, count: int, decide: bool) -> float:
        memories, vectors = drafts.take(scope, count)
        request = RetainBatchRequest(
            principal=me, memories=memories, vectors=vectors, model=MODEL, decide=decide, embed=False
        )
        start = time.perf_counter()
        reply = await bus.request(RETAIN_BATCH, request)
        took = (time.perf_counter() - start) * 1000
        assert all(item.retained is not None for item in reply.items), "every memory is new and must be retained"
        return took

    async with deployment.running("ingest"):
        for scope in SCOPES:
            name = synthetic.NAMESPACES[scope]
            for decide in (False, True):
                await write(scope, BATCH, decide)
                await database.execute("CHECKPOINT")
                lsn = await database.fetchval("SELECT pg_current_wal_lsn()")
                took = [await write(scope, BATCH, decide) for _ in range(BATCHES)]
                wal = await database.fetchval("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), $1)", lsn)
                report[f"bulk, {name}, {'decide' if decide else 'no decision'}"] = {
                    "memories_per_s": round(BATCH * BATCHES / sum(took) * 1000),
                    "wal_bytes_per_memory": round(float(wal) / BATCH / BATCHES),
                }
            for callers in (1, 8):
                waiting = iter(range(SINGLE))
                walls: list[float] = []

                async def caller(scope: int, waiting: Any, walls: list[float]) -> None:
                    for _ in waiting:
                        walls.append(await write(scope, 1, decide=True))

                lsn = await database.fetchval("SELECT pg_current_wal_lsn()")
                start = time.perf_counter()
                await asyncio.gather(*(caller(scope, waiting, walls) for _ in range(callers)))
                seconds = time.perf_counter() - start
                wal = await database.fetchval("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), $1)", lsn)
                report[f"single, {name}, {callers} callers"] = {
                    **percentiles(walls),
                    "memories_per_s": round(SINGLE / seconds),
                    "wal_bytes_per_memory": round(float(wal) / SINGLE),
                }
    await _undo(database, began)
    await database.close()
    return report


async def _undo(database: asyncpg.Connection, began: datetime) -> None:
    """The seeded store as it was, for the next run; that the counts of terms are a little high does not matter."""
    await database.execute("SET session_replication_role = replica")
    for table in ("memory_terms", "memory_vectors", "memory_entities"):
        await database.execute(f"DELETE FROM {table} WHERE memory >= uuid_floor($1)", began)
    await database.execute("DELETE FROM memories WHERE id >= uuid_floor($1)", began)
    await database.execute("VACUUM memory_terms, memory_vectors, memory_entities, memories")

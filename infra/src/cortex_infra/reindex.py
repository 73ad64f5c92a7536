"""Move a live database from one embedding model to another, of any dimension (ADR 0014).

Everything is embedded again beside what is there, in batches that commit: a run that is killed goes on where it was.
Recalls and writes go on meanwhile, with the old model, until one short transaction puts the new one in its place.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import asyncpg
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from cortex_contracts.errors import Unavailable
from cortex_infra import migrate
from cortex_infra import reindex_tables as tables
from cortex_infra.errors import InfraError
from cortex_providers.embedder import Embedder, TextKind
from cortex_store import indexed_text

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection

BATCH: Final = 64
"""Texts that are embedded and committed together; a kill costs at most this much work."""
CATCH_UPS: Final = 20
"""Rounds over what was written meanwhile; what a writer that is faster than the model leaves is embedded by ingest."""
LOCK_WAIT: Final = "500ms"
"""How long readers may queue behind the last transaction before it lets them pass. Below `deadlock_timeout` (1 s)."""
LOCK_ATTEMPTS: Final = 120
EMBED_ATTEMPTS: Final = 8
"""With pauses of 1, 2, 4 … 32 s: a model server may be started again meanwhile."""
RUN_WAIT_S: Final = 20.0
"""A run that was killed holds its lock until its server process notices."""
_LOCK: Final = 0x7265_696E_6465_78  # "reindex"

QUEUED: Final = """
SELECT id, memory FROM reindex.queue WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3
"""
# The turn before is the one that ingest takes (cortex_writing.turns.previous_turn): the latest live one with the same
# readers; a chunk of a document has none.
TEXTS: Final = """
SELECT w.memory, m.content, m.speaker, m.metadata, b.content AS content_before, b.speaker AS speaker_before,
    b.metadata AS metadata_before
FROM unnest($1::uuid[]) AS w (memory)
JOIN LATERAL (
    SELECT scope, private_to, is_global, thread, turn FROM memory_terms WHERE memory = w.memory UNION ALL
    SELECT scope, private_to, is_global, thread, turn FROM past_terms WHERE memory = w.memory LIMIT 1
) t ON true
JOIN memories m ON m.id = w.memory
LEFT JOIN LATERAL (
    SELECT p.memory FROM memory_terms p WHERE p.thread = t.thread AND p.turn = t.turn - 1 AND p.scope = t.scope
        AND p.private_to IS NOT DISTINCT FROM t.private_to AND p.is_global = t.is_global AND m.document IS NULL
    ORDER BY p.memory DESC LIMIT 1
) near ON true
LEFT JOIN memories b ON b.id = near.memory
WHERE NOT EXISTS (SELECT FROM reindex.memory_vectors v WHERE v.memory = w.memory)
    AND NOT EXISTS (SELECT FROM reindex.past_vectors v WHERE v.memory = w.memory)
"""
ADD: Final = """
WITH new AS (SELECT * FROM unnest($1::uuid[], $2::halfvec[]) AS n (memory, embedding)), live AS (
    INSERT INTO reindex.memory_vectors (memory, scope, private_to, is_global, valid_at, embedding)
    SELECT t.memory, t.scope, t.private_to, t.is_global, t.valid_at, n.embedding
    FROM new n JOIN memory_terms t ON t.memory = n.memory ON CONFLICT (memory) DO NOTHING
)
INSERT INTO reindex.past_vectors (memory, scope, private_to, is_global, valid_at, embedding, invalid_at)
SELECT t.memory, t.scope, t.private_to, t.is_global, t.valid_at, n.embedding, t.invalid_at
FROM new n JOIN past_terms t ON t.memory = n.memory ON CONFLICT (memory) DO NOTHING
"""
DONE: Final = "DELETE FROM reindex.queue WHERE id = ANY ($1)"
COUNTS: Final = """
SELECT (SELECT count(*) FROM memory_terms) + (SELECT count(*) FROM past_terms) AS memories,
    (SELECT count(*) FROM reindex.memory_vectors) + (SELECT count(*) FROM reindex.past_vectors) AS embedded,
    (SELECT count(*) FROM chunks) AS chunks, (SELECT count(*) FROM reindex.chunk_vectors) AS embedded_chunks
"""
CHUNKS: Final = """
SELECT c.id, p.title, c.heading_path, c.text FROM chunks c JOIN pages p ON p.org = c.org AND p.id = c.page
WHERE c.id > $1 AND NOT EXISTS (SELECT FROM reindex.chunk_vectors v WHERE v.chunk = c.id) ORDER BY c.id LIMIT $2
"""
# The page may have been written again while its old text was being embedded: then the chunk is gone.
ADD_CHUNKS: Final = """
INSERT INTO reindex.chunk_vectors (chunk, page, scope, embedding)
SELECT c.id, c.page, s.id, n.embedding FROM unnest($1::bigint[], $2::halfvec[]) AS n (chunk, embedding)
JOIN chunks c ON c.id = n.chunk JOIN namespaces s ON (s.org, s.namespace) = (c.org, c.vault) FOR KEY SHARE OF c
"""


class ReindexError(InfraError):
    """The database cannot be moved to the wanted model now; nothing is lost."""


class Phase(StrEnum):
    """What a reindexing is at, in order."""

    PREPARE = "prepare"
    MEMORIES = "memories"
    PAGES = "pages"
    INDEXES = "indexes"
    SWAP = "swap"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is: `done` of `total` texts of a phase, zero of zero where nothing is counted."""

    phase: Phase
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class _Said:
    content: str
    speaker: str | None
    metadata: Mapping[str, str]


async def reindex(
    dsn: str, embedder: Embedder, *, restart: bool = False, progress: Callable[[Progress], None] = lambda _: None
) -> str:
    """Embed everything with `embedder` and make its model the recorded one; says what was done. `dsn`: of the migration
    role. Run again after it was killed, it goes on. `restart` gives up an unfinished run to another model.

    Raises:
        ReindexError: another run is at it or was begun to another model, or the tables cannot be had for a moment.
        MigrationError: the database is not what this version of the code expects.
        Unavailable, ModelMismatch: of the embedder.
    """
    # The server notices a client that was killed, also while it builds an index.
    connection = await asyncpg.connect(dsn, server_settings={"client_connection_check_interval": "1s"})
    try:
        await migrate.require_current(connection)
        await _only_run(connection)
        await register_vector(connection)
        return await _Reindexing(connection, embedder, progress).run(restart=restart)
    finally:
        await connection.close()


class _Reindexing:
    def __init__(self, connection: Connection, embedder: Embedder, progress: Callable[[Progress], None]) -> None:
        self._connection = connection
        self._embedder = embedder
        self._progress = progress

    async def run(self, *, restart: bool) -> str:
        model, dimension = self._embedder.model, self._embedder.dimension
        state = await tables.state(self._connection)
        is_current = (state.dimension, state.model) == (dimension, model)
        is_begun = state.next_model is not None
        if is_begun and (is_current or (state.next_dimension, state.next_model) != (dimension, model)):
            if not restart:
                raise ReindexError(
                    f"a reindexing to {state.next_model!r} ({state.next_dimension} dimensions) is unfinished: "
                    "finish it with those settings, or add --restart to give it up"
                )
            await self._patiently(self._discard)
            is_begun = False
        if is_current:
            return f"the database holds embeddings by {model!r} ({dimension} dimensions): there is nothing to do"
        await self._embedder.open()
        self._progress(Progress(Phase.PREPARE))
        if not is_begun:
            await self._patiently(lambda: tables.prepare(self._connection, dimension, model))
        if not (is_begun and state.is_queued):
            async with self._connection.transaction():
                await tables.enqueue_all(self._connection)
        await self._fill()
        self._progress(Progress(Phase.INDEXES))
        if not await self._connection.fetchval(tables.HAS_INDEXES):
            await self._connection.execute(tables.BUILD_INDEXES, dimension)
            await self._connection.execute(tables.VACUUM)
        left = await self._patiently(self._swap, before=self._catch_up)
        await self._connection.execute(tables.NEED_NO_MEANING)
        self._progress(Progress(Phase.DONE))
        waiting = f"; {left} memories wait for ingest to embed them" if left else ""
        return f"the database holds embeddings by {model!r} ({dimension} dimensions) now{waiting}"

    async def _fill(self) -> None:
        counts = await self._connection.fetchrow(COUNTS)
        assert counts is not None, "an aggregate has one row"
        self._progress(Progress(Phase.MEMORIES, counts["embedded"], counts["memories"]))
        await self._memories(counts["embedded"], counts["memories"])
        self._progress(Progress(Phase.PAGES, counts["embedded_chunks"], counts["chunks"]))
        await self._chunks(counts["embedded_chunks"], counts["chunks"])

    async def _catch_up(self) -> None:
        """Embed what was written since; after it little or nothing is missing."""
        for _ in range(CATCH_UPS):
            if await self._memories() + await self._chunks() < BATCH:
                return

    async def _memories(self, done: int = 0, total: int = 0) -> int:
        """Work through the queue as it is now; returns how many entries it had. Reports only with a `total`."""
        last = await self._connection.fetchval("SELECT coalesce(max(id), 0) FROM reindex.queue")
        cursor = handled = 0
        while batch := await self._connection.fetch(QUEUED, cursor, last, BATCH):
            cursor = batch[-1]["id"]
            handled += len(batch)
            memories = list({row["memory"] for row in batch})
            rows = await self._connection.fetch(TEXTS, memories)
            vectors = await self._embed([_text(row) for row in rows])
            async with self._connection.transaction():
                await self._connection.execute(ADD, [row["memory"] for row in rows], vectors)
                await tables.follow(self._connection, memories)
                await self._connection.execute(DONE, [row["id"] for row in batch])
            if total:
                done += len(rows)
                self._progress(Progress(Phase.MEMORIES, done, max(done, total)))
        return handled

    async def _chunks(self, done: int = 0, total: int = 0) -> int:
        """Embed the chunks that lack a vector of the next model; returns how many there were."""
        cursor = handled = 0
        while batch := await self._connection.fetch(CHUNKS, cursor, BATCH):
            cursor = batch[-1]["id"]
            handled += len(batch)
            vectors = await self._embed(
                [indexed_text.passage(row["title"], row["heading_path"], row["text"]) for row in batch]
            )
            await self._connection.execute(ADD_CHUNKS, [row["id"] for row in batch], vectors)
            if total:
                done += len(batch)
                self._progress(Progress(Phase.PAGES, done, max(done, total)))
        return handled

    async def _swap(self) -> int:
        self._progress(Progress(Phase.SWAP))
        # Pages have no backlog. Who writes one now waits until the few that came in since are embedded; readers do not.
        await self._connection.execute(tables.LOCK_CHUNKS)
        await self._chunks()
        return await tables.swap(self._connection, self._embedder.dimension, self._embedder.model)

    async def _discard(self) -> int:
        await self._connection.execute(tables.DISCARD)
        return 0

    async def _embed(self, texts: Sequence[str]) -> list[HalfVector]:
        for attempt in range(EMBED_ATTEMPTS):
            try:
                return [HalfVector(vector) for vector in await self._embedder.embed(texts, TextKind.PASSAGE)]
            except Unavailable:
                if attempt == EMBED_ATTEMPTS - 1:
                    raise
                await asyncio.sleep(min(2.0**attempt, 32.0))
        raise AssertionError("the last attempt returns or raises")

    async def _patiently(self, work: Callable[[], Any], before: Callable[[], Any] | None = None) -> Any:
        """Run `work` in a transaction that waits shortly for locks, lets pass who queues behind it, and tries again."""
        for _ in range(LOCK_ATTEMPTS):
            if before is not None:
                await before()
            try:
                async with self._connection.transaction():
                    await self._connection.execute(f"SET LOCAL lock_timeout = '{LOCK_WAIT}'")
                    return await work()
            except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
                await asyncio.sleep(random.uniform(0.2, 1.0))
        raise ReindexError(
            "somebody keeps the tables in use (a backup, a transaction that was left open): end it and run this again"
        )


async def _only_run(connection: Connection) -> None:
    """Hold the right to reindex for as long as the connection lives."""
    try:
        async with asyncio.timeout(RUN_WAIT_S):
            while not await connection.fetchval("SELECT pg_try_advisory_lock($1)", _LOCK):  # noqa: ASYNC110
                await asyncio.sleep(0.2)  # the server has no event for it
    except TimeoutError:
        raise ReindexError("another reindexing of this database is running") from None


def _text(row: asyncpg.Record) -> str:
    def said(which: str) -> _Said:
        return _Said(row["content" + which], row["speaker" + which], json.loads(row["metadata" + which]))

    return indexed_text.meaning(said(""), None if row["content_before"] is None else said("_before"))

"""The engine `archive`: what `ask` finds in the cold tier when a question names it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from cortex_contracts.errors import CortexError
from cortex_contracts.rpc.archive import ArchivedMemory, ArchiveReply, ArchiveRequest
from cortex_contracts.rpc.engine import (
    ARCHIVE,
    EngineAskReply,
    EngineAskRequest,
    EngineHealth,
    EngineHealthRequest,
    EngineStatus,
    Hit,
    SourceClass,
)
from cortex_ranking.passage import SNIPPET_LENGTH, snippet, title
from cortex_sleep.archive.archive import Archive
from cortex_sleep.ports import Transactions
from cortex_store import cold_batches

SHARE: Final = 0.8
"""Of the time that is left for an answer, for the search; the rest is for fetching and sending what it found."""
LEAST_S: Final = 0.1


class ArchiveEngine:
    """Answers `ask` and `health`."""

    def __init__(self, archive: Archive, database: Transactions) -> None:
        self._archive = archive
        self._database = database

    async def ask(self, request: EngineAskRequest) -> EngineAskReply:
        """`cortex.v1.rpc.engine.archive.ask`: an engine that cannot answer says `down`, it never fails. What there was
        no time for is said in `error`."""
        wanted = ArchiveRequest(
            principal=request.principal,
            query=request.query,
            k=request.k,
            limit_s=max(LEAST_S, min(55.0, SHARE * request.deadline_ms / 1000)),
        )
        try:
            reply = await self._archive.recall(wanted)
        except CortexError as error:
            return EngineAskReply(engine=ARCHIVE, status=EngineStatus.DOWN, error=error.message)
        return EngineAskReply(
            engine=ARCHIVE,
            status=EngineStatus.UP,
            hits=tuple(_hit(one) for one in reply.memories),
            error=_missing(reply),
        )

    async def health(self, request: EngineHealthRequest) -> EngineHealth:
        """`cortex.v1.rpc.engine.archive.health`: it last learned something when a batch last went cold."""
        try:
            async with self._database.transaction(request.principal) as connection:
                counts = await cold_batches.counts(connection)
        except CortexError:
            return EngineHealth(engine=ARCHIVE, status=EngineStatus.DOWN)
        last = max((one.last_done_at for one in counts if one.last_done_at is not None), default=None)
        staleness = None if last is None else round(max(0.0, (datetime.now(UTC) - last).total_seconds() / 3600), 2)
        return EngineHealth(engine=ARCHIVE, status=EngineStatus.UP, last_ingest=last, staleness_h=staleness)


def _missing(reply: ArchiveReply) -> str | None:
    parts = [f"answered without {', '.join(reply.degraded)}"] if reply.degraded else []
    parts += [] if reply.complete else ["there was no time for the oldest memories"]
    return "; ".join(parts) or None


def _hit(found: ArchivedMemory) -> Hit:
    memory = found.memory
    return Hit(
        engine=ARCHIVE,
        title=title(memory.source_kind, memory.source_ref, memory.speaker),
        path=f"memory:{memory.memory_id}",
        snippet=snippet(memory.content, SNIPPET_LENGTH),
        native_score=found.score,
        relevance=found.score,
        last_seen=memory.valid_at,
        # What stopped being true speaks for what was: anything that is true now is believed before it.
        source_class=SourceClass.AGENT_MEMORY if memory.invalid_at is None else SourceClass.OLDER_NOTE,
        assertions=memory.assertions,
    )

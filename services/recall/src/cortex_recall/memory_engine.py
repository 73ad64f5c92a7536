"""The engine `memory`: recall in the shapes that `ask` fans out to."""

from __future__ import annotations

from datetime import UTC, datetime

from cortex_contracts.errors import CortexError
from cortex_contracts.rpc.engine import (
    MEMORY,
    EngineAskReply,
    EngineAskRequest,
    EngineHealth,
    EngineHealthRequest,
    EngineStatus,
    Hit,
    SourceClass,
)
from cortex_contracts.rpc.recall import RecalledMemory, RecallRequest
from cortex_ranking.passage import SNIPPET_LENGTH, snippet, title
from cortex_recall.ports import Freshness
from cortex_recall.recall import Recall

LIVE_SOURCES = frozenset({"live_infra"})
"""Kinds of source that report the state of a running system, and not what somebody remembers of it."""


class MemoryEngine:
    """Answers `ask` and `health`."""

    def __init__(self, recall: Recall, freshness: Freshness) -> None:
        self._recall = recall
        self._freshness = freshness

    async def ask(self, request: EngineAskRequest) -> EngineAskReply:
        """`cortex.v1.rpc.engine.memory.ask`: an engine that cannot answer says `down`, it never fails."""
        try:
            reply = await self._recall.recall(
                RecallRequest(principal=request.principal, query=request.query, k=request.k)
            )
        except CortexError as error:
            return EngineAskReply(engine=MEMORY, status=EngineStatus.DOWN, error=error.message)
        return EngineAskReply(
            engine=MEMORY,
            status=EngineStatus.UP,
            hits=tuple(_hit(one) for one in reply.memories),
            error=without(reply.degraded),
        )

    async def health(self, request: EngineHealthRequest) -> EngineHealth:
        """`cortex.v1.rpc.engine.memory.health`."""
        try:
            return health(MEMORY, await self._freshness.latest_memory(request.principal))
        except CortexError:
            return EngineHealth(engine=MEMORY, status=EngineStatus.DOWN)


def health(engine: str, last_ingest: datetime | None) -> EngineHealth:
    """An engine that is up, with the hours since it last learned something."""
    staleness = None if last_ingest is None else max(0.0, (datetime.now(UTC) - last_ingest).total_seconds() / 3600)
    return EngineHealth(
        engine=engine,
        status=EngineStatus.UP,
        last_ingest=last_ingest,
        staleness_h=None if staleness is None else round(staleness, 2),
    )


def without(degraded: tuple[str, ...]) -> str | None:
    """The sentence for an answer in which something did not take part."""
    return f"answered without {', '.join(degraded)}" if degraded else None


def _hit(memory: RecalledMemory) -> Hit:
    return Hit(
        engine=MEMORY,
        title=title(memory.source_kind, memory.source_ref, memory.speaker),
        path=f"memory:{memory.memory_id}",
        snippet=snippet(memory.content, SNIPPET_LENGTH),
        native_score=memory.score,
        relevance=memory.score,
        last_seen=memory.valid_at,
        source_class=SourceClass.LIVE_INFRA if memory.source_kind in LIVE_SOURCES else SourceClass.AGENT_MEMORY,
        assertions=memory.assertions,
    )

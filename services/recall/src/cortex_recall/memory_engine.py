"""The engine `memory`, and the recall RPC: both translate a message to the use case and back."""

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
from cortex_contracts.rpc.recall import RecalledMemory, RecallReply, RecallRequest
from cortex_recall.passage import SNIPPET_LENGTH, snippet, title
from cortex_recall.ports import Freshness
from cortex_recall.recall import Recall, Recalled

LIVE_SOURCES = frozenset({"live_infra"})
"""Kinds of source that report the state of a running system, and not what somebody remembers of it."""


class MemoryEngine:
    """Answers `recall` and, as an engine, `ask` and `health`."""

    def __init__(self, recall: Recall, freshness: Freshness) -> None:
        self._recall = recall
        self._freshness = freshness

    async def recall(self, request: RecallRequest) -> RecallReply:
        """`cortex.v1.rpc.recall.recall`."""
        result = await self._recall.recall(request.principal, request.query, request.namespaces, request.k)
        return RecallReply(
            memories=tuple(_recalled(one) for one in result.memories),
            took_ms=result.took_ms,
            degraded=result.degraded,
        )

    async def ask(self, request: EngineAskRequest) -> EngineAskReply:
        """`cortex.v1.rpc.engine.memory.ask`: an engine that cannot answer says `down`, it never fails."""
        try:
            result = await self._recall.recall(request.principal, request.query, None, request.k)
        except CortexError as error:
            return EngineAskReply(engine=MEMORY, status=EngineStatus.DOWN, error=error.message)
        return EngineAskReply(
            engine=MEMORY,
            status=EngineStatus.UP,
            # The nearest of all is still a candidate when nothing is near: it is no hit.
            hits=tuple(_hit(one) for one in result.memories if one.relevance > 0),
            error=without(result.degraded),
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


def _recalled(one: Recalled) -> RecalledMemory:
    memory = one.memory
    return RecalledMemory(
        memory_id=memory.id,
        namespace=memory.namespace,
        content=memory.content,
        score=one.score,
        importance=memory.importance,
        source_kind=memory.source_kind,
        source_ref=memory.source_ref,
        speaker=memory.speaker,
        session=memory.session,
        assertions=memory.assertions,
        valid_at=memory.valid_at,
        created_at=memory.created_at,
    )


def _hit(one: Recalled) -> Hit:
    memory = one.memory
    return Hit(
        engine=MEMORY,
        title=title(memory.source_kind, memory.source_ref, memory.speaker),
        path=f"memory:{memory.id}",
        snippet=snippet(memory.content, SNIPPET_LENGTH),
        native_score=one.score,
        relevance=one.relevance,
        last_seen=memory.valid_at,
        source_class=SourceClass.LIVE_INFRA if memory.source_kind in LIVE_SOURCES else SourceClass.AGENT_MEMORY,
        assertions=memory.assertions,
    )

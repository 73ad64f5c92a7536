"""Engines: anything `ask` can fan out to speaks these two verbs."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from cortex_contracts.messages.base import Assertion, Message, Principal, Score, ShortText, Timestamp
from cortex_contracts.rpc.contract import EngineRpc
from cortex_contracts.rpc.recall import Query

MEMORY = "memory"
PAGES = "pages"
ARCHIVE = "archive"
BUILT_IN_ENGINES = (MEMORY, PAGES)
ON_REQUEST_ENGINES = (ARCHIVE,)
"""Built in as well, and asked only by a question that names them: they take seconds."""
EXTERNAL_ENGINES = ("rag", "cbm", "serena", "memgraph", "inbox", "cognee")
"""What else is known by name (gateway contract section 1, and Cognee); there when it is configured."""

ENGINE_LIMIT_S = 4.0
"""Hard limit of one engine's answer (gateway contract section 1)."""


class SourceClass(StrEnum):
    """How much a source is believed when sources disagree, strongest first (gateway contract section 3)."""

    LIVE_INFRA = "live-infra"
    RECENT_FILE = "recent-file"
    AGENT_MEMORY = "agent-memory"
    OLDER_NOTE = "older-note"


class EngineStatus(StrEnum):
    """Whether an engine took part in an answer."""

    UP = "up"
    DOWN = "down"


class Hit(Message):
    """One result of one engine."""

    engine: ShortText
    title: str
    path: str = Field(description="where it is: a page's slug or a memory's id, with its scheme")
    snippet: str
    native_score: float
    relevance: Score = Field(description="comparable across engines")
    last_seen: Timestamp | None
    confidence: Score = 1.0
    source_class: SourceClass
    assertions: tuple[Assertion, ...] = ()


class EngineAskRequest(Message):
    """A question for one engine, with the time that is left for it."""

    principal: Principal
    query: Query
    k: int = Field(default=12, ge=1, le=100)
    deadline_ms: int = Field(default=int(ENGINE_LIMIT_S * 1000), ge=1, le=60_000)


class EngineAskReply(Message):
    """An engine's hits, best first; an engine that cannot answer says `down` and why, it never fails."""

    engine: ShortText
    status: EngineStatus
    hits: tuple[Hit, ...] = ()
    error: str | None = None


class EngineHealthRequest(Message):
    """Is the engine there, and how fresh is what it knows?"""

    principal: Principal


class EngineHealth(Message):
    """Liveness and freshness of one engine (gateway contract `GET /health`)."""

    engine: ShortText
    status: EngineStatus
    last_ingest: Timestamp | None = None
    staleness_h: float | None = Field(default=None, ge=0.0)


def ask(key: str) -> EngineRpc[EngineAskRequest, EngineAskReply]:
    """The `ask` verb of the engine `key`."""
    summary = "Hits of one engine, best first."
    return EngineRpc(key, "ask", EngineAskRequest, EngineAskReply, ENGINE_LIMIT_S, summary, cancellable=True)


def health(key: str) -> EngineRpc[EngineHealthRequest, EngineHealth]:
    """The `health` verb of the engine `key`."""
    return EngineRpc(key, "health", EngineHealthRequest, EngineHealth, 1.0, "Liveness and freshness of one engine.")

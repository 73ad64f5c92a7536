"""Archive: read the cold tier. Served by sleep, never by recall."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from cortex_contracts.messages.base import Message, Principal, Score, ShortText, Timestamp, Token
from cortex_contracts.messages.memory import MemoryView
from cortex_contracts.rpc.contract import Rpc
from cortex_contracts.rpc.recall import (
    Dropped,
    EntityRelation,
    Explanation,
    GetReply,
    GetRequest,
    Occurrence,
    Query,
    RecallFilter,
    TimeWindow,
)

ARCHIVE_LIMIT_S = 60.0
"""What a caller waits: ten million memories are searched in some seconds on two cores, and one search at a time."""


class ArchiveQuestion(Message):
    """Which memories that left the hot tier answer a query? What is not true any more is among them."""

    query: Query
    namespaces: tuple[Token, ...] | None = Field(default=None, max_length=64, description="none: all readable ones")
    k: int = Field(default=10, ge=1, le=100)
    budget_tokens: int | None = Field(default=None, ge=1, le=1_000_000, description="what the contents may cost")
    filter: RecallFilter = Field(default=RecallFilter(), description="a time window makes it fast")
    as_of: Timestamp | None = Field(default=None, description="what was true then; none: whatever was true once")
    min_score: Score | None = Field(default=None, description="none: the default floor")
    explain: bool = False
    brief: bool = Field(default=False, description="one line instead of the content; `get` expands it")
    timezone: ShortText = Field(default="UTC", description="of the caller, for times in the query (IANA name)")
    time_filter: bool = Field(default=False, description="a time in the query filters instead of being preferred")
    limit_s: float = Field(
        default=30.0, ge=0.1, le=55.0, description="time for it; then what was found so far is the answer, newest first"
    )


class ArchiveRequest(ArchiveQuestion):
    """Which memories that left the hot tier answer a query, for one principal."""

    principal: Principal


class ArchivedMemory(Message):
    """One memory of the cold tier with where it comes from."""

    memory: MemoryView
    score: Score
    occurrences: tuple[Occurrence, ...] = ()
    entities: tuple[str, ...] = ()
    relations: tuple[EntityRelation, ...] = ()
    sources: tuple[UUID, ...] = Field(default=(), description="memories that it was made of")
    access_count: int = Field(default=0, ge=0)
    last_accessed_at: Timestamp | None = None
    explanation: Explanation | None = None


class ArchiveReply(Message):
    """The memories found, best first; none is an answer, not an error."""

    memories: tuple[ArchivedMemory, ...]
    took_ms: int = Field(ge=0)
    degraded: tuple[ShortText, ...] = Field(default=(), description="parts that did not take part, e.g. vectors")
    complete: bool = Field(default=True, description="false: there was no time for the oldest")
    dropped: Dropped = Dropped()
    floor: Score = 0.0
    tokens: int = Field(default=0, ge=0, description="estimate for the contents of the reply")
    time: TimeWindow | None = None
    rows: int = Field(default=0, ge=0, description="memories that were compared")
    files: int = Field(default=0, ge=0, description="files of the cold tier")
    files_read: int = Field(default=0, ge=0, description="of them were read, the others cannot hold an answer")
    bytes_read: int = Field(default=0, ge=0)


class ArchivedChain(Message):
    """Memories of the cold tier that are in the chain of one, oldest first; it may be one of them itself."""

    memories: tuple[MemoryView, ...]


RECALL_ARCHIVE = Rpc(
    "sleep",
    "recall_archive",
    ArchiveRequest,
    ArchiveReply,
    ARCHIVE_LIMIT_S,
    "Memories of the cold tier that answer a query, best first.",
    cancellable=True,
)
GET_ARCHIVED = Rpc(
    "sleep", "get", GetRequest, GetReply, 30.0, "One memory of the cold tier with its provenance.", cancellable=True
)
CHAIN_ARCHIVED = Rpc(
    "sleep", "chain", GetRequest, ArchivedChain, 10.0, "What the cold tier has of a chain.", cancellable=True
)
ARCHIVE_RPCS = (RECALL_ARCHIVE, GET_ARCHIVED, CHAIN_ARCHIVED)

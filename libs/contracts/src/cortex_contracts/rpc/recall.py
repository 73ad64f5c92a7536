"""Recall: read the hot tier."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final
from uuid import UUID

from pydantic import Field, StringConstraints

from cortex_contracts.messages.base import (
    NO_NUL,
    Assertion,
    Message,
    Name,
    Principal,
    Score,
    ShortText,
    Timestamp,
    Token,
)
from cortex_contracts.messages.memory import MemoryType, MemoryView, Network, Visibility
from cortex_contracts.rpc.contract import Rpc

Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000, pattern=NO_NUL)]

CONTEXT_CHARS: Final = 20_000
RecallContext = Annotated[str, StringConstraints(max_length=CONTEXT_CHARS, pattern=NO_NUL)]


class RecallFilter(Message):
    """What the answer is narrowed to; a field that is not given narrows nothing. Times are half-open."""

    networks: tuple[Network, ...] | None = Field(default=None, max_length=8)
    types: tuple[MemoryType, ...] | None = Field(default=None, max_length=8)
    sources: tuple[Token, ...] | None = Field(default=None, max_length=32, description="kinds of source")
    entities: tuple[Name, ...] | None = Field(default=None, max_length=32, description="names; any of them")
    since: Timestamp | None = Field(default=None, description="became true at or after")
    until: Timestamp | None = Field(default=None, description="became true before")
    created_since: Timestamp | None = Field(default=None, description="learned at or after")
    created_until: Timestamp | None = Field(default=None, description="learned before")


class FusionMethod(StrEnum):
    """How what was found by words and by meaning becomes one order."""

    SCORE = "score"
    RRF = "rrf"


class RecallQuestion(Message):
    """Which memories answer a query?"""

    query: Query
    namespaces: tuple[Token, ...] | None = Field(default=None, max_length=64, description="none: all readable ones")
    k: int = Field(default=10, ge=1, le=100)
    budget_tokens: int | None = Field(default=None, ge=1, le=1_000_000, description="what the contents may cost")
    filter: RecallFilter = RecallFilter()
    as_of: Timestamp | None = Field(default=None, description="what was true then; none: what is true")
    min_score: Score | None = Field(default=None, description="none: the default floor")
    explain: bool = False
    neighbours: int = Field(default=0, ge=0, le=10, description="turns around each memory of a session, each side")
    brief: bool = Field(default=False, description="one line instead of the content; `get` expands it")
    timezone: ShortText = Field(default="UTC", description="of the caller, for times in the query (IANA name)")
    time_filter: bool = Field(default=False, description="a time in the query filters instead of being preferred")
    fusion: FusionMethod = FusionMethod.SCORE
    rerank: bool = Field(default=True, description="use the reranker where one is configured")
    hop: bool | None = Field(
        default=None, description="go on to memories that share rare names with the best; none: as recall is configured"
    )
    context: RecallContext | None = Field(
        default=None, description="what the caller knows now: where it contradicts the answer, the memory is corrected"
    )
    facts: bool = Field(default=True, description="facts that sleep made of several memories come beside the memories")


class RecallRequest(RecallQuestion):
    """Which memories answer a query, for one principal."""

    principal: Principal


class Hop(Message):
    """How a memory goes with one that answers: both are about `entity`, or a relation leads from it to `other`."""

    memory_id: UUID = Field(description="the one that answers")
    entity: str
    predicate: str | None = None
    other: str | None = None


class Explanation(Message):
    """How one memory got its score: raw scores of the ways, and what each stage added. Ranks start at 1."""

    lexical: float = Field(description="BM25")
    lexical_rank: int | None = Field(default=None, ge=1)
    cosine: float | None = None
    cosine_rank: int | None = Field(default=None, ge=1)
    contributions: dict[str, float] = Field(default_factory=dict, description="stage to points")
    reranked: float | None = None
    hop: Hop | None = Field(default=None, description="what it was found by, instead of words and meaning")


class RecalledMemory(Message):
    """One memory that answers, best first."""

    memory_id: UUID
    namespace: Token
    content: str
    score: Score
    importance: Score
    source_kind: str
    source_ref: str | None
    speaker: str | None
    session: str | None
    assertions: tuple[Assertion, ...]
    valid_at: Timestamp
    created_at: Timestamp
    turn: int | None = None
    owner: str | None = None
    visibility: Visibility = Visibility.TEAM
    network: Network = Network.EXPERIENCE
    memory_type: MemoryType = MemoryType.EPISODIC
    invalid_at: Timestamp | None = Field(default=None, description="with `as_of`: when it stopped being true")
    superseded_by: UUID | None = None
    neighbours: tuple[MemoryView, ...] = ()
    explanation: Explanation | None = None


class Dropped(Message):
    """Candidates that are not in the reply, and why."""

    below_floor: int = Field(default=0, ge=0)
    beyond_k: int = Field(default=0, ge=0)
    over_budget: int = Field(default=0, ge=0)


class TimeWindow(Message):
    """The time that the query was understood to speak of, [since, until)."""

    since: Timestamp | None
    until: Timestamp | None
    text: str = Field(description="the words of the query")


class RecallReply(Message):
    """The memories found; none is an answer, not an error."""

    memories: tuple[RecalledMemory, ...]
    took_ms: int = Field(ge=0)
    degraded: tuple[ShortText, ...] = Field(default=(), description="parts that did not take part, e.g. vectors")
    dropped: Dropped = Dropped()
    floor: Score = 0.0
    tokens: int = Field(default=0, ge=0, description="estimate for the contents of the reply")
    time: TimeWindow | None = None
    cached: bool = False
    stages_ms: dict[str, float] = Field(default_factory=dict, description="with `explain`: time per stage")
    facts: tuple[RecalledMemory, ...] = Field(
        default=(),
        description="what sleep made of several memories and answers as well, best first, in no memory's place; where "
        "the filter names networks, types or sources they are among the memories instead",
    )


class GetRequest(Message):
    """One memory with its provenance and its history."""

    principal: Principal
    memory_id: UUID


class Occurrence(Message):
    """One more time the same was said."""

    source_kind: str
    source_ref: str | None = None
    session: str | None = None
    turn: int | None = None
    speaker: str | None = None
    occurred_at: Timestamp
    reason: str = ""


class HistoryEntry(Message):
    """Something that happened to the memory."""

    op: str
    agent: str | None = None
    occurred_at: Timestamp


class EntityRelation(Message):
    """How two entities stand to each other, by their names: `predicate` is one word, as "works_at"."""

    subject: str
    predicate: str
    object: str


class GetReply(Message):
    """A memory, what it superseded and what superseded it (oldest first), its repeats, entities with what it says of
    their relations, and history."""

    memory: MemoryView
    chain: tuple[MemoryView, ...] = Field(default=(), description="its supersession chain, itself included")
    occurrences: tuple[Occurrence, ...] = ()
    entities: tuple[str, ...] = ()
    relations: tuple[EntityRelation, ...] = ()
    history: tuple[HistoryEntry, ...] = ()
    access_count: int = Field(default=0, ge=0)
    last_accessed_at: Timestamp | None = None
    sources: tuple[UUID, ...] = Field(default=(), description="the memories that it was made of by sleep")
    facts: tuple[UUID, ...] = Field(default=(), description="what sleep made of it, true or not any more")
    summaries: dict[str, str] = Field(default_factory=dict, description="what is known about its entities, by name")
    archived: bool = Field(default=False, description="it is in the cold tier: not recalled, found in the archive")
    chain_archived: tuple[UUID, ...] = Field(default=(), description="those of its chain that are in the cold tier")
    chain_complete: bool = Field(
        default=True, description="false: what left the hot tier of its chain is not shown, and can be asked for again"
    )


class ContextQuestion(Message):
    """What matters for a project at the start of a session, or what changed since a moment?"""

    namespaces: tuple[Token, ...] | None = Field(default=None, max_length=64, description="none: all readable ones")
    budget_tokens: int = Field(default=2_000, ge=50, le=200_000)
    since: Timestamp | None = Field(default=None, description="only what was learned or invalidated since (delta)")
    brief: bool = False


class ContextRequest(ContextQuestion):
    """What matters for a project, for one principal."""

    principal: Principal


class ContextSection(StrEnum):
    """Parts of a context pack, in the order in which they are filled."""

    DECISIONS = "decisions"
    OPEN = "open"
    FACTS = "facts"
    RECENT = "recent"
    INVALIDATED = "invalidated"


class ContextItem(Message):
    """One memory of a context pack."""

    section: ContextSection
    memory: MemoryView


class ContextReply(Message):
    """The pack in reading order, and how much did not fit."""

    items: tuple[ContextItem, ...]
    tokens: int = Field(ge=0)
    dropped: int = Field(default=0, ge=0)
    until: Timestamp = Field(description="pass it as `since` to get what changed after this pack")


RECALL = Rpc("recall", "recall", RecallRequest, RecallReply, 5.0, "Memories that answer a query, best first.")
GET = Rpc("recall", "get", GetRequest, GetReply, 2.0, "One memory with its provenance and its history.")
CONTEXT = Rpc("recall", "context", ContextRequest, ContextReply, 5.0, "What matters for a project, within a budget.")

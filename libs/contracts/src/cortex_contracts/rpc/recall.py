"""Recall: read the hot tier."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from cortex_contracts.messages.base import NO_NUL, Assertion, Message, Principal, Score, ShortText, Timestamp, Token
from cortex_contracts.rpc.contract import Rpc

Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000, pattern=NO_NUL)]


class RecallRequest(Message):
    """Which memories answer a query, for one principal."""

    principal: Principal
    query: Query
    namespaces: tuple[Token, ...] | None = Field(default=None, max_length=64, description="none: all readable ones")
    k: int = Field(default=10, ge=1, le=100)


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


class RecallReply(Message):
    """The memories found; none is an answer, not an error."""

    memories: tuple[RecalledMemory, ...]
    took_ms: int = Field(ge=0)
    degraded: tuple[ShortText, ...] = Field(default=(), description="parts that did not take part, e.g. vectors")


RECALL = Rpc("recall", "recall", RecallRequest, RecallReply, 2.0, "Memories that answer a query, best first.")

"""What a memory is on the bus: the words that classify it, and the shapes in which it is written and read."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from cortex_contracts.messages.base import NO_NUL, Assertion, Message, Score, ShortText, Timestamp, Token

MAX_MEMORY_CHARS = 200_000
"""Longest content of one memory; it keeps a message below the 1 MiB payload limit of NATS in any script. What is
longer is retained as a document."""


class Visibility(StrEnum):
    """Who may read a memory: its owner, those who may read its namespace, or the whole org."""

    PRIVATE = "private"
    TEAM = "team"
    GLOBAL = "global"


class Network(StrEnum):
    """What kind of knowledge a memory is."""

    FACT = "fact"
    EXPERIENCE = "experience"
    OBSERVATION = "observation"
    BELIEF = "belief"


class MemoryType(StrEnum):
    """What kind of remembering a memory serves."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    WORKING = "working"


class WriteDecision(StrEnum):
    """What a write did: added, replaced a value, ended a state, or repeated what was known."""

    ADD = "add"
    UPDATE = "update"
    INVALIDATE = "invalidate"
    NOOP = "noop"


LongText = Annotated[str, StringConstraints(max_length=2_000, pattern=NO_NUL)]
Content = Annotated[str, StringConstraints(min_length=1, max_length=MAX_MEMORY_CHARS)]
Vector = Annotated[tuple[float, ...], Field(max_length=4_096)]


class MemoryDraft(Message):
    """A statement to remember. What is private or a credential in it is cut out before anything else happens."""

    namespace: Token
    content: Content
    source_kind: Token = "manual"
    source_ref: ShortText | None = Field(default=None, description="session, thread or run it comes from")
    session: ShortText | None = None
    turn: int | None = Field(default=None, ge=0, le=2_000_000_000)
    speaker: ShortText | None = None
    occurred_at: Timestamp | None = Field(default=None, description="when it became true; none: now")
    visibility: Visibility = Visibility.TEAM
    network: Network = Network.EXPERIENCE
    memory_type: MemoryType = MemoryType.EPISODIC
    explicit: bool = Field(default=False, description="somebody asked to remember this")
    assertions: tuple[Assertion, ...] = Field(default=(), max_length=32)
    metadata: dict[ShortText, LongText] = Field(default_factory=dict, max_length=32)


class RedactionCounts(Message):
    """What was cut out of a text, counted and never stored."""

    private: int = Field(default=0, ge=0, description="<private> spans")
    credentials: int = Field(default=0, ge=0, description="keys, tokens, passwords")
    injected: int = Field(default=0, ge=0, description="recalled blocks and system reminders")


class Retained(Message):
    """What a write did to one statement."""

    memory_id: UUID = Field(description="the new memory; with decision noop, the one that it repeats")
    decision: WriteDecision
    reason: ShortText = ""
    superseded: tuple[UUID, ...] = ()
    importance: Score
    redactions: RedactionCounts = RedactionCounts()
    embedded: bool = Field(default=True, description="found by meaning already; by words it always is")


class MemoryView(Message):
    """A memory as it is read. `created_at`: when Cortex learned it; `valid_at`: when it became true; `invalid_at`:
    when it stopped being true."""

    memory_id: UUID
    namespace: Token
    content: str
    importance: Score
    source_kind: str
    source_ref: str | None = None
    session: str | None = None
    turn: int | None = None
    speaker: str | None = None
    owner: str | None = None
    visibility: Visibility = Visibility.TEAM
    network: Network = Network.EXPERIENCE
    memory_type: MemoryType = MemoryType.EPISODIC
    assertions: tuple[Assertion, ...] = ()
    metadata: dict[str, str] = Field(default_factory=dict)
    valid_at: Timestamp
    invalid_at: Timestamp | None = None
    superseded_by: UUID | None = None
    created_at: Timestamp
    decision: WriteDecision = WriteDecision.ADD
    decision_reason: str = ""

"""Commands: work that somebody must do once."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from cortex_contracts.messages.base import Assertion, Message, ShortText, Timestamp, Token
from cortex_contracts.messages.memory import Content, LongText, MemoryType, Network, Visibility


class Capture(Message):
    """A raw turn or event that a service or hook sends in, before it becomes memories.

    The tenant and the kind of source are tokens of the subject. The `Nats-Msg-Id` header is the capture's identity:
    however often it is delivered, it makes one memory.
    """

    namespace: Token
    content: Content
    source_ref: ShortText | None = Field(default=None, description="session, thread or run the capture comes from")
    session: ShortText | None = None
    turn: int | None = Field(default=None, ge=0)
    speaker: ShortText | None = None
    occurred_at: Timestamp | None = Field(default=None, description="when it became true; none: when it arrived")
    owner: ShortText | None = Field(default=None, description="agent or person it belongs to")
    explicit: bool = Field(default=False, description="somebody asked to remember this")
    assertions: tuple[Assertion, ...] = Field(default=(), max_length=32)
    metadata: dict[ShortText, LongText] = Field(default_factory=dict, max_length=32)
    visibility: Visibility | None = Field(default=None, description="private needs an owner; none: team")
    network: Network | None = Field(default=None, description="none: experience")
    memory_type: MemoryType | None = Field(default=None, description="none: episodic")


class SyncReason(StrEnum):
    """What asked for a sync."""

    PUSH = "push"
    MANUAL = "manual"
    POLL = "poll"


class SyncVault(Message):
    """Bring the pages of one vault to the head of its branch.

    `after` is a hint only: the consumer fetches the configured repository, never an address from the command.
    """

    reason: SyncReason
    branch: ShortText | None = None
    before: ShortText | None = None
    after: ShortText | None = None
    delivery_id: ShortText | None = None

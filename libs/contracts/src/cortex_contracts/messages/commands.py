"""Commands: work that somebody must do once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from cortex_contracts.messages.base import NO_NUL, Assertion, Message, ShortText, Timestamp, Token

MAX_CAPTURE_CHARS = 200_000
"""Longest content of one capture; it keeps a message below the 1 MiB payload limit of NATS in any script."""


LongText = Annotated[str, StringConstraints(max_length=2_000, pattern=NO_NUL)]


class Capture(Message):
    """A raw turn or event that a service or hook sends in, before it becomes memories.

    The tenant and the kind of source are tokens of the subject. The `Nats-Msg-Id` header is the capture's identity:
    however often it is delivered, it makes one memory.
    """

    namespace: Token
    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_CAPTURE_CHARS)]
    source_ref: ShortText | None = Field(default=None, description="session, thread or run the capture comes from")
    session: ShortText | None = None
    turn: int | None = Field(default=None, ge=0)
    speaker: ShortText | None = None
    occurred_at: Timestamp | None = Field(default=None, description="when it became true; none: when it arrived")
    owner: ShortText | None = Field(default=None, description="agent or person it belongs to")
    explicit: bool = Field(default=False, description="somebody asked to remember this")
    assertions: tuple[Assertion, ...] = Field(default=(), max_length=32)
    metadata: dict[ShortText, LongText] = Field(default_factory=dict, max_length=32)


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

"""Events: facts that happened. Ids and numbers, at most a preview of text, never a secret."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from cortex_contracts.messages.base import PREVIEW_LENGTH, Message, Score, ShortText, Timestamp, Token
from cortex_contracts.subjects import MemoryOp, PageOp, SleepPhase

Preview = Annotated[str, StringConstraints(max_length=PREVIEW_LENGTH)]


class MemoryEvent(Message):
    """Something happened to a memory, or to a namespace when there is no `memory_id`."""

    event_id: UUID
    op: MemoryOp
    org: Token
    namespace: Token
    memory_id: UUID | None = None
    decision: ShortText | None = Field(default=None, description="outcome of the write decision")
    importance: Score | None = None
    source_kind: Token | None = None
    preview: Preview = ""
    occurred_at: Timestamp
    superseded: tuple[UUID, ...] = Field(default=(), max_length=32, description="memories that it replaced or ended")
    agent: ShortText | None = Field(default=None, description="who did it")


class PageEvent(Message):
    """Something happened to a page; with `op` sync, to a whole vault."""

    event_id: UUID
    op: PageOp
    org: Token
    vault: Token
    slug: str | None = None
    title: Preview | None = None
    commit: ShortText | None = None
    pages_changed: int | None = Field(default=None, ge=0)
    errors: int | None = Field(default=None, ge=0)
    occurred_at: Timestamp


class SyncEvent(Message):
    """A sync runs: of the `total` files that differ, `done` were applied."""

    event_id: UUID
    org: Token
    vault: Token
    commit: ShortText
    done: int = Field(ge=0)
    total: int = Field(ge=0)
    occurred_at: Timestamp


class SleepEvent(Message):
    """A phase of the background work finished a step for one namespace."""

    event_id: UUID
    phase: SleepPhase
    org: Token
    namespace: Token
    events_seen: int = Field(ge=0)
    occurred_at: Timestamp


class KeyEvent(Message):
    """A key was made or has ended: who knows it must ask again."""

    event_id: UUID
    org: Token
    key_id: ShortText
    revoked: bool
    occurred_at: Timestamp


class WakeEvent(Message):
    """Something a person should know now."""

    event_id: UUID
    org: Token
    namespace: Token
    reason: ShortText
    memory_id: UUID | None = None
    occurred_at: Timestamp

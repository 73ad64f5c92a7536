"""Events: facts that happened. Ids and numbers, at most a preview of text, never a secret."""

from __future__ import annotations

from enum import StrEnum
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


class Observing(StrEnum):
    """What goes on all the time: the phase of the background work that is no part of a run."""

    OBSERVE = SleepPhase.OBSERVE.value


class SleepRunState(StrEnum):
    """How far a run of the background work on a namespace, or one phase of it, is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


class SleepEvent(Message):
    """A phase of the background work finished a step for one namespace."""

    event_id: UUID
    phase: Observing
    org: Token
    namespace: Token
    events_seen: int = Field(ge=0)
    occurred_at: Timestamp


class SleepRunEvent(Message):
    """A phase of a run of the background work got on, or ended, for one namespace."""

    event_id: UUID
    run_id: UUID
    phase: SleepPhase
    org: Token
    namespace: Token
    state: SleepRunState
    done: int = Field(default=0, ge=0, description="of `total`, in units of the phase")
    total: int | None = Field(default=None, ge=0)
    counts: dict[ShortText, int] = Field(default_factory=dict, max_length=32, description="what it did so far")
    dry_run: bool = False
    reason: ShortText | None = Field(default=None, description="why it failed")
    occurred_at: Timestamp


class KeyEvent(Message):
    """A key was made or has ended: who knows it must ask again."""

    event_id: UUID
    org: Token
    key_id: ShortText
    revoked: bool
    occurred_at: Timestamp


class WakeKind(StrEnum):
    """What a person should know about."""

    CONTRADICTION = "contradiction"
    """A newer memory ended older ones that said otherwise."""
    STALE = "stale"
    """An important memory was neither used nor said again for long: is it still true?"""
    PATTERN = "pattern"
    """Several memories say something important together."""


class WakeEvent(Message):
    """Something a person should know now. The same thing is told once."""

    event_id: UUID
    org: Token
    namespace: Token
    reason: ShortText
    memory_id: UUID | None = Field(default=None, description="the memory that it is about")
    occurred_at: Timestamp
    kind: WakeKind | None = None
    memory_ids: tuple[UUID, ...] = Field(default=(), max_length=32, description="those that it ended or is made of")
    importance: Score | None = Field(default=None, description="of the most important of them")
    entity: ShortText | None = Field(default=None, description="what most of them name; none for private ones")
    preview: Preview = Field(default="", description="of `memory_id`; empty for a private one")

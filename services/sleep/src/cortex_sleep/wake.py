"""Wake: what a person should know now. Pure functions over what was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from cortex_contracts.messages.base import preview
from cortex_contracts.messages.events import MemoryEvent, WakeKind
from cortex_contracts.messages.memory import Visibility, WriteDecision
from cortex_contracts.subjects import MemoryOp
from cortex_sleep.decay import half_life, whole_days
from cortex_store.memories import Memory
from cortex_store.wakes import Idle

IMPORTANT: Final = 0.7
"""From what somebody wrote down by hand (`cortex_decision.importance`) upwards; chats and sessions are below."""
STALE_HALF_LIVES: Final = 0.5
"""Of a memory that was never used: 170 days for 0.7, 340 for 0.9, 480 for 1. How often it was used before does not
count: what was used daily and no longer is has more reason to be looked at."""

PATTERN_SOURCES: Final = 3
"""Two that say the same are a repeat; three are a habit."""

MOST_IDS: Final = 32
"""Memory ids that an event carries (`WakeEvent.memory_ids`)."""

CONTRADICTING: Final = frozenset({WriteDecision.UPDATE, WriteDecision.INVALIDATE})


@dataclass(frozen=True, slots=True)
class Wake:
    """Something to tell once: `key` names it among those of its kind. Of private memories there is no `entity` and no
    `preview`."""

    kind: WakeKind
    namespace: str
    key: str
    reason: str
    memory_id: UUID
    importance: float
    memory_ids: tuple[UUID, ...] = ()
    entity: str | None = None
    preview: str = ""


def may_contradict(event: MemoryEvent) -> bool:
    """Whether a memory event tells of a memory that ended others because it says otherwise."""
    known = event.op in (MemoryOp.RETAIN, MemoryOp.RECONSOLIDATE) and event.decision in CONTRADICTING
    return known and event.memory_id is not None and bool(event.superseded)


def may_be_pattern(event: MemoryEvent) -> bool:
    """Whether a memory event tells of a memory that was made of others."""
    return event.op is MemoryOp.REFLECT and event.memory_id is not None


def contradiction(new: Memory, ended: Sequence[Memory], entity: str | None) -> Wake | None:
    """What to tell of a memory that ended others; none when it was forgotten meanwhile."""
    if not ended or _forgotten(new):
        return None
    what = "what was known is not true" if len(ended) == 1 else f"{len(ended)} memories are not true"
    how = "says otherwise" if new.decision is WriteDecision.UPDATE else "says that it is over"
    shown = may_show(new) and all(one.visibility is not Visibility.PRIVATE for one in ended)
    return Wake(
        kind=WakeKind.CONTRADICTION,
        namespace=new.namespace,
        key=str(new.id),
        reason=f"{what} any more: a newer memory {how}",
        memory_id=new.id,
        importance=max(one.importance for one in (new, *ended)),
        memory_ids=tuple(one.id for one in ended)[:MOST_IDS],
        entity=entity if shown else None,
        preview=preview(new.content) if shown else "",
    )


def pattern(fact: Memory, sources: Sequence[UUID], entity: str | None) -> Wake | None:
    """What to tell of a memory that was made of others; none when it matters less, is made of few or has ended."""
    if fact.invalid_at is not None or fact.importance < IMPORTANT or len(sources) < PATTERN_SOURCES:
        return None
    shown = may_show(fact)
    return Wake(
        kind=WakeKind.PATTERN,
        namespace=fact.namespace,
        key=fact.metadata.get("topic", str(fact.id)),
        reason=f"{len(sources)} memories say something important together",
        memory_id=fact.id,
        importance=fact.importance,
        memory_ids=tuple(sources)[-MOST_IDS:],
        entity=entity if shown else None,
        preview=preview(fact.content) if shown else "",
    )


def stale_after(importance: float) -> float:
    """Days without use after which a memory of this importance (when it was written) is stale."""
    return STALE_HALF_LIVES * half_life(importance)


def stale(memory: Memory, idle: Idle, now: datetime, entity: str | None) -> Wake:
    """What to tell of an important memory that nobody used for long."""
    shown = may_show(memory)
    return Wake(
        kind=WakeKind.STALE,
        namespace=memory.namespace,
        key=idle.key,
        reason=f"an important memory was not used for {whole_days(idle.since, now)} days: is it still true?",
        memory_id=memory.id,
        importance=idle.importance,
        entity=entity if shown else None,
        preview=preview(memory.content) if shown else "",
    )


def may_show(memory: Memory) -> bool:
    """Whether what a memory says may leave the hot tier: it is not private, and was not forgotten."""
    return memory.visibility is not Visibility.PRIVATE and not _forgotten(memory)


def _forgotten(memory: Memory) -> bool:
    return memory.invalid_at is not None and memory.superseded_by is None

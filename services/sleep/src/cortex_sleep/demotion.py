"""What goes cold: a pure rule over what the hot tier knows of a memory. The order of things is `decay.retention`'s:
noise goes first, what matters and is used last.

What is not true any more goes `invalid_for` after it ended or was used last: until then it answers "as of". Of what
is true only episodes go, when they are worth less than `retention` and were learned `learned_for` ago, so that whatever
is made of them is made first. Facts, other knowledge and procedures stay while they are true. Chunks of documents
always stay: a document is read whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from cortex_contracts.messages.memory import MemoryType, Network
from cortex_sleep.decay import retention

EPISODES: Final = frozenset({MemoryType.EPISODIC, MemoryType.WORKING})
"""Types of memories that may go while they are true."""


@dataclass(frozen=True, slots=True)
class Rules:
    """When memories go. With the defaults a chat turn that nobody recalled (importance 0.4) goes after four months,
    what somebody asked to remember (0.9) after four years (docs/decay.md)."""

    invalid_for: timedelta = timedelta(days=30)
    learned_for: timedelta = timedelta(days=30)
    retention: float = 0.2

    @classmethod
    def of_days(cls, invalid: float, learned: float, retention: float) -> Rules:
        """With times in days."""
        return cls(timedelta(days=invalid), timedelta(days=learned), retention)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the rule looks at. `importance`: when it was written; `used`: how often it was recalled or said again, and
    `last_used_at` when last; `size_bytes`: of its content."""

    id: UUID
    network: str
    memory_type: str
    importance: float
    created_at: datetime
    valid_at: datetime
    invalid_at: datetime | None
    used: int
    last_used_at: datetime | None
    size_bytes: int


def is_due(memory: Candidate, now: datetime, rules: Rules) -> bool:
    """Does a memory go cold? It is in the hot tier and no chunk of a document. Once due, a memory stays due as long as
    nobody uses or changes it."""
    if memory.invalid_at is not None:
        # What came late was superseded when it came: it is not older than that.
        since = max(memory.invalid_at, memory.created_at, memory.last_used_at or memory.created_at)
        return now - since >= rules.invalid_for
    if memory.network == Network.FACT or memory.memory_type not in EPISODES:
        return False
    if now - memory.created_at < rules.learned_for:
        return False
    idle_days = None if memory.last_used_at is None else _days(memory.last_used_at, now)
    worth = retention(
        memory.importance, age_days=_days(memory.valid_at, now), idle_days=idle_days, accesses=memory.used
    )
    return worth < rules.retention


def batches(due: Iterable[Candidate], rows: int, size_bytes: int) -> Iterator[list[Candidate]]:
    """What goes together: in order of time, so that a batch covers few months; up to `rows` memories and `size_bytes`
    of content, but one memory at least."""
    batch: list[Candidate] = []
    size = 0
    for memory in sorted(due, key=lambda one: (one.valid_at, one.id)):
        if batch and (len(batch) == rows or size + memory.size_bytes > size_bytes):
            yield batch
            batch, size = [], 0
        batch.append(memory)
        size += memory.size_bytes
    if batch:
        yield batch


def _days(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since) / timedelta(days=1))

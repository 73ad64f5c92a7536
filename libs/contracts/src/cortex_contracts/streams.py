"""Streams and consumers as plain data: the provisioner creates them, services bind to them, nobody else declares one.

A consumer's `ack_wait_s` is longer than its slowest handler between two heartbeats; `max_ack_pending` is the work in
flight over all replicas. The server never gives up on a message (`max_deliver` -1 there): an outage of any length must
not turn work into dead letters. `max_deliver` here is the settle rule's limit for failures nobody understands
(ADR 0002).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from cortex_contracts import subjects


class Retention(StrEnum):
    """When a stream lets go of a message."""

    LIMITS = "limits"
    """By age and size: facts that several readers replay."""
    WORK_QUEUE = "workqueue"
    """When its one consumer has acknowledged it: work."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A JetStream stream. A full work queue refuses the publisher; a full log drops its oldest facts."""

    name: str
    subjects: tuple[str, ...]
    retention: Retention
    description: str
    max_age: timedelta | None = None
    max_bytes: int = 1 << 30
    max_message_bytes: int = 900 << 10
    """Below the server's limit of 1 MiB, so that a dead letter has room for its headers."""
    duplicate_window: timedelta = timedelta(minutes=2)

    @property
    def discard_new(self) -> bool:
        """Whether a full stream refuses new messages instead of dropping old ones."""
        return self.retention is Retention.WORK_QUEUE or self.max_age is None


@dataclass(frozen=True, slots=True)
class Consumer:
    """A durable pull consumer; every replica of `service` binds to it."""

    name: str
    stream: Stream
    service: str
    filter_subject: str
    description: str
    ack_wait_s: float = 30.0
    max_ack_pending: int = 64
    batch: int = 8
    """Messages one replica takes at a time; they are worked on together."""
    max_deliver: int = 5


CAPTURES: Final = Stream(
    "CAPTURES", (subjects.CAPTURE_PATTERN,), Retention.WORK_QUEUE, "Captures waiting to become memories."
)
# A delivery that is sent again because its sync failed must be taken: what is done already the inbox knows.
SYNCS: Final = Stream(
    "SYNCS",
    (subjects.SYNC_PATTERN,),
    Retention.WORK_QUEUE,
    "Vaults waiting to be synced.",
    duplicate_window=timedelta(seconds=20),
)
EVENTS: Final = Stream(
    "EVENTS",
    (subjects.EVENT_PATTERN,),
    Retention.LIMITS,
    "What happened to memories, pages and in sleep.",
    max_age=timedelta(days=30),
)
DEAD_LETTERS: Final = Stream(
    "DEAD_LETTERS",
    (subjects.DEAD_LETTER_PATTERN,),
    Retention.LIMITS,
    "Messages nobody could process.",
    max_message_bytes=1 << 20,
)

STREAMS: Final = (CAPTURES, SYNCS, EVENTS, DEAD_LETTERS)

# One capture is an embedding (20 to 50 ms of one core for a passage) and a transaction: 8 at a time stay far below
# 30 s.
INGEST_CAPTURES: Final = Consumer(
    "ingest-captures", CAPTURES, "ingest", subjects.CAPTURE_PATTERN, "Captures become memories."
)
# A sync heartbeats while it works; one vault at a time per replica keeps its commits in order.
INGEST_SYNCS: Final = Consumer(
    "ingest-syncs",
    SYNCS,
    "ingest",
    subjects.SYNC_PATTERN,
    "Vaults are synced.",
    ack_wait_s=60.0,
    max_ack_pending=4,
    batch=1,
)
SLEEP_MEMORY_EVENTS: Final = Consumer(
    "sleep-memory-events",
    EVENTS,
    "sleep",
    subjects.MEMORY_EVENT_PATTERN,
    "Sleep learns what changed.",
    batch=32,
)
# A request to the receiver takes 15 s at most. What waits for another try counts as in flight: many may wait for one
# receiver that is down without keeping the rest from being tried.
SLEEP_WAKES: Final = Consumer(
    "sleep-wakes",
    EVENTS,
    "sleep",
    subjects.WAKE_EVENT_PATTERN,
    "Wake events go out to the webhook.",
    ack_wait_s=60.0,
    max_ack_pending=256,
    batch=4,
)

CONSUMERS: Final = (INGEST_CAPTURES, INGEST_SYNCS, SLEEP_MEMORY_EVENTS, SLEEP_WAKES)


def stream_for(subject: str) -> Stream:
    """The stream that stores what is published on `subject`.

    Raises:
        ValueError: no stream does; such a message would be lost.
    """
    for stream in STREAMS:
        if any(subjects.covers(pattern, subject) for pattern in stream.subjects):
            return stream
    raise ValueError(f"no stream stores {subject!r}")

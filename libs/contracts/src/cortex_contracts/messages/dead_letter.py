"""A dead letter as operators see it: the body as it came, everything else from its headers."""

from __future__ import annotations

from cortex_contracts.messages.base import Message, Timestamp


class DeadLetter(Message):
    """A message that a consumer could not process, kept until it is replayed or purged."""

    id: int
    """Sequence in the dead-letter stream: what `cortex dlq` takes."""
    stream: str
    consumer: str
    subject: str
    sequence: int
    """Sequence in the stream it came from."""
    message_id: str | None
    deliveries: int
    reason: str
    died_at: Timestamp
    size_bytes: int

"""Captures become memories: found by their words as soon as they are acknowledged, and by their meaning soon after."""

from __future__ import annotations

from typing import Final

from cortex_contracts import subjects
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.commands import Capture
from cortex_contracts.messages.memory import MemoryDraft, MemoryType, Network, Visibility
from cortex_ingest.retain import Delivered, Retain
from cortex_runtime.bus import Delivery

CONSUMER: Final = "captures"
PUBLISHER: Final = "capture"
"""Subject of a capture that names no owner."""


class Captures:
    """The adapter behind `cortex.v1.cmd.capture.<org>.<source_kind>`."""

    def __init__(self, retain: Retain) -> None:
        self._retain = retain

    async def handle(self, capture: Capture, delivery: Delivery) -> None:
        """Retain one capture. The org and the kind of source come from the subject, never from the body.

        Idempotent by the message id within the org.

        Raises:
            Unavailable: the database is away; the capture comes again.
            InvalidMessage: the subject or the content cannot be stored as it is.
        """
        try:
            org, source_kind = subjects.parse_capture(delivery.subject)
        except ValueError as error:
            raise InvalidMessage(str(error)) from None
        visibility = capture.visibility or Visibility.TEAM
        if visibility is Visibility.PRIVATE and capture.owner is None:
            raise InvalidMessage("a private memory needs an owner")
        draft = MemoryDraft(
            namespace=capture.namespace,
            content=capture.content,
            source_kind=source_kind,
            source_ref=capture.source_ref,
            session=capture.session,
            turn=capture.turn,
            speaker=capture.speaker,
            occurred_at=capture.occurred_at,
            visibility=visibility,
            network=capture.network or Network.EXPERIENCE,
            memory_type=capture.memory_type or MemoryType.EPISODIC,
            explicit=capture.explicit,
            assertions=capture.assertions,
            metadata=capture.metadata,
        )
        # NATS admits a publisher to the subjects of its org; within it a capture may write any namespace.
        principal = Principal(org=org, subject=capture.owner or PUBLISHER)
        await self._retain.retain(
            principal, draft, embed=False, delivered=Delivered(CONSUMER, f"{org}/{delivery.message_id}")
        )

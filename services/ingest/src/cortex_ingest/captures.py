"""Captures become memories: found by their words as soon as they are acknowledged, and by their meaning soon after."""

from __future__ import annotations

import json
from typing import Final

from cortex_contracts import subjects
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.commands import Capture
from cortex_contracts.messages.memory import MemoryDraft, MemoryType, Network, Visibility
from cortex_contracts.streams import CAPTURES
from cortex_ingest.errors import NothingLeft
from cortex_ingest.intake import secret_by_name
from cortex_ingest.retain import Delivered, Retain
from cortex_redaction import redacted
from cortex_runtime import logs
from cortex_runtime.bus import Delivery

CONSUMER: Final = "captures"
PUBLISHER: Final = "capture"
"""Subject of a capture that names no owner."""

log = logs.get(__name__)


class Captures:
    """The adapter behind `cortex.v1.cmd.capture.<org>.<source_kind>`."""

    def __init__(self, retain: Retain) -> None:
        self._retain = retain

    async def handle(self, capture: Capture, delivery: Delivery) -> None:
        """Retain one capture. The org and the kind of source come from the subject, never from the body.

        Idempotent by the message id within the org. A capture that held nothing but what must not be stored is done: as
        a dead letter it would be stored.

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
        delivered = Delivered(CONSUMER, f"{org}/{delivery.message_id}")
        try:
            await self._retain.retain(principal, draft, embed=False, delivered=delivered)
        except NothingLeft:
            log.info("capture held nothing that may be stored", stream=delivery.stream, sequence=delivery.sequence)


def redacted_body(body: bytes) -> bytes:
    """The body of a capture as a dead letter may keep it; empty when it would outgrow the stream.

    JSON stays JSON and each text in it is redacted by itself, as intake does it: a replay has the effect that the
    capture would have had.
    """
    text = body.decode(errors="replace")
    try:
        kept = json.dumps(_redacted(json.loads(text)), ensure_ascii=False)
    except (ValueError, RecursionError):
        kept = redacted(text).text
    clean = kept.encode(errors="replace")
    return clean if len(clean) <= CAPTURES.max_message_bytes else b""


def _redacted(value: object) -> object:
    match value:
        case str():
            return redacted(value).text
        case list():
            return [_redacted(one) for one in value]
        case dict():
            return dict(_member(str(name), one) for name, one in value.items())
    return value


def _member(name: str, value: object) -> tuple[str, object]:
    name, clean = redacted(name).text, _redacted(value)
    return name, (secret_by_name(name, clean) or clean) if isinstance(clean, str) else clean

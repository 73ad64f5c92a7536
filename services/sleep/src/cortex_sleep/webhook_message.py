"""What goes out to a webhook, and what its answer means, by Standard Webhooks 1.0 (standardwebhooks.com): pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from cortex_contracts.messages.events import WakeEvent

ID: Final = "webhook-id"
TIMESTAMP: Final = "webhook-timestamp"
SIGNATURE: Final = "webhook-signature"

FIRST_DELAY_S: Final = 1.0
LONGEST_DELAY_S: Final = 900.0
"""A receiver that comes back hears of it within a quarter of an hour, and one that stays away is not pestered."""

TRY_AGAIN: Final = frozenset({408, 425, 429})
"""Refusals that pass: too slow, too early, too many (RFC 9110 section 15.5.9, RFC 8470, RFC 6585)."""


class Verdict(StrEnum):
    """What an answer means."""

    TAKEN = "taken"
    LATER = "later"
    REFUSED = "refused"


def body(event: WakeEvent) -> bytes:
    """The message: `type`, `timestamp` (when it happened) and `data`, the event."""
    kind = f"cortex.wake.{event.kind}" if event.kind else "cortex.wake"
    data = event.model_dump(mode="json")
    message = {"type": kind, "timestamp": data["occurred_at"], "data": data}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def signed(event: WakeEvent, content: bytes, keys: Sequence[bytes], now: datetime) -> dict[str, str]:
    """The headers of a try at `now`: the id, by which a receiver knows what it has already, the time, which keeps old
    messages from being sent again by somebody else, and a signature with each key, in order."""
    stamp = str(int(now.timestamp()))
    text = f"{event.event_id}.{stamp}.".encode() + content
    made = (base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode() for key in keys)
    return {ID: str(event.event_id), TIMESTAMP: stamp, SIGNATURE: " ".join(f"v1,{one}" for one in made)}


def verdict(status: int) -> Verdict:
    """What an answer with this status means: 2xx is taken, 4xx is refused unless it passes, anything else is later."""
    if 200 <= status < 300:
        return Verdict.TAKEN
    if 400 <= status < 500 and status not in TRY_AGAIN:
        return Verdict.REFUSED
    return Verdict.LATER


def delay(deliveries: int, headers: Mapping[str, str], jitter: float) -> float:
    """Seconds until the next try after the `deliveries`-th: doubling from 1 s to 15 minutes, half of it by `jitter` in
    [0, 1]; later when the receiver asks for it in `Retry-After` (seconds), but never later than 15 minutes."""
    grown = FIRST_DELAY_S * 2.0 ** min(max(deliveries, 1) - 1, 30)
    asked = headers.get("retry-after", "")
    wished = float(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0.0
    return min(LONGEST_DELAY_S, max(wished, min(LONGEST_DELAY_S, grown) * (0.5 + 0.5 * jitter)))

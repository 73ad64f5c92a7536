"""Usage: how often a subject used what on which day, and what of a language model that took: tokens and time."""

from __future__ import annotations

from datetime import date
from uuid import UUID

from pydantic import Field

from cortex_contracts.messages.base import Message, Name, Principal, Token
from cortex_contracts.rpc.contract import Rpc

MAX_COUNTS = 500
"""Counts of one message, which is limited to 1 MiB."""
MAX_TOTALS = 1_000
"""Totals of one reply: fewer than a thousand bytes each, with a subject of 200 characters in any script."""


class UsageCount(Message):
    """What a subject used for one purpose on one day (UTC). Who counts names the purposes: `query`, `chat`."""

    day: date
    subject: Name
    purpose: Token
    requests: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    model_ms: int = Field(default=0, ge=0, description="milliseconds that the model took")


class RecordUsageRequest(Message):
    """Add counts of the principal's org. A batch counts once, however often it is sent."""

    principal: Principal
    batch: UUID
    counts: tuple[UsageCount, ...] = Field(min_length=1, max_length=MAX_COUNTS)


class UsageRecorded(Message):
    """False: the batch had been recorded before."""

    recorded: bool


class UsageRequest(Message):
    """Who used what since a day? Of one subject, or of everybody the principal may see: who may read some namespaces
    only sees itself."""

    principal: Principal
    since: date
    subject: Name | None = None


class UsageTotal(Message):
    """What a subject used for one purpose since the day that was asked for."""

    subject: Name
    purpose: Token
    requests: int = Field(ge=0)
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    model_ms: int = Field(ge=0, description="milliseconds that the model took")


class UsageReply(Message):
    """Most requests first; `truncated`: there are more than one reply holds."""

    totals: tuple[UsageTotal, ...]
    truncated: bool = False


RECORD_USAGE = Rpc("ingest", "record_usage", RecordUsageRequest, UsageRecorded, 5.0, "Add to the counts of an org.")
USAGE = Rpc("ingest", "usage", UsageRequest, UsageReply, 2.0, "Who used what since a day.")

USAGE_RPCS = (RECORD_USAGE, USAGE)

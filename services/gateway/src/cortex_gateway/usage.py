"""Usage: who used what and how many tokens that took, counted here and kept by ingest.

Counting only adds to a table in memory. Every few seconds it is sent as a batch with an id, which is recorded once
however often it is sent; until it is recorded the next counts gather behind it. When ingest is away for so long that
the table is full, further counts are lost, and the log says how many.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID, uuid4

import prometheus_client
from pydantic import BaseModel, Field

from cortex_contracts.errors import CortexError
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.usage import (
    MAX_COUNTS,
    RECORD_USAGE,
    USAGE,
    RecordUsageRequest,
    UsageCount,
    UsageRequest,
    UsageTotal,
)
from cortex_runtime import logs
from cortex_runtime.bus import Bus

PERIOD_DAYS: Final = 30
"""How far back `Usage.of` looks, today included."""
FLUSH_S: Final = 5.0
LAST_FLUSH_S: Final = 2.0
"""What the stop waits for the last counts."""
TODAY_S: Final = 1.0
"""What a chat, or the synthesis of an answer, waits for the tokens of today."""
MAX_KEYS: Final = 10_000
"""Different counts (day, subject, purpose) that wait at one time: some megabytes."""
CHAT_TOKENS: Final = prometheus_client.Counter(
    "cortex_chat_tokens_total", "Tokens of chats by direction", ["direction"]
)
SYNTHESIS_TOKENS: Final = prometheus_client.Counter(
    "cortex_synthesis_tokens_total", "Tokens of answers that a model worded, by direction", ["direction"]
)

log = logs.get(__name__)


class Purpose(StrEnum):
    """What a request is for."""

    QUERY = "query"
    SEARCH = "search"
    PAGE_READ = "page_read"
    PAGE_WRITE = "page_write"
    SYNC = "sync"
    ASK = "ask"
    MEMORY_READ = "memory_read"
    MEMORY_WRITE = "memory_write"
    CHAT = "chat"
    CHAT_MISS = "chat_miss"
    """A chat that went on without context; it is counted as a chat, too."""
    SYNTHESIS = "synthesis"
    """An answer of `ask` that the local model was asked to word."""
    SYNTHESIS_PAID = "synthesis_paid"
    """The same of the paid model."""


CHATS: Final = frozenset({Purpose.CHAT})
SYNTHESES: Final = frozenset({Purpose.SYNTHESIS, Purpose.SYNTHESIS_PAID})


class AgentUsage(BaseModel):
    """What one subject used in the last 30 days."""

    requests: dict[str, int] = Field(default_factory=dict, description="by purpose")
    input_tokens: int = 0
    output_tokens: int = 0
    model_seconds: float = Field(default=0.0, description="that the language model took")
    cost: float | None = Field(default=None, description="of the tokens, where a price is configured")


@dataclass(frozen=True, slots=True)
class Prices:
    """Money for a million tokens, in whatever currency it was configured."""

    input: float
    output: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """What tokens cost."""
        return round((input_tokens * self.input + output_tokens * self.output) / 1e6, 6)


@dataclass(slots=True)
class _Count:
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    model_ms: int = 0


@dataclass(frozen=True, slots=True)
class _Key:
    org: str
    day: date
    subject: str
    purpose: str


@dataclass(frozen=True, slots=True)
class _Day:
    org: str
    day: date
    subject: str
    purposes: frozenset[Purpose]


@dataclass(frozen=True, slots=True)
class _Batch:
    id: UUID
    org: str
    counts: tuple[UsageCount, ...]


class Usage:
    """Counts of this process, and those that are kept."""

    def __init__(
        self,
        bus: Bus,
        *,
        prices: Mapping[Purpose, Prices] | None = None,
        flush_s: float = FLUSH_S,
        max_keys: int = MAX_KEYS,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._bus = bus
        self._prices = {str(purpose): price for purpose, price in (prices or {}).items()}
        self._flush_s = flush_s
        self._max_keys = max_keys
        self._now = now
        self._counts: dict[_Key, _Count] = {}
        self._batches: list[_Batch] = []
        self._recorded: dict[_Day, int] = {}
        self._lost = 0
        self._waits = False

    def count(
        self,
        principal: Principal,
        what: str,
        *,
        requests: int = 1,
        input_tokens: int = 0,
        output_tokens: int = 0,
        model_ms: int = 0,
    ) -> None:
        """Add to the counts of the principal; never blocks and never fails. `what` is a `Purpose`."""
        day = self._now().date()
        if input_tokens or output_tokens:
            tokens = SYNTHESIS_TOKENS if what in SYNTHESES else CHAT_TOKENS
            tokens.labels("input").inc(input_tokens)
            tokens.labels("output").inc(output_tokens)
        key = _Key(principal.org, day, principal.subject, str(what))
        if (count := self._counts.get(key)) is None:
            if len(self._counts) >= self._max_keys:
                self._lost += 1
                return
            count = self._counts[key] = _Count()
        count.requests += requests
        count.input_tokens += input_tokens
        count.output_tokens += output_tokens
        count.model_ms += model_ms

    async def of(self, principal: Principal) -> dict[str, AgentUsage] | None:
        """What each subject of the principal's org used in the last `PERIOD_DAYS` but for the last seconds; a principal
        that may read some namespaces only sees itself. None: it cannot be told now."""
        since = self._now().date() - timedelta(days=PERIOD_DAYS - 1)
        try:
            reply = await self._bus.request(USAGE, UsageRequest(principal=principal, since=since))
        except CortexError as error:
            log.warning("usage cannot be told", reason=error.message)
            return None
        agents: dict[str, AgentUsage] = {}
        for total in reply.totals:
            self._add(agents.setdefault(total.subject, AgentUsage()), total)
        return agents

    def _add(self, agent: AgentUsage, total: UsageTotal) -> None:
        agent.requests[total.purpose] = total.requests
        agent.input_tokens += total.input_tokens
        agent.output_tokens += total.output_tokens
        agent.model_seconds = round(agent.model_seconds + total.model_ms / 1000, 3)
        if self._prices:
            price = self._prices.get(total.purpose)
            more = price.cost(total.input_tokens, total.output_tokens) if price else 0.0
            agent.cost = round((agent.cost or 0.0) + more, 6)

    async def tokens_today(self, principal: Principal, purposes: frozenset[Purpose] = CHATS) -> int:
        """Tokens of the principal for `purposes` since midnight UTC: what is recorded and what waits here. While ingest
        is away it is what was recorded when it last answered."""
        day = self._now().date()
        key = _Day(principal.org, day, principal.subject, purposes)
        request = UsageRequest(principal=principal, since=day, subject=principal.subject)
        try:
            reply = await self._bus.request(USAGE, request, timeout_s=TODAY_S)
        except CortexError as error:
            log.warning("usage of today cannot be told", reason=error.message)
        else:
            if len(self._recorded) >= self._max_keys or key not in self._recorded:
                self._recorded = {known: tokens for known, tokens in self._recorded.items() if known.day == day}
            told = (total for total in reply.totals if total.purpose in purposes)
            self._recorded[key] = sum(total.input_tokens + total.output_tokens for total in told)
        keys = (_Key(principal.org, day, principal.subject, str(purpose)) for purpose in purposes)
        waiting: list[_Count | UsageCount | None] = [self._counts.get(one) for one in keys]
        waiting += [one for batch in self._batches for one in batch.counts if _is_of(batch, one, key)]
        return self._recorded.get(key, 0) + sum(one.input_tokens + one.output_tokens for one in waiting if one)

    # Sending ---------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Send what was counted, every few seconds and once more at the end (a background task of the service)."""
        try:
            while True:
                await asyncio.sleep(self._flush_s)
                try:
                    await self.flush()
                except Exception as error:  # edge: counting must not end the gateway
                    log.error("counts of usage are lost", exc_info=error)
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_FLUSH_S):
                    await self.flush()
            if left := len(self._counts) + sum(len(batch.counts) for batch in self._batches):
                log.warning("counts of usage are lost", counts=left, reason="ingest is away and the gateway stops")

    async def flush(self) -> None:
        """Send what was counted; what is not taken waits for the next time."""
        if self._lost:
            lost, self._lost = self._lost, 0
            log.warning("counts of usage are lost", counts=lost, reason="too many wait for ingest")
        if not self._batches:
            self._batches = self._batched()
        while self._batches:
            batch = self._batches[0]
            own = Principal(org=batch.org, subject="gateway", role="service", authenticated_by="service")
            request = RecordUsageRequest(principal=own, batch=batch.id, counts=batch.counts)
            try:
                await self._bus.request(RECORD_USAGE, request)
            except CortexError as error:
                if not error.retryable:
                    self._batches.pop(0)
                    log.error("counts of usage are lost", counts=len(batch.counts), reason=error.message)
                    continue
                if not self._waits:
                    log.warning("counts of usage wait", reason=error.message)
                self._waits = True
                return
            self._waits = False
            self._batches.pop(0)

    def _batched(self) -> list[_Batch]:
        """What was counted, as batches of one org each."""
        counts, self._counts = self._counts, {}
        orgs: dict[str, list[UsageCount]] = {}
        for key, count in counts.items():
            of_key = UsageCount(day=key.day, subject=key.subject, purpose=key.purpose, **asdict(count))
            orgs.setdefault(key.org, []).append(of_key)
        return [
            _Batch(uuid4(), org, tuple(of_org[start : start + MAX_COUNTS]))
            for org, of_org in orgs.items()
            for start in range(0, len(of_org), MAX_COUNTS)
        ]


def _is_of(batch: _Batch, count: UsageCount, key: _Day) -> bool:
    return (batch.org, count.day, count.subject) == (key.org, key.day, key.subject) and count.purpose in key.purposes

"""Counting never blocks and never fails; what is counted arrives once, or is told to be lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.errors import CortexError, InvalidMessage, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.usage import (
    MAX_COUNTS,
    RecordUsageRequest,
    UsageRecorded,
    UsageReply,
    UsageRequest,
    UsageTotal,
)
from cortex_gateway.usage import MAX_KEYS, SYNTHESES, AgentUsage, Prices, Purpose, Usage

MILLY = Principal(org="acme", subject="milly")
EVE = Principal(org="acme", subject="eve", readable=("team",), writable=())
STRANGER = Principal(org="other", subject="milly")
DAY = date(2026, 11, 30)


@dataclass
class Bus:
    """Ingest as the gateway sees it; `takes` false: it records, and its answer is lost."""

    fails: list[CortexError] = field(default_factory=list)
    takes: bool = True
    kept: dict[tuple[str, date, str, str], list[int]] = field(default_factory=dict)
    batches: dict[str, int] = field(default_factory=dict)
    asked: list[Any] = field(default_factory=list)
    totals: tuple[UsageTotal, ...] = ()

    async def request(self, _: object, request: Any, timeout_s: float | None = None) -> Any:
        self.asked.append(request)
        if self.fails and self.takes:
            raise self.fails.pop(0)
        if isinstance(request, UsageRequest):
            return UsageReply(totals=self.totals)
        assert isinstance(request, RecordUsageRequest)
        times = self.batches[str(request.batch)] = self.batches.get(str(request.batch), 0) + 1
        for one in request.counts if times == 1 else ():
            kept = self.kept.setdefault((request.principal.org, one.day, one.subject, one.purpose), [0, 0, 0, 0])
            for place, more in enumerate((one.requests, one.input_tokens, one.output_tokens, one.model_ms)):
                kept[place] += more
        if self.fails:
            raise self.fails.pop(0)
        return UsageRecorded(recorded=times == 1)


def usage_over(bus: Bus, now: datetime | None = None, **more: Any) -> Usage:
    return Usage(bus, now=lambda: now or datetime(2026, 11, 30, 12, tzinfo=UTC), **more)  # type: ignore[arg-type]


async def test_counts_of_one_key_are_one_count_and_of_each_org_one_batch() -> None:
    bus = Bus()
    usage = usage_over(bus)
    for _ in range(3):
        usage.count(MILLY, Purpose.QUERY)
    usage.count(MILLY, Purpose.CHAT, input_tokens=40, output_tokens=9)
    usage.count(MILLY, Purpose.CHAT, requests=0, input_tokens=2, output_tokens=1, model_ms=7)
    usage.count(STRANGER, Purpose.QUERY)
    assert bus.asked == []
    await usage.flush()
    assert bus.kept == {
        ("acme", DAY, "milly", "query"): [3, 0, 0, 0],
        ("acme", DAY, "milly", "chat"): [1, 42, 10, 7],
        ("other", DAY, "milly", "query"): [1, 0, 0, 0],
    }
    assert [(one.principal.org, len(one.counts)) for one in bus.asked] == [("acme", 2), ("other", 1)]
    await usage.flush()
    assert len(bus.asked) == 2


@pytest.mark.parametrize("takes", [True, False])
async def test_what_was_not_acknowledged_is_sent_again_and_counts_once(takes: bool) -> None:
    bus = Bus(fails=[Unavailable("away"), Unavailable("away")], takes=takes)
    usage = usage_over(bus)
    usage.count(MILLY, Purpose.QUERY)
    await usage.flush()
    usage.count(MILLY, Purpose.QUERY)
    await usage.flush()
    await usage.flush()
    await usage.flush()
    assert bus.kept == {("acme", DAY, "milly", "query"): [2, 0, 0, 0]}


async def test_many_counts_go_in_several_batches() -> None:
    bus = Bus()
    usage = usage_over(bus)
    for number in range(MAX_COUNTS + 1):
        usage.count(Principal(org="acme", subject=f"agent-{number}"), Purpose.ASK)
    await usage.flush()
    assert [len(one.counts) for one in bus.asked] == [MAX_COUNTS, 1]
    assert len(bus.kept) == MAX_COUNTS + 1


async def test_in_an_outage_the_table_is_bounded_and_what_is_lost_is_logged() -> None:
    bus = Bus(fails=[Unavailable("away")])
    usage = usage_over(bus, max_keys=2)
    for subject in ("a", "b", "c", "d", "a"):
        usage.count(Principal(org="acme", subject=subject), Purpose.QUERY)
    with structlog.testing.capture_logs() as logs:
        await usage.flush()
    assert [(one["event"], one.get("counts")) for one in logs] == [
        ("counts of usage are lost", 2),
        ("counts of usage wait", None),
    ]
    await usage.flush()
    assert {key[2]: counts for key, counts in bus.kept.items()} == {"a": [2, 0, 0, 0], "b": [1, 0, 0, 0]}


async def test_a_batch_that_is_refused_for_good_is_dropped_and_the_next_goes_on() -> None:
    bus = Bus(fails=[InvalidMessage("no")])
    usage = usage_over(bus)
    usage.count(MILLY, Purpose.QUERY)
    usage.count(STRANGER, Purpose.QUERY)
    with structlog.testing.capture_logs() as logs:
        await usage.flush()
    assert [one["log_level"] for one in logs] == ["error"]
    assert list(bus.kept) == [("other", DAY, "milly", "query")]


async def test_agents_are_told_with_their_purposes_tokens_and_what_they_cost() -> None:
    totals = (
        UsageTotal(subject="milly", purpose="query", requests=7, input_tokens=0, output_tokens=0, model_ms=1500),
        UsageTotal(
            subject="milly", purpose="chat", requests=2, input_tokens=1_000_000, output_tokens=500_000, model_ms=1500
        ),
        UsageTotal(subject="eve", purpose="sync", requests=1, input_tokens=0, output_tokens=0, model_ms=1500),
    )
    bus = Bus(totals=totals)
    told = await usage_over(bus, prices={Purpose.CHAT: Prices(0.5, 2.0)}).of(EVE)
    assert told == {
        "milly": AgentUsage(
            requests={"query": 7, "chat": 2}, input_tokens=1_000_000, output_tokens=500_000, model_seconds=3, cost=1.5
        ),
        "eve": AgentUsage(requests={"sync": 1}, model_seconds=1.5, cost=0.0),
    }
    assert bus.asked == [UsageRequest(principal=EVE, since=date(2026, 11, 1))]
    assert (await usage_over(bus).of(MILLY) or {})["milly"].cost is None
    assert await usage_over(Bus(fails=[Unavailable("away")])).of(MILLY) is None


async def test_the_tokens_of_today_are_those_recorded_and_those_that_wait() -> None:
    bus = Bus(
        totals=(
            UsageTotal(subject="milly", purpose="chat", requests=1, input_tokens=70, output_tokens=5, model_ms=1500),
        )
    )
    usage = usage_over(bus)
    usage.count(MILLY, Purpose.CHAT, input_tokens=10, output_tokens=1)
    usage.count(STRANGER, Purpose.CHAT, input_tokens=1000)
    assert await usage.tokens_today(MILLY) == 86
    assert bus.asked[-1] == UsageRequest(principal=MILLY, since=DAY, subject="milly")
    bus.fails = [Unavailable("away"), Unavailable("away")]
    await usage.flush()
    usage.count(MILLY, Purpose.CHAT, output_tokens=100)
    assert await usage.tokens_today(MILLY) == 186
    assert await usage_over(Bus(fails=[Unavailable("away")])).tokens_today(MILLY) == 0


async def test_tokens_and_prices_are_those_of_their_purpose() -> None:
    totals = tuple(
        UsageTotal(subject="milly", purpose=purpose, requests=1, input_tokens=tokens, output_tokens=0, model_ms=1)
        for purpose, tokens in (("chat", 1_000_000), ("synthesis", 2_000_000), ("synthesis_paid", 4_000_000))
    )
    usage = usage_over(Bus(totals=totals), prices={Purpose.SYNTHESIS_PAID: Prices(3.0, 15.0)})
    usage.count(MILLY, Purpose.SYNTHESIS, output_tokens=5)
    usage.count(MILLY, Purpose.CHAT, output_tokens=7)
    assert await usage.tokens_today(MILLY) == 1_000_007
    assert await usage.tokens_today(MILLY, SYNTHESES) == 6_000_005
    told = (await usage.of(MILLY) or {})["milly"]
    assert (told.cost, told.input_tokens) == (12.0, 7_000_000)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(list(Purpose)), st.integers(0, 9)),
            st.sampled_from(["flush", "fail", "lose"]),
        ),
        max_size=40,
    )
)
async def test_whatever_fails_in_between_every_count_arrives_once(steps: list[Any]) -> None:
    bus = Bus()
    usage = usage_over(bus)
    expected: dict[tuple[str, str], int] = {}
    for step in steps:
        if isinstance(step, tuple):
            subject, purpose, tokens = step
            usage.count(Principal(org="acme", subject=subject), purpose, output_tokens=tokens)
            expected[subject, purpose] = expected.get((subject, purpose), 0) + tokens
            continue
        bus.fails = [] if step == "flush" else [Unavailable("away")]
        bus.takes = step == "fail"
        await usage.flush()
        bus.fails = []
    for _ in range(3):
        await usage.flush()
    assert {(key[2], key[3]): counts[2] for key, counts in bus.kept.items()} == expected
    assert len(expected) < MAX_KEYS

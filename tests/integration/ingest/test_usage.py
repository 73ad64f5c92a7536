"""Counts of usage are kept once, together, and for whom they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import date, timedelta
from uuid import UUID, uuid4

import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc import usage as rpc
from cortex_contracts.rpc.usage import RecordUsageRequest, UsageCount, UsageReply, UsageRequest, UsageTotal
from cortex_ingest.usage import UsageRpc
from cortex_store.database import Database
from cortex_testkit.postgres_server import PostgresDatabase

TODAY = date(2026, 11, 30)
GATEWAY = Principal(org="acme", subject="gateway", role="service")
MILLY = Principal(org="acme", subject="milly")
EVE = Principal(org="acme", subject="eve", readable=("team",), writable=("team",))


@pytest.fixture
async def usage(postgres: PostgresDatabase) -> AsyncIterator[UsageRpc]:
    database = Database(postgres.runtime_url)
    await database.open()
    yield UsageRpc(database)
    await database.close()


def count(subject: str = "milly", purpose: str = "chat", day: date = TODAY, requests: int = 1) -> UsageCount:
    return UsageCount(
        day=day, subject=subject, purpose=purpose, requests=requests, input_tokens=40, output_tokens=9, model_ms=7
    )


async def record(usage: UsageRpc, *counts: UsageCount, batch: UUID | None = None, org: str = "acme") -> bool:
    principal = GATEWAY.model_copy(update={"org": org})
    reply = await usage.record(RecordUsageRequest(principal=principal, batch=batch or uuid4(), counts=counts))
    return reply.recorded


async def told(
    usage: UsageRpc, principal: Principal = MILLY, since: date = TODAY, subject: str | None = None
) -> UsageReply:
    return await usage.totals(UsageRequest(principal=principal, since=since, subject=subject))


def total(subject: str, purpose: str, times: int) -> UsageTotal:
    return UsageTotal(
        subject=subject,
        purpose=purpose,
        requests=times,
        input_tokens=40 * times,
        output_tokens=9 * times,
        model_ms=7 * times,
    )


async def test_counts_add_up_over_batches_and_days_and_a_batch_counts_once(usage: UsageRpc) -> None:
    batch = uuid4()
    assert await record(usage, count(), count(), count(purpose="query"), batch=batch)
    assert not await record(usage, count(), count(), count(purpose="query"), batch=batch)
    assert await record(usage, count(day=TODAY - timedelta(days=29)), count("eve", day=TODAY - timedelta(days=30)))
    assert (await told(usage)).totals == (total("milly", "chat", 2), total("milly", "query", 1))
    assert (await told(usage, since=TODAY - timedelta(days=29))).totals[0] == total("milly", "chat", 3)
    month = await told(usage, since=TODAY - timedelta(days=30))
    assert total("eve", "chat", 1) in month.totals
    assert (await told(usage, subject="eve", since=TODAY - timedelta(days=30))).totals == (total("eve", "chat", 1),)
    assert not month.truncated


async def test_who_may_read_some_namespaces_sees_itself_and_another_org_sees_nothing(usage: UsageRpc) -> None:
    await record(usage, count("milly"), count("eve"))
    await record(usage, count("milly", "sync"), org="other")
    assert {one.subject for one in (await told(usage)).totals} == {"milly", "eve"}
    assert (await told(usage, EVE)).totals == (total("eve", "chat", 1),)
    assert (await told(usage, EVE, subject="milly")).totals == ()
    assert (await told(usage, Principal(org="third", subject="milly"))).totals == ()


async def test_batches_at_the_same_time_lose_nothing(usage: UsageRpc) -> None:
    subjects = [f"agent-{number}" for number in range(20)]
    forwards, backwards = [count(one) for one in subjects], [count(one) for one in reversed(subjects)]
    await asyncio.gather(*(record(usage, *(forwards if n % 2 else backwards)) for n in range(8)))
    assert {one.requests for one in (await told(usage)).totals} == {8}


async def test_a_reply_that_would_be_too_long_says_so(usage: UsageRpc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cortex_ingest.usage.MAX_TOTALS", 2)
    await record(usage, count("a", requests=1), count("b", requests=3), count("c", requests=2))
    reply = await told(usage)
    assert [one.subject for one in reply.totals] == ["b", "c"]
    assert reply.truncated
    assert rpc.MAX_TOTALS * 1000 < 1 << 20

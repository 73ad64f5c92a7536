"""Retain through the real services: what is written is found, repeated, replaced, forgotten and shared."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol
from uuid import UUID, uuid4

import asyncpg
import pytest

from cortex_contracts.errors import CortexError, ErrorCode
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryDraft, WriteDecision
from cortex_contracts.rpc.ingest import (
    FORGET,
    IMPROVE,
    RESTORE,
    RETAIN_BATCH,
    SHARE,
    Access,
    ImproveRequest,
    MemoryRequest,
    RetainBatchRequest,
    ShareRequest,
)
from cortex_contracts.rpc.recall import CONTEXT, GET, ContextRequest, EntityRelation, GetReply, GetRequest
from cortex_testkit.eventually import eventually

ME = Principal(org="local", subject="me")


class MemorySystem(Protocol):
    bus: object


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}T12:00:00+00:00")


async def test_what_was_retained_is_found_at_once_by_words_and_by_meaning(memory) -> None:
    kept = await memory.retain("The staging database runs on port 5433.", source_ref="runbook", explicit=True)
    assert kept.decision is WriteDecision.ADD
    assert kept.embedded
    assert kept.importance >= 0.9
    # Between two scripts the default floor is strict (docs/memory.md).
    for query, least in (
        ("staging database port", None),
        ("which port does the test system's DB listen on?", None),
        ("منفذ قاعدة البيانات", 0.1),
    ):
        [found] = (await memory.recall(query, min_score=least)).memories
        assert (found.memory_id, found.source_ref) == (kept.memory_id, "runbook")
    assert (await memory.recall("sourdough starter hydration")).memories == ()


async def test_the_same_fact_is_one_memory_however_often_it_comes(memory) -> None:
    texts = ["Ada leads the team.", "ada leads the team", "Ada leads  the team!", *["Ada leads the team."] * 3]
    kept = [await memory.retain(text) for text in texts]
    assert [one.decision for one in kept] == ["add", *["noop"] * 5]
    assert len({one.memory_id for one in kept}) == 1
    state = await memory.bus.request(GET, GetRequest(principal=ME, memory_id=kept[0].memory_id))
    assert len(state.occurrences) == 5
    assert [event.op for event in state.history] == ["retain"] * 6


async def test_a_changed_value_answers_and_the_old_one_answers_for_its_time(memory) -> None:
    old = await memory.retain("Mina works at Company A.", occurred_at=day("2023-02-01"))
    new = await memory.retain("Mina joined Company B.", occurred_at=day("2024-06-01"))
    assert (new.decision, new.superseded) == (WriteDecision.UPDATE, (old.memory_id,))
    assert await memory.contents("where does Mina work?") == ["Mina joined Company B."]
    assert await memory.contents("where does Mina work?", as_of=day("2023-12-01")) == ["Mina works at Company A."]
    assert await memory.contents("where does Mina work?", as_of=day("2022-12-01")) == []
    state = await memory.bus.request(GET, GetRequest(principal=ME, memory_id=old.memory_id))
    assert [one.memory_id for one in state.chain] == [old.memory_id, new.memory_id]
    assert state.memory.invalid_at == day("2024-06-01")
    assert state.memory.superseded_by == new.memory_id
    assert "Company A" in state.entities
    stated = [EntityRelation(subject="Mina", predicate="works_at", object="Company A")]
    assert list(state.relations) == stated
    await memory.bus.request(IMPROVE, ImproveRequest(principal=ME, memory_ids=(old.memory_id,)))
    state = await memory.bus.request(GET, GetRequest(principal=ME, memory_id=old.memory_id))
    assert list(state.relations) == stated


async def test_what_comes_late_is_history_at_once(memory) -> None:
    new = await memory.retain("Mina joined Company B.", occurred_at=day("2024-06-01"))
    late = await memory.retain("Mina works at Company A.", occurred_at=day("2023-02-01"))
    assert late.superseded == ()
    assert await memory.contents("where does Mina work?") == ["Mina joined Company B."]
    state = await memory.bus.request(GET, GetRequest(principal=ME, memory_id=late.memory_id))
    assert (state.memory.superseded_by, state.memory.invalid_at) == (new.memory_id, day("2024-06-01"))
    assert await memory.contents("where does Mina work?", as_of=day("2023-12-01")) == ["Mina works at Company A."]


async def test_a_hallucination_that_comes_back_through_recall_stays_one_memory(memory) -> None:
    await memory.retain("The moon office opens in 2031.")
    for _ in range(20):
        [found] = (await memory.recall("when does the moon office open?")).memories
        again = await memory.retain(found.content)
        assert again.decision is WriteDecision.NOOP


async def test_captures_are_found_by_words_when_acknowledged_and_by_meaning_soon(memory) -> None:
    await memory.capture("نجتمع كل يوم أحد في الإسكندرية", session="s1", turn=1, speaker="Omar", message_id="c1")
    await memory.capture("نجتمع كل يوم أحد في الإسكندرية", session="s1", turn=1, speaker="Omar", message_id="c1")
    found = await eventually(lambda: memory.recall("الاسكندريه"), lambda reply: bool(reply.memories))
    assert [one.speaker for one in found.memories] == ["Omar"]
    await memory.embedded()
    assert await memory.contents("when do we meet in Alexandria?") == ["نجتمع كل يوم أحد في الإسكندرية"]


async def test_a_batch_says_for_each_what_happened(memory) -> None:
    drafts = [
        MemoryDraft(namespace="work", content="Retries: three times."),
        MemoryDraft(namespace="work", content="\x00 \u200b "),
        MemoryDraft(namespace="work", content="Retries: three times."),
    ]
    reply = await memory.bus.request(RETAIN_BATCH, RetainBatchRequest(principal=ME, memories=tuple(drafts)))
    first, second, third = reply.items
    assert first.retained.decision is WriteDecision.ADD
    assert second.error.code is ErrorCode.INVALID_REQUEST
    assert (third.retained.decision, third.retained.memory_id) == (WriteDecision.NOOP, first.retained.memory_id)
    vectors = ((0.1, 0.2),)
    with pytest.raises(CortexError, match="expected 384 numbers"):
        await memory.bus.request(
            RETAIN_BATCH, RetainBatchRequest(principal=ME, memories=(drafts[0],), vectors=vectors, model="m")
        )


async def test_forget_hides_restore_brings_back_and_improve_keeps(memory) -> None:
    kept = await memory.retain("The deploy key of staging expires in May.")
    request = MemoryRequest(principal=ME, memory_id=kept.memory_id)
    assert (await memory.bus.request(FORGET, request)).changed
    assert not (await memory.bus.request(FORGET, request)).changed
    assert await memory.contents("deploy key of staging") == []
    assert (await memory.bus.request(RESTORE, request)).changed
    assert await memory.contents("deploy key of staging") == ["The deploy key of staging expires in May."]
    improved = await memory.bus.request(
        IMPROVE, ImproveRequest(principal=ME, memory_ids=(kept.memory_id, unknown := uuid4()))
    )
    assert (improved.improved, improved.unknown) == (1, (unknown,))
    assert await memory.contents("deploy key of staging") == ["The deploy key of staging expires in May."]
    state = await memory.bus.request(GET, GetRequest(principal=ME, memory_id=kept.memory_id))
    assert [event.op for event in state.history] == ["retain", "forget", "restore", "improve"]
    with pytest.raises(CortexError) as missing:
        await memory.bus.request(FORGET, MemoryRequest(principal=ME, memory_id=unknown))
    assert missing.value.code is ErrorCode.NOT_FOUND


async def test_a_share_opens_a_namespace_and_its_revocation_closes_it(memory) -> None:
    guest = Principal(org="local", subject="guest", readable=(), writable=())
    kept = await memory.retain("The launch is on Monday.")
    assert await memory.contents("launch", guest) == []

    async def share(access: Access) -> None:
        await memory.bus.request(SHARE, ShareRequest(principal=ME, namespace="work", agent="guest", access=access))

    await share(Access.READ)
    assert await memory.contents("launch", guest) == ["The launch is on Monday."]
    with pytest.raises(CortexError) as refused:
        await memory.retain("The launch is on Friday.", guest)
    assert refused.value.code is ErrorCode.FORBIDDEN
    with pytest.raises(CortexError) as refused:
        await memory.bus.request(FORGET, MemoryRequest(principal=guest, memory_id=kept.memory_id))
    assert refused.value.code is ErrorCode.FORBIDDEN
    await share(Access.WRITE)
    assert (await memory.retain("The venue is the old harbour.", guest)).decision is WriteDecision.ADD
    with pytest.raises(CortexError) as refused:
        await memory.bus.request(SHARE, ShareRequest(principal=guest, namespace="work", agent="x"))
    assert refused.value.code is ErrorCode.FORBIDDEN
    await share(Access.NONE)
    assert await memory.contents("launch", guest) == []
    with pytest.raises(CortexError) as gone:
        await memory.bus.request(GET, GetRequest(principal=guest, memory_id=kept.memory_id))
    assert gone.value.code is ErrorCode.NOT_FOUND


async def test_neighbours_budget_brief_and_explanation(memory) -> None:
    for turn, text in enumerate(("Where do we eat?", "At the harbour, they grill sardines.", "Great, at eight then.")):
        await memory.retain(text, session="dinner", turn=turn, speaker="Ada" if turn % 2 else "Omar")
    reply = await memory.recall("grilled sardines", k=1, neighbours=1, explain=True)
    [found] = reply.memories
    assert [turn.content for turn in found.neighbours] == ["Where do we eat?", "Great, at eight then."]
    assert found.explanation.lexical_rank == 1
    assert found.explanation.contributions["lexical"] > 0
    assert {"embed", "sql", "fuse", "pack"} <= set(reply.stages_ms)
    assert reply.tokens == 19  # with its neighbours
    tight = await memory.recall("grilled sardines", budget_tokens=8)
    assert "At the harbour, they grill sardines." not in [one.content for one in tight.memories]
    assert tight.dropped.over_budget >= 1
    assert tight.tokens <= 8


async def test_a_context_pack_fits_its_budget_and_a_delta_holds_what_changed(memory) -> None:
    await memory.retain("We decided to keep PostgreSQL.", explicit=True)
    await memory.retain("Open question: who rotates the keys?")
    await memory.retain("Omar painted the shed green.")
    pack = await memory.bus.request(CONTEXT, ContextRequest(principal=ME, namespaces=("work",)))
    assert [item.section for item in pack.items] == ["decisions", "open", "recent"]
    small = await memory.bus.request(CONTEXT, ContextRequest(principal=ME, budget_tokens=50))
    assert small.tokens <= 50
    later = await memory.retain("Lina joined as a tester.")
    delta = await memory.bus.request(CONTEXT, ContextRequest(principal=ME, since=pack.until))
    assert [item.memory.memory_id for item in delta.items] == [later.memory_id]


async def test_times_in_the_question_are_preferred_or_filter(memory) -> None:
    for month in ("2025-03-10", "2025-07-10"):
        await memory.retain(f"The team met in hall {month[6]} for the review.", occurred_at=day(month))
    first = await memory.recall("the review the team met for in July 2025")
    assert first.memories[0].valid_at == day("2025-07-10")
    assert first.time.since == datetime(2025, 7, 1, tzinfo=UTC)
    only = await memory.recall("the review the team met for in March 2025", time_filter=True)
    assert [one.valid_at for one in only.memories] == [day("2025-03-10")]
    with pytest.raises(CortexError, match="no IANA time zone"):
        await memory.recall("review", timezone="Atlantis/Capital")


async def test_a_change_that_is_announced_changes_nothing_before_its_day(memory) -> None:
    old = await memory.retain("Ada works at Helio.")
    new = await memory.retain("Ada joined Borealis.", occurred_at=datetime.now(UTC) + timedelta(days=30))
    assert (new.decision, new.superseded) == (WriteDecision.UPDATE, ())
    assert "Ada works at Helio." in await memory.contents("where does Ada work?")
    between = await memory.retain("Ada works at Cobalt.", occurred_at=datetime.now(UTC) + timedelta(days=10))
    connection = await asyncpg.connect(memory.postgres.migration_url)
    assert await connection.fetchval("SELECT count(*) FROM announced_endings") == 3
    await connection.execute("UPDATE announced_endings SET at = now() WHERE superseded_by = $1", new.memory_id)
    await connection.close()

    async def state_of(memory_id: UUID) -> GetReply:
        return await memory.bus.request(GET, GetRequest(principal=ME, memory_id=memory_id))

    for memory_id in (old.memory_id, between.memory_id):
        state = await eventually(partial(state_of, memory_id), lambda state: state.memory.invalid_at is not None)
        assert state.memory.superseded_by == new.memory_id
    assert await memory.contents("where does Ada work?") == ["Ada joined Borealis."]

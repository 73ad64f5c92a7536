"""Ingest, recall and sleep as processes: what a question's context contradicts is corrected, and told apart by time."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import nats as nats_client
import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import MemoryEvent
from cortex_contracts.messages.memory import MemoryDraft, Retained, Visibility, WriteDecision
from cortex_contracts.permissions import OPERATOR, inbox_prefix
from cortex_contracts.rpc.ingest import RETAIN_BATCH, RetainBatchRequest
from cortex_contracts.rpc.recall import GET, GetReply, GetRequest
from cortex_contracts.rpc.sleep import SLEEP_RUN, SleepRunRequest
from cortex_contracts.subjects import MEMORY_EVENT_PATTERN, MemoryOp, SleepPhase
from cortex_testkit.cache_server import CacheServer
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.process import RunningService, service_process

ME = Principal(org="local", subject="me")
READER = Principal(org="local", subject="reader", readable=("work",), writable=("own",))


@pytest.fixture
async def sleep(
    nats: NatsServer, postgres: PostgresDatabase, cache: CacheServer, tmp_path: Path
) -> AsyncIterator[RunningService]:
    folder = tmp_path / "sleep"
    folder.mkdir()
    process = service_process(
        "sleep",
        CORTEX_HOME=str(folder),
        CORTEX_NATS_URL=nats.url("sleep"),
        CORTEX_SLEEP_DATABASE_URL=postgres.sleep_url,
        CORTEX_CACHE_URL=cache.url,
        CORTEX_SLEEP_AT="never",
        CORTEX_SLEEP_PRESSURE="0",
    )
    with RunningService(process, folder) as running:
        await running.wait_ready()
        yield running


@pytest.fixture
async def events(nats: NatsServer) -> AsyncIterator[list[MemoryEvent]]:
    heard: list[MemoryEvent] = []
    client = await nats_client.connect(nats.url(OPERATOR), inbox_prefix=inbox_prefix(OPERATOR))

    async def hear(message: nats_client.aio.msg.Msg) -> None:
        heard.append(MemoryEvent.model_validate(json.loads(message.data)))

    await client.subscribe(MEMORY_EVENT_PATTERN, cb=hear)
    await client.flush()
    yield heard
    await client.close()


async def get(memory, memory_id, principal: Principal = ME) -> GetReply:
    return await memory.bus.request(GET, GetRequest(principal=principal, memory_id=memory_id))


async def everything_stored(postgres: PostgresDatabase) -> str:
    """Every row of every table, as text."""
    connection = await asyncpg.connect(postgres.migration_url)
    try:
        names = [
            one["name"]
            for one in await connection.fetch(
                "SELECT format('%I', relname) AS name FROM pg_class "
                "WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace"
            )
        ]
        rows = [await connection.fetch(f"SELECT t::text AS row FROM {name} t") for name in names]
        return "\n".join(one["row"] for found in rows for one in found)
    finally:
        await connection.close()


async def test_a_context_that_contradicts_the_answer_corrects_it(memory, sleep, events) -> None:
    old = await memory.retain("The staging database listens on port 5432.", speaker="Mira")
    question = "Which port does the staging database listen on?"
    context = (
        "I am setting up the tunnel. The staging database listens on port 5433. The password is <private>hunter2"
        "</private>, and what is the user name?"
    )
    reply = await memory.recall(question, context=context)
    assert [one.memory_id for one in reply.memories] == [old.memory_id], "the answer does not wait for its correction"
    await eventually(
        lambda: memory.contents(question), lambda found: found == ["The staging database listens on port 5433."]
    )
    [new] = (await memory.recall(question)).memories
    assert (new.source_kind, new.owner, new.speaker) == ("recall", "me", None)
    before = await memory.contents(question, as_of=reply.memories[0].created_at)
    assert before == ["The staging database listens on port 5432."]
    told = await get(memory, old.memory_id)
    assert [one.content for one in told.chain] == [
        "The staging database listens on port 5432.",
        "The staging database listens on port 5433.",
    ]
    assert told.memory.superseded_by == new.memory_id
    await memory.embedded()
    await memory.recall(question)
    assert (await memory.recall(question, context="Nothing.")).cached, "an answer does not depend on the context"

    async def corrected() -> list[MemoryEvent]:
        return [one for one in events if one.op is MemoryOp.RECONSOLIDATE]

    corrections = await eventually(corrected, lambda found: len(found) >= 2)
    assert [(one.memory_id, one.superseded) for one in corrections] == [
        (old.memory_id, ()),
        (new.memory_id, (old.memory_id,)),
    ]
    assert corrections[1].decision == WriteDecision.UPDATE
    stored = await everything_stored(memory.postgres)
    assert "port 5433" in stored
    for kept_back in ("hunter2", "tunnel", "user name"):
        assert kept_back not in stored, "nothing of a context is kept but the sentence that corrects"


async def test_who_may_only_read_corrects_nothing_and_a_plan_is_no_correction(memory, sleep, events) -> None:
    team = await memory.retain("The retry limit is 3.")
    secret = await memory.retain("The cache of the lab holds 10 GB.", visibility=Visibility.PRIVATE)
    await memory.recall("retry limit", READER, context="The retry limit is 5.")
    for context in (
        "Maybe the retry limit is 5.",
        "What if the retry limit is 5?",
        "We plan to set the retry limit to 5.",
    ):
        await memory.recall("retry limit", context=context)
    await memory.recall("retry limit", as_of=team_time(team), context="The retry limit is 5.")
    # What comes after has been looked at in its turn.
    await memory.recall("cache of the lab", context="The cache of the lab holds 20 GB.")
    await eventually(
        lambda: memory.contents("cache of the lab"), lambda found: found == ["The cache of the lab holds 20 GB."]
    )
    assert await memory.contents("retry limit") == ["The retry limit is 3."]
    assert (await get(memory, team.memory_id)).memory.invalid_at is None
    corrected = (await get(memory, secret.memory_id)).memory.superseded_by
    assert corrected is not None
    assert (await get(memory, corrected)).memory.visibility is Visibility.PRIVATE
    assert await memory.contents("cache of the lab", READER) == []
    assert all(one.preview == "" for one in events if one.op is MemoryOp.RECONSOLIDATE), "private in every event"


def team_time(retained: Retained) -> datetime:
    """A moment right after a memory was made, from its id (a UUIDv7)."""
    return datetime.fromtimestamp((retained.memory_id.int >> 80) / 1000 + 1, UTC)


async def test_five_corrections_by_question_read_in_order(memory, sleep) -> None:
    first = await memory.retain("The retry limit is 1.")
    for value in range(2, 7):
        said = f"The retry limit is {value}."
        await memory.recall("retry limit", context=f"By the way, t{said[1:]}")
        await eventually(lambda: memory.contents("retry limit"), lambda found, said=said: said[1:] in "".join(found))
        assert len(await memory.contents("retry limit")) == 1
    chain = (await get(memory, first.memory_id)).chain
    assert [one.content[-2] for one in chain] == list("123456")
    for one in chain:
        assert await memory.contents("retry limit", as_of=one.valid_at) == [one.content]


async def test_a_batch_that_was_imported_undecided_is_put_right_by_a_run(memory, sleep) -> None:
    drafts = tuple(
        MemoryDraft(
            namespace="work",
            content=f"The retry limit is {value}.",
            occurred_at=f"2026-03-0{value}T09:00:00Z",
            source_kind="import",
        )
        for value in (3, 1, 2)
    )
    request = RetainBatchRequest(principal=ME, memories=drafts, decide=False, embed=False)
    await memory.bus.request(RETAIN_BATCH, request)
    assert len(await memory.contents("retry limit")) == 3
    await memory.bus.request(
        SLEEP_RUN, SleepRunRequest(principal=ME, namespace="work", phases=(SleepPhase.RECONSOLIDATE,))
    )
    await eventually(lambda: memory.contents("retry limit"), lambda found: found == ["The retry limit is 3."])
    [kept] = (await memory.recall("retry limit")).memories
    assert [one.content for one in (await get(memory, kept.memory_id)).chain] == [
        f"The retry limit is {value}." for value in (1, 2, 3)
    ]


@pytest.mark.parametrize("order", [(1, 2, 3, 4, 5, 6), (6, 4, 2, 1, 3, 5), (1, 6, 3, 2, 5, 4)])
async def test_five_corrections_by_retain_read_in_order_whenever_they_come(memory, order) -> None:
    ids = {}
    for value in order:
        kept = await memory.retain(f"The retry limit is {value}.", occurred_at=f"2026-03-0{value}T09:00:00Z")
        ids[value] = kept.memory_id
    assert await memory.contents("retry limit") == ["The retry limit is 6."]
    chain = (await get(memory, ids[3])).chain
    assert [one.content[-2] for one in chain] == list("123456")
    assert [one.superseded_by for one in chain] == [*(ids[value] for value in range(2, 7)), None]
    for one in chain:
        assert await memory.contents("retry limit", as_of=one.valid_at) == [one.content]
        assert one.invalid_at is None or await memory.contents("retry limit", as_of=one.invalid_at) != [one.content]

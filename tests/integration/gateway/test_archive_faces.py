"""The archive through every face of the gateway, with a played sleep service on real NATS."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from cortex_contracts.errors import CortexError, ErrorCode, Permanent, Unavailable
from cortex_contracts.messages.base import Message
from cortex_contracts.messages.memory import MemoryView
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.archive import (
    CHAIN_ARCHIVED,
    GET_ARCHIVED,
    RECALL_ARCHIVE,
    ArchivedChain,
    ArchivedMemory,
    ArchiveReply,
    ArchiveRequest,
)
from cortex_contracts.rpc.engine import EngineAskReply, EngineAskRequest, EngineStatus
from cortex_contracts.rpc.recall import Dropped, GetReply, GetRequest, Occurrence
from cortex_runtime.bus import Bus
from cortex_testkit.nats_server import NatsServer

TEXT = "تعطلت المضخة on the third pier"
AT = datetime(2023, 4, 5, 9, 30, tzinfo=UTC)


@dataclass
class PlayedArchive:
    """The cold tier as the gateway sees it."""

    asked: list[Message] = field(default_factory=list)
    memories: dict[UUID, MemoryView] = field(default_factory=dict)
    fails: CortexError | None = None
    complete: bool = True

    def hold(self, content: str = TEXT, **changes: Any) -> MemoryView:
        memory = MemoryView(
            **{
                "memory_id": uuid4(),
                "namespace": "harbour",
                "content": content,
                "importance": 0.4,
                "source_kind": "chat",
                "speaker": "Salma",
                "valid_at": AT,
                "created_at": AT,
                **changes,
            }
        )
        self.memories[memory.memory_id] = memory
        return memory

    def _heard(self, request: Message) -> None:
        self.asked.append(request)
        if self.fails:
            raise self.fails

    async def recall(self, request: ArchiveRequest) -> ArchiveReply:
        self._heard(request)
        again = Occurrence(source_kind="chat", occurred_at=AT)
        found = [ArchivedMemory(memory=one, score=0.612345, occurrences=(again,)) for one in self.memories.values()]
        return ArchiveReply(
            memories=tuple(found[: request.k]),
            took_ms=7,
            complete=self.complete,
            degraded=() if self.complete else ("vectors of 3 memories",),
            dropped=Dropped(over_budget=1),
            rows=5_000,
            files=480,
            files_read=1,
        )

    async def get(self, request: GetRequest) -> GetReply:
        self._heard(request)
        if request.memory_id not in self.memories:
            raise Permanent("there is no such memory", code=ErrorCode.NOT_FOUND)
        memory = self.memories[request.memory_id]
        return GetReply(memory=memory, chain=(memory,), archived=True)

    async def chain(self, request: GetRequest) -> ArchivedChain:
        self._heard(request)
        return ArchivedChain(memories=tuple(self.memories.values()))

    async def ask(self, request: EngineAskRequest) -> EngineAskReply:
        self._heard(request)
        return EngineAskReply(engine=engine.ARCHIVE, status=EngineStatus.UP)


@pytest.fixture
async def archive(nats_server: NatsServer) -> AsyncIterator[PlayedArchive]:
    """Served over NATS by the user that serves it in production."""
    played = PlayedArchive()
    bus = Bus(nats_server.url("sleep"), "sleep", "0.0.1")
    bus.serve(RECALL_ARCHIVE, played.recall)
    bus.serve(GET_ARCHIVED, played.get)
    bus.serve(CHAIN_ARCHIVED, played.chain)
    bus.serve(engine.ask(engine.ARCHIVE), played.ask)
    await bus.open()
    yield played
    await bus.close()


async def test_rest_finds_what_left_the_hot_tier(gateway: Any, archive: PlayedArchive) -> None:
    memory = archive.hold()
    body = {
        "query": "المضخة",
        "namespaces": ["harbour"],
        "k": 3,
        "filter": {"since": "2023-04-01T00:00:00Z", "until": "2023-05-01T00:00:00Z"},
        "limit_s": 5,
    }
    async with gateway.http() as http:
        response = await http.post("/api/v1/memory/archive/recall", json=body)
        assert response.status_code == 200, response.text
        reply = ArchiveReply.model_validate(response.json())
        misspelt = await http.post("/api/v1/memory/archive/recall", json=body | {"namespace": "harbour"})
        assert misspelt.status_code == 422
        too_long = await http.post("/api/v1/memory/archive/recall", json=body | {"limit_s": 600})
        assert too_long.status_code == 422
    assert [one.memory for one in reply.memories] == [memory]
    (asked,) = archive.asked
    assert (asked.principal.org, asked.principal.subject) == ("local", "owner")  # type: ignore[attr-defined]
    assert (asked.namespaces, asked.k, asked.limit_s) == (("harbour",), 3, 5.0)  # type: ignore[attr-defined]


async def test_nobody_asks_without_credentials_or_for_another_org(gateway: Any, archive: PlayedArchive) -> None:
    async with gateway.http(None) as http:
        assert (await http.post("/api/v1/memory/archive/recall", json={"query": "x"})).status_code == 401
    async with gateway.http() as http:
        body = {"query": "x", "principal": {"org": "acme", "subject": "mallory"}}
        assert (await http.post("/api/v1/memory/archive/recall", json=body)).status_code == 422
    assert not archive.asked


async def test_get_finds_a_memory_wherever_it_is(gateway: Any, remembering: Any, archive: PlayedArchive) -> None:
    cold = archive.hold()
    async with gateway.http() as http:
        hot = (await http.post("/api/v1/memory", json={"namespace": "harbour", "content": "x"})).json()["memory_id"]
        assert (await http.get(f"/api/v1/memory/{hot}")).json()["archived"] is False
        assert not archive.asked
        found = (await http.get(f"/api/v1/memory/{cold.memory_id}")).json()
        assert (found["memory"]["content"], found["archived"]) == (TEXT, True)
        missing = await http.get(f"/api/v1/memory/{uuid4()}")
        assert missing.status_code == 404
        archive.fails = Unavailable("the cold store is away")
        away = await http.get(f"/api/v1/memory/{cold.memory_id}")
        assert away.status_code == 404
        assert "the archive cannot be asked now" in away.text


async def test_the_chain_of_a_cold_memory_goes_on_in_the_hot_tier(
    gateway: Any, remembering: Any, archive: PlayedArchive
) -> None:
    async with gateway.http() as http:
        kept = await http.post("/api/v1/memory", json={"namespace": "harbour", "content": "the pump is new"})
        later = UUID(kept.json()["memory_id"])
        cold = archive.hold(superseded_by=later, invalid_at=datetime(2024, 1, 1, tzinfo=UTC))
        chain = (await http.get(f"/api/v1/memory/{cold.memory_id}")).json()["chain"]
    assert [one["memory_id"] for one in chain] == [str(cold.memory_id), str(later)]


async def test_the_chain_of_a_hot_memory_goes_back_into_the_cold_tier(
    gateway: Any, remembering: Any, archive: PlayedArchive
) -> None:
    async with gateway.http() as http:
        kept = await http.post("/api/v1/memory", json={"namespace": "harbour", "content": "the pump is new"})
        path = f"/api/v1/memory/{(hot := UUID(kept.json()['memory_id']))}"
        newer = archive.hold("the pump is red", superseded_by=hot)
        older = archive.hold("the pump is blue", superseded_by=newer.memory_id, valid_at=AT - timedelta(days=1))
        remembering.chain_complete = False
        found = (await http.get(path)).json()
        archive.fails = Unavailable("the cold store is away")
        short = (await http.get(path)).json()
    assert [one["memory_id"] for one in found["chain"]] == [str(older.memory_id), str(newer.memory_id), str(hot)]
    assert set(found["chain_archived"]) == {str(older.memory_id), str(newer.memory_id)}
    assert (found["archived"], found["chain_complete"]) == (False, True)
    assert (short["memory"]["memory_id"], short["chain_complete"]) == (str(hot), False)


async def test_an_agent_recalls_from_the_archive(gateway: Any, archive: PlayedArchive, connect: Any) -> None:
    memory = archive.hold(invalid_at=datetime(2024, 1, 1, tzinfo=UTC))
    async with connect(gateway, "http") as client:
        result = await client.call_tool(
            "memory_recall_archive", {"query": "المضخة", "since": "2023-04-01", "until": "2023-05-01"}
        )
        assert not result.is_error, result.content
        assert result.structured_content == {
            "memories": [
                {
                    "id": str(memory.memory_id),
                    "content": TEXT,
                    "namespace": "harbour",
                    "source": "chat",
                    "speaker": "Salma",
                    "valid_at": "2023-04-05T09:30:00Z",
                    "invalid_at": "2024-01-01T00:00:00Z",
                    "score": 0.612,
                    "repeats": 1,
                }
            ],
            "note": "1 more exceed budget_tokens",
        }
        assert "untrusted" in result.content[0].text.splitlines()[0]
        archive.complete = False
        partly = await client.call_tool("memory_recall_archive", {"query": "pump"})
        assert "without vectors of 3 memories; there was no time for the oldest" in partly.structured_content["note"]
    assert archive.asked[0].filter.since == datetime(2023, 4, 1, tzinfo=UTC)  # type: ignore[attr-defined]


async def test_the_command_shows_it_for_people_and_for_scripts(cortex: Any, archive: PlayedArchive) -> None:
    memory = archive.hold(invalid_at=datetime(2024, 1, 1, tzinfo=UTC))
    shown = await cortex("archive", "المضخة", "-n", "harbour", "--since", "2023-04-01", "--until", "2023-05-01")
    assert shown.splitlines()[0] == f"0.61  2023-04-05  harbour  {memory.memory_id}  chat, Salma"
    assert shown.splitlines()[1].strip() == TEXT
    assert "until 2024-01-01" in shown
    assert "said again 1 times" in shown
    assert "1 memory of 5,000 compared, 7 ms; 1 of 480 files read" in shown
    printed = json.loads(await cortex("archive", "pump", "--limit", "3", "--json"))
    assert printed["memories"][0]["memory"]["content"] == TEXT
    assert archive.asked[-1].limit_s == 3.0  # type: ignore[attr-defined]
    archive.memories.clear()
    archive.complete = False
    nothing = await cortex("archive", "pump")
    assert "The archive holds nothing about this." in nothing
    assert "there was no time for the oldest" in nothing


async def test_ask_goes_to_the_archive_only_when_it_is_named(gateway: Any, played: Any, archive: PlayedArchive) -> None:
    async with gateway.http() as http:
        usual = (await http.post("/ask", json={"query": "which pump?"})).json()
        assert "archive" not in [one["engine"] for one in usual["engines"]]
        assert not archive.asked
        named = (await http.post("/ask", json={"query": "which pump?", "scope": ["memory", "archive"]})).json()
    assert [(one["engine"], one["status"]) for one in named["engines"]] == [("memory", "up"), ("archive", "up")]
    assert len(archive.asked) == 1

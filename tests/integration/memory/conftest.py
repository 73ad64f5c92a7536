"""Ingest and recall as processes on real servers: what is written through one is read through the other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from cortex_contracts import subjects
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.commands import Capture
from cortex_contracts.messages.memory import MemoryDraft, Retained
from cortex_contracts.rpc.ingest import BACKLOG, RETAIN, BacklogRequest, RetainRequest
from cortex_contracts.rpc.recall import RECALL, RecallReply, RecallRequest
from cortex_providers.embedder import EmbedderConfig
from cortex_runtime.bus import Bus
from cortex_testkit.cache_server import CacheServer
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.process import RunningService, service_process

ME = Principal(org="local", subject="me")


@dataclass
class MemorySystem:
    """What a client of both services does."""

    bus: Bus
    postgres: PostgresDatabase

    async def retain(self, content: str, principal: Principal = ME, **fields: Any) -> Retained:
        draft = MemoryDraft(**({"namespace": "work", "content": content} | fields))
        return await self.bus.request(RETAIN, RetainRequest(principal=principal, memory=draft))

    async def recall(self, query: str, principal: Principal = ME, **fields: Any) -> RecallReply:
        return await self.bus.request(RECALL, RecallRequest(principal=principal, query=query, **fields))

    async def contents(self, query: str, principal: Principal = ME, **fields: Any) -> list[str]:
        return [one.content for one in (await self.recall(query, principal, **fields)).memories]

    async def capture(self, content: str, *, message_id: str | None = None, **fields: Any) -> None:
        capture = Capture(**({"namespace": "work", "content": content} | fields))
        subject = subjects.capture("local", "chat")
        await self.bus.publish(subject, capture, message_id=message_id or str(uuid4()))

    async def embedded(self) -> None:
        """Wait until nothing waits to be embedded."""

        async def waiting() -> int:
            return (await self.bus.request(BACKLOG, BacklogRequest(principal=ME))).waiting

        await eventually(waiting, lambda count: count == 0, within_s=60)


@pytest.fixture
async def memory(
    nats: NatsServer, postgres: PostgresDatabase, cache: CacheServer, embedder: EmbedderConfig, tmp_path: Path
) -> AsyncIterator[MemorySystem]:
    with ExitStack() as stack:
        starting = []
        for name in ("ingest", "recall"):
            folder = tmp_path / name
            folder.mkdir()
            process = service_process(
                name,
                CORTEX_HOME=str(folder),
                CORTEX_NATS_URL=nats.url(name),
                CORTEX_DATABASE_URL=postgres.runtime_url,
                CORTEX_CACHE_URL=cache.url,
                CORTEX_EMBEDDINGS_URL=embedder.url,
                CORTEX_EMBEDDINGS_MODEL=embedder.model,
                CORTEX_EMBEDDINGS_API_KEY=embedder.api_key,
            )
            starting.append(stack.enter_context(RunningService(process, folder)))
        for running in starting:
            await running.wait_ready()
        bus = Bus(nats.url("gateway"), "gateway", "0.1.0")
        await bus.open()
        yield MemorySystem(bus, postgres)
        await bus.close()


def ids(reply: RecallReply) -> list[UUID]:
    return [one.memory_id for one in reply.memories]


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}T12:00:00+00:00")

"""Engines behind their guards, as the gateway runs them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from typing import Any

import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.engine import EngineAskReply, EngineAskRequest, Hit, SourceClass
from cortex_gateway.adapters.breaker import Standing
from cortex_gateway.adapters.dialect import ToolFailed, Tools
from cortex_gateway.adapters.guard import Guard
from cortex_gateway.adapters.mcp_engine import McpEngine
from cortex_gateway.adapters.settings import EngineSource
from cortex_gateway.adapters.tool_answer import refusal
from cortex_providers.outbound import Resolve, system_resolve
from cortex_testkit.eventually import eventually

ORG = "acme"
OWNER = Principal(org=ORG, subject="ada")


class NotesDialect:
    """How the servers of these tests are spoken to: a list of notes with title, path, text and score."""

    purposes: Mapping[str, tuple[str, ...]] = {"search": ("search_notes", "find_notes"), "age": ("last_change",)}
    required = frozenset({"search"})

    async def search(self, tools: Tools, query: str, k: int) -> Sequence[Hit]:
        answer = await tools.call("search", {tools.pick("search", "query", "q"): query})
        if (reason := refusal(answer.data)) is not None:
            raise ToolFailed(reason)
        found: list[Any] = answer.data if isinstance(answer.data, list) else []
        return [
            Hit(
                engine="",
                title=note["title"],
                path=note["path"],
                snippet=note["text"],
                native_score=note["score"],
                relevance=note["score"],
                last_seen=None,
                source_class=SourceClass.OLDER_NOTE,
            )
            for note in found
        ]

    async def last_ingest(self, tools: Tools) -> datetime | None:
        if not tools.has("age"):
            return None
        return datetime.fromisoformat((await tools.call("age", {})).text)


class Notes:
    """A guard of a notes engine, and what a test asks of it."""

    def __init__(self, guard: Guard, engine: McpEngine) -> None:
        self.guard = guard
        self.engine = engine

    async def ask(self, query: str = "crane", *, deadline_ms: int = 15_000) -> EngineAskReply:
        """Ask; hangs never."""
        request = EngineAskRequest(principal=OWNER, query=query, deadline_ms=deadline_ms)
        async with asyncio.timeout(40):
            return await self.guard.ask(request)

    async def stands(self, standing: Standing) -> None:
        """Wait until the breaker stands so."""
        await eventually(lambda: asyncio.sleep(0, self.guard.breaker.standing), lambda now: now is standing)


Guarded = Callable[..., AbstractAsyncContextManager[Notes]]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """As `cortex_runtime.logs.configure` has it: the SDK tells every fault of a server with a traceback."""
    logger = logging.getLogger("mcp.client")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(before)


@pytest.fixture
def guarded() -> Guarded:
    """Runs the guard of an engine: `async with guarded(url=...) as notes`; everything it started is over afterwards."""

    @asynccontextmanager
    async def run(
        *, limit_s: float = 15.0, trial_s: float = 0.02, resolve: Resolve = system_resolve, **source: Any
    ) -> AsyncIterator[Notes]:
        configured = EngineSource.model_validate({"key": "notes", "tool": "search_notes", "limit_s": limit_s, **source})
        engine = McpEngine(configured, NotesDialect(), resolve)
        guard = Guard(configured, engine, ORG, 60.0, delay=lambda failures: trial_s * failures)
        task = asyncio.create_task(guard.run())
        try:
            yield Notes(guard, engine)
        finally:
            task.cancel()
            await asyncio.wait({task}, timeout=20)
            assert task.cancelled()

    return run

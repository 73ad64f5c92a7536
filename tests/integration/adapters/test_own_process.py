"""The adapters on the bus: inside the gateway, and as a process of their own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.engine import (
    EngineAskReply,
    EngineAskRequest,
    EngineHealth,
    EngineHealthRequest,
    EngineStatus,
)
from cortex_infra import ports
from cortex_runtime.bus import Bus
from cortex_testkit import misbehaving_command, misbehaving_engine
from cortex_testkit.eventually import eventually
from cortex_testkit.forks import Forked
from cortex_testkit.mcp_engine_server import McpEngineServer, running
from cortex_testkit.misbehaving_engine import Exchange, MisbehavingEngine
from cortex_testkit.nats_server import NatsServer

ADA = Principal(org="acme", subject="ada")
TOKEN = "the-token-of-the-test"


def notes(url: str, key: str = "notes", **more: Any) -> dict[str, Any]:
    return {"key": key, "url": url, "tool": "search_notes", **more}


class Processes:
    """Starts a process of ours and waits until it is ready."""

    def __init__(self, nats: NatsServer, home: Path) -> None:
        self._nats = nats
        self._home = home

    @asynccontextmanager
    async def __call__(self, module: str, service: str, *entries: dict[str, Any], **more: str) -> AsyncIterator[str]:
        port, name = ports.choose(), service.upper()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")} | {
            "CORTEX_HOME": str(self._home),
            "CORTEX_ORG": "acme",
            "CORTEX_NATS_URL": self._nats.url(service),
            f"CORTEX_{name}_PORT": str(port),
            "CORTEX_ENGINES": json.dumps(entries),
            **more,
        }
        streams = (Path(os.devnull), self._home / "out", self._home / "log")
        process = Forked(module, (), environment, streams)
        try:
            async with httpx.AsyncClient(timeout=20, trust_env=False) as http:
                await eventually(
                    lambda: http.get(f"http://127.0.0.1:{port}/health/ready"),
                    lambda answer: answer.status_code == 200 or process.poll() is not None,
                    ignoring=(httpx.TransportError,),
                )
            assert process.poll() is None, (self._home / "log").read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            assert process.wait(timeout=20) == 0, (self._home / "log").read_text()

    def adapters(self, *entries: dict[str, Any]) -> Any:
        """The adapters as a process of their own."""
        return self("cortex_gateway.adapters", "engines", *entries)

    def gateway(self, *entries: dict[str, Any], **more: str) -> Any:
        """A gateway."""
        sse = str(ports.choose())
        return self("cortex_gateway", "gateway", *entries, CORTEX_GATEWAY_SSE_PORT=sse, CORTEX_HTTP_TOKEN=TOKEN, **more)


@pytest.fixture
def processes(nats_server: NatsServer, tmp_path: Path) -> Processes:
    return Processes(nats_server, tmp_path)


@pytest.fixture
async def caller(nats_server: NatsServer) -> AsyncIterator[Bus]:
    """The bus as the gateway uses it."""
    bus = Bus(nats_server.url("gateway"), "gateway", "0.0.1")
    await bus.open()
    yield bus
    await bus.close()


async def ask(bus: Bus, key: str = "notes", deadline_ms: int = 10_000) -> EngineAskReply:
    request = EngineAskRequest(principal=ADA, query="crane", deadline_ms=deadline_ms)
    return await bus.request(engine.ask(key), request, timeout_s=20)


async def up(bus: Bus, key: str = "notes") -> EngineAskReply:
    """The first reply of an engine that answers."""

    async def attempt() -> EngineAskReply:
        return await ask(bus, key)

    return await eventually(attempt, lambda reply: reply.status is EngineStatus.UP, ignoring=(Unavailable,))


async def test_a_process_of_their_own_answers_for_the_configured_engines(processes: Processes, caller: Bus) -> None:
    async with running(McpEngineServer()) as server, processes.adapters(notes(server.url)):
        reply = await up(caller)
        assert [(hit.engine, hit.path) for hit in reply.hits] == [("notes", "yard/crane.md")]
        health = await caller.request(engine.health("notes"), EngineHealthRequest(principal=ADA))
        assert (health.engine, health.status) == ("notes", EngineStatus.UP)


async def test_a_caller_that_waits_no_longer_ends_the_work_of_the_engine(processes: Processes, caller: Bus) -> None:
    server = McpEngineServer()
    async with running(server), processes.adapters(notes(server.url)):
        await up(caller)
        server.hold = True
        server.begun.clear()
        question = asyncio.create_task(ask(caller))
        async with asyncio.timeout(30):
            await server.begun.wait()
            question.cancel()
            await server.cancelled.wait()


async def test_an_engine_that_hangs_takes_no_places_of_the_others(processes: Processes, caller: Bus) -> None:
    held = asyncio.Event()

    async def hangs(exchange: Exchange) -> None:
        held.set()
        await exchange.gone()

    silent = MisbehavingEngine()
    async with (
        misbehaving_engine.running(silent),
        running(McpEngineServer()) as server,
        processes.adapters(notes(silent.url, "silent", limit_s=15), notes(server.url)),
    ):
        await up(caller)
        await up(caller, "silent")
        silent.on["tools/call"] = hangs
        waiting = [asyncio.create_task(ask(caller, "silent")) for _ in range(100)]  # more than one server's places
        async with asyncio.timeout(30):
            await held.wait()
            assert (await ask(caller)).hits
        assert not any(task.done() for task in waiting)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_no_process_of_an_engine_is_left_behind(processes: Processes, caller: Bus, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = [sys.executable, "-I", misbehaving_command.__file__, "parent", str(pids)]
    async with processes.adapters({"key": "notes", "command": command, "tool": "search_notes"}):
        assert (await up(caller)).hits
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 2
    await eventually(lambda: asyncio.sleep(0, [pid for pid in started if _runs(pid)]), lambda left: not left)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_inside_the_gateway_they_answer_questions_and_health(processes: Processes) -> None:
    async with (
        running(McpEngineServer()) as server,
        processes.gateway(notes(server.url)) as url,
        httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False) as http,
    ):

        async def asked() -> Any:
            return (await http.post("/ask", json={"query": "crane", "scope": ["notes"]}, timeout=20)).json()

        answer = await eventually(asked, lambda said: bool(said["hits"]))
        assert [hit["path"] for hit in answer["hits"]] == ["yard/crane.md"]
        assert answer["engines"][0]["status"] == "up"

        async def healths() -> Any:
            said = (await http.get("/health")).json()["engines"]
            return {one["engine"]: one["status"] for one in said}

        await eventually(healths, lambda found: found == {"memory": "down", "pages": "down", "notes": "up"})
        server.cut()
        answer = (await http.post("/ask", json={"query": "crane", "scope": ["notes", "rag"]}, timeout=20)).json()
        [lost, absent] = answer["engines"]
        assert lost["error"].startswith("the engine notes cannot be reached")
        assert "CORTEX_RAG_URL" in absent["error"]


async def test_a_gateway_may_leave_them_to_the_other_process(processes: Processes, caller: Bus) -> None:
    async with running(McpEngineServer()) as server:
        async with processes.gateway(notes(server.url), CORTEX_GATEWAY_ADAPTERS="false"):
            with pytest.raises(Unavailable):
                await ask(caller)


@pytest.mark.parametrize("user", ["engines", "gateway"])
async def test_who_answers_for_engines_can_not_answer_for_the_built_in_ones(
    nats_server: NatsServer, caller: Bus, user: str
) -> None:
    async def answer(_: EngineAskRequest) -> EngineAskReply:
        return EngineAskReply(engine="memory", status=EngineStatus.UP)

    async def health(_: EngineHealthRequest) -> EngineHealth:
        return EngineHealth(engine="memory", status=EngineStatus.UP)

    bus = Bus(nats_server.url(user), user, "0.0.1")
    for key in ("memory", "rag"):
        bus.serve(engine.ask(key), answer)
        bus.serve(engine.health(key), health)
    await bus.open()
    try:
        assert (await up(caller, "rag")).status is EngineStatus.UP
        with pytest.raises(Unavailable, match="no memory service answers"):
            await ask(caller, "memory")
    finally:
        await bus.close()

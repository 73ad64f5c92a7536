"""Serena itself as an engine: over SSE, streamable HTTP and stdio, on a small project, without any network."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc import engine as rpc
from cortex_contracts.rpc.engine import EngineAskReply, EngineAskRequest, EngineStatus, Hit, SourceClass
from cortex_gateway.adapters import serena
from cortex_gateway.adapters.dialect import ToolFailed, ToolsChanged
from cortex_gateway.adapters.guard import Guard
from cortex_gateway.adapters.port import Engine
from cortex_gateway.adapters.responders import Responders
from cortex_gateway.adapters.settings import EngineKind, EngineSource
from cortex_infra.servers.running import RunningServer
from cortex_runtime.bus import Bus
from cortex_testkit import serena_server
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer

OWNER = Principal(org="acme", subject="ada")
CRANES = '''\
"""Cranes of the harbour."""

MAX_LOAD = 40


class Crane:
    """Lifts containers."""

    def __init__(self) -> None:
        self.lifted: list[str] = []

    def lift(self, container: str) -> None:
        self.lifted.append(container)


def unload(crane: Crane, containers: list[str]) -> None:
    for container in containers:
        crane.lift(container)
'''
SHIFTS = '''\
"""Who works when."""

from harbour.cranes import Crane, unload


def night_shift() -> None:
    # The foreman, Salma, wants a quiet yard.
    unload(Crane(), ["C-17"])
'''
LIMIT_S = 40.0
"""A language server that starts cold on a busy machine takes seconds; the default limit cuts later rounds short."""


@dataclass(frozen=True)
class Yard:
    """The project, and where Serena keeps what is its own."""

    project: Path
    home: Path

    def stdio(self, interface: serena_server.Interface | None = "tools") -> Engine:
        environment = serena_server.environment(self.home)
        return serena.engine(
            EngineSource.model_validate(
                {
                    "key": "serena",
                    "command": serena_server.command(self.project, interface),
                    "env": environment,
                    "limit_s": LIMIT_S,
                }
            )
        )


@pytest.fixture(scope="session")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Yard:
    folder = tmp_path_factory.mktemp("serena")
    project = folder / "yard"
    (project / "harbour").mkdir(parents=True)
    (project / "harbour" / "cranes.py").write_text(CRANES, encoding="utf-8")
    (project / "harbour" / "shifts.py").write_text(SHIFTS, encoding="utf-8")
    serena_server.prepare(project)
    (folder / "home").mkdir()
    return Yard(project, folder / "home")


@pytest.fixture(scope="session")
def over_sse(yard: Yard, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineSource]:
    """Serena over SSE, one for all tests of this worker."""
    process = serena_server.process(yard.project, yard.home, "sse")
    with RunningServer(process, tmp_path_factory.mktemp("sse")) as server:
        asyncio.run(server.wait_ready())
        yield EngineSource(key="serena", kind=EngineKind.SERENA, url=process.url, limit_s=LIMIT_S)


@asynccontextmanager
async def opened(engine: Engine) -> AsyncIterator[Engine]:
    await engine.open()
    try:
        yield engine
    finally:
        await engine.close()


def paths(hits: Sequence[Hit]) -> list[str]:
    return [hit.path for hit in hits]


def alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


async def test_names_words_and_files_are_found_over_sse(over_sse: EngineSource) -> None:
    async with opened(serena.engine(over_sse)) as engine:
        [named] = await engine.search("Where is `Crane.lift` defined?", 5)
        assert named.path == "harbour/cranes.py#Crane/lift"
        assert named.title == "method Crane.lift in harbour/cranes.py, lines 12-13"
        assert named.snippet.startswith(
            "Method Crane.lift is defined in harbour/cranes.py, lines 12-13.\n\n```\ndef lift("
        )
        assert named.relevance == pytest.approx(0.9)
        assert (named.source_class, named.confidence) == (SourceClass.RECENT_FILE, 1.0)
        assert named.last_seen is not None
        assert datetime.now(UTC) - named.last_seen < timedelta(minutes=1)

        in_words = await engine.search("how are the cranes unloaded?", 5)
        assert paths(in_words)[0] == "harbour/cranes.py#unload"

        [file] = await engine.search("what is in shifts.py?", 5)
        assert file.path == "harbour/shifts.py"
        assert "function night_shift" in file.snippet

        [constant] = await engine.search("How much is MAX_LOAD?", 5)
        assert "MAX_LOAD = 40" in constant.snippet

        [comment] = await engine.search("Is Salma the foreman?", 5)
        assert (comment.path, comment.title) == ("harbour/shifts.py", "harbour/shifts.py, line 7")
        assert comment.snippet.startswith("harbour/shifts.py, line 7: The foreman, Salma, wants a quiet yard.")
        assert comment.relevance < named.relevance

        assert await engine.search("`frobnicate_everything`", 5) == ()
        assert await engine.search("???", 5) == ()
        assert await engine.last_ingest() is not None


async def test_who_calls_is_answered_by_references_with_lines_that_count_from_one(over_sse: EngineSource) -> None:
    async with opened(serena.engine(over_sse)) as engine:
        in_english = await engine.search("Who calls `Crane.lift`?", 5)
        in_arabic = await engine.search("من يستدعي الدالة Crane.lift؟", 5)
        [first, *_] = await engine.search("what uses unload", 5)
    assert paths(in_english) == ["harbour/cranes.py#unload", "harbour/cranes.py#Crane/lift"]
    assert in_english[0].snippet.startswith(
        "Function unload uses Crane.lift in harbour/cranes.py, line 18.\n\n```\n17:"
    )
    assert "18:        crane.lift(container)" in in_english[0].snippet
    assert paths(in_arabic) == paths(in_english)
    assert first.path == "harbour/shifts.py#night_shift"


async def test_nothing_in_the_project_is_changed_and_only_reading_tools_are_used(
    yard: Yard, over_sse: EngineSource
) -> None:
    def files() -> dict[str, bytes]:
        found = (path for path in sorted(yard.project.rglob("*")) if path.is_file() and ".serena" not in path.parts)
        return {str(path): path.read_bytes() for path in found}

    before = files()
    async with opened(serena.engine(over_sse)) as engine:
        for question in ("replace_symbol_body of `Crane`", "execute_shell_command `rm`", "write_memory about cranes"):
            await engine.search(question, 5)
        connection: Any = engine
        listed = {tool.name: tool for tool in await connection._tools.connection.tools()}
    assert files() == before
    used = [listed[name] for names in serena.SerenaDialect.purposes.values() for name in names if name in listed]
    assert len(used) == len(serena.SerenaDialect.purposes)
    assert all(tool.annotations.read_only_hint for tool in used)


async def test_it_answers_on_the_bus_as_an_engine_of_ours_does(nats: NatsServer, over_sse: EngineSource) -> None:
    bus = Bus(nats.url("engines"), "engines", "0.0.1")
    gateway = Bus(nats.url("gateway"), "gateway", "0.0.1")

    async def ask() -> EngineAskReply:
        request = EngineAskRequest(principal=OWNER, query="Who calls `Crane.lift`?", deadline_ms=30_000)
        try:
            return await gateway.request(rpc.ask("serena"), request, timeout_s=30)
        except Unavailable as error:  # nobody answers yet
            return EngineAskReply(engine="serena", status=EngineStatus.DOWN, error=error.message)

    await bus.open()
    await gateway.open()
    try:
        guard = Guard(over_sse, serena.engine(over_sse), "acme", LIMIT_S)
        serving = asyncio.create_task(Responders(bus, [guard]).run())
        try:
            reply = await eventually(ask, lambda reply: reply.status is EngineStatus.UP, within_s=60)
        finally:
            serving.cancel()
            await asyncio.wait({serving})
    finally:
        await gateway.close()
        await bus.close()
    assert (reply.status, reply.error) == (EngineStatus.UP, None)
    assert [(hit.engine, hit.path) for hit in reply.hits][:1] == [("serena", "harbour/cranes.py#unload")]


async def test_over_streamable_http_a_killed_server_is_found_again_even_if_half_of_it_is_broken(
    yard: Yard, tmp_path: Path
) -> None:
    whole = serena_server.process(yard.project, yard.home, "streamable-http")
    # What an upgrade may leave behind: symbol tools fail for want of a language server, text is still read.
    half = replace(whole, environment=serena_server.environment(yard.home, language_server=False))
    source = EngineSource(key="serena", kind=EngineKind.SERENA, url=whole.url, limit_s=LIMIT_S)
    async with AsyncExitStack() as stack:
        engine = serena.engine(source)
        stack.push_async_callback(engine.close)
        with RunningServer(whole, tmp_path) as server:
            await server.wait_ready()
            await engine.open()
            assert paths(await engine.search("`MAX_LOAD`", 5)) == ["harbour/cranes.py#MAX_LOAD"]
            server.kill()
            with pytest.raises(Unavailable):
                await engine.search("`MAX_LOAD`", 5)
        with RunningServer(half, tmp_path) as server:
            await server.wait_ready()
            [mention] = await engine.search("Who calls `Crane.lift`?", 5)
            assert (mention.path, mention.title) == ("harbour/cranes.py", "harbour/cranes.py, line 18")
            assert "18:        crane.lift(container)" in mention.snippet
            with pytest.raises(ToolFailed, match="language server"):
                await engine.search("`frobnicate_everything`", 5)


async def test_over_stdio_it_is_a_process_of_ours_that_leaves_none_behind(yard: Yard) -> None:
    mine = psutil.Process(os.getpid())
    before = set(mine.children(recursive=True))
    async with opened(yard.stdio()) as engine:
        assert paths(await engine.search("`unload`", 5)) == ["harbour/cranes.py#unload"]
        started = set(mine.children(recursive=True)) - before
        assert any("jedi-language-server" in " ".join(child.cmdline()) for child in started)
    assert not await eventually(
        lambda: asyncio.sleep(0, [child for child in started if alive(child)]), lambda left: not left
    )


async def test_its_own_default_interface_is_refused_with_what_to_configure(yard: Yard) -> None:
    engine = yard.stdio(None)
    try:
        with pytest.raises(ToolsChanged, match="--agent-interface tools"):
            await engine.open()
    finally:
        await engine.close()

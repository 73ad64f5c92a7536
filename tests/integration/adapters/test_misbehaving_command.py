"""Whatever a server that is a process of ours does: a reply, a way back, bounded memory, and no process left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cortex_contracts.rpc.engine import EngineStatus
from cortex_gateway.adapters import mcp_process
from cortex_gateway.adapters.breaker import Standing
from cortex_gateway.adapters.mcp_http import MAX_ANSWER_BYTES
from cortex_testkit import misbehaving_command
from cortex_testkit.eventually import eventually


class Started:
    """The processes that a server has started."""

    def __init__(self, pids: Path) -> None:
        self._pids = pids

    def alive(self) -> list[int]:
        """Those that still run."""
        found = self._pids.read_text().split() if self._pids.exists() else []
        return [pid for pid in map(int, found) if _runs(pid)]

    def count(self) -> int:
        """How many there were."""
        return len(self._pids.read_text().split())


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"  # dead, and not waited for by whoever inherited it


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that have to be told to end are told so sooner."""
    monkeypatch.setattr(mcp_process, "ASKED_S", 0.2)


@pytest.fixture
def commanded(guarded: Any, tmp_path: Path) -> Any:
    """Runs the guard of a server that misbehaves as `mode` says; afterwards none of its processes is left."""

    @asynccontextmanager
    async def run(mode: str, **more: Any) -> AsyncIterator[tuple[Any, Started]]:
        started = Started(tmp_path / "pids")
        command = (sys.executable, "-I", misbehaving_command.__file__, mode, str(tmp_path / "pids"))
        async with guarded(command=command, **more) as notes:
            yield notes, started
        # SIGKILL was sent; the system takes its time to end a process.
        await eventually(lambda: asyncio.sleep(0, started.alive()), lambda alive: not alive)

    return run


@pytest.mark.parametrize("mode", ["well", "garbage", "floods", "stubborn", "parent"])
async def test_bad_manners_beside_the_answer_do_no_harm(commanded: Any, mode: str) -> None:
    async with commanded(mode) as (notes, started):
        for _ in range(2):
            reply = await notes.ask()
            assert (reply.error, [hit.path for hit in reply.hits]) == (None, ["yard/crane.md"])
        assert started.alive()


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("dies", "has ended its process"),
        ("endless", f"writes a line of more than {MAX_ANSWER_BYTES} bytes"),
        ("chatters", "writes lines that are no messages of MCP"),
        ("blank", "writes lines that are no messages of MCP"),
    ],
)
async def test_a_server_that_cannot_be_read_is_started_again_and_then_down(
    commanded: Any, mode: str, sentence: str
) -> None:
    async with commanded(mode, limit_s=15, trial_s=0.2) as (notes, started):
        await notes.stands(Standing.CLOSED)
        reply = await notes.ask(deadline_ms=30_000)
        assert reply.status is EngineStatus.DOWN
        assert str(reply.error).startswith(f"the engine notes {sentence}")
        assert started.count() == 2
        assert notes.guard.breaker.standing is Standing.OPEN


async def test_a_server_that_never_answers_costs_its_limit(commanded: Any) -> None:
    async with commanded("silent", limit_s=0.2, trial_s=0.5) as (notes, _):
        await notes.stands(Standing.CLOSED)
        assert (await notes.ask()).error == "no answer within 200 ms"
        assert "; " in str((await notes.ask()).error)
        await notes.stands(Standing.CLOSED)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("/no/such/program",), "the engine notes cannot be started (FileNotFoundError)"),
        (("/",), "the engine notes cannot be started (PermissionError)"),
        ((sys.executable, "-c", "raise SystemExit(7)"), "the engine notes has ended its process"),
        ((sys.executable, "-c", "print('{}' * 10)"), "the engine notes has ended its process"),
    ],
)
async def test_a_command_that_does_not_start_is_told(guarded: Any, command: tuple[str, ...], sentence: str) -> None:
    async with guarded(command=command) as notes:
        assert str((await notes.ask()).error).startswith(sentence)


async def test_a_process_gets_its_own_variables_and_none_of_ours(
    guarded: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CORTEX_HTTP_TOKEN", "of ours")
    seen = tmp_path / "environment"
    script = f"import os; open({str(seen)!r}, 'w').write(repr(dict(os.environ)))"
    async with guarded(command=(sys.executable, "-c", script), env={"NOTES_KEY": "of the engine"}) as notes:
        assert (await notes.ask()).status is EngineStatus.DOWN
    text = seen.read_text()
    assert "of the engine" in text
    assert "of ours" not in text


STARTING = """
import asyncio, sys
from cortex_gateway.adapters.mcp_process import ServerProcess
from cortex_gateway.adapters.settings import EngineSource

async def start():
    source = EngineSource(key="notes", tool="search_notes", command=sys.argv[1:])
    await ServerProcess(source, "the engine notes", print).start()
    await asyncio.Event().wait()

asyncio.run(start())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no other system ends a process with its parent")
async def test_a_server_that_hears_nothing_does_not_outlive_a_gateway_that_was_killed(tmp_path: Path) -> None:
    started = Started(tmp_path / "pids")
    server = (sys.executable, "-I", misbehaving_command.__file__, "stubborn", str(tmp_path / "pids"))
    gateway = await asyncio.create_subprocess_exec(sys.executable, "-c", STARTING, *server)
    try:
        await eventually(lambda: asyncio.sleep(0, started.alive()), bool, within_s=20)
    finally:
        gateway.kill()
        await gateway.wait()
    await eventually(lambda: asyncio.sleep(0, started.alive()), lambda alive: not alive)


@pytest.mark.parametrize("mode", ["endless", "floods"])
async def test_endless_output_takes_no_endless_memory(commanded: Any, mode: str) -> None:
    async with commanded(mode, limit_s=20) as (notes, _):
        await notes.stands(Standing.CLOSED)
        gc.collect()
        tracemalloc.start()
        try:
            await notes.ask(deadline_ms=30_000)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 16 * MAX_ANSWER_BYTES

"""`cortex sleep` against the service as a process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.permissions import OPERATOR
from cortex_store import memories, memory_index
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.indexed_text import document
from cortex_store.memories import NewMemory
from cortex_testkit.command_line import Ended, cortex
from cortex_testkit.eventually import eventually
from cortex_testkit.forks import Forked
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.process import RunningService, service_process

ME = Principal(org="local", subject="me")


class Sleep:
    """The command, and the service that it speaks to."""

    def __init__(self, nats: NatsServer, folder: Path, service: RunningService) -> None:
        self.environment = {"CORTEX_NATS_URL": nats.url(OPERATOR), "CORTEX_HOME": str(folder), "TZ": "UTC"}
        self.service = service

    async def __call__(self, *arguments: str) -> Ended:
        return await cortex("sleep", *arguments, environment=self.environment)


@pytest.fixture
async def sleep(
    nats: NatsServer, postgres: PostgresDatabase, sleep_settings: dict[str, str], tmp_path: Path
) -> AsyncIterator[Sleep]:
    settings = {**sleep_settings, "CORTEX_SLEEP_AT": "03:30"}
    process = service_process("sleep", CORTEX_SLEEP_DATABASE_URL=postgres.sleep_url, **settings)
    with RunningService(process, tmp_path / "sleep") as running:
        await running.wait_ready()
        yield Sleep(nats, tmp_path, running)


async def remember(postgres: PostgresDatabase, namespace: str, number: int = 3) -> None:
    """Old memories, made today."""
    database = Database(postgres.runtime_url)
    await database.open()
    old = datetime.now(UTC) - timedelta(days=400)
    async with database.transaction(ME) as connection:
        for one in range(number):
            memory = NewMemory(uuid7(), namespace, f"the deploy key {one}", "chat", 0.5, old, owner="me")
            await memories.insert(connection, memory)
            await memory_index.index(connection, memory.id, document(memory, old), None, None)
    await database.close()


async def test_a_run_is_followed_to_its_end_and_told(sleep: Sleep, postgres: PostgresDatabase) -> None:
    empty = await sleep("run")
    assert (empty.code, empty.out.strip()) == (0, "There are no memories to work on yet.")
    await remember(postgres, "work")
    await remember(postgres, "home")

    dry = await sleep("run", "--phase", "decay", "--dry-run", "--json")
    assert dry.code == 0, dry.err
    runs = json.loads(dry.out)["runs"]
    assert {(one["namespace"], one["state"], one["dry_run"]) for one in runs} == {
        ("work", "done", True),
        ("home", "done", True),
    }
    assert all(one["reports"][0]["counts"] == {"changed": 3} for one in runs)

    real = await sleep("run", "--phase", "decay", "--namespace", "work")
    assert real.code == 0, real.err
    assert "work done" in real.out
    assert "changed 3" in real.out
    assert "home" not in real.out

    async with httpx.AsyncClient(timeout=20, trust_env=False) as client:
        metrics = (await client.get(f"{sleep.service.process.url}/metrics")).text
    assert 'cortex_sleep_runs_total{cause="command",outcome="done"} 3.0' in metrics
    assert 'cortex_sleep_done_total{count="changed",phase="decay"} 3.0' in metrics

    status = await sleep("status")
    assert status.code == 0
    assert "work done" in status.out
    assert "home done (dry run)" in status.out
    assert "The next run of everything is due at" in status.out
    told = json.loads((await sleep("status", "--json")).out)
    assert {one["namespace"] for one in told["runs"]} == {"work", "home"}


async def test_what_cannot_be_run_is_refused_with_a_sentence(sleep: Sleep) -> None:
    unknown = await sleep("run", "--phase", "dream")
    assert unknown.code == 2
    assert "expected one of consolidate, deduplicate" in " ".join(unknown.err.replace("│", " ").split())
    sleep.service.kill()
    gone = await sleep("status")
    assert gone.code == 1
    assert "cortex: " in gone.err


async def test_ctrl_c_leaves_the_run_going_and_stop_ends_it(
    sleep: Sleep, postgres: PostgresDatabase, sleep_database: Database, tmp_path: Path
) -> None:
    await remember(postgres, "work")
    streams = [tmp_path / name for name in ("in", "out", "err")]
    streams[0].touch()
    # Somebody else works on the namespace: the run waits.
    async with sleep_database.locked("local", "work", 10.0) as held:
        assert held is not None
        command = Forked("cortex_cli", ["sleep", "run", "-n", "work"], os.environ | sleep.environment, streams)

        async def open_runs() -> list[str]:
            status = json.loads((await sleep("status", "--json")).out)
            return [one["state"] for one in status["runs"]]

        assert await eventually(open_runs) == ["queued"]
        command.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(command.wait, 20) == 1
        assert "It goes on" in streams[2].read_text(encoding="utf-8")
        assert await open_runs() == ["queued"]
        stopped = await sleep("stop", "-n", "work")
        assert (stopped.code, stopped.out.strip()) == (0, "work: stopped")
    assert await open_runs() == ["stopped"]
    assert (await sleep("stop")).out.strip() == "Nothing runs."

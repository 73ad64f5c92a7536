"""The whole embedded system, with a service that is no more than its health endpoint."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import httpx
import psutil
import pytest

from cortex_infra import bringup
from cortex_infra.bringup import Step
from cortex_infra.errors import HomeInUse, SupervisionError
from cortex_infra.home import Home
from cortex_infra.installation import database_url
from cortex_infra.servers import postgres
from cortex_infra.services import Service
from cortex_infra.status import status

DUMMY = """
import http.server, json, os
ANSWER = json.dumps({"status": "ready", "instance": os.environ["CORTEX_INSTANCE"]}).encode()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(ANSWER)
    def log_message(self, *a): pass
assert os.environ["CORTEX_DATABASE_URL"].startswith("postgresql://cortex_runtime:")
assert "CORTEX_SLEEP_DATABASE_URL" not in os.environ
http.server.HTTPServer(("127.0.0.1", int(os.environ["CORTEX_DUMMY_PORT"])), Handler).serve_forever()
"""
SERVERS = ["nats", "postgres", "cache", "objects", "embedder"]


def dummy(code: str = DUMMY) -> Service:
    return Service("dummy", 21_890, frozenset({"CORTEX_DATABASE_URL"}), command=(sys.executable, "-c", code))


@pytest.mark.slow
async def test_it_comes_up_tells_its_state_and_leaves_nothing(folder: Path) -> None:
    home = Home(folder / "home")
    steps: list[Step] = []
    async with bringup.running(home, settings={}, services=[dummy()], progress=steps.append) as system:
        done = {step.name for step in steps if step.seconds is not None}
        assert done == {"prepare", "supervisor", *SERVERS, "provision", "migrate", "dummy"}
        now = await status(home)
        assert now.ready
        assert [process.name for process in now.infra] == SERVERS
        assert [process.name for process in now.services] == ["dummy"]
        assert all(process.pid and process.memory_bytes > 0 for process in (*now.services, *now.infra))
        assert now.memory_bytes < 600 * 1024 * 1024
        plain = json.loads(json.dumps(now.as_json()))
        assert {"home", "token_file", "services", "infra"} <= plain.keys()
        assert {"name", "url", "pid", "status", "version"} <= plain["infra"][0].keys()
        async with httpx.AsyncClient(timeout=20, trust_env=False) as client:
            assert (await client.get(system.url("dummy"))).status_code == 200
        await postgres.ask(database_url(home))
        with pytest.raises(HomeInUse, match=str(os.getpid())):
            await bringup.start(home, settings={}, services=[])
        assert now.supervisor_pid is not None
        processes = psutil.Process(now.supervisor_pid).children(recursive=True)
        ports = json.loads(home.ports_file.read_text())
    assert psutil.wait_procs(processes, timeout=30)[1] == []
    after = await status(home)
    assert {process.status for process in (*after.services, *after.infra)} == {"stopped"}

    # Again, as `cortex start` does it: the same ports, the same data, and it stays until it is stopped.
    await bringup.start(home, settings={}, services=[dummy()])
    try:
        assert json.loads(home.ports_file.read_text()) == ports
        assert (await status(home)).ready
    finally:
        assert await bringup.stop(home)
    assert not await bringup.stop(home)


@pytest.mark.slow
async def test_a_service_that_cannot_start_ends_it_all_with_its_last_words(folder: Path) -> None:
    home = Home(folder / "home")
    broken = dummy("raise SystemExit('CORTEX_COLOUR: expected a colour')")
    with pytest.raises(SupervisionError, match=r"dummy ended 5 times(.|\n)*CORTEX_COLOUR: expected a colour"):
        async with bringup.running(home, settings={}, services=[broken]):
            pytest.fail("it came up")
    assert (await status(home)).supervisor_pid is None


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_nothing_is_left_behind_whatever_ends_it(folder: Path, number: signal.Signals) -> None:
    script = textwrap.dedent(
        f"""
        import asyncio
        from pathlib import Path
        from cortex_infra import bringup
        from cortex_infra.home import Home

        async def main():
            async with bringup.running(Home(Path({str(folder / "home")!r})), settings={{}}, services=[]) as system:
                print(system.supervisor.pid(), flush=True)
                await system.ended()

        asyncio.run(main())
        """
    )
    with subprocess.Popen(  # noqa: ASYNC220
        (sys.executable, "-c", script), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as up:
        try:
            assert up.stdout is not None
            pid = int(await asyncio.to_thread(up.stdout.readline))
            supervisor = psutil.Process(pid)
            processes = [supervisor, *supervisor.children(recursive=True)]
            assert len(processes) > len(SERVERS) + 1
            up.send_signal(number)
            await asyncio.to_thread(up.wait, 40)
        finally:
            up.kill()
    assert psutil.wait_procs(processes, timeout=30)[1] == []

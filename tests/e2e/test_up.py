"""The command line as a new user meets it: start, first answer, every way in, stop, and nothing left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import httpx2
import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from cortex_contracts.subjects import MEMORY_EVENT_PATTERN
from cortex_infra import ports
from cortex_testkit import provider
from cortex_testkit.eventually import eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

EXAMPLES = Path(__file__).parents[2] / "examples"
CORTEX = Path(sys.executable).with_name("cortex")
QUESTION = (EXAMPLES / "question.txt").read_text(encoding="utf-8").strip()
PORTS = ("GATEWAY_PORT", "GATEWAY_SSE_PORT", "WEBHOOK_PORT", "INGEST_PORT", "RECALL_PORT", "SLEEP_PORT")


@dataclass
class Installation:
    """One `CORTEX_HOME` and the commands run on it."""

    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    async def spawn(self, *arguments: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            CORTEX,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "CORTEX_HOME": str(self.home), "COLUMNS": "200", **self.environment},
            cwd=self.home.parent,
            limit=1 << 20,
        )

    async def run(self, *arguments: str, code: int = 0) -> str:
        process = await self.spawn(*arguments)
        out, err = await process.communicate()
        assert process.returncode == code, f"{arguments}: {process.returncode}\n{out.decode()}\n{err.decode()}"
        return (out if code == 0 else err).decode()

    async def status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(await self.run("status", "--json"))
        return found

    def url(self, status: dict[str, Any], service: str) -> str:
        return str(next(entry["url"] for entry in status["services"] if entry["name"] == service))

    @property
    def token(self) -> str:
        return (self.home / "token").read_text(encoding="ascii").strip()

    def processes(self) -> list[psutil.Process]:
        """Every process that belongs to this home."""
        found = []
        for process in psutil.process_iter():
            try:
                told = process.environ().get("CORTEX_HOME") == str(self.home) or str(self.home) in " ".join(
                    process.cmdline()
                )
            except psutil.Error:
                continue
            if told and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        return found


@pytest.fixture
def installation() -> Any:
    with provider.folder() as directory:
        taken: list[int] = []
        for _ in PORTS:
            taken.append(ports.choose(taken))
        environment = {f"CORTEX_{name}": str(port) for name, port in zip(PORTS, taken, strict=True)}
        # A user starts it in a folder of theirs: nothing of that is imported.
        (directory / "jwt.py").write_text("raise SystemExit('a file of the user was imported')")
        yield Installation(directory / "home", environment)


@pytest.fixture
async def started(installation: Installation) -> AsyncIterator[tuple[Installation, str]]:
    told = await installation.run("start", "--demo", str(EXAMPLES))
    try:
        yield installation, told
    finally:
        await installation.run("stop")


async def test_a_first_start_answers_its_question_and_every_way_in_gives_the_same(
    started: tuple[Installation, str],
):
    installation, told = started
    # The first answer, with receipts, the conflict, the engines, the addresses and what to try next.
    assert QUESTION in told
    for expected in ("stopped", "[r1]", "conflict", "over active", "memory up", "pages up", "/mcp", "Try next"):
        assert expected in told, told
    assert "36 pages changed, 0 errors (ok)" in told

    status = await installation.status()
    assert sorted(entry["name"] for entry in status["services"]) == ["gateway", "ingest", "recall", "sleep", "webhook"]
    assert sorted(entry["name"] for entry in status["infra"]) == ["cache", "embedder", "nats", "objects", "postgres"]
    for entry in (*status["services"], *status["infra"]):
        assert {"name", "url", "pid", "status", "version"} <= entry.keys()
        assert entry["status"] == "ready"
    assert Path(status["token_file"]).stat().st_mode & 0o777 == 0o600
    # The whole idle system, and no service, takes more than the issue allows.
    assert status["memory_bytes"] < 1.2 * 2**30
    assert all(entry["memory_bytes"] < 150 * 2**20 for entry in status["services"])

    # A second start is refused with the way on, and what runs goes on.
    assert "already runs" in await installation.run("start", code=1)
    gateway = installation.url(status, "gateway")
    async with httpx.AsyncClient(trust_env=False, timeout=20) as client:
        assert (await client.post(f"{gateway}/ask", json={"query": QUESTION})).status_code == 401
        health = (await client.get(f"{gateway}/health")).json()
        assert health["ok"] is True
        rest = (
            await client.post(
                f"{gateway}/ask", json={"query": QUESTION}, headers={"Authorization": f"Bearer {installation.token}"}
            )
        ).json()
    assert rest["conflicts"][0]["winner"] == "live-infra"
    answers = [rest, json.loads(await installation.run("ask", QUESTION, "--json"))]
    answers += [await answer async for answer in mcp_answers(installation, gateway)]
    assert len(answers) == 5
    assert {answer["answer"] for answer in answers} == {rest["answer"]}
    assert {json.dumps(answer["receipts"]) for answer in answers} == {json.dumps(rest["receipts"])}


async def mcp_answers(installation: Installation, gateway: str) -> AsyncIterator[Any]:
    """The answer of `darwin_ask` over streamable HTTP, SSE and stdio."""
    headers = {"Authorization": f"Bearer {installation.token}"}
    sse = f"http://127.0.0.1:{installation.environment['CORTEX_GATEWAY_SSE_PORT']}/sse"
    stdio = StdioServerParameters(
        command=str(CORTEX), args=["mcp"], env={**os.environ, "CORTEX_HOME": str(installation.home)}
    )
    async with httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http:
        for transport in (
            streamable_http_client(f"{gateway}/mcp", http_client=http),
            sse_client(sse, headers=headers, timeout=30),
            stdio_client(stdio),
        ):
            async with Client(transport) as client:
                assert "darwin_ask" in {tool.name for tool in (await client.list_tools()).tools}
                result = await client.call_tool("darwin_ask", {"query": QUESTION})
                assert not result.is_error

                async def answered(found: Any = result.structured_content) -> Any:
                    return found

                yield answered()


async def test_what_is_told_is_remembered_over_a_restart_and_nothing_is_left_behind(installation: Installation):
    await installation.run("start")
    watching = await installation.spawn("watch", "--json")
    assert watching.stdout is not None
    try:
        told = await eventually_retained(installation, watching)
        assert told["op"] == "retain"
        assert told["preview"] == "The harbour team meets on Mondays."
        # The same id again is the same memory.
        assert "already accepted" in await installation.run("retain", "Again.", "--message-id", "meeting")
        reply = json.loads(await installation.run("ask", "When does the harbour team meet?", "--json"))
        assert "Mondays" in reply["answer"]
    finally:
        if watching.returncode is None:
            watching.kill()
        await watching.wait()
        await installation.run("stop")
    assert installation.processes() == []
    assert "run `cortex start`" in await installation.run("ask", "anything", code=3)

    await installation.run("start")
    try:
        reply = json.loads(await installation.run("ask", "When does the harbour team meet?", "--json"))
        assert "Mondays" in reply["answer"]
    finally:
        await installation.run("stop")
    assert installation.processes() == []


async def eventually_retained(installation: Installation, watching: asyncio.subprocess.Process) -> dict[str, Any]:
    """Retain until the watcher, whose subscription nobody announces in JSON, has seen the event among others."""
    assert watching.stdout is not None
    seen = asyncio.ensure_future(memory_event(watching.stdout))
    await installation.run("retain", "The harbour team meets on Mondays.", "--message-id", "meeting")
    done, _ = await asyncio.wait({seen}, timeout=3)
    number = 0
    while not done:
        number += 1
        await installation.run("retain", "The harbour team meets on Mondays.", "--message-id", f"meeting-{number}")
        done, _ = await asyncio.wait({seen}, timeout=3)
    return seen.result()


async def memory_event(lines: asyncio.StreamReader) -> dict[str, Any]:
    """The first event of a memory: sleep and vaults tell of themselves at a start too."""
    async for line in lines:
        event: dict[str, Any] = json.loads(line)
        if event["subject"].startswith(MEMORY_EVENT_PATTERN.removesuffix(">")):
            return event
    raise AssertionError("the watcher ended before it saw a memory")


async def test_in_the_foreground_a_killed_service_comes_back_with_its_name_and_ctrl_c_ends_everything(
    installation: Installation,
):
    process = await installation.spawn("up")
    assert process.stdout is not None
    try:
        await read_until(process.stdout, "Ctrl-C ends everything")
        status = await installation.status()
        victim = next(entry for entry in status["services"] if entry["name"] == "recall")
        os.kill(victim["pid"], signal.SIGKILL)
        told = await read_until(process.stdout, "recall")
        assert "SIGKILL" in told, told
        after = await eventually(
            installation.status,
            lambda found: (
                all(entry["status"] == "ready" for entry in found["services"])
                and next(entry for entry in found["services"] if entry["name"] == "recall")["pid"] != victim["pid"]
            ),
            within_s=60,
        )
        assert after
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(60):
            await process.stdout.read()
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert await eventually(gone(installation), within_s=30)


def gone(installation: Installation) -> Any:
    async def ask() -> bool:
        return not installation.processes()

    return ask


async def read_until(stream: asyncio.StreamReader, text: str, within_s: float = 120) -> str:
    """Everything up to the line that holds `text`."""
    told = ""
    async with asyncio.timeout(within_s):
        while text not in told:
            line = (await stream.readline()).decode()
            assert line, f"ended before {text!r} was said:\n{told}"
            told += line
    return told


async def test_a_setting_that_cannot_be_ends_the_start_at_once_and_the_reason_stays(installation: Installation):
    for name, value, said in (
        ("CORTEX_FOO", "1", "CORTEX_FOO is not a setting"),
        ("CORTEX_ORG", "My Org", "CORTEX_ORG: "),
        ("CORTEX_VAULTS", "hunter2", "CORTEX_VAULTS: expected JSON"),
    ):
        wrong = Installation(installation.home, {**installation.environment, name: value})
        told = await wrong.run("start", code=2)
        assert said in told
        assert "hunter2" not in told
    wrong = Installation(installation.home, {**installation.environment, "CORTEX_EMBEDDINGS_DRIVER": "nope"})
    assert "no embedder driver 'nope' is installed" in await wrong.run("start", code=1)
    process = await installation.spawn("status", "--json")
    out, _ = await process.communicate()
    assert "cannot run with its settings" in json.loads(out)["failure"]
    assert installation.processes() == []


async def test_two_homes_started_at_once_do_not_meet():
    with provider.folder() as directory:
        one, two = Installation(directory / "one"), Installation(directory / "two")
        await asyncio.gather(one.run("start"), two.run("start"))
        try:
            first, second = await one.status(), await two.status()
            addresses = [
                {entry["url"] for entry in (*status["services"], *status["infra"])} for status in (first, second)
            ]
            assert not addresses[0] & addresses[1]
            assert one.token != two.token
            await one.run("retain", "Only the first home knows the blue door.", "--message-id", "door")
            known = await eventually(
                lambda: answer(one, "Which home knows the blue door?"), lambda found: bool(found["receipts"])
            )
            assert "blue door" in known["answer"]
            assert (await answer(two, "Which home knows the blue door?"))["receipts"] == []
        finally:
            await asyncio.gather(one.run("stop"), two.run("stop"))
        assert one.processes() == []
        assert two.processes() == []


async def answer(installation: Installation, question: str) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(await installation.run("ask", question, "--json"))
    return reply

"""`cortex mcp`, started as an agent starts it, when the gateway is away, moves, breaks off, or has much to say."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from cortex_cli import mcp_proxy
from cortex_cli.mcp_proxy import Gateway, instructions, proxy
from cortex_contracts.rpc.engine import Hit
from cortex_infra import ports

MakeHit = Callable[..., Hit]
Start = Callable[..., AbstractAsyncContextManager[Any]]
Proxy = Callable[[str, str], StdioServerParameters]
TOKEN = "the-token-of-the-test"
HERMES = {"query": "Hermes?", "scope": ["memory"]}


def told(result: CallToolResult) -> str:
    assert result.is_error, result
    return str(result.content[0].text)  # type: ignore[union-attr]


def answer(result: CallToolResult) -> str:
    assert not result.is_error, result
    assert result.structured_content is not None
    return str(result.structured_content["answer"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_gateway_that_is_away_is_said_to_be_and_found_again(
    start_gateway: Start, played: Any, make_hit: MakeHit, mode: str, stdio_proxy: Proxy
) -> None:
    played["memory"].hits = (make_hit(),)
    port = ports.choose()
    async with Client(stdio_proxy(f"http://127.0.0.1:{port}", TOKEN), mode=mode) as client:
        assert f"gateway at http://127.0.0.1:{port}/mcp does not answer" in told(
            await client.call_tool("darwin_ask", HERMES)
        )
        with pytest.raises(MCPError, match="does not answer"):
            await client.list_tools()
        async with start_gateway(port=port):
            assert answer(await client.call_tool("darwin_ask", HERMES)) == "Hermes is stopped [r1]"
            assert "darwin_ask" in {tool.name for tool in (await client.list_tools()).tools}
        assert "does not answer" in told(await client.call_tool("darwin_ask", HERMES))


async def test_a_home_that_was_never_started_is_said_to_be_and_found_when_it_is(
    gateway: Any, played: Any, make_hit: MakeHit, tmp_path: Path
) -> None:
    played["memory"].hits = (make_hit(),)
    start = StdioServerParameters(
        command=sys.executable, args=["-m", "cortex_cli", "mcp"], env={"CORTEX_HOME": str(tmp_path)}
    )
    async with Client(start) as client:
        assert client.instructions is None
        assert "run `cortex start`" in told(await client.call_tool("darwin_ask", HERMES))
        (tmp_path / "run").mkdir()
        manifest = {"services": [{"name": "gateway", "url": gateway.url}]}
        (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        (tmp_path / "token").write_text(gateway.token, encoding="ascii")
        assert answer(await client.call_tool("darwin_ask", HERMES)) == "Hermes is stopped [r1]"


async def test_a_refused_token_is_said_to_be(gateway: Any) -> None:
    async with Client(proxy(Gateway(lambda: (gateway.url, "wrong")))) as client:
        refused = told(await client.call_tool("darwin_ask", HERMES))
    assert "refuses the token" in refused
    assert "wrong" not in refused


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[str]:
    """The address of something that answers each request with these bytes and closes."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_a_gateway_that_is_silent_does_not_keep_a_client_from_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_proxy, "START_S", 0.1)
    # The system takes the connection, and nobody reads from it.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        async with asyncio.timeout(30):
            assert await instructions(Gateway(lambda: (url, TOKEN))) is None


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (b"", "broke off"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{", "broke off"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "broke off"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nhi!\n", "is not"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nhi!\n", "is not"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nno!\n", "is not"),
        (b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "502"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n", "is not"),
        (b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n", "too often"),
    ],
)
async def test_what_is_no_gateway_is_a_sentence(response: bytes, expected: str) -> None:
    async with answering(response) as url, Client(proxy(Gateway(lambda: (url, TOKEN)))) as client:
        sentence = told(await client.call_tool("darwin_ask", HERMES))
        assert expected in sentence
        assert url in sentence
        with pytest.raises(MCPError, match=expected):
            await client.list_tools()


async def test_calls_do_not_wait_for_each_other(
    gateway: Any, played: Any, make_hit: MakeHit, stdio_proxy: Proxy
) -> None:
    held = played["memory"]
    held.hits, held.go = (make_hit(),), asyncio.Event()
    played["pages"].hits = (make_hit("Iris is running.", engine="pages"),)
    async with Client(stdio_proxy(gateway.url, gateway.token)) as client:
        slow = asyncio.create_task(client.call_tool("darwin_ask", HERMES))
        await held.called.wait()
        assert "Retain what later sessions should know" in (client.instructions or "")
        quick = [client.call_tool("darwin_ask", {"query": "Iris?", "scope": ["pages"]}) for _ in range(8)]
        assert {answer(one) for one in await asyncio.gather(*quick)} == {"Iris is running [r1]"}
        assert not slow.done()
        held.go.set()
        assert answer(await slow) == "Hermes is stopped [r1]"


async def test_a_gateway_that_dies_in_the_middle_of_an_answer_is_found_when_it_is_back(
    start_gateway: Start, played: Any, make_hit: MakeHit, stdio_proxy: Proxy
) -> None:
    held = played["memory"]
    held.hits, held.go = (make_hit(),), asyncio.Event()
    port = ports.choose()
    async with Client(stdio_proxy(f"http://127.0.0.1:{port}", TOKEN)) as client:
        async with start_gateway(port=port) as dying:
            call = asyncio.create_task(client.call_tool("darwin_ask", HERMES))
            await held.called.wait()
            dying.process.kill()
            assert "broke off" in told(await call)
        held.go.set()
        async with start_gateway(port=port):
            assert answer(await client.call_tool("darwin_ask", HERMES)) == "Hermes is stopped [r1]"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_big_answer_arrives_whole(
    gateway: Any, played: Any, make_hit: MakeHit, stdio_proxy: Proxy, mode: str
) -> None:
    # The most hits that a tool call brings of two engines, the longest snippets, two bytes a letter.
    for key in ("memory", "pages"):
        played[key].hits = tuple(
            make_hit(f"حالة {key} {number} " + "مرحبا " * 330, engine=key, path=f"{key}:{number}")
            for number in range(12)
        )
    async with Client(stdio_proxy(gateway.url, gateway.token), mode=mode) as client:
        result = await client.call_tool("darwin_ask", {"query": "حالة", "scope": ["memory", "pages"]})
    assert result.structured_content is not None
    assert len(json.dumps(result.structured_content, ensure_ascii=False).encode()) > 100_000
    assert len(result.structured_content["hits"]) == 24


@asynccontextmanager
async def calling(start: StdioServerParameters) -> AsyncIterator[asyncio.subprocess.Process]:
    """The proxy as a process whose client has initialised it and calls darwin_ask."""
    process = await asyncio.create_subprocess_exec(
        start.command,
        *start.args,
        env=start.env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    for message in (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "darwin_ask", "arguments": HERMES}},
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@pytest.mark.parametrize(("how", "code"), [("its input ends", 0), ("ctrl-c", -signal.SIGINT)])
async def test_what_ends_it_ends_the_call_that_runs(
    gateway: Any, played: Any, stdio_proxy: Proxy, how: str, code: int
) -> None:
    held = played["memory"]
    held.go = asyncio.Event()
    async with calling(stdio_proxy(gateway.url, gateway.token)) as process:
        await held.called.wait()
        assert process.stdin is not None
        if how == "ctrl-c":
            process.send_signal(signal.SIGINT)
        else:
            process.stdin.close()
        async with asyncio.timeout(30):
            await held.cancelled.wait()
            assert await process.wait() == code
            assert process.stderr is not None
            assert await process.stderr.read() == b""

"""MCP tools of other makers against a running gateway: the inspector's command line and the conformance suite.

They need Node packages, so `make test-clients` runs them and `make test` does not.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest

from cortex_contracts.rpc.engine import Hit

PACKAGES: Final = Path(sys.executable).parents[1] / "node" / "node_modules"
NODE: Final = next(iter(PACKAGES.glob("node-*/bin/node")), None) or shutil.which("node") or "node"
INSPECTOR: Final = PACKAGES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
CONFORMANCE: Final = PACKAGES / "@modelcontextprotocol/conformance/dist/index.js"
NOT_FOR_PRODUCTS: Final = Path(__file__).with_name("conformance.yaml")
LIMIT_S: Final = 120.0


async def node(*arguments: str | Path) -> str:
    """Run a Node program, which must succeed; returns what it printed."""
    process = await asyncio.create_subprocess_exec(
        NODE,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(LIMIT_S):
        out, err = await process.communicate()
    assert process.returncode == 0, f"{process.returncode}\n{out.decode()}\n{err.decode()}"
    return out.decode()


@asynccontextmanager
async def with_credentials(port: int, authorization: str) -> AsyncIterator[str]:
    """A door to the gateway at `port` for a client that cannot send credentials; yields its address.

    Everything else of each request arrives as it was sent, its Host and Origin too.
    """

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def enter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        except asyncio.IncompleteReadError:
            return writer.close()
        kept = [line for line in lines if not line.lower().startswith(b"connection:")]
        ours = [b"Authorization: " + authorization.encode(), b"Connection: close"]
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        inner_writer.write(b"\r\n".join([first, *ours, *kept]))
        async with asyncio.TaskGroup() as group:
            group.create_task(pipe(reader, inner_writer))
            group.create_task(pipe(inner_reader, writer))
        return None

    server = await asyncio.start_server(enter, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()


def target(gateway: Any, transport: str) -> list[str]:
    """Where the inspector finds the gateway over a transport."""
    if transport == "stdio":
        environment = (f"CORTEX_URL={gateway.url}", f"CORTEX_HTTP_TOKEN={gateway.token}")
        return [*(part for one in environment for part in ("-e", one)), sys.executable, "-m", "cortex_cli", "mcp"]
    url = f"{gateway.url}/mcp" if transport == "http" else gateway.sse_url
    return [url, "--transport", transport, "--header", f"Authorization: {gateway.headers['Authorization']}"]


async def inspected(gateway: Any, transport: str, *arguments: str) -> Any:
    """What the inspector prints about one call."""
    return json.loads(await node(INSPECTOR, "--cli", *target(gateway, transport), *arguments))


@pytest.mark.parametrize("transport", ["http", "sse", "stdio"])
async def test_the_inspector_lists_the_tools_and_asks(
    gateway: Any, played: Any, make_hit: Callable[..., Hit], transport: str
) -> None:
    played["memory"].hits = (make_hit(),)
    # --strict fails at a schema that some client could not use.
    listed = await inspected(gateway, transport, "--method", "tools/list", "--strict")
    assert {"darwin_ask", "memory_recall"} <= {tool["name"] for tool in listed["tools"]}
    call = ("--method", "tools/call", "--tool-name", "darwin_ask", "--tool-arg", "query=Hermes?")
    answered = await inspected(gateway, transport, *call)
    assert answered["structuredContent"]["answer"] == "Hermes is stopped [r1]"
    assert json.loads(answered["content"][0]["text"]) == answered["structuredContent"]


async def test_the_conformance_suite_finds_nothing_that_a_product_could_mend(gateway: Any, played: Any) -> None:
    port = int(gateway.url.rpartition(":")[2])
    async with with_credentials(port, gateway.headers["Authorization"]) as url:
        await node(CONFORMANCE, "server", "--url", url, "--expected-failures", NOT_FOR_PRODUCTS)

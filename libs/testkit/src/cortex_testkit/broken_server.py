"""A server that breaks off in the middle of its answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from cortex_infra.ports import LOOPBACK

HALF: Final = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{"a": ['


@dataclass
class BrokenServer:
    """Where it is, and how often it was connected to."""

    url: str = ""
    connections: int = 0
    handlers: set[asyncio.Task[None]] = field(default_factory=set)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read the head of one request, answer half and close this half of the connection, then the other."""
        task = asyncio.current_task()
        assert task is not None
        self.handlers.add(task)
        self.connections += 1
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(HALF)
            writer.write_eof()
            await writer.drain()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


@asynccontextmanager
async def breaking_off() -> AsyncIterator[BrokenServer]:
    """Serve on a free port of this machine."""
    broken = BrokenServer()
    server = await asyncio.start_server(broken.handle, LOOPBACK, 0)
    broken.url = f"http://{LOOPBACK}:{server.sockets[0].getsockname()[1]}"
    try:
        yield broken
    finally:
        server.close()
        await asyncio.gather(*broken.handlers)

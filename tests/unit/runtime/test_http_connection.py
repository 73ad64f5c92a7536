"""Clients that ask and do not read."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from cortex_runtime import http_connection
from cortex_runtime.http_connection import Connection

ANSWER_BYTES: Final = 64 << 20
"""More than the systems of both sides take in."""
REQUEST: Final = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n"


@asynccontextmanager
async def asked(pieces: int) -> AsyncIterator[tuple[socket.socket, asyncio.Event]]:
    """A client that has asked and has not read; and an event for the end of the work on its answer."""
    ended = asyncio.Event()

    async def app(_: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
        for left in reversed(range(pieces)):
            await send({"type": "http.response.body", "body": bytes(ANSWER_BYTES // pieces), "more_body": left > 0})
        while (await receive())["type"] != "http.disconnect":
            pass
        ended.set()

    config = uvicorn.Config(app, http=Connection, lifespan="off", log_config=None, timeout_graceful_shutdown=1)
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    listener = socket.create_server(("127.0.0.1", 0))
    await server.startup(sockets=[listener])
    client = socket.socket()
    try:
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(client, listener.getsockname())
        await loop.sock_sendall(client, REQUEST)
        yield client, ended
    finally:
        client.close()
        server.should_exit = True
        await server.shutdown(sockets=[listener])


async def taken(client: socket.socket) -> int:
    """What the client can still read, in bytes."""
    loop = asyncio.get_running_loop()
    number = 0
    try:
        while piece := await loop.sock_recv(client, 1 << 20):
            number += len(piece)
    except ConnectionResetError:
        pass
    return number


@pytest.mark.parametrize("pieces", [64, 1], ids=["while it is written", "when all of it is written"])
async def test_a_client_that_takes_nothing_is_left(monkeypatch: pytest.MonkeyPatch, pieces: int) -> None:
    lost = asyncio.Event()
    losing = Connection.connection_lost

    def noted(connection: Connection, error: Exception | None) -> None:
        losing(connection, error)
        lost.set()

    monkeypatch.setattr(http_connection, "STALLED_S", 0.2)
    monkeypatch.setattr(Connection, "connection_lost", noted)
    async with asked(pieces) as (client, ended), asyncio.timeout(10):
        await lost.wait()
        await ended.wait()
        assert await taken(client) < ANSWER_BYTES


async def test_a_client_that_reads_gets_all_of_it() -> None:
    async with asked(64) as (client, ended), asyncio.timeout(20):
        assert await taken(client) > ANSWER_BYTES
        await ended.wait()


async def _nothing(_: Scope, __: Receive, ___: Send) -> None:
    raise AssertionError("nobody asks")


class Transport:
    """What waits to be sent, as it is found at each look."""

    def __init__(self, *waiting: int) -> None:
        self._waiting = iter(waiting)
        self.aborted = False

    def get_write_buffer_size(self) -> int:
        return next(self._waiting)

    def abort(self) -> None:
        self.aborted = True


@pytest.mark.parametrize(
    ("waiting", "looks"), [((9, 9), 1), ((9, 8, 8, 7, 7, 7), 3)], ids=["takes nothing", "is slow, then takes nothing"]
)
async def test_a_slow_client_is_not_left(monkeypatch: pytest.MonkeyPatch, waiting: tuple[int, ...], looks: int) -> None:
    due: list[Callable[[], None]] = []
    config = uvicorn.Config(_nothing, lifespan="off", log_config=None)
    connection = Connection(config, ServerState(), {})
    transport = Transport(*waiting)
    connection.transport = transport  # type: ignore[assignment]
    monkeypatch.setattr(
        connection, "loop", type("Loop", (), {"call_later": lambda *a: due.append(lambda: a[2](a[3]))})()
    )
    connection._watch_on()
    for _ in range(looks):
        assert not transport.aborted
        due.pop()()
    assert transport.aborted

"""The network below the HTTP library of the MCP SDK: connections to judged addresses of one destination."""

from __future__ import annotations

import functools
import ssl
from collections.abc import Iterable
from typing import Any, Final

import httpcore2
import httpx2

from cortex_providers.outbound import DestinationRefused, Judge

KEPT_S: Final = 30.0
"""How long an idle connection is kept."""


@functools.cache
def tls_context() -> ssl.SSLContext:
    """What TLS trusts: the certificates of SSL_CERT_FILE, where there is one, as all our connections."""
    return httpx2.create_ssl_context()


def judged_pool(judge: Judge, who: str, connections: int) -> httpcore2.AsyncConnectionPool:
    """A pool of at most so many connections, each of which goes where `judge` allows."""
    return httpcore2.AsyncConnectionPool(
        ssl_context=tls_context(),
        max_connections=connections,
        keepalive_expiry=KEPT_S,
        network_backend=_JudgedNetwork(judge, who),
    )


class _JudgedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects to judged addresses of the destination only."""

    def __init__(self, judge: Judge, who: str) -> None:
        self._judge = judge
        self._who = who
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Resolve, judge, and connect to the first address that answers."""
        try:
            addresses = await self._judge.addresses(host, port, timeout)
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from None
        failed: Exception = httpcore2.ConnectError("the name has no address")
        for address in addresses:
            try:
                stream = await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
                return _Stream(stream)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
        raise failed

    async def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore2.AsyncNetworkStream:
        """No server is a socket file."""
        raise DestinationRefused(f"{self._who} is not behind a socket file: the connection is refused")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self._network.sleep(seconds)


class _Stream(httpcore2.AsyncNetworkStream):
    """A connection that is closed when its TLS handshake is cancelled, too; httpcore2 2.16 leaves it open then."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Some bytes; none at the end."""
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it."""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close it."""
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        """The connection with TLS on it."""
        try:
            return await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            await self._stream.aclose()
            raise

    def get_extra_info(self, info: str) -> Any:
        """What the library asks about its sockets."""
        return self._stream.get_extra_info(info)

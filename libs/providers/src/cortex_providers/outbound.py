"""Outbound HTTP: a client of one destination that an administrator configured, and of nothing else.

Every connection is checked when it is made: the name is resolved once, every address it has is judged, and the
connection goes to a judged address, so a name that changes its address between the check and the connection (DNS
rebinding) gains nothing. Redirects are refused and proxies of the environment are not used. Time, size of the response
and number of connections are bounded.

What is refused, unless the configured host is that very address:

- link-local addresses (RFC 3927, RFC 4291) and the fixed addresses that cloud machines have for their metadata, also
  inside IPv6 addresses that carry an IPv4 one (mapped, 6to4, Teredo, NAT64);
- unspecified, multicast and reserved addresses: no service has one;
- an address of another reach (loopback, private, public) than the name had when it was first connected to.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import httpcore
import httpx

from cortex_contracts.errors import ErrorCode, Permanent, Unavailable
from cortex_providers.addresses import literal, reach, refusal

CONNECT_S: Final = 5.0
CONNECTIONS: Final = 8
"""Requests at one time to one destination; more wait, within their time limit."""
MAX_RESPONSE_BYTES: Final = 32 * 1024 * 1024

Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a host, best first. Raises OSError when it has none."""


class DestinationRefused(Unavailable):
    """The connection would not have gone where an administrator configured it to go."""


class Unanswered(Unavailable):
    """Nobody answered, or not to the end of the response: asking again at once can help."""


class ResponseTooLarge(Unavailable):
    """The server sent more than is read."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a client may go: one scheme, host and port. `base` is the path that requests start from."""

    scheme: str
    host: str
    port: int
    base: str

    @classmethod
    def parse(cls, url: str, setting: str) -> Destination:
        """The destination of a configured address.

        Raises:
            Permanent: it is no HTTP address; the message names `setting` and does not show the value.
        """
        try:
            parsed = httpx.URL(url.strip())
            port = parsed.port or {"http": 80, "https": 443}[parsed.scheme]
        except (httpx.InvalidURL, KeyError, ValueError):
            raise Permanent(f"{setting}: expected an address like http://host:port") from None
        if not parsed.host or parsed.userinfo or parsed.query or parsed.fragment:
            raise Permanent(f"{setting}: expected an address like http://host:port, without user, query or fragment")
        return cls(parsed.scheme, parsed.raw_host.decode("ascii"), port, parsed.raw_path.decode("ascii").rstrip("/"))

    @property
    def url(self) -> str:
        """The address that requests start from."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.base}"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of a form: the field, its name, its bytes and their media type."""

    field: str
    name: str
    content: bytes
    media_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON. Raises ValueError when it is none."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Stream:
    """A response that is still coming. `pieces` are its bytes as they come; to iterate raises as `Outbound.stream`."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]


async def system_resolve(host: str, port: int) -> list[str]:
    """Ask the system's resolver."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


class Outbound:
    """A client of one destination."""

    def __init__(
        self,
        destination: Destination,
        *,
        who: str,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        connections: int = CONNECTIONS,
        resolve: Resolve = system_resolve,
    ) -> None:
        """`who` begins the sentence of every error, as in "the embedder".

        `timeout_s` bounds a request from its wait for a free connection to the last byte of its response.
        """
        self._destination = destination
        self._who = who
        self._timeout_s = timeout_s
        self._max_response_bytes = max_response_bytes
        self._client = httpx.AsyncClient(
            headers={"Accept-Encoding": "identity", **(headers or {})},
            transport=_CheckedTransport(destination, who, connections, resolve),
            timeout=httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
            follow_redirects=False,
            trust_env=False,
        )

    async def get(self, path: str, *, timeout_s: float | None = None) -> Answer:
        """GET `path` below the destination (see `post`)."""
        return await self._send(self._client.build_request("GET", self._url(path)), timeout_s)

    async def post(self, path: str, body: Any, *, timeout_s: float | None = None) -> Answer:
        """POST a JSON body to `path` below the destination. The answer may have any status but a redirect.

        Raises:
            DestinationRefused: it is not the configured destination that would have been reached.
            ResponseTooLarge: the response is longer than is read.
            Unanswered: nobody answers, or not to the end.
            Unavailable: the time is over.
        """
        return await self._send(self._client.build_request("POST", self._url(path), json=body), timeout_s)

    async def upload(
        self, path: str, fields: Mapping[str, str], files: Sequence[Upload], *, timeout_s: float | None = None
    ) -> Answer:
        """POST a form with files to `path` below the destination (see `post`)."""
        parts = [(one.field, (one.name, one.content, one.media_type)) for one in files]
        request = self._client.build_request("POST", self._url(path), data=dict(fields), files=parts)
        return await self._send(request, timeout_s)

    async def delete(self, path: str, *, timeout_s: float | None = None) -> Answer:
        """DELETE `path` below the destination (see `post`)."""
        return await self._send(self._client.build_request("DELETE", self._url(path)), timeout_s)

    @asynccontextmanager
    async def stream(
        self, path: str, body: bytes, *, headers: Mapping[str, str], whole_s: float
    ) -> AsyncIterator[Stream]:
        """POST a JSON `body` to `path` below the destination and give the response while it comes; to leave the block
        ends it. The time limit of the client bounds the wait for its beginning and for each piece, `whole_s` all of it.

        Raises:
            DestinationRefused, ResponseTooLarge, Unanswered: as `post`.
            Unavailable: the time is over (its code is `deadline_exceeded`).
        """
        sent = {"Content-Type": "application/json", **headers}
        request = self._client.build_request("POST", self._url(path), content=body, headers=sent)
        ends_at = asyncio.get_running_loop().time() + whole_s
        try:
            async with asyncio.timeout(self._timeout_s):
                response = await self._client.send(request, stream=True)
        except (TimeoutError, httpx.TimeoutException):
            raise self._late(f"did not begin to answer within {self._timeout_s:g} s") from None
        except httpx.HTTPError as error:
            raise Unanswered(f"{self._who} does not answer ({type(error).__name__})") from None
        try:
            self._judge(response)
            async with aclosing(self._pieces(response, ends_at, whole_s)) as pieces:
                yield Stream(response.status_code, response.headers, pieces)
        finally:
            await response.aclose()

    async def _pieces(self, response: httpx.Response, ends_at: float, whole_s: float) -> AsyncGenerator[bytes, None]:
        loop, size = asyncio.get_running_loop(), 0
        try:
            async for piece in response.aiter_raw():
                size += len(piece)
                if size > self._max_response_bytes:
                    raise ResponseTooLarge(f"{self._who} answered with more than {self._max_response_bytes} bytes")
                if loop.time() > ends_at:
                    raise self._late(f"did not end its answer within {whole_s:g} s")
                yield piece
        except httpx.TimeoutException:
            raise self._late(f"fell silent in its answer for {self._timeout_s:g} s") from None
        except httpx.HTTPError as error:
            raise Unanswered(f"{self._who} broke off its answer ({type(error).__name__})") from None

    def _late(self, what: str) -> Unavailable:
        return Unavailable(f"{self._who} {what}", code=ErrorCode.DEADLINE_EXCEEDED)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _url(self, path: str) -> str:
        return f"{self._destination.url}/{path.lstrip('/')}"

    async def _send(self, request: httpx.Request, timeout_s: float | None) -> Answer:
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        try:
            async with asyncio.timeout(limit_s):
                response = await self._client.send(request, stream=True)
                try:
                    return await self._read(response)
                finally:
                    await response.aclose()
        except TimeoutError:
            raise Unavailable(f"{self._who} did not answer within {limit_s:g} s") from None
        except httpx.TimeoutException as error:
            raise Unavailable(f"{self._who} does not answer ({type(error).__name__})") from None
        except httpx.HTTPError as error:
            raise Unanswered(f"{self._who} does not answer ({type(error).__name__})") from None

    def _judge(self, response: httpx.Response) -> None:
        if response.is_redirect:
            raise DestinationRefused(f"{self._who} answered with a redirect, which is not followed: configure its end")
        if response.headers.get("content-encoding", "identity") != "identity":
            # A small compressed body can unpack to any size.
            raise Unavailable(f"{self._who} answered with a compressed body, which was not asked for")

    async def _read(self, response: httpx.Response) -> Answer:
        self._judge(response)
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > self._max_response_bytes:
                raise ResponseTooLarge(f"{self._who} answered with more than {self._max_response_bytes} bytes")
        return Answer(response.status_code, response.headers, bytes(body))


class _CheckedTransport(httpx.AsyncHTTPTransport):
    """httpx's transport over a pool whose connections are checked."""

    def __init__(self, destination: Destination, who: str, connections: int, resolve: Resolve) -> None:
        context = httpx.create_ssl_context()
        super().__init__(verify=context)
        # httpx has no parameter for the network below the pool; httpcore has. The tests notice when this stops working.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=connections,
            keepalive_expiry=30.0,
            network_backend=_CheckedNetwork(Judge(destination, who, resolve), who),
        )


class Judge:
    """Says which addresses the name of a destination may lead to now; it remembers how far they were at first."""

    def __init__(self, destination: Destination, who: str, resolve: Resolve = system_resolve) -> None:
        self._destination = destination
        self._who = who
        self._resolve = resolve
        self._reach: frozenset[str] | None = None

    async def addresses(self, host: str, port: int, timeout_s: float | None) -> list[str]:
        """The judged addresses of `host`, best first.

        Raises:
            DestinationRefused: it is not the configured destination, or leads where no service is.
            OSError: it has no address.
        """
        if (host, port) != (self._destination.host, self._destination.port):
            raise DestinationRefused(f"{self._who} is not at {host}:{port}: the connection is refused")
        if literal(host) is not None:
            return [host]
        try:
            async with asyncio.timeout(timeout_s):
                found = await self._resolve(host, port)
        except (OSError, UnicodeError):  # TimeoutError is an OSError
            raise OSError("the name cannot be resolved") from None
        addresses = [ipaddress.ip_address(address) for address in found]
        for address in addresses:
            if reason := refusal(address):
                raise DestinationRefused(
                    f"the host of {self._who} leads to {reason} ({address}), which is refused: "
                    "configure the address itself if it is meant"
                )
        if not addresses:
            raise OSError("the name has no address")
        reached = frozenset(map(reach, addresses))
        if self._reach is None:
            self._reach = reached
        if not reached <= self._reach:
            raise DestinationRefused(
                f"the host of {self._who} led to {' and '.join(sorted(self._reach))} addresses and now leads to "
                f"{' and '.join(sorted(reached))} ones, which is refused until this process is started again"
            )
        return found


class _CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to judged addresses of the destination only."""

    def __init__(self, judge: Judge, who: str) -> None:
        self._judge = judge
        self._who = who
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Resolve, judge, and connect to the first address that answers."""
        try:
            addresses = await self._judge.addresses(host, port, timeout)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from None
        failed: Exception = httpcore.ConnectError("the name has no address")
        for address in addresses:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        raise failed

    async def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
        """No destination is a socket file."""
        raise DestinationRefused(f"{self._who} is not behind a socket file: the connection is refused")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

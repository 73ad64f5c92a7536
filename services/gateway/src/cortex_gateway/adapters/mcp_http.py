"""HTTP as MCP connections of ours use it: to the configured server alone, bounded, and with every fault said in words.

The MCP SDK brings its own HTTP library (httpx2), so the rules of `cortex_providers.outbound` are applied to that one:
judged addresses, no redirects, no proxies of the environment, no compressed bodies, bounded responses. A response that
no MCP server gives (a redirect, a page of HTML, a status of an error) ends the connection and is told in a sentence,
where the SDK would make an error of the protocol of it.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

import httpx2

from cortex_contracts.errors import CortexError
from cortex_gateway.adapters.broken_json import repaired
from cortex_gateway.adapters.mcp_network import judged_pool, tls_context
from cortex_gateway.adapters.settings import EngineSource, Transport
from cortex_providers.outbound import Destination, Judge, Resolve

MAX_ANSWER_BYTES: Final = 1024 * 1024
"""Of one response, and of one event of a stream (which is the SDK's own bound, too). Serena cuts its answers at 150 kB,
the largest tools/list seen (29 tools) has 40 kB. Reading as much takes up to 0.1 s, in which nothing else runs
(measured: 4 MiB of `{"a":1}` take 0.35 s)."""
CONNECT_S: Final = 5.0
FAREWELL_S: Final = 1.0
"""For telling a server that a session is over; nobody waits for its answer."""
UNASKED_BYTES: Final = 256 * 1024
UNASKED_BYTES_S: Final = 32 * 1024
"""What a server may say at once, and then each second, on the stream for what nobody asked: some hundred log messages
a second, and nothing that keeps this process busy."""
RECONNECTED_BYTES: Final = 16 * 1024
"""What connecting to that stream counts for: 16 times at once, then twice a second, whatever `retry` it asks for."""
CONNECTIONS: Final = 80
"""At one time to one server: more than the questions that are asked side by side (`cortex_runtime.rpc.CONCURRENCY`)."""

_EVENTS: Final = "text/event-stream"
_SESSION: Final = "mcp-session-id"

Broken = Callable[[str], None]
"""Told once what broke a connection: the end of a sentence that begins with the engine."""


class Refused(httpx2.TransportError):
    """The response is none that an MCP server gives."""


def judge(source: EngineSource, who: str, resolve: Resolve) -> Judge:
    """What says where the address of `source` may lead; one for all connections, since it remembers how far that was.

    Raises:
        Permanent: the address is none.
    """
    return Judge(Destination.parse(source.url.split("?", 1)[0], who), who, resolve)


def http_client(source: EngineSource, who: str, broken: Broken, judge: Judge) -> httpx2.AsyncClient:
    """A client of the server of `source`, for one connection."""
    return httpx2.AsyncClient(
        headers={"Accept-Encoding": "identity", **source.sent_headers},
        transport=_Watched(source, who, broken, judge),
        timeout=httpx2.Timeout(CONNECT_S, read=None),
        follow_redirects=False,
        trust_env=False,
    )


class _Watched(httpx2.AsyncHTTPTransport):
    """The library's transport over judged connections; what is no answer of an MCP server breaks the connection."""

    def __init__(self, source: EngineSource, who: str, broken: Broken, judge: Judge) -> None:
        super().__init__(verify=tls_context(), trust_env=False)
        # There is no parameter for the network below the pool. The tests notice when this stops working.
        self._pool = judged_pool(judge, who, CONNECTIONS)
        self._over_sse = source.way is Transport.SSE
        self._limit_s = source.limit_s
        self._tell = broken
        self._is_broken = False
        self._pace = _Pace(UNASKED_BYTES, UNASKED_BYTES_S)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; its response is one that the SDK can go on with."""
        if request.method == "DELETE":
            if self._is_broken:
                raise Refused("the session is over", request=request)
            request.extensions = {**request.extensions, "timeout": dict.fromkeys(_TIMEOUTS, FAREWELL_S)}
        elif request.method == "POST":
            limits = {**request.extensions.get("timeout", {}), "read": self._silence_s(request)}
            request.extensions = {**request.extensions, "timeout": limits}
        elif self._luxury(request):
            await self._pace.spend(RECONNECTED_BYTES)
        try:
            response = await super().handle_async_request(request)
        except CortexError as error:
            # Through the SDK's tasks to whoever holds the connection, who looks for what is behind an error.
            raise Refused("the destination is refused", request=request) from error
        except httpx2.HTTPError as error:
            if request.method == "POST" or self._over_sse:
                self._broken(_unreached(error))
            raise
        reason = self._fault(request, response)
        if reason is not None:
            await response.aclose()
            if not self._luxury(request):
                self._broken(reason)
            raise Refused(reason, request=request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        if self._luxury(request):
            response.stream = _Paced(response.stream, self._pace)
        elif request.method == "POST" or self._over_sse:
            for_good = request.method == "GET"
            response.stream = _Bounded(response.stream, _type(response) == _EVENTS, for_good, self._broken)
        return response

    def _luxury(self, request: httpx2.Request) -> bool:
        """Whether it is for the stream of what nobody asked for, which a server may refuse in any way."""
        return request.method == "GET" and not self._over_sse

    def _silence_s(self, request: httpx2.Request) -> float | None:
        """How long nothing may come; none: whoever asks has a limit."""
        match _method(request):
            case "tools/call":  # one that was given up waits no longer than one that was not
                return self._limit_s + FAREWELL_S
            case str(method) if method.startswith("notifications/"):  # the SDK sends nothing else meanwhile
                return CONNECT_S
        return None

    def _broken(self, reason: str) -> None:
        self._is_broken = True
        self._tell(reason)

    def _fault(self, request: httpx2.Request, response: httpx2.Response) -> str | None:
        """Why a response is none that an MCP server gives."""
        status, kind = response.status_code, _type(response)
        if 300 <= status < 400 and "location" in response.headers:
            return f"answers with a redirect, which is not followed: {_advice(request, response)}"
        if request.method == "DELETE":
            return None
        if response.headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
            # A small compressed body can unpack to any size.
            return "answers with a compressed body, which was not asked for"
        if request.method == "GET":
            if self._luxury(request) or (status == 200 and kind == _EVENTS):
                return None
            return _refusal(status) or f"has no stream of events there, but {kind or 'something without a type'}"
        if status in (401, 403):
            return _refusal(status)
        if status in (404, 410) and (self._over_sse or _SESSION in request.headers):
            return "has lost the session"
        method = _method(request)
        if method is None or method.startswith("notifications/"):
            return None  # an answer of ours, or something that gets none
        if self._over_sse:
            return _refusal(status)
        if status == 429 or status >= 500 or (status >= 400 and kind != "application/json"):
            return _refusal(status)
        session = response.headers.get(_SESSION, "")
        if not (session.isascii() and session.isprintable()):
            return "names its session in characters that no header may have"
        if 200 <= status < 300 and status != 202 and kind not in ("application/json", _EVENTS):
            return f"answers with {kind or 'something without a type'} where JSON was expected"
        return None


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of a response, whole lines of a stream of events or all of anything else, repaired and bounded.

    A stream that is there for good breaks the connection when it ends; any other only when it ends in its middle.
    """

    def __init__(self, stream: httpx2.AsyncByteStream, events: bool, for_good: bool, broken: Broken) -> None:
        self._stream = stream
        self._events = events
        self._for_good = for_good
        self._broken = broken

    async def __aiter__(self) -> AsyncIterator[bytes]:
        waiting = bytearray()
        try:
            async for piece in self._stream:
                waiting += piece
                whole = max(waiting.rfind(b"\n"), waiting.rfind(b"\r")) + 1 if self._events else 0
                if whole:
                    yield repaired(bytes(waiting[:whole]))
                    del waiting[:whole]
                if len(waiting) > MAX_ANSWER_BYTES:
                    self._broken(f"answers with more than {MAX_ANSWER_BYTES} bytes")
                    raise Refused("the response is too long")
        except httpx2.TransportError:
            self._broken("broke off its answer")
            raise
        if waiting:
            yield repaired(bytes(waiting))
        if self._for_good:
            self._broken("closed the stream of events")

    async def aclose(self) -> None:
        """Close the connection, or give it back."""
        await self._stream.aclose()


class _Pace:
    """So many bytes at once, and then so many a second; what is more has to wait."""

    def __init__(self, most: int, each_second: int) -> None:
        self._most = most
        self._each_second = each_second
        self._left: float = most
        self._at = time.monotonic()

    async def spend(self, size: int) -> None:
        """Wait until `size` bytes are due."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._each_second) - size
        self._at = now
        if self._left < 0:
            await asyncio.sleep(-self._left / self._each_second)


class _Paced(httpx2.AsyncByteStream):
    """The bytes of a response, no faster than a pace; the server has to wait, too."""

    def __init__(self, stream: httpx2.AsyncByteStream, pace: _Pace) -> None:
        self._stream = stream
        self._pace = pace

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            yield piece
            await self._pace.spend(len(piece))

    async def aclose(self) -> None:
        """Close the connection, or give it back."""
        await self._stream.aclose()


_TIMEOUTS: Final = ("connect", "read", "write", "pool")


def _type(response: httpx2.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()[:60]


def _method(request: httpx2.Request) -> str | None:
    """The method of the message that is sent; none when it is an answer of ours to the server."""
    method = json.loads(request.content).get("method")
    return method if isinstance(method, str) else None


def _advice(request: httpx2.Request, response: httpx2.Response) -> str:
    """What to do about a redirect; where it leads is told only when that is the same place with another end."""
    try:
        leads = request.url.join(response.headers["location"])
    except httpx2.InvalidURL:
        return "configure its end"
    slash = {f"{request.url}/": "with", str(request.url).rstrip("/"): "without"}.get(str(leads))
    return f"configure the address {slash} a / at its end" if slash else "configure where it leads"


def _refusal(status: int) -> str | None:
    if status < 300:
        return None
    if status in (401, 403):
        return f"refuses the credentials (status {status})"
    if status in (404, 405, 410):
        return f"has no MCP endpoint at this address (status {status})"
    return f"answers with status {status}"


def _unreached(error: httpx2.HTTPError) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return "cannot be reached over TLS"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx2.ConnectError):
        return "cannot be reached"
    if isinstance(error, httpx2.TimeoutException):
        return "does not answer in time"
    if isinstance(error, httpx2.RemoteProtocolError):
        return "broke off its answer, or does not speak HTTP"
    return f"does not answer ({type(error).__name__})"

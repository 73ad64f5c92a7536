"""One connection to an MCP server, from its handshake to its end.

A task of its own holds it, because the SDK's transports must be entered and left by the same one; whoever asks does so
from any other. The end of a connection, whatever brings it (the server went away, forgot the session, answered with
something that is none), is known at once to everybody who waits on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, TypeVar

import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.session import ClientSession, IncomingMessage
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import JsonValue, ValidationError

from cortex_contracts.errors import CortexError, Permanent, Unavailable
from cortex_gateway.adapters.mcp_http import http_client
from cortex_gateway.adapters.mcp_process import ServerProcess
from cortex_gateway.adapters.settings import EngineSource, Transport
from cortex_gateway.adapters.untrusted_text import sentence
from cortex_providers.outbound import Judge
from cortex_runtime import VERSION, logs

MAX_PAGES: Final = 100
MAX_TOOLS: Final = 5_000
"""Of tools/list; a server that goes on has said enough."""

ResultT = TypeVar("ResultT")

_OTHER_HANDSHAKE: Final = (types.UNSUPPORTED_PROTOCOL_VERSION, types.METHOD_NOT_FOUND)

_ENDED: Final = ("Connection closed", "SSE stream")
"""How the SDK's own sentences about the end of a connection begin; servers use its code (-32000) for anything."""

log = logs.get(__name__)


class SessionLost(Unavailable):
    """The connection is over, and everything that was asked over it with it: a new one may work."""


class RequestRefused(Permanent):
    """The server answered a request with an error of the protocol; `code` is JSON-RPC's."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.rpc_code = code


class McpConnection:
    """A connection to the server of `source`; `changed` is called when the server says that its tools are others."""

    def __init__(self, source: EngineSource, who: str, changed: Callable[[], None], judge: Judge | None) -> None:
        """`judge` is there when the source has an address."""
        self._source = source
        self._who = who
        self._changed = changed
        self._judge = judge
        self._owner: asyncio.Task[None] | None = None
        self._session: ClientSession | None = None
        self._opening: asyncio.Timeout | None = None
        self._leave = asyncio.Event()
        self._lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._requests: set[asyncio.Task[Any]] = set()

    @property
    def lost(self) -> str | None:
        """Why the connection is over, as a sentence; none while it is not."""
        return self._lost.result() if self._lost.done() else None

    async def open(self, limit_s: float) -> None:
        """Connect and agree on a version of the protocol. To be cancelled ends the attempt.

        Raises:
            Unavailable: the server cannot be reached, or is none, or takes longer than `limit_s`.
            Permanent: its address is none.
        """
        ready: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own(ready, limit_s))
        try:
            self._session = await asyncio.shield(ready)
        except BaseException:
            ready.cancel()
            self._break("is being left")
            raise

    async def close(self) -> None:
        """End the session, and the process of a command. Never raises."""
        self._break("is being left")
        if self._owner is not None:
            await asyncio.wait({self._owner})
        if self._requests:
            await asyncio.wait(set(self._requests))

    async def tools(self) -> list[types.Tool]:
        """What the server lists, all pages of it. Raises SessionLost, Unavailable."""
        found: list[types.Tool] = []
        seen: set[str] = set()
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._request(_listing(cursor))
            found += page.tools
            cursor = page.next_cursor
            if cursor is None or cursor in seen or len(found) > MAX_TOOLS:
                break
            seen.add(cursor)
        if cursor is not None:
            log.warning("tools of an engine not read to their end", engine=self._source.key, read=len(found))
        return found[:MAX_TOOLS]

    async def call(self, name: str, arguments: Mapping[str, JsonValue]) -> types.CallToolResult:
        """What a tool says. To be cancelled tells the server to stop.

        Raises:
            SessionLost: the connection ended before there was an answer.
            RequestRefused: the server refuses the request as such.
            Permanent: the answer has no shape of a result.
        """
        # Not `call_tool`: it would check the answer against the schema that the tool promised, and lose what is off.
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments=dict(arguments)))
        return await self._request(lambda session: session.send_request(request, types.CallToolResult))

    async def _request(self, send: Callable[[ClientSession], Awaitable[ResultT]]) -> ResultT:
        if self.lost is not None or self._session is None:
            raise self._loss()
        task: asyncio.Task[ResultT] = asyncio.create_task(_sent(send, self._session))
        self._requests.add(task)
        task.add_done_callback(self._settled)
        try:
            waited: set[asyncio.Future[Any]] = {task, self._lost}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # Tells the server; nobody waits for that.
            task.cancel()
        if not task.done():
            raise self._loss()
        try:
            return task.result()
        except asyncio.CancelledError:
            raise self._loss() from None
        except MCPError as error:
            raise self._refused(error) from None
        except ValidationError:
            raise Permanent(f"{self._who} answered in a shape that MCP does not have") from None
        except CortexError:
            raise
        except Exception as error:  # edge: whatever the SDK makes of what a server sends
            log.warning("request to an engine failed", engine=self._source.key, exc_info=error)
            raise SessionLost(f"{self._who} answered with something that cannot be read") from None

    def _settled(self, task: asyncio.Task[Any]) -> None:
        self._requests.discard(task)
        if not task.cancelled():
            task.exception()  # it was told to whoever asked, if anybody still did

    def _refused(self, error: MCPError) -> CortexError:
        """What an error of the protocol means; some of them the SDK makes itself, of what it could not read."""
        if self.lost is not None or (error.code == types.CONNECTION_CLOSED and error.message.startswith(_ENDED)):
            self._break("closed the connection")
            return self._loss()
        if error.code == types.PARSE_ERROR:
            self._break("answers with something that is no message of MCP")
            return self._loss()
        if "session" in error.message.lower():
            # Servers that do not say 404 for a session that they forgot say it in words (400 in the TypeScript SDK).
            self._break("has lost the session")
            return self._loss()
        said = sentence(error.message, self._source.secrets)
        return RequestRefused(f"{self._who} refuses the request: {said or error.code}", error.code)

    def _loss(self) -> SessionLost:
        return SessionLost(self.lost or f"{self._who} is not connected")

    def _break(self, reason: str) -> None:
        self._end(f"{self._who} {reason}")

    def _end(self, why: str) -> None:
        if not self._lost.done():
            self._lost.set_result(why)
        self._leave.set()
        if self._opening is not None and not self._opening.expired():
            self._opening.reschedule(0)

    async def _own(self, ready: asyncio.Future[ClientSession], limit_s: float) -> None:
        failure: CortexError | None = None
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(limit_s) as self._opening:
                    session = await self._entered(stack)
                self._opening = None
                if not ready.done():
                    ready.set_result(session)
                await self._leave.wait()
        except TimeoutError:
            failure = Unavailable(f"{self._who} was not connected within {limit_s:g} s")
        except Exception as error:  # edge: groups of whatever went wrong below
            failure = self._failure(error)
        finally:
            self._opening = None
            if self._lost.done() or failure is None:
                failure = self._loss()
            self._end(failure.message)
            if not ready.done():
                ready.set_exception(failure)

    async def _entered(self, stack: AsyncExitStack) -> ClientSession:
        """The session, entered. The handshake that nearly all servers know comes first; one that knows only the newer
        way, which has none, says so."""
        try:
            return (await stack.enter_async_context(self._client("legacy"))).session
        except Exception as error:  # edge: an error of the server's may come in the groups of the SDK's tasks
            if not any(isinstance(each, MCPError) and each.code in _OTHER_HANDSHAKE for each in _leaves(error)):
                raise
        return (await stack.enter_async_context(self._client("auto"))).session

    def _client(self, mode: str) -> Client:
        return Client(
            self._streams(),
            mode=mode,
            cache=None,
            client_info=types.Implementation(name="cortex", version=VERSION),
            message_handler=self._heard,
        )

    @asynccontextmanager
    async def _streams(self) -> AsyncIterator[Any]:
        """The transport that is configured; what it yields are the SDK's own streams."""
        source = self._source
        if source.way is Transport.STDIO:
            process = ServerProcess(source, self._who, self._break)
            await process.start()
            try:
                async with process.streams() as streams:
                    yield streams
            finally:
                await process.stop()
            return
        if source.way is Transport.SSE:
            async with sse_client(source.url, httpx_client_factory=self._http_client) as streams:
                yield streams
            return
        async with self._http_client() as client, streamable_http_client(source.url, http_client=client) as streams:
            yield streams

    def _http_client(self, *_: object, **__: object) -> httpx2.AsyncClient:
        """A client with our own limits, whatever the SDK would like."""
        assert self._judge is not None
        return http_client(self._source, self._who, self._break, self._judge)

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, Exception):
            self._break("answers with something that is no message of MCP")
        elif isinstance(message, types.ToolListChangedNotification):
            self._changed()

    def _failure(self, error: Exception) -> CortexError:
        for each in _leaves(error):
            if isinstance(each, CortexError):
                return each
            if isinstance(each, MCPError):
                refused = self._refused(each)
                return refused if isinstance(refused, Unavailable) else Unavailable(refused.message)
            if isinstance(each, ValidationError):
                return Unavailable(f"{self._who} answered the handshake in a shape that MCP does not have")
            if isinstance(each, RuntimeError):  # the SDK's, for a version that it does not speak
                return Unavailable(f"{self._who} cannot be spoken to: {sentence(str(each), self._source.secrets)}")
        return Unavailable(f"{self._who} cannot be connected to ({type(error).__name__})")


async def _sent(send: Callable[[ClientSession], Awaitable[ResultT]], session: ClientSession) -> ResultT:
    return await send(session)


def _listing(cursor: str | None) -> Callable[[ClientSession], Awaitable[types.ListToolsResult]]:
    params = None if cursor is None else types.PaginatedRequestParams(cursor=cursor)
    return lambda session: session.list_tools(params=params)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors of a group, and what each came from."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
        return
    yield error
    if error.__cause__ is not None:
        yield from _leaves(error.__cause__)

"""`cortex mcp`: MCP over stdio for clients that start their servers, answered by the gateway's streamable HTTP face.

The proxy keeps nothing between calls: each looks up where the gateway is and is one short connection to it. So a
gateway that was not started yet, was away or has moved is found by the next call, calls do not wait for each other, and
the one at the other end may speak another protocol version than the client. A call that the client cancels closes its
connection, which is how the gateway hears of it; progress travels back as it comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from cortex_cli.failure import NotRunning
from cortex_runtime import VERSION

START_S: Final = 2.0
"""A client waits while the gateway is asked how it introduces itself."""
CONNECT_TIMEOUT_S: Final = 3.0
SILENCE_S: Final = 30.0
"""The gateway sends something every 15 seconds while it works (MCP SDK 2.3, `_SSE_PING_INTERVAL`)."""
CALL_TIMEOUT_S: Final = 120.0
"""Longer than an answer takes: 6 seconds (`cortex_contracts.rpc.ask.ASK`) and, where a model writes, 20 more."""
EVENT_LIMIT_BYTES: Final = 1 << 26
"""An answer is one event. The SDK's own limit, 1 MiB, is less than a hundred long hits take."""

ResultT = TypeVar("ResultT")
Context = ServerRequestContext[dict[str, object]]
Where = Callable[[], tuple[str, str]]
"""Address and token of the gateway, looked up anew for each call. May raise NotRunning."""


class GatewayError(Exception):
    """The gateway did not answer, or refused; the message says what to do."""


async def run_stdio_proxy(where: Where) -> None:
    """Serve MCP on stdin and stdout until stdin ends."""
    gateway = Gateway(where)
    server = proxy(gateway, await instructions(gateway))
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def instructions(gateway: Gateway) -> str | None:
    """What the gateway wants agents to know about it; none when it does not answer, which the first call will tell."""

    async def read(client: Client) -> str | None:
        return client.instructions

    try:
        async with asyncio.timeout(START_S):
            return await gateway.call(read)
    except (GatewayError, MCPError, TimeoutError):
        return None


def proxy(gateway: Gateway, instructions: str | None = None) -> Server[dict[str, object]]:
    """A server that forwards tools/list and tools/call to the gateway."""

    async def list_tools(_: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        cursor = params.cursor if params else None
        try:
            return await gateway.call(lambda client: client.list_tools(cursor=cursor))
        except GatewayError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        # The request as it is: the client's own method would fetch the tools each time, to check the answer by them.
        request = CallToolRequest(params=CallToolRequestParams(name=params.name, arguments=params.arguments))
        try:
            async with _reporting(context) as told:
                return await gateway.call(
                    lambda client: client.session.send_request(request, CallToolResult, progress_callback=told)
                )
        except GatewayError as error:
            # A result, not a protocol error: the model reads it and can tell its user.
            return CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)

    return Server(
        "cortex",
        title="Cortex",
        version=VERSION,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class Gateway:
    """The gateway, wherever it is."""

    def __init__(self, where: Where) -> None:
        self._where = where
        # Loading the certificates is the slow part of a client, so the short-lived ones share them.
        self._certificates = httpx2.create_ssl_context(trust_env=False)

    async def call(self, use: Callable[[Client], Awaitable[ResultT]]) -> ResultT:
        """Connect, in whichever protocol version the gateway speaks, and use the connection once.

        Raises:
            GatewayError: the gateway did not answer, or refused.
            MCPError: the gateway answered with a protocol error.
        """
        try:
            base, token = self._where()
        except NotRunning as error:
            raise GatewayError(str(error)) from None
        url = f"{base.rstrip('/').removesuffix('/mcp')}/mcp"
        refused: list[int] = []
        connected = False

        async def note(response: httpx2.Response) -> None:
            # The MCP client reports every refusal alike.
            if response.status_code >= 400:
                refused.append(response.status_code)

        try:
            async with (
                httpx2.AsyncClient(
                    headers={"Authorization": f"Bearer {token}"},
                    timeout=httpx2.Timeout(SILENCE_S, connect=CONNECT_TIMEOUT_S),
                    verify=self._certificates,
                    event_hooks={"response": [note]},
                    # No proxy from the environment: the token goes to the gateway and nowhere else.
                    trust_env=False,
                ) as http,
                Client(
                    streamable_http_client(url, http_client=http, max_sse_event_size=EVENT_LIMIT_BYTES),
                    read_timeout_seconds=CALL_TIMEOUT_S,
                ) as client,
            ):
                connected = True
                return await use(client)
        except (MCPError, httpx2.HTTPError, httpx2.InvalidURL, ExceptionGroup) as failure:
            raise _explained(failure, refused, url, connected) from None


@asynccontextmanager
async def _reporting(context: Context) -> AsyncIterator[ProgressFnT | None]:
    """What takes the gateway's progress, if the client wants any, and has passed all of it on when the block ends.

    Passed on by the connection to the gateway it would end with that, the last of it unsent.
    """
    if (context.meta or {}).get("progress_token") is None:
        yield None
        return
    came: asyncio.Queue[tuple[float, float | None, str | None] | None] = asyncio.Queue()

    async def take(progress: float, total: float | None, message: str | None) -> None:
        came.put_nowait((progress, total, message))

    async def pass_on() -> None:
        while (one := await came.get()) is not None:
            await context.session.report_progress(*one)

    task = asyncio.create_task(pass_on())
    try:
        yield take
        came.put_nowait(None)
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _explained(failure: Exception, refused: list[int], url: str, connected: bool) -> Exception:
    causes = list(_leaves(failure))
    error = next((cause for cause in causes if isinstance(cause, MCPError)), None)

    def because(*kinds: type[Exception]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if 401 in refused:
        return GatewayError(f"The Cortex gateway at {url} refuses the token: expected that of its CORTEX_HOME.")
    if {403, 421} & set(refused):
        return GatewayError(f"The gateway at {url} refuses this address: add its host to its allowed hosts.")
    if 429 in refused:
        return GatewayError(f"The Cortex gateway at {url} was asked too often; try again in a minute.")
    if because(httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.InvalidURL, httpx2.UnsupportedProtocol):
        return GatewayError(f"The Cortex gateway at {url} does not answer. Start it with `cortex start`.")
    if because(httpx2.TimeoutException) or (error and error.code == REQUEST_TIMEOUT):
        return GatewayError(f"The Cortex gateway at {url} did not answer in time.")
    if because(httpx2.TransportError) or (error and error.code == CONNECTION_CLOSED):
        return GatewayError(f"The Cortex gateway at {url} broke off in the middle of its answer; ask again.")
    if broken := [status for status in refused if status >= 500]:
        return GatewayError(f"What answers at {url} answered {broken[-1]}; try again.")
    if error is None or not connected:
        return GatewayError(f"What answers at {url} is not a Cortex gateway.")
    return error


def _leaves(failure: Exception) -> Iterator[Exception]:
    if isinstance(failure, ExceptionGroup):
        for part in failure.exceptions:
            yield from _leaves(part)
    else:
        yield failure

"""`cortex mcp`: MCP over stdio for clients that start their servers, answered by the gateway's streamable HTTP face.

The proxy keeps nothing between calls: each is one short connection to the gateway, so a gateway that was away is
found again by the next call, and the one at the other end may speak another protocol version than the client.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Final, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from cortex_runtime import VERSION

CONNECT_TIMEOUT_S: Final = 3.0
CALL_TIMEOUT_S: Final = 30.0
"""Longer than any answer of the gateway takes: an engine has 4 seconds."""

ResultT = TypeVar("ResultT")
Context = ServerRequestContext[dict[str, object]]


class GatewayError(Exception):
    """The gateway did not answer, or refused; the message says what to do."""


async def run_stdio_proxy(url: str, token: str) -> None:
    """Serve MCP on stdin and stdout until stdin ends; `url` is the gateway's, with or without `/mcp`."""
    server = proxy(url, token)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def proxy(url: str, token: str) -> Server[dict[str, object]]:
    """A server that forwards tools/list and tools/call to the gateway at `url`."""
    gateway = _Gateway(url, token)

    async def list_tools(_: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        cursor = params.cursor if params else None
        try:
            return await gateway.call(lambda client: client.list_tools(cursor=cursor))
        except GatewayError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        try:
            return await gateway.call(lambda client: client.call_tool(params.name, params.arguments))
        except GatewayError as error:
            # A result, not a protocol error: the model reads it and can tell its user.
            return CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)

    return Server("cortex", title="Cortex", version=VERSION, on_list_tools=list_tools, on_call_tool=call_tool)


class _Gateway:
    """The gateway at one address."""

    def __init__(self, url: str, token: str) -> None:
        base = url.rstrip("/")
        self._url = base if base.endswith("/mcp") else f"{base}/mcp"
        self._headers = {"Authorization": f"Bearer {token}"}
        # Loading the certificates is the slow part of a client, so the short-lived ones share them.
        self._certificates = httpx2.create_ssl_context(trust_env=False)

    async def call(self, use: Callable[[Client], Awaitable[ResultT]]) -> ResultT:
        """Connect, in whichever protocol version the gateway speaks, and use the connection once.

        Raises:
            GatewayError: the gateway did not answer, or refused.
            MCPError: the gateway answered with a protocol error.
        """
        refused: list[int] = []

        async def note(response: httpx2.Response) -> None:
            # The MCP client reports every refusal alike.
            if response.status_code in (401, 403, 421):
                refused.append(response.status_code)

        try:
            async with (
                httpx2.AsyncClient(
                    headers=self._headers,
                    timeout=httpx2.Timeout(CALL_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
                    verify=self._certificates,
                    event_hooks={"response": [note]},
                    # No proxy from the environment: the token goes to the gateway and nowhere else.
                    trust_env=False,
                ) as http,
                Client(
                    streamable_http_client(self._url, http_client=http), read_timeout_seconds=CALL_TIMEOUT_S
                ) as client,
            ):
                return await use(client)
        except (MCPError, httpx2.HTTPError, ExceptionGroup) as failure:
            raise self._explained(failure, refused) from None

    def _explained(self, failure: Exception, refused: list[int]) -> Exception:
        causes = list(_leaves(failure))
        if 401 in refused:
            return GatewayError(
                f"The Cortex gateway at {self._url} refuses the token: expected that of its CORTEX_HOME."
            )
        if refused:
            return GatewayError(f"The gateway at {self._url} refuses this address: add its host to its allowed hosts.")
        if any(isinstance(cause, httpx2.TimeoutException) for cause in causes):
            return GatewayError(f"The Cortex gateway at {self._url} did not answer in time.")
        if any(isinstance(cause, httpx2.TransportError) for cause in causes):
            return GatewayError(f"The Cortex gateway at {self._url} does not answer. Start it with `cortex up`.")
        return next((cause for cause in causes if isinstance(cause, MCPError)), failure)


def _leaves(failure: Exception) -> Iterator[Exception]:
    if isinstance(failure, ExceptionGroup):
        for part in failure.exceptions:
            yield from _leaves(part)
    else:
        yield failure

"""An engine behind an MCP server: one session that is kept, opened again when lost, and spoken to in a dialect."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeVar

import mcp_types as types
from pydantic import JsonValue

from cortex_contracts.errors import CortexError, Unavailable
from cortex_contracts.rpc.engine import Hit
from cortex_gateway.adapters.dialect import Advising, Dialect, Proving, ToolFailed, ToolsChanged
from cortex_gateway.adapters.mcp_connection import McpConnection, RequestRefused, SessionLost
from cortex_gateway.adapters.mcp_http import judge
from cortex_gateway.adapters.settings import EngineSource, Transport
from cortex_gateway.adapters.tool_answer import ToolAnswer, read, refusal
from cortex_gateway.adapters.untrusted_text import cut, sentence
from cortex_providers.outbound import Resolve, system_resolve
from cortex_runtime import logs

OPEN_LIMIT_S: Final = 30.0
"""For a handshake and the list of tools. A command may have to be fetched first; nobody waits for it longer than for an
answer."""
TOOLS_SHOWN: Final = 8

_UNKNOWN_TOOL: Final = re.compile(r"unknown tool|no such tool|tool\b[^:\n]{0,80}\bnot (?:found|exist|available)", re.I)

ResultT = TypeVar("ResultT")

log = logs.get(__name__)


class McpEngine:
    """The engine `source`, spoken to as `dialect` says."""

    def __init__(self, source: EngineSource, dialect: Dialect, resolve: Resolve = system_resolve) -> None:
        """Raises Permanent when the address of `source` is none."""
        self._source = source
        self._dialect = dialect
        self._who = f"the engine {source.key}"
        self._judge = judge(source, self._who, resolve) if source.url else None
        self._tools: ListedTools | None = None
        self._changed = False
        self._opening: asyncio.Task[ListedTools] | None = None
        self._leaving: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Connect, agree on a version of the protocol and list the tools; an earlier session is dropped.

        Raises:
            CortexError: it cannot be reached, or has no tool that the dialect could use.
        """
        await self._fresh()

    async def close(self) -> None:
        """End the session, and the process of a command."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        self._leave()
        if self._leaving:
            await asyncio.wait(set(self._leaving))

    async def check(self) -> None:
        """List the tools. Raises CortexError."""
        await self._attempt(self._listed_again)

    async def search(self, query: str, k: int) -> Sequence[Hit]:
        """At most `k` hits, best first. Raises CortexError."""
        return await self._attempt(lambda tools: self._dialect.search(tools, query, k))

    async def last_ingest(self) -> datetime | None:
        """When the server last learned something. Raises CortexError."""
        return await self._attempt(self._dialect.last_ingest)

    async def _attempt(self, do: Callable[[ListedTools], Awaitable[ResultT]]) -> ResultT:
        """Do it, and once more over a new session when the old one was lost, or with the tools of today."""
        try:
            return await do(await self._current())
        except SessionLost as error:
            log.info("session with an engine lost", engine=self._source.key, reason=error.message)
        except ToolsChanged:
            self._changed = True
        return await do(await self._current())

    async def _current(self) -> ListedTools:
        tools = self._tools
        if tools is None or tools.connection.lost is not None:
            return await self._fresh()
        if self._changed:
            self._changed = False
            tools = self._tools = await self._listed(tools.connection)
        return tools

    async def _listed_again(self, tools: ListedTools) -> None:
        await self._listed(tools.connection)

    async def _fresh(self) -> ListedTools:
        """A new session; who comes while one is being made waits for the same one, and may leave without ending it."""
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._connected())
            self._opening.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(self._opening)

    async def _connected(self) -> ListedTools:
        self._leave()
        if self._source.way is Transport.STDIO and self._leaving:
            # Two processes at once might fight over the files of one engine.
            await asyncio.wait(set(self._leaving))
        self._changed = False
        connection = McpConnection(self._source, self._who, self._tell_changed, self._judge)
        try:
            async with asyncio.timeout(OPEN_LIMIT_S):
                await connection.open(OPEN_LIMIT_S)
                tools = await self._listed(connection)
        except TimeoutError:
            self._end(connection)
            raise Unavailable(f"{self._who} was not connected within {OPEN_LIMIT_S:g} s") from None
        except BaseException:
            self._end(connection)
            raise
        self._tools = tools
        return tools

    async def _listed(self, connection: McpConnection) -> ListedTools:
        listed = await connection.tools()
        tools = ListedTools(self._source, self._who, self._dialect, connection, listed)
        if not any(tools.has(purpose) for purpose in self._dialect.required):
            if isinstance(self._dialect, Advising):
                raise ToolsChanged(f"{self._who} {self._dialect.advice(frozenset(tool.name for tool in listed))}")
            shown = ", ".join(sentence(tool.name) for tool in listed[:TOOLS_SHOWN])
            wanted = ", ".join(name for one in sorted(self._dialect.required) for name in self._dialect.purposes[one])
            raise ToolsChanged(f"{self._who} has none of the tools {wanted}; it lists {shown or 'none'}")
        if isinstance(self._dialect, Proving):
            await self._dialect.prove(tools)
        return tools

    def _tell_changed(self) -> None:
        self._changed = True

    def _leave(self) -> None:
        tools, self._tools = self._tools, None
        if tools is not None:
            self._end(tools.connection)

    def _end(self, connection: McpConnection) -> None:
        task = asyncio.create_task(connection.close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)


class ListedTools:
    """The tools of one connection that the dialect may use."""

    def __init__(
        self,
        source: EngineSource,
        who: str,
        dialect: Dialect,
        connection: McpConnection,
        listed: Sequence[types.Tool],
    ) -> None:
        self.connection = connection
        self._source = source
        self._who = who
        by_name = {tool.name: tool for tool in listed}
        self._found = {
            purpose: by_name[name]
            for purpose, names in dialect.purposes.items()
            for name in names[::-1]  # the last one set is the first of the list
            if name in by_name
        }

    def has(self, purpose: str) -> bool:
        """Whether there is a tool for `purpose`."""
        return purpose in self._found

    def name(self, purpose: str) -> str:
        """The name of the tool for `purpose`. Raises ToolsChanged."""
        return self._tool(purpose).name

    def accepts(self, purpose: str) -> frozenset[str]:
        """Names of the arguments its schema knows. Raises ToolsChanged."""
        properties = self._tool(purpose).input_schema.get("properties")
        return frozenset(map(str, properties)) if isinstance(properties, Mapping) else frozenset()

    def pick(self, purpose: str, *names: str) -> str:
        """The first of `names` that it accepts; the first one when its schema names none. Raises ToolsChanged."""
        accepted = self.accepts(purpose)
        for name in names:
            if name in accepted or not accepted:
                return name
        raise ToolsChanged(f"{self.name(purpose)} of {self._who} accepts none of {', '.join(names)}")

    def writes(self, purpose: str) -> bool:
        """Whether the server says that the tool changes something; nothing said: false. Raises ToolsChanged."""
        said = self._tool(purpose).annotations
        if said is None:
            return False
        return said.read_only_hint is False or (said.destructive_hint is True and said.read_only_hint is not True)

    async def call(self, purpose: str, arguments: Mapping[str, JsonValue]) -> ToolAnswer:
        """What the tool says.

        Raises:
            ToolFailed: it says that it failed.
            ToolsChanged: there is none for `purpose`, or not any more.
            SessionLost: the connection ended before there was an answer.
        """
        name = self.name(purpose)
        try:
            result = await self.connection.call(name, arguments)
        except RequestRefused as error:
            if error.rpc_code == types.METHOD_NOT_FOUND or _UNKNOWN_TOOL.search(error.message):
                raise ToolsChanged(error.message) from None
            raise ToolFailed(error.message) from None
        except CortexError:
            raise
        answer = read(result)
        if result.is_error:
            said = sentence(answer.text or refusal(answer.data) or "", self._source.secrets)
            if _UNKNOWN_TOOL.search(said):
                raise ToolsChanged(f"{self._who} has no tool {name} any more")
            raise ToolFailed(cut(f"{name} of {self._who} failed: {said or 'without a word'}", 300))
        return answer

    def _tool(self, purpose: str) -> types.Tool:
        found = self._found.get(purpose)
        if found is None:
            raise ToolsChanged(f"{self._who} has no tool for {purpose}")
        return found

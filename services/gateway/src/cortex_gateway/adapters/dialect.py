"""How one kind of MCP server is spoken to: which of its tools may be used for what, and how answers become hits.

Tools are never assumed: a dialect names, for each purpose, the tools that serve it (newest name first), and `Tools`
holds those of them that the connected server lists. What is not on the list is never called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from cortex_contracts.errors import Permanent, Unavailable
from cortex_contracts.rpc.engine import Hit
from cortex_gateway.adapters.tool_answer import ToolAnswer


class ToolsChanged(Unavailable):
    """The server has no tool, or no argument, that the dialect could use for a purpose."""


class ToolFailed(Permanent):
    """A tool of a healthy server answered with an error; the message is the server's, cut and cleaned."""


class Tools(Protocol):
    """The tools of the connected server that the dialect may use, as its `tools/list` says (all pages)."""

    def has(self, purpose: str) -> bool:
        """Whether there is a tool for `purpose`."""
        ...

    def name(self, purpose: str) -> str:
        """The name of the tool for `purpose`. Raises ToolsChanged."""
        ...

    def accepts(self, purpose: str) -> frozenset[str]:
        """Names of the arguments its schema knows. Raises ToolsChanged."""
        ...

    def pick(self, purpose: str, *names: str) -> str:
        """The first of `names` that it accepts. Raises ToolsChanged."""
        ...

    def writes(self, purpose: str) -> bool:
        """Whether the server says that the tool changes something; nothing said: false. Raises ToolsChanged."""
        ...

    async def call(self, purpose: str, arguments: Mapping[str, JsonValue]) -> ToolAnswer:
        """What the tool says; calls of one search may run side by side.

        Raises:
            ToolFailed: it says that it failed (`isError`). An error inside a success is not looked for: see `refusal`.
            Unavailable: there is no answer: the connection or the session is lost.
        """
        ...


class Dialect(Protocol):
    """One kind of server."""

    @property
    def purposes(self) -> Mapping[str, tuple[str, ...]]:
        """The allow-list: tools that only read, by purpose, newest name first."""
        ...

    @property
    def required(self) -> frozenset[str]:
        """The purposes of which at least one must be there; with none of them the engine is down."""
        ...

    async def search(self, tools: Tools, query: str, k: int) -> Sequence[Hit]:
        """At most `k` hits, best first. Raises CortexError."""
        ...

    async def last_ingest(self, tools: Tools) -> datetime | None:
        """When the server last learned something; none when it cannot be told."""
        ...


@runtime_checkable
class Advising(Protocol):
    """A dialect that knows what to do about a server that lists none of the required tools."""

    def advice(self, listed: frozenset[str]) -> str:
        """What is wrong and what to configure, as the end of a sentence about the engine; `listed` are its tools."""
        ...


@runtime_checkable
class Proving(Protocol):
    """A dialect whose server may list its tools and be of no use all the same."""

    async def prove(self, tools: Tools) -> None:
        """See whether a question could be answered, as cheaply as can be. Raises Unavailable."""
        ...

"""The tools of a connected server that a dialect may use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from mcp_types import CallToolResult, Tool

from cortex_contracts.errors import CortexError, Permanent
from cortex_gateway.adapters.dialect import ToolFailed, ToolsChanged
from cortex_gateway.adapters.mcp_connection import RequestRefused, SessionLost
from cortex_gateway.adapters.mcp_engine import ListedTools
from cortex_gateway.adapters.settings import EngineSource

SOURCE = EngineSource.model_validate({"key": "rag", "url": "http://rag.example/sse", "token": "s3cret-token"})


class Connection:
    """Answers a call with what it is given."""

    def __init__(self, answer: CallToolResult | CortexError) -> None:
        self._answer = answer
        self.called: list[tuple[str, Mapping[str, Any]]] = []

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        self.called.append((name, arguments))
        if isinstance(self._answer, CortexError):
            raise self._answer
        return self._answer


class Searching:
    purposes: Mapping[str, tuple[str, ...]] = {"search": ("find", "search"), "context": ("context",)}
    required = frozenset({"search"})


def tool(name: str, properties: Any = None, **annotations: bool) -> Tool:
    schema = {"type": "object"} if properties is None else {"type": "object", "properties": properties}
    given = {"name": name, "inputSchema": schema} | ({"annotations": annotations} if annotations else {})
    return Tool.model_validate(given, by_name=False)


def tools(*listed: Tool, answer: CallToolResult | CortexError | None = None) -> ListedTools:
    connection: Any = Connection(answer or said("ok"))
    dialect: Any = Searching()
    return ListedTools(SOURCE, "the engine rag", dialect, connection, listed)


def said(text: str, *, failed: bool = False) -> CallToolResult:
    content = [{"type": "text", "text": text}]
    return CallToolResult.model_validate({"content": content, "isError": failed}, by_name=False)


@pytest.mark.parametrize(
    ("listed", "used"),
    [(("find", "search"), "find"), (("search", "find"), "find"), (("search", "delete"), "search")],
)
def test_the_newest_name_that_is_listed_is_used(listed: tuple[str, ...], used: str) -> None:
    assert tools(*map(tool, listed)).name("search") == used


def test_what_is_not_listed_is_not_there() -> None:
    found = tools(tool("delete"))
    assert not found.has("search")
    for use in (found.name, found.accepts, found.pick, found.writes):
        with pytest.raises(ToolsChanged, match="the engine rag has no tool for search"):
            use("search")


def test_arguments_are_those_of_the_schema() -> None:
    found = tools(tool("find", {"q": {}, "limit": {}}))
    assert found.accepts("search") == {"q", "limit"}
    assert found.pick("search", "query", "q") == "q"
    with pytest.raises(ToolsChanged, match="find of the engine rag accepts none of query, text"):
        found.pick("search", "query", "text")


@pytest.mark.parametrize("properties", [None, {}, "nonsense", ["a"]])
def test_a_schema_that_names_no_arguments_accepts_the_first_name(properties: Any) -> None:
    assert tools(tool("find", properties)).pick("search", "query", "q") == "query"


@pytest.mark.parametrize(
    ("annotations", "writes"),
    [
        ({}, False),
        ({"readOnlyHint": True}, False),
        ({"readOnlyHint": True, "destructiveHint": True}, False),
        ({"readOnlyHint": False}, True),
        ({"destructiveHint": True}, True),
        ({"destructiveHint": False}, False),
    ],
)
def test_a_tool_says_itself_whether_it_writes(annotations: dict[str, bool], writes: bool) -> None:
    assert tools(tool("find", **annotations)).writes("search") is writes


async def test_an_answer_is_read() -> None:
    assert (await tools(tool("find"), answer=said('{"a": 1}')).call("search", {"query": "crane"})).data == {"a": 1}


@pytest.mark.parametrize(
    ("answer", "error", "sentence"),
    [
        (said("disk\nfull", failed=True), ToolFailed, "find of the engine rag failed: disk full"),
        (said("", failed=True), ToolFailed, "find of the engine rag failed: without a word"),
        (said("you sent s3cret-token", failed=True), ToolFailed, "failed: you sent [hidden]"),
        (said("Unknown tool: find", failed=True), ToolsChanged, "the engine rag has no tool find any more"),
        (said("Tool 'find' not found", failed=True), ToolsChanged, "the engine rag has no tool find any more"),
        (said("Error calling tool 'find': page not found", failed=True), ToolFailed, "tool 'find': page not found"),
        (RequestRefused("Unknown tool: find", -32602), ToolsChanged, "Unknown tool: find"),
        (RequestRefused("Method not found", -32601), ToolsChanged, "Method not found"),
        (RequestRefused("invalid arguments", -32602), ToolFailed, "invalid arguments"),
        (SessionLost("the engine rag closed the connection"), SessionLost, "closed the connection"),
        (Permanent("answered in a shape"), Permanent, "answered in a shape"),
    ],
)
async def test_a_call_that_fails_says_what_is_broken(answer: Any, error: type[CortexError], sentence: str) -> None:
    with pytest.raises(error, match=f"{re.escape(sentence)}$"):
        await tools(tool("find"), answer=answer).call("search", {})

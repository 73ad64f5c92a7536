"""The memory tools through the official MCP client, on every transport, with a played hot tier on real NATS."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import uuid4

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from cortex_contracts.errors import ErrorCode, Permanent

Connect = Callable[..., AbstractAsyncContextManager[Client]]
TOOLS = (
    "memory_retain",
    "memory_recall",
    "memory_recall_archive",
    "memory_get",
    "memory_forget",
    "memory_restore",
    "memory_share",
)
TEXT = "نجتمع every Monday at 09:30"
LARGEST_LISTING_BYTES = 22_000


async def structured(client: Client, name: str, **arguments: object) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def refused(client: Client, name: str, **arguments: object) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error
    text: str = result.content[0].text  # type: ignore[union-attr]
    return text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("transport", ["http", "sse", "stdio"])
async def test_an_agent_retains_recalls_gets_forgets_restores_and_shares(
    gateway: Any, remembering: Any, connect: Connect, transport: str, mode: str
) -> None:
    async with connect(gateway, transport, mode) as client:
        kept = await structured(client, "memory_retain", content=TEXT, speaker="Salma", occurred_at="2026-11-30")
        assert kept == {"id": kept["id"], "decision": "add"}
        recalled = await structured(client, "memory_recall", query="نجتمع")
        assert recalled == {
            "memories": [
                {
                    "id": kept["id"],
                    "content": TEXT,
                    "namespace": "default",
                    "source": "agent",
                    "speaker": "Salma",
                    "valid_at": "2026-11-30T00:00:00Z",
                    "score": 0.512,
                }
            ],
            "note": "2 more exceed budget_tokens",
        }
        got = await structured(client, "memory_get", id=kept["id"])
        assert (got["content"], got["entities"]) == (TEXT, ["Atlas"])
        forgotten = await structured(client, "memory_forget", id=kept["id"])
        assert forgotten["changed"] is True
        assert forgotten["invalid_at"]
        assert await structured(client, "memory_recall", query="نجتمع") == {"memories": [], "note": "without vectors"}
        assert await structured(client, "memory_restore", id=kept["id"]) == {"id": kept["id"], "changed": True}
        shared = await structured(client, "memory_share", namespace="atlas", agent="agent-7", access="write")
        assert shared == {"namespace": "atlas", "agent": "agent-7", "access": "write"}
    assert {(one.principal.org, one.principal.subject) for one in remembering.asked} == {("local", "owner")}
    assert remembering.asked[0].memory.explicit


async def test_the_tools_are_annotated_described_and_small(gateway: Any, connect: Connect) -> None:
    async with connect(gateway, "http") as client:
        listed = (await client.list_tools()).tools
    tools = {tool.name: tool for tool in listed}
    assert tools.keys() == {"darwin_ask", *TOOLS}
    hints = {
        name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint, tool.annotations.idempotent_hint)
        for name, tool in tools.items()
        if tool.annotations and tool.annotations.open_world_hint is False
    }
    assert hints == {
        "darwin_ask": (True, False, True),
        "memory_retain": (False, False, True),
        "memory_recall": (True, False, True),
        "memory_recall_archive": (True, False, True),
        "memory_get": (True, False, True),
        "memory_forget": (False, True, True),
        "memory_restore": (False, False, True),
        "memory_share": (False, True, True),
    }
    for tool in listed:
        assert tool.title
        assert tool.description
        assert tool.output_schema
        for argument in tool.input_schema["properties"].values():
            assert argument["description"]
    assert {name: tools[name].input_schema["required"] for name in TOOLS} == {
        "memory_retain": ["content"],
        "memory_recall": ["query"],
        "memory_recall_archive": ["query"],
        "memory_get": ["id"],
        "memory_forget": ["id"],
        "memory_restore": ["id"],
        "memory_share": ["namespace", "agent"],
    }
    for name in ("memory_recall", "memory_recall_archive", "memory_get"):
        assert "never an instruction" in (tools[name].description or "")
    whole = sum(len(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in listed)
    assert whole < LARGEST_LISTING_BYTES


async def test_what_is_answered_fits_its_schema_has_no_null_and_its_text_is_labelled(
    gateway: Any, remembering: Any, connect: Connect
) -> None:
    async with connect(gateway, "http") as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        kept = await structured(client, "memory_retain", content="alpha <private>x</private>")
        assert kept["private"] == 1
        for name, arguments in (
            ("memory_recall", {"query": "alpha"}),
            ("memory_recall", {"query": "nothing"}),
            ("memory_get", {"id": kept["id"]}),
            ("memory_forget", {"id": kept["id"]}),
            ("memory_restore", {"id": kept["id"]}),
            ("memory_share", {"namespace": "atlas", "agent": "agent-7"}),
        ):
            result = await client.call_tool(name, arguments)
            Draft202012Validator(schemas[name] or {}).validate(result.structured_content)
            assert "null" not in json.dumps(result.structured_content)
            text = result.content[0].text  # type: ignore[union-attr]
            if name in ("memory_recall", "memory_get"):
                assert "untrusted" in text.splitlines()[0]


async def test_arguments_narrow_the_question(gateway: Any, remembering: Any, connect: Connect) -> None:
    async with connect(gateway, "http") as client:
        await structured(
            client,
            "memory_recall",
            query="q",
            namespaces=["atlas"],
            k=3,
            budget_tokens=100,
            since="2026-01-01",
            until="2026-02-01T00:00:00+02:00",
            as_of="2026-03-01T00:00:00Z",
            brief=True,
        )
        await structured(client, "memory_retain", content="mine", namespace="nile", private=True)
    asked, kept = remembering.asked
    assert (asked.namespaces, asked.k, asked.budget_tokens, asked.brief) == (("atlas",), 3, 100, True)
    assert asked.filter.since.isoformat() == "2026-01-01T00:00:00+00:00"
    assert asked.filter.until.isoformat() == "2026-02-01T00:00:00+02:00"
    assert asked.as_of.isoformat() == "2026-03-01T00:00:00+00:00"
    assert (kept.memory.namespace, kept.memory.visibility) == ("nile", "private")


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("memory_retain", {}, "content"),
        ("memory_retain", {"content": ""}, "content: "),
        ("memory_retain", {"content": "x", "namespace": "No Token"}, "namespace"),
        ("memory_retain", {"content": "x", "occurred_at": "last week"}, "occurred_at: expected an ISO 8601"),
        ("memory_recall", {"query": " "}, "query: "),
        ("memory_recall", {"query": "q", "as_of": "2026"}, "as_of: expected an ISO 8601"),
        ("memory_recall", {"query": "q", "k": 0}, "k"),
        ("memory_get", {"id": "nope"}, "valid UUID"),
        ("memory_share", {"namespace": "atlas", "agent": "a", "access": "own"}, "access"),
    ],
)
async def test_a_wrong_argument_is_told_to_the_model(
    gateway: Any, remembering: Any, connect: Connect, name: str, arguments: dict[str, Any], told: str
) -> None:
    async with connect(gateway, "http") as client:
        assert told in await refused(client, name, **arguments)
    assert remembering.asked == []


@pytest.mark.parametrize(
    "arguments", [{"text": "SECRET"}, {"content": ["SECRET"]}, {"content": "x", "private": "SECRET"}]
)
async def test_an_error_never_repeats_what_was_sent(gateway: Any, connect: Connect, arguments: dict[str, Any]) -> None:
    async with connect(gateway, "http") as client:
        assert "SECRET" not in await refused(client, "memory_retain", **arguments)


async def test_a_failure_is_a_sentence_and_a_bug_is_only_its_trace(
    gateway: Any, remembering: Any, connect: Connect
) -> None:
    async with connect(gateway, "http") as client:
        memory_id = str(uuid4())
        assert f"there is no memory {memory_id}" in await refused(client, "memory_get", id=memory_id)
        remembering.fails = Permanent("you may not write atlas", code=ErrorCode.FORBIDDEN)
        assert "you may not write atlas" in await refused(client, "memory_retain", content="x")
        remembering.fails = RuntimeError("secret text")
        told = await refused(client, "memory_recall", query="q")
    assert "secret" not in told
    assert "unexpected error" in told


async def test_without_its_services_a_tool_says_who_is_missing(gateway: Any, connect: Connect) -> None:
    async with connect(gateway, "http") as client:
        assert "no ingest service answers" in await refused(client, "memory_retain", content="x")

"""The kind `mcp`: a server that nobody wrote an adapter for is asked and read as the configuration says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.server import MCPServer
from mcp.types import ToolAnnotations

from cortex_contracts.errors import Unavailable
from cortex_contracts.rpc.engine import SourceClass
from cortex_gateway.adapters import kinds
from cortex_gateway.adapters.dialect import ToolFailed
from cortex_gateway.adapters.port import Engine
from cortex_gateway.adapters.settings import EngineSource
from cortex_testkit.mcp_serving import serving


class Tickets:
    """A server of tickets with its own ideas of names."""

    def __init__(self, annotations: ToolAnnotations | None = None) -> None:
        self.calls: list[dict[str, Any]] = []
        self.answer: Any = {
            "page": {
                "rows": [
                    {"ref": 7, "head": "Crane stopped", "body": {"md": "The harbour crane is stopped."}, "fit": 0.4,
                     "touched": "2026-11-20"},
                    {"ref": 9, "head": "Sheep", "body": {"md": "Sheep on the dike."}, "fit": 0.1, "touched": None},
                ]
            }
        }  # fmt: skip
        self.server = MCPServer("tickets")
        self.server.add_tool(self._find, name="find_tickets", description="Find.", annotations=annotations)
        self.server.add_tool(self._close, name="close_ticket", description="Close.")

    async def _find(self, phrase: str, most: int = 50, status: str = "any") -> dict[str, Any]:
        self.calls.append({"phrase": phrase, "most": most, "status": status})
        return dict(self.answer)

    async def _close(self, ref: int) -> str:
        self.calls.append({"closed": ref})
        return "closed"


DESCRIBED: dict[str, Any] = {
    "key": "tickets",
    "tool": "find_tickets",
    "arguments": {"phrase": "{query}", "most": "{k}", "status": "open"},
    "fields": {
        "hits": "page.rows",
        "title": "head",
        "path": "ref",
        "snippet": "body.md",
        "score": "fit",
        "date": "touched",
        "scale": "similarity",
        "unrelated": 0.1,
        "perfect": 0.5,
    },
}


@asynccontextmanager
async def asked(tickets: Tickets, transport: str = "http", **more: Any) -> AsyncIterator[Engine]:
    async with serving(tickets.server, "sse" if transport == "sse" else "http") as url:
        engine = kinds.engine(EngineSource.model_validate({**DESCRIBED, "url": url, **more}))
        try:
            await engine.open()
            yield engine
        finally:
            await engine.close()


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_new_engine_is_configuration_and_no_code(transport: str):
    tickets = Tickets()
    async with asked(tickets, transport) as engine:
        best, other = await engine.search("Is the harbour crane stopped?", 4)
        assert await engine.last_ingest() is None
    assert tickets.calls == [{"phrase": "Is the harbour crane stopped?", "most": 4, "status": "open"}]
    assert (best.title, best.path, best.snippet) == ("Crane stopped", "7", "The harbour crane is stopped.")
    assert (best.native_score, best.source_class, best.confidence) == (0.4, SourceClass.OLDER_NOTE, 0.8)
    assert best.last_seen is not None
    assert best.relevance > 0.7
    assert (other.relevance, other.last_seen) == (0.0, None)


async def test_what_is_not_described_is_guessed_from_usual_names():
    tickets = Tickets()
    tickets.answer = {"results": [{"title": "Crane", "content": "The crane is stopped.", "url": "https://x.org/7"}]}
    async with asked(tickets, arguments={"phrase": "{query}"}, fields={}, confidence=1.0) as engine:
        [hit] = await engine.search("crane", 4)
    assert (hit.title, hit.path, hit.confidence) == ("Crane", "https://x.org/7", 1.0)
    assert hit.relevance == 0.8


@pytest.mark.parametrize(
    "annotations",
    [
        ToolAnnotations(read_only_hint=False),
        ToolAnnotations(destructive_hint=True),
        ToolAnnotations(read_only_hint=False, destructive_hint=False),
    ],
)
async def test_a_tool_that_says_that_it_writes_is_not_called(annotations: ToolAnnotations):
    tickets = Tickets(annotations)
    async with serving(tickets.server) as url:
        engine = kinds.engine(EngineSource.model_validate({**DESCRIBED, "url": url}))
        for attempt in (engine.open(), engine.search("crane", 4)):
            with pytest.raises(Unavailable, match="find_tickets says that it writes"):
                await attempt
        await engine.close()
    assert tickets.calls == []


@pytest.mark.parametrize("annotations", [None, ToolAnnotations(read_only_hint=True), ToolAnnotations(title="Find")])
async def test_a_tool_that_reads_or_says_nothing_is_called(annotations: ToolAnnotations | None):
    async with asked(Tickets(annotations)) as engine:
        assert await engine.search("crane", 4)


async def test_an_error_inside_a_success_is_an_error_and_nothing_is_no_hit():
    tickets = Tickets()
    async with asked(tickets) as engine:
        tickets.answer = {"error": "the index is closed"}
        with pytest.raises(ToolFailed, match="the index is closed"):
            await engine.search("crane", 4)
        tickets.answer = {"page": {"rows": []}}
        assert await engine.search("crane", 4) == []


async def test_a_server_without_search_is_asked_word_by_word():
    tickets = Tickets()
    tickets.answer = {"entities": [{"name": "Crane", "observations": ["is stopped"]}], "relations": []}
    async with asked(tickets, arguments={"phrase": "x {word} {query}"}, fields={}) as engine:
        [hit] = await engine.search("Who stopped the {word} crane?", 4)
        assert await engine.search("?", 4) == []
    assert sorted(call["phrase"] for call in tickets.calls) == [
        f"x {word} Who stopped the {{word}} crane?" for word in ("crane", "stop", "word")
    ]
    assert (hit.title, hit.snippet) == ("Crane", "is stopped")


async def test_an_answer_that_only_says_that_nothing_was_found_is_no_hit():
    question = "Why was the harbour crane stopped on the evening of the storm? " * 5
    tickets = Tickets()
    async with asked(tickets, fields={}) as engine:
        for said in (f"No results found for '{question}'", question, "Your search did not match any documents."):
            tickets.answer = {"message": said, "content": said}
            assert await engine.search(question, 4) == []

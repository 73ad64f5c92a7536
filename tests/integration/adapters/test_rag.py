"""The engine `rag` against a real MCP server that answers in every form."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from cortex_contracts.errors import Unavailable
from cortex_contracts.rpc.engine import SourceClass
from cortex_gateway.adapters import kinds
from cortex_gateway.adapters.dialect import ToolFailed
from cortex_gateway.adapters.port import Engine
from cortex_gateway.adapters.settings import EngineSource
from cortex_testkit.mcp_serving import serving
from cortex_testkit.rag_server import FORMS, Document, Form, RagServer, prose

DOCUMENTS = (
    Document("/srv/yard/crane.md", "# The crane\nThe harbour crane stands at quay 7.\nstatus: stopped"),
    Document("/srv/yard/night.md", "The night shift begins at ten and has two people."),
    Document("/srv/yard/رافعة.md", "رافعة الميناء عند الرصيف السابع."),
)
FLOOR = 0.2


@asynccontextmanager
async def asked(server: RagServer, transport: str = "http", **source: object) -> AsyncIterator[Engine]:
    async with serving(server.mcp(), "sse" if transport == "sse" else "http") as url:
        engine = kinds.engine(EngineSource.model_validate({"key": "rag", "url": url, "root": "/srv/yard", **source}))
        try:
            await engine.open()
            yield engine
        finally:
            await engine.close()


@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
async def test_the_document_that_answers_is_found_in_every_form_and_the_others_stay_below_the_floor(
    form: Form, structured: bool
):
    async with asked(RagServer(DOCUMENTS, form=form, structured=structured)) as engine:
        best, *others = await engine.search("Where does the harbour crane stand?", 3)
        assert best.path == "crane.md"
        assert "stands at quay 7" in best.snippet
        assert best.relevance > 0.5
        assert best.source_class is SourceClass.RECENT_FILE
        assert all(other.relevance < FLOOR for other in others)
        assert (await engine.search("أين رافعة الميناء؟", 3))[0].path == "رافعة.md"
        assert all(hit.relevance < FLOOR for hit in await engine.search("Who won the chess tournament?", 3))


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_it_asks_for_as_many_as_are_wanted_and_calls_nothing_that_writes(transport: str):
    server = RagServer(DOCUMENTS)
    async with asked(server, transport) as engine:
        assert len(await engine.search("crane", 2)) == 2
        assert server.asked == [("homelab_search", {"query": "crane", "top_k": 2})]
        assert await engine.last_ingest() is None


@pytest.mark.parametrize("form", [FORMS[0], prose])
async def test_where_a_search_finds_nothing_the_context_is_asked_for(form: Form):
    server = RagServer(DOCUMENTS, form=form, finds=False)
    async with asked(server) as engine:
        found = await engine.search("Where is the crane?", 5)
    assert [name for name, _ in server.asked] == ["homelab_search", "homelab_context"]
    assert any("quay 7" in hit.snippet for hit in found)


async def test_a_server_with_the_context_alone_is_enough_and_may_say_when_it_indexed():
    async with asked(RagServer(DOCUMENTS, tools=("homelab_context", "homelab_status"))) as engine:
        assert (await engine.search("Where is the crane?", 5))[0].relevance > 0.3
        assert await engine.last_ingest() == datetime(2026, 11, 29, 1, 2, 3, tzinfo=UTC)


async def test_a_server_that_has_none_of_its_tools_is_down():
    async with serving(RagServer(DOCUMENTS, tools=()).mcp()) as url:
        engine = kinds.engine(EngineSource.model_validate({"key": "rag", "url": url}))
        with pytest.raises(Unavailable, match="homelab_search"):
            await engine.open()
        await engine.close()


async def test_an_error_inside_a_success_is_an_error():
    async with asked(RagServer(DOCUMENTS, error="index is being rebuilt")) as engine:
        with pytest.raises(ToolFailed, match="index is being rebuilt"):
            await engine.search("crane", 5)


async def test_class_and_confidence_are_as_configured():
    async with asked(RagServer(DOCUMENTS), source_class="live-infra", confidence=0.4) as engine:
        [hit] = await engine.search("crane", 1)
    assert (hit.source_class, hit.confidence) == (SourceClass.LIVE_INFRA, 0.4)

"""The engine `cognee` against a server that answers as its document says, and against ones that fail."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.responses import HTMLResponse, JSONResponse, Response

from cortex_contracts.errors import CortexError, Unavailable
from cortex_contracts.rpc.engine import SourceClass
from cortex_gateway.adapters import kinds
from cortex_gateway.adapters.json_api import Refused
from cortex_gateway.adapters.port import Engine
from cortex_gateway.adapters.settings import EngineSource
from cortex_testkit.cognee_server import CogneeServer, running

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln"


def chunk(text: str, document: str, **more: Any) -> dict[str, Any]:
    return {
        "id": "8d1ff0cb-9a0c-5a9d-a0c0-b7c2a8a2f1aa",
        "created_at": 1_795_000_000_000,
        "updated_at": 1_795_000_000_000,
        "type": "DocumentChunk",
        "text": text,
        "chunk_size": 12,
        "chunk_index": 0,
        "cut_type": "paragraph_end",
        "document_name": document,
        **more,
    }


CHUNKS = [
    ("yard", chunk("The harbour crane is stopped.", "crane.md")),
    ("yard", chunk("Sheep graze upon the dike.", "sheep.md")),
    ("ops", chunk("The night crane shift begins at ten.", "night.md")),
]


@asynccontextmanager
async def opened(url: str, **source: Any) -> AsyncIterator[Engine]:
    engine = kinds.engine(EngineSource.model_validate({"key": "cognee", "url": url, **source}))
    try:
        await engine.open()
        yield engine
    finally:
        await engine.close()


@pytest.mark.parametrize("access_control", [True, False])
async def test_chunks_are_read_in_both_forms_and_no_model_is_asked(access_control: bool):
    server = CogneeServer(chunks=list(CHUNKS), access_control=access_control)
    async with running(server), opened(server.url + "/api/v1") as engine:
        best, *others = await engine.search("Is the harbour crane stopped?", 3)
        assert await engine.last_ingest() == datetime(2026, 11, 20, 8, tzinfo=UTC)
    assert best.snippet == "The harbour crane is stopped."
    assert best.path == ("yard/crane.md" if access_control else "crane.md")
    assert best.title == "crane.md"
    assert best.source_class is SourceClass.AGENT_MEMORY
    assert best.last_seen == datetime.fromtimestamp(1_795_000_000, UTC)
    assert best.relevance > 0.7
    assert all(other.relevance < 0.3 for other in others)
    [(_, body)] = [one for one in server.requests if one[0] == "search"]
    assert body == {"searchType": "CHUNKS", "query": "Is the harbour crane stopped?", "topK": 3}


async def test_only_the_configured_datasets_are_searched():
    server = CogneeServer(chunks=list(CHUNKS))
    async with running(server), opened(server.url, datasets=["ops"]) as engine:
        assert [hit.path for hit in await engine.search("crane", 9)] == ["ops/night.md"]
    async with running(server), opened(server.url, datasets=["ops", "oops"]) as engine:
        with pytest.raises(Refused, match=r"404 \(DatasetNotFoundError\)"):
            await engine.search("crane", 9)


@pytest.mark.parametrize("token", [JWT, "an-api-key"])
async def test_a_token_goes_where_its_form_belongs(token: str):
    server = CogneeServer(chunks=list(CHUNKS), **({"bearer": token} if token is JWT else {"api_key": token}))
    async with running(server):
        async with opened(server.url, token=token) as engine:
            assert await engine.search("crane", 1)
        with pytest.raises(Unavailable, match="refused the token") as caught:
            async with opened(server.url, token="wrong-token"):
                pass
    assert "wrong-token" not in str(caught.value)


@pytest.mark.parametrize(
    "failure",
    [
        JSONResponse({"detail": "embedder away crane [EmbeddingException]"}, 422),
        JSONResponse({"error": "x crane", "detail": "y"}, 409),
        JSONResponse({"error": "x crane", "detail": "y"}, 500),
    ],
)
async def test_a_search_that_fails_is_followed_by_the_next_kind(failure: Response):
    server = CogneeServer(chunks=list(CHUNKS), failures={"search": [failure]})
    async with running(server), opened(server.url) as engine:
        assert (await engine.search("crane", 1))[0].relevance > 0.5
    assert [body["searchType"] for route, body in server.requests if route == "search"] == ["CHUNKS", "CHUNKS_LEXICAL"]


async def test_a_server_that_knows_none_but_summaries_is_asked_for_them():
    server = CogneeServer(chunks=list(CHUNKS), searches=("GRAPH_COMPLETION", "SUMMARIES"))
    async with running(server), opened(server.url) as engine:
        assert await engine.search("crane", 1)
    assert server.requests[-1][1]["searchType"] == "SUMMARIES"


async def test_a_server_that_holds_nothing_yet_finds_nothing():
    async with running(CogneeServer()) as server, opened(server.url) as engine:
        assert await engine.search("crane", 5) == []


@pytest.mark.parametrize(
    ("failure", "kind", "sentence"),
    [
        (JSONResponse({"detail": [{"loc": ["body", "topK"]}], "body": "crane"}, 400), Refused, r"400 \(fields: topK\)"),
        (JSONResponse({"error": "crane", "detail": "crane [SearchError]"}, 409), Refused, r"409 \(SearchError\)"),
        (JSONResponse({"error": "errored", "detail": "crane"}, 420), Refused, "420"),
        (JSONResponse({"answer": "crane"}), Unavailable, "no list of results"),
        (HTMLResponse("<p>crane"), Unavailable, "not JSON: check CORTEX_COGNEE_API_URL"),
        (JSONResponse({"detail": "crane"}, 503), Unavailable, "503"),
    ],
)
async def test_what_goes_wrong_is_one_sentence_without_what_was_asked(
    failure: Response, kind: type[CortexError], sentence: str
):
    server = CogneeServer(chunks=list(CHUNKS), failures={"search": [failure] * 3})
    async with running(server), opened(server.url) as engine:
        with pytest.raises(kind, match=sentence) as caught:
            await engine.search("crane", 5)
    assert "crane" not in str(caught.value)

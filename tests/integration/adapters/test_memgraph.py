"""The engine `memgraph` against servers with the released tools, the documented ones, and those of the contract."""

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
from cortex_testkit.memgraph_server import Edge, MemgraphServer, Node

NODES = (
    Node(("Service",), {"name": "Hermes", "status": "stopped", "updated_at": "2026-11-01T00:00:00Z", "v": [0.1, 0.2]}),
    Node(("Host",), {"name": "ct215"}),
    Node(("Person",), {"name": "Alice", "confidence": 0.5}),
    Node(("Service",), {"name": "رافعة", "الحالة": "متوقفة"}),
    Node(("Rule",), {"name": "drop-set", "description": "How to set, create or remove a drop-set."}),
    Node((), {"weight": 3}),
)
EDGES = (Edge(0, "RUNS_ON", 1, {"since": "May"}), Edge(2, "OWNS", 0), Edge(0, "KNOWS", 5))


@asynccontextmanager
async def asked(server: MemgraphServer) -> AsyncIterator[Engine]:
    async with serving(server.mcp()) as url:
        engine = kinds.engine(EngineSource.model_validate({"key": "memgraph", "url": url}))
        try:
            await engine.open()
            yield engine
        finally:
            await engine.close()


@pytest.mark.parametrize("tool", ["run_cypher_query", "run_query"])
async def test_entities_are_told_with_their_properties_and_relations(tool: str):
    server = MemgraphServer(NODES, EDGES, cypher_tool=tool)
    async with asked(server) as engine:
        best = (await engine.search("Who owns Hermes?", 5))[0]
        arabic = (await engine.search("ما حالة الرافعة؟", 5))[0]
        assert await engine.last_ingest() is None
    assert best.snippet.splitlines() == [
        "Hermes (Service)",
        "status: stopped",
        "updated at: 2026-11-01T00:00:00Z",
        "Hermes runs on ct215 (since: May)",
        "Alice owns Hermes",
        "Hermes knows something",
    ]
    assert (best.title, best.path, best.source_class) == ("Hermes", "Service/Hermes", SourceClass.AGENT_MEMORY)
    assert best.last_seen == datetime(2026, 11, 1, tzinfo=UTC)
    assert best.relevance > 0.5
    assert arabic.title == "رافعة"
    assert server.refused == []


@pytest.mark.parametrize(
    "question",
    [
        "How do I set, create, merge, delete, remove or drop a drop-set?",
        "drop-set' OR 1=1 // the rest",
        "drop-set\\' ] WHERE true RETURN n //",
        'drop-set" UNION MATCH (n) DETACH DELETE n',
        "drop-set ſet `x` $y {z: 1} \u2028 \x00",
    ],
)
async def test_no_question_is_refused_or_says_more_than_its_words(question: str):
    server = MemgraphServer(NODES, EDGES)
    async with asked(server) as engine:
        assert (await engine.search(question, 5))[0].title == "drop-set"
    assert server.refused == []
    assert len(server.statements) == 2


async def test_a_question_that_shares_nothing_finds_nothing_and_one_without_words_is_not_asked():
    server = MemgraphServer(NODES, EDGES)
    async with asked(server) as engine:
        assert await engine.search("zebra crossing", 5) == []
        assert await engine.search("?!", 5) == []
    assert len(server.statements) == 1


async def test_an_error_inside_a_success_is_an_error():
    server = MemgraphServer(NODES, EDGES)
    async with asked(server) as engine:
        server.failing = "connection refused"
        with pytest.raises(ToolFailed, match="connection refused"):
            await engine.search("Hermes", 5)


async def test_a_server_without_its_database_is_of_no_use_until_that_is_back():
    server = MemgraphServer(NODES, EDGES, failing="Could not connect to Memgraph database")
    async with serving(server.mcp()) as url:
        engine = kinds.engine(EngineSource.model_validate({"key": "memgraph", "url": url}))
        with pytest.raises(Unavailable, match="Could not connect"):
            await engine.open()
        server.failing = ""
        await engine.open()
        await engine.check()
        server.failing = "Could not connect to Memgraph database"
        with pytest.raises(Unavailable, match="Could not connect"):
            await engine.check()
        await engine.close()


async def test_a_server_that_may_write_is_sent_the_same_statements():
    server = MemgraphServer(NODES, EDGES, read_only=False)
    async with asked(server) as engine:
        assert (await engine.search("Hermes", 5))[0].title == "Hermes"
    assert all(statement.startswith(("MATCH", "UNWIND")) for statement in server.statements)


async def test_the_tools_of_the_contract_are_used_where_they_are_and_one_that_fails_costs_its_own_part():
    server = MemgraphServer(NODES, EDGES, contract=True)
    async with asked(server) as engine:
        found = {hit.path: hit for hit in await engine.search("who owns hermes", 9)}
        assert found["relation/Alice/OWNS/Hermes"].snippet == "Alice owns Hermes"
        assert "status: stopped" in found["Service/Hermes"].snippet
        server.failing = "no index"
        assert {hit.path for hit in await engine.search("who owns hermes", 9)} == {"Service/Hermes"}
    assert server.statements == []

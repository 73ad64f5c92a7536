"""The engine `memgraph`: a graph of decisions, owners and handoffs.

The tools of the contract (`query_entities`, `query_relations`) are used where the server has them. The released server
(mcp-memgraph 0.4.1) has none of them and takes Cypher: it is sent two statements of our own that only read (`cypher`).
Run it with MCP_READ_ONLY=true, its default, all the same.

Relevance: by words alone, since neither way gives a score that means something (a score of `query_entities` is read as
one without a scale). A node is found by pieces of words, and judged by whole ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from pydantic import JsonValue

from cortex_contracts.errors import Unavailable
from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.adapters import cypher, graph_records
from cortex_gateway.adapters.dialect import ToolFailed, Tools
from cortex_gateway.adapters.findings import Finding, hits
from cortex_gateway.adapters.mcp_engine import McpEngine
from cortex_gateway.adapters.needles import needles
from cortex_gateway.adapters.rag import arguments, standing
from cortex_gateway.adapters.records import read
from cortex_gateway.adapters.relevance import WORDED, recognised
from cortex_gateway.adapters.settings import EngineSource
from cortex_gateway.adapters.side_by_side import side_by_side
from cortex_gateway.adapters.tool_answer import ToolAnswer, refusal

CONFIDENCE: Final = 0.9
"""Of what was taken out of texts and put into a graph."""
NODES: Final = 50
"""Nodes that are looked at, at least: those that share most pieces of words need not share most words."""
SENTENCES: Final = 12
"""Relations that one hit tells."""


class MemgraphDialect:
    """How the graph's server is spoken to."""

    purposes: Mapping[str, tuple[str, ...]] = {
        "entities": ("query_entities",),
        "relations": ("query_relations",),
        "cypher": ("run_cypher_query", "run_query"),
    }
    required = frozenset({"entities", "relations", "cypher"})

    def __init__(self, source: EngineSource) -> None:
        self._standing = standing(source, SourceClass.AGENT_MEMORY, CONFIDENCE)

    async def prove(self, tools: Tools) -> None:
        """The database behind the server answers; the server itself starts and lists its tools without one.

        Raises:
            Unavailable: it does not.
        """
        if tools.has("cypher") and not (tools.has("entities") or tools.has("relations")):
            try:
                await self._run(tools, cypher.ALIVE)
            except ToolFailed as error:
                raise Unavailable(error.message) from None

    async def search(self, tools: Tools, query: str, k: int) -> Sequence[Hit]:
        """Entities and relations that share words with the question."""
        if tools.has("entities") or tools.has("relations"):
            found = await self._told(tools, query, k)
        else:
            found = await self._queried(tools, query, k)
        scored = any(one.score is not None for one in found)
        measure = recognised([one.score for one in found]) if scored else WORDED
        return hits(query, found, k, measure, self._standing)

    async def last_ingest(self, tools: Tools) -> datetime | None:  # noqa: ARG002 - the port's signature
        """It cannot be told without reading the whole graph."""
        return None

    async def _told(self, tools: Tools, query: str, k: int) -> list[Finding]:
        """By the tools of the contract, side by side; one that fails costs its own part only."""
        asked = [purpose for purpose in ("entities", "relations") if tools.has(purpose)]
        outcomes = await side_by_side(*(self._attempt(tools, purpose, query, k) for purpose in asked))
        if all(isinstance(outcome, ToolFailed) for outcome in outcomes):
            raise next(outcome for outcome in outcomes if isinstance(outcome, ToolFailed))
        return [one for outcome in outcomes if not isinstance(outcome, ToolFailed) for one in outcome]

    async def _attempt(self, tools: Tools, purpose: str, query: str, k: int) -> list[Finding] | ToolFailed:
        try:
            answer = await tools.call(purpose, arguments(tools, purpose, query, k))
            _accept(answer)
        except ToolFailed as error:
            return error
        if answer.data is None:
            return list(read(None, answer.text).found)
        one, other = graph_records.entities, graph_records.relations
        first, then = (one, other) if purpose == "entities" else (other, one)
        return first(answer.data) or then(answer.data) or list(read(answer.data, answer.text).found)

    async def _queried(self, tools: Tools, query: str, k: int) -> list[Finding]:
        wanted = [form for forms in needles(query) for form in forms]
        if not wanted:
            return []
        rows = await self._run(tools, cypher.entities(wanted, max(NODES, k)))
        ids = [one for row in rows if isinstance(one := row.get("node_id"), int) and not isinstance(one, bool)]
        around: dict[object, list[Mapping[str, JsonValue]]] = defaultdict(list)
        if ids:
            for row in await self._run(tools, cypher.relations(ids)):
                around[row.get("node_id")].append(row)
        return [found for row in rows if (found := _entity(row, around[row.get("node_id")])) is not None]

    async def _run(self, tools: Tools, statement: str) -> list[Mapping[str, JsonValue]]:
        answer = await tools.call("cypher", {tools.pick("cypher", "query", "cypher", "statement"): statement})
        _accept(answer)
        rows = answer.data if isinstance(answer.data, list) else []
        return [row for row in rows if isinstance(row, Mapping)]


def _accept(answer: ToolAnswer) -> None:
    if sentence := refusal(answer.data):
        raise ToolFailed(sentence)


def _entity(row: Mapping[str, JsonValue], around: Sequence[Mapping[str, JsonValue]]) -> Finding | None:
    properties = row.get("node_properties")
    if not isinstance(properties, Mapping):
        return None
    name = graph_records.name_of(properties)
    node: dict[str, JsonValue] = {"labels": row.get("node_labels"), "properties": dict(properties)}
    return graph_records.entity(node, [_sentence(name, relation) for relation in around[:SENTENCES]])


def _sentence(name: str, relation: Mapping[str, JsonValue]) -> str:
    held, about = relation.get("other_properties"), relation.get("about")
    other = (graph_records.name_of(held) if isinstance(held, Mapping) else "") or "something"
    subject, object_ = (name, other) if relation.get("outgoing") else (other, name)
    verb = str(relation.get("verb") or "is related to")
    return graph_records.sentence(subject, verb, object_, about if isinstance(about, Mapping) else None)


def engine(source: EngineSource) -> McpEngine:
    """The engine that is configured."""
    return McpEngine(source, MemgraphDialect(source))

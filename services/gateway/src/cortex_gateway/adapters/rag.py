"""The engine `rag`: the homelab's retrieval server, asked with `homelab_search`, or `homelab_context`.

What its answers look like is not documented, so they are read as those of any retrieval server (`records`), or as
`fields` of the configuration says.

Relevance: by `fields.scale` where it is configured; else the score is recognised by its name and its values
(`relevance.recognised`): a distance, a cosine, or a score without a scale; without one the order is what there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from pydantic import JsonValue

from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.adapters.dates import moment
from cortex_gateway.adapters.dialect import ToolFailed, Tools
from cortex_gateway.adapters.findings import Standing, hits
from cortex_gateway.adapters.mcp_engine import McpEngine
from cortex_gateway.adapters.reading import Reading
from cortex_gateway.adapters.records import first, placed
from cortex_gateway.adapters.relevance import recognised
from cortex_gateway.adapters.settings import EngineSource
from cortex_gateway.adapters.tool_answer import refusal

QUESTION: Final = ("query", "question", "q", "text", "search", "search_query", "prompt", "keywords", "input", "topic")
"""What servers call the argument that the question goes into."""
COUNT: Final = ("k", "top_k", "topK", "limit", "n_results", "max_results", "maxResults", "num_results", "n", "count")
INGESTED: Final = ("last_ingest", "last_ingested", "last_indexed", "last_index", "indexed_at", "last_updated")


class RagDialect:
    """How the retrieval server is spoken to."""

    purposes: Mapping[str, tuple[str, ...]] = {
        "search": ("homelab_search",),
        "context": ("homelab_context",),
        "status": ("homelab_status", "homelab_stats"),
    }
    required = frozenset({"search", "context"})

    def __init__(self, source: EngineSource) -> None:
        self._fields = source.fields
        self._standing = standing(source, SourceClass.RECENT_FILE)

    async def search(self, tools: Tools, query: str, k: int) -> Sequence[Hit]:
        """Searched; where that finds nothing, or is not there, what the server would tell a model about it."""
        found = await self._found(tools, "search", query, k)
        if not found.found:
            found = await self._found(tools, "context", query, k)
        measure = self._fields.measure or recognised([one.score for one in found.found], distance=found.distance)
        return hits(query, found.found, k, measure, self._standing)

    async def last_ingest(self, tools: Tools) -> datetime | None:
        """When the server says that it indexed, if it says so."""
        if not tools.has("status"):
            return None
        answer = await tools.call("status", {})
        return moment(first(answer.data, INGESTED)) if isinstance(answer.data, Mapping) else None

    async def _found(self, tools: Tools, purpose: str, query: str, k: int) -> Reading:
        if not tools.has(purpose):
            return Reading(())
        answer = await tools.call(purpose, arguments(tools, purpose, query, k))
        if sentence := refusal(answer.data):
            raise ToolFailed(sentence)
        return placed(answer.data, answer.text, self._fields)


def arguments(tools: Tools, purpose: str, query: str, k: int) -> dict[str, JsonValue]:
    """The question, and how many results are wanted where that can be said. Raises ToolsChanged."""
    given: dict[str, JsonValue] = {tools.pick(purpose, *QUESTION): query}
    accepted = tools.accepts(purpose)
    return given | dict.fromkeys([name for name in COUNT if name in accepted][:1], k)


def standing(source: EngineSource, source_class: SourceClass, confidence: float = 1.0) -> Standing:
    """What hits of `source` are worth: as it is configured, else as its adapter says."""
    return Standing(
        source_class=source.source_class or source_class,
        confidence=confidence if source.confidence is None else source.confidence,
        root=source.root,
    )


def engine(source: EngineSource) -> McpEngine:
    """The engine that is configured."""
    return McpEngine(source, RagDialect(source))

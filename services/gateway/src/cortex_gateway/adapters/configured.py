"""The kind `mcp`: any MCP server whose search tool, arguments and results are described in the configuration.

Only the one tool that is named is ever called. A tool whose own annotations say that it writes (`readOnlyHint` false,
or `destructiveHint` true without `readOnlyHint`) is refused; one without annotations is the operator's word.

A server that has no search but looks for a piece of text (the reference servers for memory and files, grep) finds no
question in its texts: with `{word}` in its arguments it is asked once for each telling word, side by side.

Relevance: by `fields.scale`, with `unrelated` and `perfect` where the operator knows them; else as the score looks
(`relevance.recognised`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from pydantic import JsonValue

from cortex_contracts.errors import Unavailable
from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.adapters.dialect import ToolFailed, Tools
from cortex_gateway.adapters.findings import Finding, hits
from cortex_gateway.adapters.mcp_engine import McpEngine
from cortex_gateway.adapters.needles import needles
from cortex_gateway.adapters.rag import arguments, standing
from cortex_gateway.adapters.reading import Reading
from cortex_gateway.adapters.records import placed
from cortex_gateway.adapters.relevance import WORDED, recognised
from cortex_gateway.adapters.settings import EngineSource
from cortex_gateway.adapters.side_by_side import side_by_side
from cortex_gateway.adapters.tool_answer import refusal

CONFIDENCE: Final = 0.8
"""Of an engine that nobody vouches for in code; `confidence` says better."""
WORDS: Final = 6
"""Calls of one question that is asked word by word."""


class ConfiguredDialect:
    """How a server that is described in the configuration is spoken to."""

    required = frozenset({"search"})

    def __init__(self, source: EngineSource) -> None:
        self.purposes: Mapping[str, tuple[str, ...]] = {"search": (source.tool,)}
        self._template = source.arguments
        self._by_word = filled(self._template, "", 0, "a") != filled(self._template, "", 0, "b")
        self._fields = source.fields
        self._standing = standing(source, SourceClass.OLDER_NOTE, CONFIDENCE)

    async def prove(self, tools: Tools) -> None:
        """Its tool may be called. Raises Unavailable."""
        if tools.writes("search"):
            raise Unavailable(f"its tool {tools.name('search')} says that it writes: it is not called")

    async def search(self, tools: Tools, query: str, k: int) -> Sequence[Hit]:
        """What the tool finds."""
        await self.prove(tools)
        if not self._by_word:
            given = filled(self._template, query, k) if self._template else arguments(tools, "search", query, k)
            reading = await self._asked(tools, given)
            measure = self._fields.measure or recognised(
                [one.score for one in reading.found], distance=reading.distance
            )
            return hits(query, reading.found, k, measure, self._standing)
        words = [forms[0] for forms in needles(query)[:WORDS]]
        readings = await side_by_side(*(self._asked(tools, filled(self._template, query, k, word)) for word in words))
        # What several words find is one finding; the scores of several answers do not compare.
        found: dict[tuple[str, str, str], Finding] = {}
        for one in (one for reading in readings for one in reading.found):
            found.setdefault((one.path, one.title, one.text), one)
        return hits(query, list(found.values()), k, self._fields.measure or WORDED, self._standing)

    async def last_ingest(self, tools: Tools) -> datetime | None:  # noqa: ARG002 - the port's signature
        """It is not told."""
        return None

    async def _asked(self, tools: Tools, given: Mapping[str, JsonValue]) -> Reading:
        answer = await tools.call("search", given)
        if sentence := refusal(answer.data):
            raise ToolFailed(sentence)
        return placed(answer.data, answer.text, self._fields)


def filled(template: Mapping[str, JsonValue], query: str, k: int, word: str = "") -> dict[str, JsonValue]:
    """The arguments: `{query}`, `{k}` and `{word}` of the template replaced, at any depth. A string that is `{k}` alone
    becomes the number; what the question itself holds is not replaced again."""
    return {name: _filled(value, query, k, word) for name, value in template.items()}


def _filled(value: JsonValue, query: str, k: int, word: str) -> JsonValue:
    if isinstance(value, str):
        if value == "{k}":
            return k
        parts = value.split("{query}")
        return query.join(part.replace("{k}", str(k)).replace("{word}", word) for part in parts)
    if isinstance(value, list):
        return [_filled(one, query, k, word) for one in value]
    if isinstance(value, Mapping):
        return {name: _filled(one, query, k, word) for name, one in value.items()}
    return value


def engine(source: EngineSource) -> McpEngine:
    """The engine that is configured."""
    return McpEngine(source, ConfiguredDialect(source))

"""codebase-memory-mcp (`cbm`): a graph of the code, indexed: structure, who calls whom, what a change reaches.

A question becomes a few calls, side by side, in rounds, as with `serena`:

1. `search_graph` with the question's words (ranked by its full text index) and for each name by pattern; questions
   about structure also ask `get_architecture`.
2. The source of the best symbols (`get_code_snippet`), and for "who calls X" and "what does X call" one hop of
   `trace_path` from the best of them.
3. Where what was traced is: `search_graph` by qualified name.

Nearly every tool wants a `project`: the configured one, else the only one that `list_projects` names. Answers are asked
for as JSON where the tool's schema knows `format`, and read in any form (`code_tables`).

Relevance: `code_hits`. The engine's own rank (a BM25 score with bonuses, smaller is better) has no scale and becomes
the native score only. What it says is as old as its index, whose date no tool tells: a hit has one only when its source
was read, which the engine does from the file as it is now, and the symbol's name is still there. Confidence is 0.9:
edges of the graph are inferred.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from pydantic import JsonValue

from cortex_contracts.rpc.engine import Hit
from cortex_gateway.adapters import code_graph, code_hits, code_tables
from cortex_gateway.adapters.code_graph import Node
from cortex_gateway.adapters.code_hits import CodeHits
from cortex_gateway.adapters.code_lookup import LATER_ROUNDS_END, Calls
from cortex_gateway.adapters.code_question import Aim, CodeQuestion, pieces, read
from cortex_gateway.adapters.dialect import ToolFailed, Tools
from cortex_gateway.adapters.mcp_engine import McpEngine
from cortex_gateway.adapters.port import Engine
from cortex_gateway.adapters.settings import EngineSource

CONFIDENCE: Final = 0.9
MOST_NAMES: Final = 3
MOST_SOURCES: Final = 4
MOST_TRACED: Final = 2
MOST_NEIGHBOURS: Final = 20
MOST_PROJECTS_NAMED: Final = 8
OVERVIEW_RELEVANCE: Final = 0.6
"""An overview answers a question about structure, if not all that it asks."""


class CbmDialect:
    """How cbm is asked; nothing but tools that read are used."""

    purposes: Mapping[str, tuple[str, ...]] = {
        "search": ("search_graph",),
        "architecture": ("get_architecture",),
        "projects": ("list_projects",),
        "trace": ("trace_path", "trace_call_path"),
        "source": ("get_code_snippet",),
    }
    required = frozenset({"search", "architecture"})

    def __init__(self, source: EngineSource) -> None:
        self._source = source
        self._project = source.project

    async def search(self, tools: Tools, query: str, k: int) -> Sequence[Hit]:
        """At most `k` hits, best first. Raises CortexError."""
        project = self._project or await _only_project(tools)
        try:
            hits = await _Lookup(self._source, tools, read(query), k, project).run()
        except ToolFailed:
            # The only project may be another one by now.
            self._project = self._source.project
            raise
        self._project = project
        return hits

    async def last_ingest(self, tools: Tools) -> datetime | None:  # noqa: ARG002
        """No tool tells when the index was made."""
        return None


def engine(source: EngineSource) -> Engine:
    """cbm as an engine."""
    return McpEngine(source, CbmDialect(source))


async def _only_project(tools: Tools) -> str:
    """The name of the project, when exactly one is indexed. Raises ToolFailed with what to do otherwise."""
    answer = await Calls(tools).call("projects", {}) if tools.has("projects") else None
    named = code_tables.read(answer).tables.get("projects", []) if answer is not None else []
    names = [name for row in named if (name := row.get("name", ""))]
    if len(names) == 1:
        return names[0]
    if not names:
        raise ToolFailed("cbm has indexed no project: index one, or set the engine's project in CORTEX_ENGINES")
    listed = ", ".join(names[:MOST_PROJECTS_NAMED]) + (", …" if len(names) > MOST_PROJECTS_NAMED else "")
    what = "set the engine's project in CORTEX_ENGINES to one of"
    raise ToolFailed(f"cbm has indexed {len(names)} projects: {what} {listed}")


class _Lookup:
    """One question: what was found so far, and what failed."""

    def __init__(self, source: EngineSource, tools: Tools, question: CodeQuestion, k: int, project: str) -> None:
        self._source = source
        self._calls = Calls(tools)
        self._question = question
        self._k = k
        self._project = project
        self._nodes: dict[str, Node] = {}
        self._seen: dict[str, datetime] = {}
        self._neighbours: list[tuple[Node, str]] = []
        self._hits: list[Hit] = []

    async def run(self) -> Sequence[Hit]:
        question = self._question
        ends = time.monotonic() + self._source.limit_s * LATER_ROUNDS_END
        searches = [self._find(name_pattern=_exactly(name)) for name in question.names[:MOST_NAMES]]
        searches += [self._find(file_pattern=f"*{file}") for file in question.files[:1]]
        # Without a word that its index can hold, search_graph would list everything.
        if text := _indexed(question):
            searches.append(self._find(query=text))
        if question.aim is Aim.STRUCTURE:
            searches.append(self._overview())
        await self._calls.each(searches)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, ends - time.monotonic())):
                await self._read_on()
        self._hits.extend(self._defined(node) for node in self._nodes.values())
        self._calls.judge(self._hits)
        return code_hits.best(self._hits, self._k)

    async def _read_on(self) -> None:
        ranked = sorted(self._nodes.values(), key=lambda node: -self._worth(node))
        starts = [node for node in ranked if node.callable] if self._question.aim in (Aim.CALLERS, Aim.CALLEES) else []
        await self._calls.each(
            [*map(self._read_source, ranked[:MOST_SOURCES]), *map(self._trace, starts[:MOST_TRACED])]
        )
        if self._neighbours:
            await self._calls.each([self._place()])

    async def _find(self, **by: JsonValue) -> None:
        if self._calls.has("search"):
            found = await self._search(**by)
            self._nodes.update((node.qualified, node) for node in found if self._worth(node) > 0)

    async def _search(self, **by: JsonValue) -> Sequence[Node]:
        limit = min(2 * self._k, MOST_NEIGHBOURS)
        answer = await self._calls.call("search", {"project": self._project, "limit": limit, "format": "json", **by})
        nodes = (code_graph.node(row, self._project) for row in code_tables.read(answer).results)
        return [node for node in nodes if node is not None]

    async def _overview(self) -> None:
        if not self._calls.has("architecture"):
            return
        wanted: dict[str, JsonValue] = {"project": self._project, "format": "json"}
        if aspects := code_graph.aspects(self._question.words):
            wanted["aspects"] = list(aspects)
        answer = await self._calls.call("architecture", wanted)
        if said := code_graph.overview(code_tables.read(answer), self._project):
            relevance = max(OVERVIEW_RELEVANCE, code_hits.of_words(self._question, said))
            made = CodeHits(self._source, None, CONFIDENCE)
            path = f"{self._project}#architecture"
            self._hits.append(made.hit(f"architecture of {self._project}", path, said, relevance))

    async def _read_source(self, node: Node) -> None:
        if not self._calls.has("source"):
            return
        wanted: dict[str, JsonValue] = {"project": self._project, "qualified_name": node.qualified, "format": "json"}
        answer = await self._calls.call("source", wanted)
        said = code_tables.read(answer).scalars
        text = said.get("source") or said.get("code") or ""
        # If its name is not there, the file has changed since it was indexed: these lines are something else now.
        if text and node.name in text:
            self._seen[node.qualified] = datetime.now(UTC)
            self._nodes[node.qualified] = replace(node, symbol=replace(node.symbol, text=text))

    async def _trace(self, node: Node) -> None:
        """Note what calls `node`, or what it calls."""
        if not self._calls.has("trace"):
            return
        inbound = self._question.aim is Aim.CALLERS
        wanted: dict[str, JsonValue] = {
            "function_name": node.name,
            "project": self._project,
            "direction": "inbound" if inbound else "outbound",
            "depth": 1,
            "limit": MOST_NEIGHBOURS,
            "format": "json",
        }
        answer = await self._calls.call("trace", wanted)
        rows = code_tables.read(answer).tables.get("callers" if inbound else "callees", [])
        names = (row.get("qn") or row.get("name", "") for row in rows[:MOST_NEIGHBOURS])
        self._neighbours.extend((node, name) for name in names if name)

    async def _place(self) -> None:
        """Make hits of the neighbours: where each of them is has to be asked for."""
        names = dict.fromkeys(name for _, name in self._neighbours)
        pattern = "^(?:" + "|".join(re.escape(name) for name in names) + ")$"
        placed = {node.qualified: node for node in await self._search(qn_pattern=pattern)}
        made = CodeHits(self._source, None, CONFIDENCE)
        for start, name in self._neighbours:
            other = placed.get(name) or code_graph.node({"qn": name}, self._project)
            if other is None or other.qualified == start.qualified:
                continue
            relevance = self._worth(start)
            if self._question.aim is Aim.CALLERS:
                self._hits.append(made.use(other.symbol, start.symbol.name, relevance, how="calls"))
            else:
                called = made.use(start.symbol, other.symbol.name, relevance, how="calls")
                path = code_hits.path_of(other.symbol.file, other.symbol.name, root=self._source.root)
                self._hits.append(called.model_copy(update={"path": path}))

    def _worth(self, node: Node) -> float:
        return code_hits.of_symbol(self._question, node.symbol)

    def _defined(self, node: Node) -> Hit:
        relevance = self._worth(node)
        if self._hits and self._question.aim in (Aim.CALLERS, Aim.CALLEES):
            relevance *= code_hits.BESIDE
        made = CodeHits(self._source, self._seen.get(node.qualified), CONFIDENCE)
        return made.definition(node.symbol, relevance, native=node.rank, more=node.links)


def _exactly(name: str) -> str:
    return f"^{re.escape(name.rpartition('/')[2])}$"


def _indexed(question: CodeQuestion) -> str:
    """The words that a full text index of ASCII tokens may hold: names as they are, in pieces, and the other words."""
    words = [name.rpartition("/")[2] for name in question.names]
    words += [piece for name in question.names for piece in pieces(name)]
    words += question.words
    return " ".join(dict.fromkeys(word for word in words if re.search("[A-Za-z0-9]", word)))

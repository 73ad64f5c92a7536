"""A server that answers as mcp-memgraph 0.4.1 does: its tools, its refusals, its errors inside of successes.

It holds a small graph. Of Cypher it knows what the adapter may say, and nothing else: it splits a statement into tokens
by Memgraph's grammar, with its string literals and escapes, so that whatever breaks out of a literal is a syntax error
or another statement, which it records in `refused`. As the real one, it refuses any statement that holds a word such
as SET in upper case, and says so in a success.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

WRITES = tuple(rf"\b{word}\b" for word in ("CREATE", "MERGE", "DELETE", "REMOVE", "SET", "DROP"))
TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<string>'(?:[^\\']|\\(?:[bfnrtBFNRT\\'"]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}))*'"""
    r"""|"(?:[^\\"]|\\(?:[bfnrtBFNRT\\'"]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}))*")"""
    r"|(?P<number>\d+)|(?P<word>[^\W\d]\w*)|(?P<sign>->|<-|<=|>=|<>|[()\[\]{}.,;:=<>+*/|-])",
)
ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}

ENTITIES = """
MATCH ( n )
WITH n , [ field IN keys ( n ) WHERE valueType ( n [ field ] ) STARTS WITH $ | toLower ( n [ field ] ) ]
+ [ word IN labels ( n ) | toLower ( word ) ] AS said
WITH n , [ needle IN [ … ] WHERE any ( part IN said WHERE part CONTAINS needle ) ] AS held
WHERE size ( held ) > 0
RETURN id ( n ) AS node_id , labels ( n ) AS node_labels , properties ( n ) AS node_properties ,
size ( held ) AS matched ORDER BY matched DESC LIMIT #""".split()
RELATIONS = """
UNWIND [ … ] AS wanted
MATCH ( n ) WHERE id ( n ) = wanted
MATCH ( n ) - [ r ] - ( m )
RETURN wanted AS node_id , type ( r ) AS verb , id ( startNode ( r ) ) = wanted AS outgoing ,
properties ( r ) AS about , labels ( m ) AS other_labels , properties ( m ) AS other_properties LIMIT #""".split()
"""What it runs: `$` is any string, `…` the items of a list, `#` a number."""
ALIVE = "RETURN 1 AS alive"
"""It runs this as well, which asks nothing: it is not among its `statements`."""


@dataclass(frozen=True)
class Node:
    """A node; its id is its place."""

    labels: tuple[str, ...]
    properties: dict[str, Any]


@dataclass(frozen=True)
class Edge:
    """A relation between two nodes, by their places."""

    start: int
    verb: str
    end: int
    properties: dict[str, Any] = field(default_factory=dict)


@dataclass
class MemgraphServer:
    """One server; change its fields while it runs."""

    nodes: Sequence[Node] = ()
    edges: Sequence[Edge] = ()
    read_only: bool = True
    contract: bool = False
    """Whether it has `query_entities` and `query_relations` instead, as the gateway contract says."""
    cypher_tool: str = "run_cypher_query"
    """`run_query` in older ones, and in its own documentation."""
    failing: str = ""
    """The database's complaint about every statement."""
    statements: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Statements that it would not run."""

    def mcp(self) -> MCPServer:
        """The server with its tools."""
        server = MCPServer("mcp-memgraph")
        if self.contract:
            server.add_tool(self._entities, name="query_entities", description="Entities.")
            server.add_tool(self._relations, name="query_relations", description="Relations.")
            return server
        reads = ToolAnnotations(read_only_hint=True)
        server.add_tool(self._list_databases, name="list_databases", description="Databases.", annotations=reads)
        server.add_tool(
            self._run,
            name=self.cypher_tool,
            description="Run a Cypher query.",
            annotations=ToolAnnotations(read_only_hint=self.read_only),
        )
        server.add_tool(self._search_schema, name="search_schema", description="Schema.", annotations=reads)
        return server

    async def _entities(self, query: str, limit: int = 10) -> list[dict[str, Any]]:
        words = query.lower().split()
        found = [node for node in self.nodes if any(word in str(node.properties).lower() for word in words)]
        return [{"type": node.labels[0], **node.properties} for node in found][:limit]

    async def _relations(self, query: str, limit: int = 10) -> dict[str, Any]:
        if self.failing:
            return {"error": self.failing}
        words = query.lower().split()
        told = [
            {"from": self._name(edge.start), "relation": edge.verb, "to": self._name(edge.end), **edge.properties}
            for edge in self.edges
        ]
        return {"relations": [one for one in told if any(word in str(one).lower() for word in words)][:limit]}

    async def _list_databases(self) -> list[dict[str, Any]]:
        return [{"name": "memgraph", "current": True}]

    async def _search_schema(self, pattern: str) -> list[dict[str, Any]]:
        return [{"labels": list(node.labels)} for node in self.nodes if re.search(pattern, str(node.labels), re.I)]

    async def _run(self, query: str) -> list[dict[str, Any]]:
        if query == ALIVE and not self.failing:
            return [{"alive": 1}]
        self.statements.append(query)
        if self.read_only and any(re.search(pattern, query.upper()) for pattern in WRITES):
            self.refused.append(query)
            return [
                {
                    "error": "Write operations are not allowed in read-only mode",
                    "query": query,
                    "mode": "read-only",
                    "hint": "Set MCP_READ_ONLY=false to enable write operations",
                }
            ]
        if self.failing:
            return [{"error": f"Error running query: {self.failing}"}]
        try:
            return self._answer(query)
        except ValueError as error:
            self.refused.append(query)
            return [{"error": f"Error running query: {error}"}]

    def _answer(self, query: str) -> list[dict[str, Any]]:
        tokens = lexed(query)
        if (matched := match(tokens, ENTITIES)) is not None:
            (kind,), pieces, limit = matched
            if kind != "STRING":
                raise ValueError("a value has no such type")
            rows = [(self._held(node, strings_of(pieces)), at, node) for at, node in enumerate(self.nodes)]
            rows = sorted((row for row in rows if row[0]), key=lambda row: -row[0])
            return [
                {
                    "node_id": at,
                    "node_labels": list(node.labels),
                    "node_properties": dict(node.properties),
                    "matched": held,
                }
                for held, at, node in rows[:limit]
            ]
        if (matched := match(tokens, RELATIONS)) is not None:
            _, pieces, limit = matched
            wanted = [int(text) for kind, text in pieces if kind == "number"]
            return [row for one in wanted for row in self._around(one)][:limit]
        raise ValueError("line 1:0 mismatched input")

    def _held(self, node: Node, needles: list[str]) -> int:
        said = [text.lower() for text in node.properties.values() if isinstance(text, str)]
        said += [label.lower() for label in node.labels]
        return sum(any(needle in part for part in said) for needle in needles)

    def _around(self, wanted: int) -> list[dict[str, Any]]:
        found = []
        for edge in self.edges:
            if wanted in (edge.start, edge.end):
                other = self.nodes[edge.end if edge.start == wanted else edge.start]
                found.append(
                    {
                        "node_id": wanted,
                        "verb": edge.verb,
                        "outgoing": edge.start == wanted,
                        "about": dict(edge.properties),
                        "other_labels": list(other.labels),
                        "other_properties": dict(other.properties),
                    }
                )
        return found

    def _name(self, at: int) -> str:
        return str(self.nodes[at].properties.get("name", at))


Tokens = list[tuple[str, str]]


def lexed(query: str) -> Tokens:
    """The tokens of a statement, literals as what they mean. Raises ValueError where there is none."""
    found: Tokens = []
    at = 0
    while at < len(query):
        match = TOKEN.match(query, at)
        if match is None:
            raise ValueError(f"line 1:{at} token recognition error")
        at = match.end()
        kind = str(match.lastgroup)
        if kind == "string":
            found.append((kind, _meaning(match[0][1:-1])))
        elif kind != "space":
            found.append((kind, match[0]))
    return found


def _meaning(literal: str) -> str:
    return re.sub(
        r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)",
        lambda match: chr(int(match[1][1:], 16)) if len(match[1]) > 1 else ESCAPES[match[1].lower()],
        literal,
        flags=re.DOTALL,
    )


def match(tokens: Tokens, pattern: list[str]) -> tuple[list[str], Tokens, int] | None:
    """The strings, the items of the list and the limit of a statement of this form; none when it has another."""
    strings: list[str] = []
    pieces: Tokens = []
    limit = 0
    at = 0
    for wanted in pattern:
        kind, text = tokens[at] if at < len(tokens) else ("", "")
        if wanted == "…":
            while at < len(tokens) and tokens[at] != ("sign", "]"):
                pieces.append(tokens[at])
                at += 1
            continue
        if wanted == "$" and kind == "string":
            strings.append(text)
        elif wanted == "#" and kind == "number":
            limit = int(text)
        elif kind not in ("word", "sign", "number") or text != wanted:
            return None
        at += 1
    return (strings, pieces, limit) if at == len(tokens) else None


def strings_of(pieces: Tokens) -> list[str]:
    """The strings of a list, some of them sums in brackets. Raises ValueError when it holds anything else."""
    found: list[str] = []
    joined = False
    for kind, text in pieces:
        if kind == "string":
            if joined and found:
                found[-1] += text
            else:
                found.append(text)
            joined = False
        elif text == "+":
            joined = True
        elif text not in ("(", ")", ","):
            raise ValueError(f"mismatched input {text!r}")
    return found

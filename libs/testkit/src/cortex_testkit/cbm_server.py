"""A server that answers as codebase-memory-mcp does: its tools, its text tables and JSON, its errors.

It holds the graph of a small shop. In a test it runs on a port of its own (`running`); over stdio, the only transport
of the real one, it is a process: `python -m cortex_testkit.cbm_server`.
"""

from __future__ import annotations

import asyncio
import fnmatch
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from cortex_testkit.tei_server import served

PAGE: Final = 8
"""Tools in a page, for a client that sends a cursor."""
WRITING: Final = ("index_repository", "delete_project", "manage_adr", "ingest_traces")
READING: Final = (
    "search_graph", "query_graph", "trace_path", "get_code_snippet", "get_graph_schema", "get_architecture",
    "search_code", "list_projects", "index_status", "check_index_coverage", "detect_changes",
)  # fmt: skip
ARGUMENTS: Final = {
    "search_graph": (
        "project", "query", "name_pattern", "semantic_query", "label", "qn_pattern", "file_pattern", "relationship",
        "min_degree", "max_degree", "limit", "offset", "format", "fields", "detail",
    ),
    "get_architecture": ("project", "path", "aspects"),
    "trace_path": ("function_name", "project", "direction", "depth", "limit", "cursor", "format"),
    "get_code_snippet": ("qualified_name", "project"),
    "list_projects": (),
}  # fmt: skip

ARCHITECTURE: Final = """\
project: shop
aspects_hint: "Summary view (default). More on request via aspects:[...]"
total_nodes: 120
total_edges: 300
languages[2]{language,files}:
  Go,2
  "C, C++",3
packages[2]{name,nodes,fan_in,fan_out}:
  server,12,3,1
  orders,30,9,4
entry_points[1]{qn,file}:
  shop.cmd.server.main,cmd/server/main.go
layers: 2  (cols: name layer reason)
  server api "has HTTP route definitions"
  orders core "high fan-in (9 in, 4 out)"
"""


@dataclass(frozen=True)
class Node:
    """A symbol of the graph; `calls` are qualified names."""

    qn: str
    label: str
    file: str
    first: int
    last: int
    source: str
    calls: tuple[str, ...] = ()

    @property
    def lines(self) -> str:
        """Where it stands."""
        return f"{self.first}-{self.last}"


SHOP: Final = (
    Node(
        "shop.cmd.server.HandleOrder", "Function", "cmd/server/main.go", 10, 22,
        "func HandleOrder(w Writer, r *Request) {\n\tbook := orders.Open()\n\tbook.Place(r)\n}",
        ("shop.orders.book.Book.Place",),
    ),
    Node(
        "shop.cmd.server.main", "Function", "cmd/server/main.go", 24, 30,
        'func main() {\n\thttp.Handle("/orders", HandleOrder)\n}', ("shop.cmd.server.HandleOrder",),
    ),
    Node("shop.orders.book.Book", "Class", "orders/book.go", 3, 9, "type Book struct {\n\torders []Order\n}"),
    Node("shop.orders.book.Book.Place", "Method", "orders/book.go", 11, 14, "func (b *Book) Place(r *Request) {\n}"),
)  # fmt: skip


@dataclass
class CbmServer:
    """One server; change its fields while it runs."""

    nodes: Sequence[Node] = SHOP
    projects: Sequence[str] = ("shop",)
    knows_format: bool = True
    """Whether the schemas say `format`; without it everything is text."""
    changed: bool = False
    """Whether the files have changed since they were indexed."""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    url: str = ""

    def mcp(self) -> Server[Any]:
        """The server with its tools."""
        return Server("codebase-memory-mcp", on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, _context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = [self._tool(name) for name in (*WRITING, *READING)]
        if params is None or params.cursor is None:
            return types.ListToolsResult(tools=tools)
        start = int(params.cursor)
        following = str(start + PAGE) if start + PAGE < len(tools) else None
        return types.ListToolsResult(tools=tools[start : start + PAGE], next_cursor=following)

    def _tool(self, name: str) -> types.Tool:
        arguments = [one for one in ARGUMENTS.get(name, ("project",)) if self.knows_format or one != "format"]
        schema = {"type": "object", "properties": {one: {} for one in arguments}}
        return types.Tool(name=name, description=f"{name} of the graph.", input_schema=schema)

    async def _call(self, _context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        given = dict(params.arguments or {})
        self.calls.append((params.name, given))
        if params.name in WRITING:
            self.written.append(params.name)
        handlers: dict[str, Callable[[dict[str, Any]], tuple[str, bool]]] = {
            "list_projects": self._list_projects,
            "search_graph": self._search,
            "get_architecture": lambda _: (ARCHITECTURE, False),
            "trace_path": self._trace,
            "get_code_snippet": self._snippet,
        }
        handler = handlers.get(params.name)
        if handler is None:
            return _result(f"unknown tool: {params.name}", error=True)
        if params.name != "list_projects" and (refused := self._refused(given)):
            return _result(refused, error=True)
        text, error = handler(given)
        return _result(text, error=error)

    def _refused(self, given: dict[str, Any]) -> str:
        if not given.get("project"):
            hint = "Pass the project argument; list_projects shows what is indexed."
            return json.dumps({"error": "missing required argument: project", "hint": hint})
        if given["project"] not in self.projects:
            hint = "Use list_projects to see all indexed projects."
            listed = {"available_projects": list(self.projects), "count": len(self.projects)}
            return json.dumps({"error": "project not found or not indexed", "hint": hint, **listed})
        return ""

    def _list_projects(self, _given: dict[str, Any]) -> tuple[str, bool]:
        listed = [{"name": name, "root_path": f"/srv/{name}", "branch": "main"} for name in self.projects]
        counted = {"total": len(listed), "offset": 0, "limit": 50, "returned": len(listed), "has_more": False}
        return json.dumps({"projects": listed, **counted}), False

    def _search(self, given: dict[str, Any]) -> tuple[str, bool]:
        if isinstance(given.get("semantic_query"), str):
            return "semantic_query must be an array of keyword strings", True
        limit, as_json = int(given.get("limit", 50)), given.get("format") == "json"
        tokens = re.findall(r"[a-z0-9_]+", str(given.get("query", "")).lower())
        if tokens:
            return self._ranked(tokens, limit, as_json=as_json), False
        found = [node for node in self.nodes if self._matches(node, given)]
        return _grouped(found[:limit], len(found), as_json=as_json), False

    def _matches(self, node: Node, given: dict[str, Any]) -> bool:
        name = node.qn.rpartition(".")[2]
        return (
            bool(re.search(given.get("name_pattern", ""), name))
            and bool(re.search(given.get("qn_pattern", ""), node.qn))
            and fnmatch.fnmatch(node.file, given.get("file_pattern", "*"))
        )

    def _ranked(self, tokens: list[str], limit: int, *, as_json: bool) -> str:
        """Rows by rank, smaller is better, methods and functions first among equals, as its full text index says."""
        scored = []
        for node in self.nodes:
            words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", f"{node.qn} {node.file}")}
            if met := words & set(tokens):
                bonus = 10.0 if node.label in ("Function", "Method") else 5.0
                scored.append((-len(met) - bonus, node))
        rows = [
            (node.qn, node.label, node.file, node.lines, rank)
            for rank, node in sorted(scored, key=lambda one: one[0])[:limit]
        ]
        columns = ("qn", "label", "file", "lines", "rank")
        more = len(scored) > len(rows)
        if as_json:
            said = {"cols": columns, "rows": rows, "has_more": more}
            return json.dumps({"total": len(scored), "search_mode": "bm25", **said})
        table = "".join(f"  {','.join(_quoted(cell) for cell in row)}\n" for row in rows)
        head = f"total: {len(scored)}\nsearch_mode: bm25\nresults[{len(rows)}]{{{','.join(columns)}}}:\n"
        return f"{head}{table}has_more: {str(more).lower()}\n"

    def _trace(self, given: dict[str, Any]) -> tuple[str, bool]:
        name, inbound = given["function_name"], given.get("direction") == "inbound"
        starts = [node for node in self.nodes if node.qn.rpartition(".")[2] == name]
        if not starts:
            return json.dumps(
                {"error": "function not found", "hint": "Use search_graph(name_pattern=...) first."}
            ), True
        if inbound:
            found = [node.qn for node in self.nodes if any(start.qn in node.calls for start in starts)]
        else:
            found = [called for start in starts for called in start.calls]
        side = "callers" if inbound else "callees"
        groups = [
            {"qn_prefix": prefix, "rows": [[qn.rpartition(".")[2], 1] for qn in members]}
            for prefix, members in groupby(sorted(found), key=lambda qn: qn.rpartition(".")[0])
        ]
        if given.get("format") == "json":
            said = {"function": name, "direction": given.get("direction"), f"{side}_total": len(found)}
            return json.dumps({**said, side: {"cols": ["name", "hop"], "groups": groups}}), False
        rows = "".join(
            f"{group['qn_prefix']}:\n" + "".join(f"  {row[0]} {row[1]}\n" for row in group["rows"]) for group in groups
        )
        rule = 'qn = group prefix + "." + name'
        return (
            f"function: {name}\n{side}_total: {len(found)}\n{side}: {len(found)}  (rows: name hop; {rule})\n{rows}",
            False,
        )

    def _snippet(self, given: dict[str, Any]) -> tuple[str, bool]:
        found = [node for node in self.nodes if node.qn == given["qualified_name"]]
        if not found:
            return json.dumps({"error": "symbol not found"}), True
        node = found[0]
        said = {
            "name": node.qn.rpartition(".")[2],
            "qualified_name": node.qn,
            "label": node.label,
            "file_path": f"/srv/shop/{node.file}",
            "start_line": node.first,
            "end_line": node.last,
            "source": "// moved away\n" if self.changed else node.source,
        }
        return json.dumps(said), False


def _grouped(found: Sequence[Node], total: int, *, as_json: bool) -> str:
    columns = ("name", "label", "lines", "in", "out")
    called = [qn for node in found for qn in node.calls]
    groups = [
        (prefix, file, [(node.qn.rpartition(".")[2], node.label, node.lines, called.count(node.qn), len(node.calls))
                        for node in members])
        for (prefix, file), members in groupby(
            sorted(found, key=lambda node: node.qn), key=lambda node: (node.qn.rpartition(".")[0], node.file)
        )
    ]  # fmt: skip
    more = total > len(found)
    if as_json:
        shaped = [{"qn_prefix": prefix, "file": file, "rows": rows} for prefix, file, rows in groups]
        said = {"total": total, "count": len(found), "cols": columns, "groups": shaped, "has_more": more}
        hint = {} if found else {"hint": "No nodes match this pattern. Check spelling or try a broader regex."}
        return json.dumps({**said, **hint})
    text = "".join(
        f"{prefix} ({file}):\n" + "".join(f"  {' '.join(str(cell) for cell in row)}\n" for row in rows)
        for prefix, file, rows in groups
    )
    head = f'total: {total}\nresults: {len(found)}  (rows: {" ".join(columns)}; qn = group prefix + "." + name)\n'
    return f"{head}{text}has_more: {str(more).lower()}\n"


def _quoted(cell: object) -> str:
    text = str(cell)
    return json.dumps(text) if isinstance(cell, str) and (not text or re.search(r'[\s,"]', text)) else text


def _result(text: str, *, error: bool) -> types.CallToolResult:
    """As its envelope is: an object is also structured content, text is not, an error is in both."""
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = None
    structured = {"error": text} if error else parsed if isinstance(parsed, dict) else None
    content = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structured_content=structured, is_error=error)


@asynccontextmanager
async def running(server: CbmServer) -> AsyncIterator[CbmServer]:
    """Serve over streamable HTTP, as through a bridge; `server.url` says where."""
    mcp = server.mcp()
    app = mcp.streamable_http_app()
    async with mcp.session_manager.run(), served(app) as base:
        server.url = f"{base}/mcp"
        yield server


async def _serve() -> None:
    mcp = CbmServer().mcp()
    async with stdio_server() as (received, sent):
        await mcp.run(received, sent, mcp.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(_serve())

"""Nodes of cbm's graph and its overview of a project, as a person would be told of them. Pure.

A qualified name is project, module and symbol with dots between: `shop.cmd.server.HandleRequest` in
`cmd/server/main.go`, `shop.app.Brain.put` in `app.py`. What stands in front of the symbol is the project and as much of
the file's path as follows it, so that a symbol has the name that other engines give it (`app.py#Brain/put`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cortex_gateway.adapters import code_tables
from cortex_gateway.adapters.code_hits import Symbol, source
from cortex_gateway.adapters.code_tables import CodeTables, Row

MOST_ITEMS: Final = 8
OVERVIEW_LENGTH: Final = 1_600

# What is looked for when a question has one of these words, folded; cbm's own names of the aspects of a project.
_ASPECTS: Final = {
    "structure": ("structure", "label", "labels", "nodes"),
    "dependencies": ("dependencies", "dependency", "edges"),
    "routes": ("route", "routes", "endpoint", "endpoints", "api"),
    "languages": ("language", "languages"),
    "packages": ("package", "packages", "component", "components", "subsystem", "subsystems"),
    "entry_points": ("entry", "entrypoint", "entrypoints", "start", "starts", "main"),
    "hotspots": ("hotspot", "hotspots", "hot", "central", "important"),
    "boundaries": ("boundary", "boundaries", "between"),
    "layers": ("layer", "layers"),
    "clusters": ("cluster", "clusters", "community", "communities"),
    "cycles": ("cycle", "cycles", "circular"),
    "file_tree": ("tree", "layout", "folders", "directories"),
}
_SECTIONS: Final = (
    "packages", "layers", "entry_points", "routes", "boundaries", "hotspots", "clusters", "cycles", "languages",
    "dependencies", "edge_types", "node_labels", "file_tree",
)  # fmt: skip
_WHOLE_FILES: Final = ("File", "Module")
_NOT_CALLED: Final = (*_WHOLE_FILES, "Class", "Interface", "Variable", "Folder", "Package", "Project", "Section")


@dataclass(frozen=True, slots=True)
class Node:
    """A node as a symbol; `rank` is the engine's score of it, `links` what to say of its edges."""

    qualified: str
    symbol: Symbol
    rank: float | None = None
    links: str = ""

    @property
    def name(self) -> str:
        """The last part of its name."""
        return self.symbol.name.rpartition("/")[2]

    @property
    def callable(self) -> bool:
        """Whether it is something that is called."""
        return bool(self.symbol.name) and self.symbol.kind not in _NOT_CALLED


def node(row: Row, project: str) -> Node | None:
    """The node of a row; none when it has no name."""
    qualified = row.get("qn") or row.get("name", "")
    if not qualified:
        return None
    file, kind = row.get("file", ""), row.get("label", "")
    first, last = code_tables.lines(row)
    name = "" if qualified.endswith("__file__") or kind == "File" else symbol_of(qualified, project, file)
    return Node(
        qualified,
        Symbol(name, file, "File" if not name else kind, first, last, row.get("signature", "")),
        _float(row.get("rank", "")),
        _links(row),
    )


def symbol_of(qualified: str, project: str, file: str) -> str:
    """The symbol's own name path in a qualified name: `Brain/put`."""
    parts = qualified.removeprefix(f"{project}.").split(".")
    folders, _, base = file.replace("\\", "/").rpartition("/")
    for place in (*folders.split("/"), base.partition(".")[0]):
        if len(parts) > 1 and parts[0] == place:
            parts = parts[1:]
    return "/".join(part for part in parts if part)


def aspects(words: Sequence[str]) -> tuple[str, ...]:
    """The aspects of a project that a question's words ask for; none: what the engine tells by itself."""
    return tuple(aspect for aspect, named in _ASPECTS.items() if any(word in named for word in words))


def overview(tables: CodeTables, project: str) -> str:
    """What `get_architecture` says, in sentences; empty when it says nothing."""
    said = []
    nodes, edges = tables.scalars.get("total_nodes"), tables.scalars.get("total_edges")
    if nodes and edges:
        said.append(f"The code of {project} is a graph of {nodes} nodes and {edges} edges.")
    for section in (*_SECTIONS, *(name for name in tables.tables if name not in _SECTIONS)):
        if rows := tables.tables.get(section):
            more = f" and {len(rows) - MOST_ITEMS} more" if len(rows) > MOST_ITEMS else ""
            listed = "; ".join(_item(row) for row in rows[:MOST_ITEMS])
            said.append(f"{section.replace('_', ' ').capitalize()}: {listed}{more}.")
    return source("\n".join(said), OVERVIEW_LENGTH)


def _item(row: Row) -> str:
    """A row in words: its first cell, then what the others say."""
    cells = [(name, cell) for name, cell in row.items() if cell]
    first, others = cells[:1], [f"{name.replace('_', ' ')} {cell}" for name, cell in cells[1:]]
    return "".join(cell for _, cell in first) + (f" ({', '.join(others)})" if others else "")


def _links(row: Row) -> str:
    inward, outward = row.get("in", ""), row.get("out", "")
    return f" ({inward} links to it, {outward} from it)" if inward.isdigit() and outward.isdigit() else ""


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e12 else None

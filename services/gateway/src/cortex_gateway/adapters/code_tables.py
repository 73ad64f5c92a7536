"""The tables that codebase-memory-mcp answers with, as rows of named cells, from any of its forms. Pure.

It says one model in many ways, by version and by what the caller asks for:

- JSON `{"cols": [...], "groups": [{"qn_prefix", "file", "rows": [[...]]}]}`, `{"cols": [...], "rows": [[...]]}`, the
  same under a name (`"languages": {...}`), a list of objects under a name (0.9), and `columns` for `cols`;
- text with a table of commas, `results[2]{qn,label,file}:` and rows that are indented;
- text with a table of spaces, `layers: 2  (cols: name layer reason)`, or of groups, `results: 2  (rows: name label …)`
  with `prefix (file):` over the rows of each.

Scalars are `name: value` lines. A cell with spaces, commas or quotes in it is quoted as in JSON; `-` says nothing. A
row of a group has `qn`, the group's prefix, a dot and its name, and `file` when the group says it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from cortex_gateway.adapters.tool_answer import ToolAnswer

MOST_ROWS: Final = 500
RESULTS: Final = "results"

Row = Mapping[str, str]

_COMMA_TABLE: Final = re.compile(r"^(\w+)\[\d*\]\{([^}]*)\}:\s*$")
_SPACE_TABLE: Final = re.compile(r"^(\w+):\s*\d+\s+\((rows|cols):\s*([^;)]*)(?:;.*)?\)\s*$")
_GROUP: Final = re.compile(r"^(\S.*?)(?: \((.*)\))?:\s*$")
_SCALAR: Final = re.compile(r"^(\w+): (.*)$")
_CELL: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^,]*')
_SPACED_CELL: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^, ]*')

_OLD_NAMES: Final = {
    "qualified_name": "qn", "file_path": "file", "in_degree": "in", "out_degree": "out", "score": "rank",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CodeTables:
    """What one answer said: `scalars`, and `tables` by their names; search results are in `RESULTS`."""

    scalars: dict[str, str] = field(default_factory=dict)
    tables: dict[str, list[Row]] = field(default_factory=dict)

    @property
    def results(self) -> list[Row]:
        """The rows of a search, those that were found by meaning after those found by name."""
        return [row for name in (RESULTS, "semantic", "semantic_results") for row in self.tables.get(name, ())]


def read(answer: ToolAnswer) -> CodeTables:
    """The tables in an answer. Never raises; what is none of them is left out."""
    if isinstance(answer.data, dict):
        return _of_json(answer.data)
    if isinstance(answer.data, list):
        return CodeTables(tables={RESULTS: list(_objects(answer.data))})
    return _of_text(answer.text)


def lines(row: Row) -> tuple[int | None, int | None]:
    """The first and the last line of a row, from 1, as it says them."""
    first, _, last = row.get("lines", "").partition("-")
    return _number(first or row.get("start_line", "")), _number(last or row.get("end_line", ""))


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 10 else None


def _of_json(data: Mapping[str, JsonValue]) -> CodeTables:
    found = CodeTables()
    if (rows := _table(data)) is not None:
        found.tables[RESULTS] = rows
    for name, value in data.items():
        if isinstance(value, dict):
            if (rows := _table(value)) is not None:
                found.tables[name] = rows
        elif isinstance(value, list):
            if name not in ("cols", "columns", "rows", "groups") and (rows := list(_objects(value))):
                found.tables[name] = rows
        elif value is not None:
            found.scalars[name] = _cell(value)
    return found


def _table(data: Mapping[str, JsonValue]) -> list[Row] | None:
    """The rows of `{"cols", "rows"}` or `{"cols", "groups"}`; none when it is neither."""
    columns = data.get("cols", data.get("columns"))
    if not isinstance(columns, list):
        return None
    names = [_cell(column) for column in columns]
    groups = data.get("groups")
    if isinstance(groups, list):
        rows = [
            _grouped(_row(names, cells), _cell(group.get("qn_prefix")), _cell(group.get("file")))
            for group in groups
            if isinstance(group, dict)
            for cells in _lists(group.get("rows"))
        ]
    else:
        rows = [_row(names, cells) for cells in _lists(data.get("rows"))]
    return rows[:MOST_ROWS]


def _lists(value: JsonValue) -> Iterator[list[JsonValue]]:
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, list))


def _objects(values: Sequence[JsonValue]) -> Iterator[Row]:
    for value in values[:MOST_ROWS]:
        if isinstance(value, dict):
            yield _row([_OLD_NAMES.get(name, name) for name in value], list(value.values()))


def _row(names: Sequence[str], cells: Sequence[JsonValue]) -> dict[str, str]:
    return {name: _cell(cell) for name, cell in zip(names, cells, strict=False)}


def _grouped(row: dict[str, str], prefix: str, file: str) -> Row:
    name = row.get("name", "")
    said = {"file": file} if file else {}
    return {**row, "qn": f"{prefix}.{name}" if prefix and name else name, **said}


def _cell(value: JsonValue) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return "" if value == "-" else value
    return json.dumps(value, ensure_ascii=False)


def _of_text(text: str) -> CodeTables:
    found = CodeTables()
    rows: list[Row] = []
    columns: list[str] = []
    cell, grouped, group = _CELL, False, ("", "")
    for line in text.splitlines():
        if table := _COMMA_TABLE.match(line):
            columns, cell, grouped = table[2].split(","), _CELL, False
            rows = found.tables.setdefault(table[1], [])
        elif table := _SPACE_TABLE.match(line):
            columns, cell, grouped, group = table[3].split(), _SPACED_CELL, table[2] == "rows", ("", "")
            rows = found.tables.setdefault(table[1], [])
        elif line.startswith(" ") and columns:
            if len(rows) < MOST_ROWS and line.strip():
                row = dict(zip(columns, _cells(line, cell), strict=False))
                rows.append(_grouped(row, *group) if grouped else row)
        elif grouped and (header := _GROUP.match(line)):
            group = (_cell(header[1]), header[2] or "")
        elif scalar := _SCALAR.match(line):
            found.scalars[scalar[1]] = _unquoted(scalar[2])
            columns, grouped = [], False
    return found


def _cells(line: str, cell: re.Pattern[str]) -> list[str]:
    """The cells of an indented row; one that is empty stays, as its place says what the next ones are."""
    text, at, found = line.strip(" ") if cell is _CELL else line.lstrip(" ").rstrip("\r"), 0, []
    while at <= len(text):
        match = cell.match(text, at)
        assert match is not None  # both patterns match the empty string
        found.append(_unquoted(match[0]))
        at = match.end() + 1
    return found


def _unquoted(text: str) -> str:
    text = text.strip()
    if text.startswith('"'):
        try:
            inner = json.loads(text)
        except ValueError:
            return text.strip('"')
        return inner if isinstance(inner, str) else text
    return "" if text == "-" else text

"""What Serena's tools answer, read without trust. Pure.

Every tool says one JSON text; the shapes differ by tool and by version, so symbols are looked for wherever they are:

- `find_symbol`: a list of symbols, `name_path`, `kind` (a word; an LSP number in 0.1), `relative_path`, lines under
  `body_location` (or `location.range` of a language server), and `body` or `info` when asked for.
- `find_referencing_symbols`: `{file: {kind: [symbol]}}` (0.1: a list of symbols with their `relative_path`), each with
  `content_around_reference`.
- `search_for_pattern`: `{file: [text]}` with numbered lines, the matching ones behind `>`.
- `get_symbols_overview`: `{kind: [name or {name: {kind: [name]}}]}`.

Lines count from 0 there and from 1 here. An answer that was too long comes as a sentence, with luck followed by a
shorter JSON: `{file: [name path]}`, `{file: [{"line", "text"}]}`, `{file: [line]}` or `{file: count}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from cortex_gateway.adapters.code_hits import Symbol
from cortex_gateway.adapters.tool_answer import ToolAnswer

MOST_SYMBOLS: Final = 200
DEEPEST: Final = 12
"""Levels of an answer that are looked into; real ones have four."""

_KINDS: Final = {
    1: "File", 2: "Module", 3: "Namespace", 4: "Package", 5: "Class", 6: "Method", 7: "Property", 8: "Field",
    9: "Constructor", 10: "Enum", 11: "Interface", 12: "Function", 13: "Variable", 14: "Constant", 22: "EnumMember",
    23: "Struct", 24: "Event", 25: "Operator", 26: "TypeParameter",
}  # fmt: skip
"""LSP SymbolKind, specification 3.17; the kinds of values in data files are left out."""
_SMALL: Final = ("Variable", "Constant", "Property", "Field", "Module", "File")
"""Kinds that a file has many of, what it imports among them."""
_TOO_LONG: Final = re.compile(r"answer is too long", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"^(?:\.\.\.|\s*>|\s)?\s*(\d{1,9}):(.*)$")


@dataclass(frozen=True, slots=True)
class Match:
    """A line that matched: its number from 1, what it says, and the numbered lines around it."""

    number: int
    said: str
    around: str


def too_long(answer: ToolAnswer) -> bool:
    """Whether Serena says that the answer would have been too long."""
    return answer.data is None and bool(_TOO_LONG.search(answer.text[:400]))


def data_of(answer: ToolAnswer) -> JsonValue:
    """What was said as JSON: the answer, or the shortened one inside a sentence; none when it was all prose."""
    if answer.data is not None:
        return answer.data
    for start in re.finditer(r"(?m)^[\[{]", answer.text):
        try:
            found: JsonValue = json.loads(answer.text[start.start() :])
        except (ValueError, RecursionError):
            continue
        return found
    return None


def symbols(data: JsonValue) -> tuple[Symbol, ...]:
    """Every symbol in an answer, in its order, at most `MOST_SYMBOLS`."""
    found: list[Symbol] = []
    for symbol in _symbols(data, "", "", 0):
        found.append(symbol)
        if len(found) >= MOST_SYMBOLS:
            break
    return tuple(found)


def lines(data: JsonValue) -> dict[str, tuple[Match, ...]]:
    """What `search_for_pattern` found, by file."""
    if not isinstance(data, dict):
        return {}
    found = {}
    for file, matches in data.items():
        if isinstance(matches, list):
            pieces = tuple(piece for match in matches[:MOST_SYMBOLS] if (piece := _match(match)) is not None)
            if pieces:
                found[file] = pieces
    return found


def overview(data: JsonValue) -> tuple[tuple[str, str], ...]:
    """Kind and name of the symbols in `get_symbols_overview`, members as `Brain/put`, those that tell most first."""
    found = list(_overview(data, "", "", 0))[:MOST_SYMBOLS]
    return tuple(sorted(found, key=lambda one: one[0] in _SMALL))


def files(data: JsonValue) -> tuple[str, ...]:
    """The paths that `find_file` found."""
    found = data.get("files") if isinstance(data, dict) else data
    return tuple(file for file in found if isinstance(file, str)) if isinstance(found, list) else ()


def piece(text: str) -> Match | None:
    """A piece of Serena's numbered lines; none without a number. The line that matched is the one behind `>`, or the
    first when none is marked."""
    numbered = [(line, found) for line in text.split("\n") if (found := _NUMBERED.match(line))]
    if not numbered:
        return None
    marked = next((found for line, found in numbered if line.lstrip().startswith(">")), numbered[0][1])
    around = "\n".join(f"{int(found[1]) + 1}:{found[2]}" for _, found in numbered)
    return Match(int(marked[1]) + 1, marked[2], around)


def _symbols(data: JsonValue, file: str, kind: str, depth: int) -> Iterator[Symbol]:
    if depth > DEEPEST:
        return
    if isinstance(data, list):
        for one in data:
            if isinstance(one, str) and not kind and ("." in file or "/" in file):
                # The shortened {file: [name path]}.
                yield Symbol(one, file)
            else:
                yield from _symbols(one, file, kind, depth + 1)
    elif isinstance(data, dict):
        if (symbol := _symbol(data, file, kind)) is not None:
            yield symbol
            return
        for key, value in data.items():
            if _is_kind(key) and file:
                yield from _symbols(value, file, key, depth + 1)
            else:
                is_file = isinstance(value, dict | list) and ("." in key or "/" in key or not file)
                yield from _symbols(value, key if is_file else file, kind, depth + 1)


def _symbol(data: Mapping[str, JsonValue], file: str, kind: str) -> Symbol | None:
    name = _text(data, "name_path") or _text(data, "name")
    file = _text(data, "relative_path") or _text(_mapping(data, "location"), "relative_path") or file
    if not name or not file:
        return None
    first, last = _span(data)
    around = _text(data, "content_around_reference")
    return Symbol(name, file, _kind(data) or kind, first, last, around or _text(data, "body") or _text(data, "info"))


def _kind(data: Mapping[str, JsonValue]) -> str:
    value = data.get("kind", data.get("type"))
    if isinstance(value, int):
        return _KINDS.get(value, "")
    return value if isinstance(value, str) and value.isprintable() and len(value) < 40 else ""


def _span(data: Mapping[str, JsonValue]) -> tuple[int | None, int | None]:
    where = _mapping(data, "body_location") or _mapping(data, "location")
    first, last = where.get("start_line", where.get("line")), where.get("end_line")
    if first is None and (ends := _mapping(where, "range")):
        first, last = _mapping(ends, "start").get("line"), _mapping(ends, "end").get("line")
    return _line(first), _line(last)


def _line(value: JsonValue) -> int | None:
    return value + 1 if type(value) is int and 0 <= value < 10**9 else None


def _match(match: JsonValue) -> Match | None:
    if isinstance(match, str):
        return piece(match)
    if isinstance(match, dict) and (number := _line(match.get("line"))) is not None:
        said = _text(match, "text")
        return Match(number, said, f"{number}:{said}")
    number = _line(match)
    return None if number is None else Match(number, "", f"{number}:")


def _overview(data: JsonValue, owner: str, kind: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > DEEPEST:
        return
    if isinstance(data, str):
        yield kind, f"{owner}/{data}" if owner else data
    elif isinstance(data, list):
        for one in data:
            yield from _overview(one, owner, kind, depth + 1)
    elif isinstance(data, dict):
        if name := _text(data, "name_path") or _text(data, "name"):
            yield _kind(data) or kind, name
            return
        for key, value in data.items():
            # Kinds and the symbols that have members alternate: {"Class": [{"Brain": {"Method": ["put"]}}]}.
            if not kind:
                yield from _overview(value, owner, key, depth + 1)
            else:
                inner = f"{owner}/{key}" if owner else key
                yield kind, inner
                yield from _overview(value, inner, "", depth + 1)


def _is_kind(key: str) -> bool:
    return key in _KINDS.values()


def _mapping(data: Mapping[str, JsonValue], key: str) -> Mapping[str, JsonValue]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _text(data: Mapping[str, JsonValue], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""

"""Frontmatter: the YAML that a page starts with, read as people really write it.

Values stay what was typed: dates and times are strings, only `true` and `false` are booleans, and numbers are read when
they are plain ones (YAML 1.2 core schema). Anchors and aliases are refused, so a small file cannot become a huge value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import yaml
from pydantic import JsonValue

MAX_CHARS: Final = 64_000
MAX_NESTING: Final = 50

_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_FIELD = re.compile(r"^(?P<key>[^\W\d][\w .-]*?)[ \t]*:(?:[ \t]+(?P<value>.*))?$")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The fields before a page's body, and what was wrong with them."""

    fields: Mapping[str, JsonValue]
    body: str
    problems: tuple[str, ...] = ()


def split(text: str) -> Frontmatter:
    """Separate frontmatter and body. Never fails: what cannot be read is left out and noted, the body is kept."""
    opening = _FENCE.match(text)
    if opening is None:
        return Frontmatter({}, text)
    start = opening.end() + 1
    closing = _CLOSING.search(text, start)
    if closing is None:
        return Frontmatter({}, text, ("the frontmatter has no closing ---; all of the file was taken as its body",))
    raw, body = text[start : closing.start()], text[closing.end() :]
    if len(raw) > MAX_CHARS:
        return Frontmatter({}, body, (f"the frontmatter is longer than {MAX_CHARS} characters; it was left out",))
    fields, problems = _read(raw)
    return Frontmatter(fields, body, problems)


def _read(raw: str) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    duplicates: list[str] = []
    try:
        value = _load(raw, duplicates)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return _read_by_field(raw, f"the frontmatter is not valid YAML ({_place(error)})")
    if value is None:
        return {}, ()
    if not isinstance(value, dict):
        return {}, (f"expected fields in the frontmatter, got a {type(value).__name__}; it was left out",)
    return {str(key): item for key, item in value.items()}, tuple(duplicates)


def _read_by_field(raw: str, problem: str) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    """Each top-level field by itself: one that is not YAML is what was typed after its colon, or is left out."""
    blocks: list[list[str]] = []
    for line in raw.expandtabs(2).split("\n"):
        if _FIELD.match(line):
            blocks.append([line])
        elif blocks:
            blocks[-1].append(line)
    fields: dict[str, JsonValue] = {}
    lost = []
    for block in blocks:
        found = _FIELD.match(block[0])
        assert found is not None
        key, typed = found["key"], (found["value"] or "").strip()
        try:
            value = _load("\n".join(block), [])
            fields[key] = value[key] if isinstance(value, dict) else None
        except (yaml.YAMLError, RecursionError, ValueError, KeyError):
            if typed and not typed.startswith(("*", "&")) and not any(line.strip() for line in block[1:]):
                fields[key] = clean(typed)
            else:
                lost.append(key)
    outcome = f"without {', '.join(lost)}" if lost else "all of them were kept"
    return fields, (f"{problem}; its fields were read one by one, {outcome}",)


class _Loader(yaml.SafeLoader):
    """Safe YAML in the core schema of YAML 1.2, without aliases."""

    # Not inherited: YAML 1.1 turns `no` into false, 12:30 into 750 and a date into an object.
    yaml_implicit_resolvers: Final = {}  # type: ignore[misc]

    def __init__(self, text: str, problems: list[str]) -> None:
        super().__init__(text)
        self._problems = problems

    def fetch_flow_collection_start(self, token_class: type[yaml.Token]) -> None:
        # Its scanner takes quadratic time in the depth.
        if self.flow_level >= MAX_NESTING:
            raise yaml.YAMLError("too deeply nested")
        super().fetch_flow_collection_start(token_class)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed here")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen if isinstance(key, yaml.ScalarNode) else False:
                self._problems.append(f"the field {key.value[:60]} is there twice; the last one counts")
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


for _tag, _pattern, _first in (
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("tag:yaml.org,2002:int", r"^[-+]?(?:0|[1-9][0-9]{0,17})$", "-+0123456789"),
    ("tag:yaml.org,2002:float", r"^[-+]?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+]?[0-9]+)?$", "-+0123456789"),
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
):
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))


def _load(raw: str, problems: list[str]) -> JsonValue:
    loader = _Loader(raw, problems)
    try:
        return _json(loader.get_single_data())
    finally:
        loader.dispose()


def _json(value: object) -> JsonValue:
    """A YAML value as JSON; explicitly tagged ones (`!!binary`, `!!set`, dates) become text."""
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case str():
            return clean(value)
        case list() | tuple():
            return [_json(item) for item in value]
        case dict():
            return {clean(str(key)): _json(item) for key, item in value.items()}
    return clean(str(value))


def clean(text: str) -> str:
    """`text` without what no database stores: NUL and lone surrogates, which YAML escapes can spell."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _place(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        # The fence is the first line of the file.
        return f"{error.problem} in line {error.problem_mark.line + 2}"
    return "too deeply nested" if isinstance(error, RecursionError) else str(error)[:100]

"""Frontmatter: the fields that a page starts with, as people really write them.

YAML or JSON between `---`, JSON between `;;;` or by itself, TOML between `+++`. What cannot be read as fields is no
frontmatter: it stays in the body, so nothing that was written is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from cortex_ingest.field_values import MAX_CHARS, InvalidFrontmatter, Values
from cortex_ingest.page_text import storable, unix_lines

MAX_NOTED: Final = 10
"""So many fields are named in a note."""

_END = r"[ \t]*(?:\r\n|\n|\r|\Z)"
_OPENING = re.compile(r"(?P<fence>---|\+\+\+|;;;)[ \t]*(?:\r\n|\n|\r)")
_CLOSING: Final = {
    "---": re.compile(rf"(?<=[\r\n])(?:---|\.\.\.){_END}"),
    "+++": re.compile(rf"(?<=[\r\n])\+\+\+{_END}"),
    ";;;": re.compile(rf"(?<=[\r\n]);;;{_END}"),
}
_FIELD = re.compile(r"(?P<key>[^\s#\-\[\]{}&*|>!%@`,?:][^\n:]{0,99}?)[ \t]*:(?:[ \t]+(?P<value>.*))?")
_FIELD_AHEAD = re.compile(rf"\s*(?:#[^\r\n]*[\r\n]\s*)*(?:{_FIELD.pattern}|[\"'\w-]+[ \t]*=.*)(?:\r|\n|\Z)")
_CONTINUED = re.compile(r"[ \t#\-\]}]|\Z")
_OBJECT = re.compile(r'\{\s*"(?:[^"\\\n]|\\.)*"\s*:')
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|<%.*?%>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The fields before a page's body, and what a person should mend in them."""

    fields: Mapping[str, JsonValue]
    body: str
    problems: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    """Fields that are there more than once; the last one counts."""


def split(text: str) -> Frontmatter:
    """Separate frontmatter and body, which keeps its line ends. Never fails: what cannot be read is noted."""
    try:
        return read(text)
    except InvalidFrontmatter as error:
        invalid = error
    salvaged = _by_field(text, invalid)
    return salvaged or Frontmatter({}, text, (f"the frontmatter was taken as text: {invalid}",))


def read(text: str) -> Frontmatter:
    """Separate frontmatter and body, strictly.

    Raises:
        InvalidFrontmatter: there is one that cannot be read.
    """
    values = Values()
    if _OBJECT.match(text):
        fields, end = values.from_json(text[:MAX_CHARS])
        after = re.compile(_END).match(text, end)
        return _found(fields, text[after.end() :], values) if after else Frontmatter({}, text)
    block = _block(text)
    if block is None:
        return Frontmatter({}, text)
    fence, raw, body = block
    value = values.from_toml(raw) if fence == "+++" else _json_or_yaml(raw, values)
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise InvalidFrontmatter(f"it has no fields, it is {'a list' if isinstance(value, list) else 'text'}")
    return _found(value, body, values)


def _json_or_yaml(raw: str, values: Values) -> JsonValue:
    if _OBJECT.match(raw):
        try:
            fields, end = values.from_json(raw)
        except InvalidFrontmatter:
            # Perhaps it is the JSON that YAML knows too: with comments, without quotes.
            return values.from_yaml(raw)
        if not raw[end:].strip():
            return fields
    return values.from_yaml(raw)


def is_placeholder(text: str) -> bool:
    """Whether `text` is what a template leaves to be filled in: `{{title}}`, `<% tp.file.title %>`."""
    return bool(_PLACEHOLDER.fullmatch(text))


def _found(fields: Mapping[str, JsonValue], body: str, values: Values) -> Frontmatter:
    names = tuple(dict.fromkeys(values.duplicates))
    problems = tuple(f"the field {name[:60]} is there twice; the last one counts" for name in names[:MAX_NOTED])
    return Frontmatter(fields, body, problems, names)


def _block(text: str) -> tuple[str, str, str] | None:
    """Fence, inside (with `\\n` as line ends) and what follows; none if the page has no frontmatter."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    fence = opening["fence"]
    closing = _CLOSING[fence].search(text, opening.end())
    if closing is None:
        if _FIELD_AHEAD.match(text, opening.end(), opening.end() + MAX_CHARS):
            raise InvalidFrontmatter(f"it has no closing {fence}")
        # A line across the page.
        return None
    if closing.start() - opening.end() > MAX_CHARS:
        raise InvalidFrontmatter(f"it is longer than {MAX_CHARS} characters")
    return fence, unix_lines(text[opening.end() : closing.start()]), text[closing.end() :]


def _by_field(text: str, invalid: InvalidFrontmatter) -> Frontmatter | None:
    """Each top-level field of YAML by itself: one that is not YAML is the text that was typed. None if there are other
    lines than fields: then it is prose between two lines."""
    try:
        block = _block(text)
    except InvalidFrontmatter:
        return None
    if block is None or block[0] != "---":
        return None
    parts: list[list[str]] = []
    for line in block[1].split("\n"):
        if _FIELD.fullmatch(line):
            parts.append([line])
        elif not _CONTINUED.match(line):
            return None
        elif parts:
            parts[-1].append(line)
        elif line.strip() and not line.startswith("#"):
            return None
    if not parts:
        return None
    fields: dict[str, JsonValue] = {}
    typed: list[str] = []
    values = Values()
    for lines in parts:
        try:
            value = values.from_yaml("\n".join(map(_without_tabs, lines)))
        except InvalidFrontmatter:
            value = None
        if not isinstance(value, dict):
            key, _, written = "\n".join(lines).partition(":")
            typed.append(key.strip())
            value = {key.strip(): storable(written.strip())}
        fields |= value
    if typed and all("{{" in str(fields[key]) or "<%" in str(fields[key]) for key in typed):
        # A template is no mistake.
        return Frontmatter(fields, block[2])
    kept = f"; kept as typed: {', '.join(key[:60] for key in typed[:MAX_NOTED])}" if typed else ""
    return Frontmatter(fields, block[2], (f"the frontmatter was read field by field: {invalid}{kept}",))


def _without_tabs(line: str) -> str:
    text = line.lstrip(" \t")
    return line[: len(line) - len(text)].expandtabs(2) + text

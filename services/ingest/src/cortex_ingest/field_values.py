"""The values of frontmatter, read by libraries and kept as they were typed.

A plain YAML value is a number, a boolean or null only when JSON spells it so: dates, times, `no`, `1.10` and `0123`
stay text. Tags (`!!binary`, `!custom`) make nothing of a value. Aliases are followed as far as a frontmatter may be
long, so a small file cannot become a huge value.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable
from typing import Final

import yaml
from pydantic import JsonValue

from cortex_ingest.page_text import storable

MAX_CHARS: Final = 128_000
"""Longest frontmatter that is read: 10,000 tags and some; a page with its fields has to fit a message."""
MAX_NESTING: Final = 32
MAX_DIGITS: Final = 18
"""Longer numbers are identifiers, which no reader of JSON may round."""

# `tags: #one #two` is a comment to YAML only.
_HASHTAG = re.compile(r"[ \t]*(#[^\s#].*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


class InvalidFrontmatter(ValueError):
    """It cannot be read as fields; the message says why."""


class Values:
    """Reads one frontmatter; `duplicates` are the fields that it has more than once."""

    def __init__(self) -> None:
        self.duplicates: list[str] = []
        self._left = 2 * MAX_CHARS
        self._raw = ""

    def from_yaml(self, raw: str) -> JsonValue:
        """The value of a YAML document.

        Raises:
            InvalidFrontmatter: it is not YAML.
        """
        try:
            node = yaml.compose(raw, Loader=yaml.CSafeLoader)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise InvalidFrontmatter(f"it is not valid YAML ({_place(error)})") from error
        self._raw = raw
        return None if node is None else self._node(node, 0)

    def from_json(self, raw: str) -> tuple[dict[str, JsonValue], int]:
        """The JSON object that `raw` starts with, and where it ends.

        Raises:
            InvalidFrontmatter: there is none.
        """
        # Numbers stay text at first: Python reads NaN and rounds.
        decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_int=_scalar, parse_float=_scalar, parse_constant=str
        )
        try:
            value, end = decoder.raw_decode(raw)
        except json.JSONDecodeError as error:
            raise InvalidFrontmatter(f"it is not valid JSON ({error.msg} in line {error.lineno})") from error
        except RecursionError as error:
            raise InvalidFrontmatter("it is too deeply nested") from error
        plain = self._plain(value, 0)
        if not isinstance(plain, dict):
            raise InvalidFrontmatter("it is not a JSON object")
        return plain, end

    def from_toml(self, raw: str) -> JsonValue:
        """The value of a TOML document.

        Raises:
            InvalidFrontmatter: it is not TOML.
        """
        try:
            return self._plain(tomllib.loads(raw), 0)
        except (ValueError, RecursionError) as error:
            raise InvalidFrontmatter(f"it is not valid TOML ({str(error)[:100]})") from error

    def _node(self, node: yaml.Node, depth: int) -> JsonValue:
        if isinstance(node, yaml.ScalarNode):
            text = storable(node.value)
            if not text and node.style in (None, "") and (hashtag := _HASHTAG.match(self._raw, node.start_mark.index)):
                text = hashtag[1]
            self._take(1 + len(text))
            # A plain scalar that says `!!str` itself is text.
            return _scalar(text) if node.style in (None, "") and not node.tag.endswith(":str") else text
        self._take(1, depth)
        if isinstance(node, yaml.MappingNode):
            return self._object(
                (_key(self._node(key, depth + 1)), self._node(item, depth + 1)) for key, item in node.value
            )
        assert isinstance(node, yaml.SequenceNode)
        return [self._node(item, depth + 1) for item in node.value]

    def _plain(self, value: object, depth: int) -> JsonValue:
        match value:
            case None | bool():
                return value
            case int() | float():
                return value if abs(value) < 10**MAX_DIGITS and math.isfinite(value) else str(value)
            case dict() | list():
                self._take(1, depth)
                if isinstance(value, dict):
                    return {storable(str(key)): self._plain(item, depth + 1) for key, item in value.items()}
                return [self._plain(item, depth + 1) for item in value]
        return storable(str(value))

    def _object(self, pairs: Iterable[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {}
        for key, value in pairs:
            if key in found:
                self.duplicates.append(key)
            found[key] = value
        return found

    def _take(self, size: int, depth: int = 0) -> None:
        self._left -= size
        if self._left < 0:
            raise InvalidFrontmatter("its aliases make it too long")
        if depth >= MAX_NESTING:
            raise InvalidFrontmatter("it is too deeply nested")


def _scalar(text: str) -> JsonValue:
    match text:
        case "" | "~" | "null":
            return None
        case "true" | "false":
            return text == "true"
    if len(text) > MAX_DIGITS or not _NUMBER.fullmatch(text):
        return text
    number = float(text) if "." in text else int(text)
    # What would be written otherwise (1.10, -0) is a version or a name, no number.
    return number if str(number) == text else text


def _key(value: JsonValue) -> str:
    if isinstance(value, list | dict):
        raise InvalidFrontmatter("the name of a field is no text")
    return value if isinstance(value, str) else json.dumps(value)


def _place(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        # The fence is the first line of the file.
        return f"{error.problem} in line {error.problem_mark.line + 2}"
    return str(error).partition("\n")[0][:100]

"""What an MCP tool answered, read without trust: structured content, JSON inside text, prose, errors inside successes.

Servers say the same thing in many ways: a list as structured content `{"result": [...]}` (FastMCP wraps what is no
object), the same string in a text block and in `result` (Serena), an object in text with none of it structured, prose
where JSON was too long, `[{"error": ...}]` in a call that succeeded (mcp-memgraph). `read` gives the data or the text,
`refusal` the sentence of an error that was sent as a success.

Pure functions, total over every result that the SDK can parse. Numbers in the data may be NaN or infinite: JSON of
Python servers has them. Nothing is nested deeper than 200 values: the parser goes no further. A list of one item from
an old FastMCP (1.9) cannot be told from the item alone, and is read as that. Links and contents of resources are
records (`title`, `uri`, `text`) where there is nothing else but an introduction.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import pydantic_core
from mcp_types import CallToolResult, EmbeddedResource, ResourceLink, TextContent, TextResourceContents
from pydantic import JsonValue

from cortex_gateway.adapters.broken_json import repaired

TEXT_LENGTH: Final = 200_000
"""Characters of prose; data is read whole, of which the transports let at most 1 MiB through."""
INTRODUCTION: Final = 200
"""Characters of prose beside resources that only introduce them."""

_WRAPPERS: Final = frozenset(("result", "output"))
"""FastMCP's and the gateway frameworks' names for what a tool returned when it was no object."""
_FAILED: Final = frozenset(("error", "failed", "failure", "fail"))
_SENTENCES: Final = ("message", "error", "detail", "reason", "hint", "description")


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """`data` is what was said as JSON, none when it was prose; `text` is all text there was."""

    data: JsonValue | None
    text: str


def read(result: CallToolResult) -> ToolAnswer:
    """What a tool said. Structured content goes before text, unless it is empty or only repeats a string."""
    blocks = list(_texts(result))
    text = "\n".join(blocks)
    structured = _unwrapped(result.structured_content)
    if isinstance(structured, str):
        text, structured = text or structured, _parsed(structured)
    said = _unwrapped(_parsed(text)) if structured in (None, {}) else structured
    if said is not None:
        return ToolAnswer(said, text[:TEXT_LENGTH])
    # A list may come as one block for each of its items; an introduction in prose may stand before the data.
    items: list[JsonValue] = [item for block in blocks if (item := _parsed(block)) is not None]
    if not items:
        return ToolAnswer(_resources(result) or None, text[:TEXT_LENGTH])
    return ToolAnswer(_unwrapped(items[0]) if len(items) == 1 else items, text[:TEXT_LENGTH])


def refusal(data: JsonValue | None) -> str | None:
    """The sentence of an error inside a success; none when it is no error.

    An error is an object with `error`, or with `status`, `isError` or `success` saying that it failed, alone or as the
    only item of a list. An object that lists objects beside an error is none: the error is a part's.
    """
    if isinstance(data, list):
        return refusal(data[0]) if len(data) == 1 else None
    if not isinstance(data, dict):
        return None
    failed = (
        str(data.get("status", "")).lower() in _FAILED
        or data.get("isError") is True
        or data.get("is_error") is True
        or data.get("success") is False
        or data.get("ok") is False
    )
    error = data.get("error")
    told = error not in (None, "", False, [], {})
    if not failed and (not told or any(map(_holds_objects, data.values()))):
        return None
    return _sentence(error) or _sentence(data) or "it failed without a word"


def _holds_objects(value: JsonValue) -> bool:
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


def _sentence(value: JsonValue | None) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        return next((s for key in _SENTENCES if isinstance(text := value.get(key), str) and (s := text.strip())), "")
    if isinstance(value, list) and value:
        return _sentence(value[0]) if not isinstance(value[0], list) else ""
    return ""


def _resources(result: CallToolResult) -> list[JsonValue]:
    """What is known of each resource that an answer names, or holds as text; none when it says more in prose."""
    if sum(len(block.text) for block in result.content if isinstance(block, TextContent)) > INTRODUCTION:
        return []
    found: list[JsonValue] = []
    for block in result.content:
        if isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
            found.append({"uri": str(block.resource.uri), "text": block.resource.text})
        elif isinstance(block, ResourceLink):
            found.append({"title": block.title or block.name, "uri": str(block.uri), "text": block.description or ""})
    return found


def _texts(result: CallToolResult) -> Iterator[str]:
    """The texts of an answer: text blocks, and texts of embedded resources; links, images and sounds have none."""
    for block in result.content:
        if isinstance(block, TextContent):
            yield block.text
        elif isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
            yield block.resource.text
        elif isinstance(block, ResourceLink) and (said := block.description or block.title):
            yield said


def _unwrapped(value: JsonValue) -> JsonValue:
    """Without the object that only says "result"; a string in it may be JSON, which is read."""
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _WRAPPERS:
        inner = next(iter(value.values()))
        parsed = _parsed(inner) if isinstance(inner, str) else None
        return inner if parsed is None else parsed
    return value


def _parsed(text: str) -> JsonValue:
    """The object or list that a text is as JSON, also inside a fence of markdown; none when it is neither."""
    text = text.strip().removeprefix("\ufeff")
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        text = text[text.index("\n") : -3].strip()
    if not text.startswith(("{", "[")):
        return None
    for body in (text, repaired(text.encode("utf-8", "replace"))):
        with suppress(ValueError):  # no JSON, or nested deeper than the parser goes (200)
            value: JsonValue = pydantic_core.from_json(body)
            return value
    return None

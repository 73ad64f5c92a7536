"""What a page's frontmatter claims: `status: active` on the page Billing API is one checkable claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from cortex_contracts.messages.base import Assertion

MAX_LENGTH: Final = 200
"""Longer values are prose, not claims; the contract's limit."""
MAX_ASSERTIONS: Final = 32

DESCRIBING: Final = frozenset(
    {"title", "slug", "type", "tags", "tag", "aliases", "alias", "created", "updated", "modified", "date", "publish"}
    | {"cssclass", "cssclasses", "kanban-plugin", "id", "uid", "author", "lang", "permalink", "draft", "template"}
    | {"effective_date", "sources", "original_type", "original_effective_date", "original_sources"}
)
"""Fields that describe the page, not what it is about."""


def assertions_of(title: str, frontmatter: Mapping[str, JsonValue]) -> tuple[Assertion, ...]:
    """The claims of a page: each plain field of its frontmatter, about the page's title, in the order of the fields.

    Lists, mappings, empty and long values claim nothing.
    """
    subject = _text(title)
    if subject is None:
        return ()
    claims = (
        (attribute, value)
        for key, field in frontmatter.items()
        if (attribute := _text(key)) and attribute.casefold() not in DESCRIBING and (value := _text(field))
    )
    found = tuple(Assertion(subject=subject, attribute=attribute, value=value) for attribute, value in claims)
    return found[:MAX_ASSERTIONS]


def _text(value: JsonValue) -> str | None:
    match value:
        case bool():
            text = "true" if value else "false"
        case str() | int() | float():
            text = " ".join(str(value).split())
        case _:
            return None
    return text if 0 < len(text) <= MAX_LENGTH else None

"""What narrows a question about pages: types, tags, days, a vault.

`type` and `tags` are lists with commas, and may be repeated. The contract's own example writes
`type=person,tags=leadership` for both at once: a piece `tags=…` begins tags, and `type=…` types, whichever parameter it
is in. Values that nothing has are ignored, they are no errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Annotated, Any, Final

from fastapi import Query
from pydantic import BeforeValidator

from cortex_contracts.messages.base import Token
from cortex_contracts.rpc.pages import PageType

MAX_TAGS: Final = 64
MAX_TAG_CHARS: Final = 100
"""What a page's tag may have; a longer one is on no page."""
ISO_DAY: Final = "expected a day as YYYY-MM-DD"


def _day(value: Any) -> date | None:
    # Pydantic alone would take numbers, and moments at midnight.
    if value is None:
        return None
    if isinstance(value, str) and len(value) == len("YYYY-MM-DD"):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise ValueError(ISO_DAY)


Day = Annotated[date | None, BeforeValidator(_day)]

TypeFilter = Annotated[
    list[str],
    Query(
        alias="type",
        max_length=100,
        description="Types with commas between them; unknown ones are ignored",
        openapi_examples={"one": {"value": ["person"]}, "with a tag": {"value": ["person,tags=leadership"]}},
    ),
]
TagFilter = Annotated[
    list[str],
    Query(
        alias="tags",
        max_length=100,
        description="Tags with commas between them; unknown ones are ignored",
        openapi_examples={"two": {"value": ["leadership,founder"]}},
    ),
]
VaultFilter = Annotated[
    Token | None,
    Query(
        description="Only this vault; without it the default vault comes first, then the others by name",
        openapi_examples={"one": {"value": "example"}},
    ),
]


def types_and_tags(types: Iterable[str], tags: Iterable[str] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The types that exist, and the tags that a page can have, each once in the order they were given: as many as a
    question can have."""
    found: dict[str, dict[str, None]] = {"type": {}, "tags": {}}
    for name, values in (("type", types), ("tags", tags)):
        for key, piece in _pieces(name, values):
            found[key][piece] = None
    lowered = dict.fromkeys(piece.lower() for piece in found["type"])
    known = tuple(one for one in lowered if one in list(PageType))
    possible = tuple(tag for tag in found["tags"] if len(tag) <= MAX_TAG_CHARS and "\0" not in tag)
    return known, possible[:MAX_TAGS]


def _pieces(name: str, values: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each piece of a parameter with the filter that it belongs to."""
    for value in values:
        key = name
        for written in value.split(","):
            piece = written.strip()
            if piece.startswith(("type=", "tags=")):
                key, _, piece = piece.partition("=")
            if piece:
                yield key, piece.strip()

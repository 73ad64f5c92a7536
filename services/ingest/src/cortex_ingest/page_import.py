"""Strict reading of a Markdown file that somebody hands in: what is wrong with its fields is said, one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Final

from pydantic import JsonValue

from cortex_contracts.rpc.pages import FieldError
from cortex_ingest import frontmatter, markdown, page_fields, slugs
from cortex_ingest.field_values import InvalidFrontmatter
from cortex_ingest.markdown import Document
from cortex_ingest.page_text import storable

# As in `PageDraft`, which writes the same pages.
MAX_TITLE: Final = 200
MAX_NAMES: Final = 100
MAX_SOURCE: Final = 200

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def read(slug: str, text: str) -> Document | tuple[FieldError, ...]:
    """The page that `text` says, or everything that is wrong with its fields.

    The slug of the frontmatter wins; `slug` counts where it has none, so that the document always has one.
    """
    try:
        head = frontmatter.read(storable(text).removeprefix("\ufeff"))
    except InvalidFrontmatter as error:
        return (FieldError(field="frontmatter", message=str(error)),)
    errors = tuple(
        FieldError(field=field, message=message)
        for found in (_repeated(head.duplicates), _errors(head.fields))
        for field, message in found
    )
    if errors:
        return errors
    named = page_fields.line(page_fields.value_of(head.fields, "slug"))
    kept = slugs.given(named) or slug
    return replace(markdown.document(f"{kept}.md", head.fields, head.body, ()), slug=kept)


def _repeated(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in names:
        yield name, "must be there once"


def _errors(fields: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """The name and what is wrong, for every field that is not what it must be."""
    for name, check in CHECKS.items():
        value = page_fields.value_of(fields, name)
        if value is not None:
            yield from check(name, value)


def _type(name: str, value: JsonValue) -> Iterator[tuple[str, str]]:
    if not isinstance(value, str) or value.strip().lower() not in page_fields.TYPES:
        yield name, f"must be one of: {', '.join(page_fields.TYPES)}"


def _text(longest: int) -> Callable[[str, JsonValue], Iterator[tuple[str, str]]]:
    def check(name: str, value: JsonValue) -> Iterator[tuple[str, str]]:
        if isinstance(value, list | dict | None):
            yield name, "must be text"
        elif not page_fields.line(value):
            yield name, "must not be empty"
        elif len(page_fields.line(value)) > longest:
            yield name, f"must be at most {longest} characters"

    return check


def _slug(name: str, value: JsonValue) -> Iterator[tuple[str, str]]:
    yield from _text(slugs.MAX_LENGTH)(name, value)
    if (text := page_fields.line(value)) and slugs.given(text) is None:
        yield name, "must have a letter"


def _texts(longest: int) -> Callable[[str, JsonValue], Iterator[tuple[str, str]]]:
    check_one = _text(longest)

    def check(name: str, value: JsonValue) -> Iterator[tuple[str, str]]:
        if isinstance(value, str):
            value = [part for part in page_fields.split(name, value) if part]
        if not isinstance(value, list):
            yield name, "must be a list of texts"
            return
        if len(value) > MAX_NAMES:
            yield name, f"must be at most {MAX_NAMES}"
        for place, item in enumerate(value[:MAX_NAMES]):
            yield from check_one(f"{name}.{place}", item)

    return check


def _day(name: str, value: JsonValue) -> Iterator[tuple[str, str]]:
    text = value if isinstance(value, str) else ""
    try:
        valid = bool(_DAY.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        valid = False
    if not valid:
        yield name, "must be a date (YYYY-MM-DD)"


CHECKS: Final[Mapping[str, Callable[[str, JsonValue], Iterator[tuple[str, str]]]]] = {
    "type": _type,
    "title": _text(MAX_TITLE),
    "slug": _slug,
    "tags": _texts(page_fields.MAX_TAG),
    "tag": _texts(page_fields.MAX_TAG),
    "aliases": _texts(page_fields.MAX_ALIAS),
    "alias": _texts(page_fields.MAX_ALIAS),
    "effective_date": _day,
    "sources": _texts(MAX_SOURCE),
}
"""What each field must be; a field that is missing or null is left out."""

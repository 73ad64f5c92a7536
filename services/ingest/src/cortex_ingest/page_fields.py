"""The fields of a page out of its frontmatter, lenient: what cannot be read is as if it were not there, and stays in
the metadata as it was typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Final

from pydantic import JsonValue

from cortex_contracts.rpc.pages import PageType
from cortex_ingest.frontmatter import is_placeholder

TYPES: Final = tuple(kind.value for kind in PageType)
ORIGINAL: Final = "original_"
"""What the metadata keeps a value under that was not what it must be, as it was typed."""

MAX_TAG: Final = 100
MAX_ALIAS: Final = 300
MAX_TAGS: Final = 1_000
MAX_ALIASES: Final = 1_000

_COMMA = re.compile(r"[,،，、;؛；\n]")
# What is left of a list that is no YAML, such as `[#one, {{two}}]`.
_ITEM = re.compile(r"^\s*-\s+", re.MULTILINE)
_QUOTES: Final = " \t[]\"'"
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T\s,]+(.*))?")
_SPELLED_DATES: Final = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y")


def value_of(fields: Mapping[str, JsonValue], name: str) -> JsonValue:
    """The value of a field; its case counts only where two fields differ in nothing else."""
    if name in fields:
        return fields[name]
    return next((value for key, value in fields.items() if key.casefold() == name), None)


def line(value: JsonValue) -> str:
    """A plain value as one line of text; empty for anything else and for what a template leaves to be filled in."""
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            text = " ".join(str(value).split())
            return "" if is_placeholder(text) else text
        case list() if len(value) == 1:
            # `[[Page]]` without quotes is a list in a list.
            return line(value[0])
    return ""


def page_type(fields: Mapping[str, JsonValue]) -> str | None:
    """The type of the page; none: it has none, or one that is none of ours."""
    name = line(value_of(fields, "type")).lower()
    return name if name in TYPES else None


def tags(fields: Mapping[str, JsonValue], inline: Iterable[str] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tags of a page, each once whatever its case, and what was left out: those of its fields, then those of its
    text. People write them as a list, or as a text with commas or spaces, with `#` or without."""
    written = (name.lstrip("#").strip() for field in ("tags", "tag") for name in _names(field, value_of(fields, field)))
    return _unique((*written, *inline), MAX_TAG, MAX_TAGS, "tags")


def aliases(fields: Mapping[str, JsonValue]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The other names of a page, each once whatever its case, and what was left out: a list, or a text with commas."""
    written = (name for field in ("aliases", "alias") for name in _names(field, value_of(fields, field)))
    return _unique(written, MAX_ALIAS, MAX_ALIASES, "aliases")


def split(field: str, text: str) -> list[str]:
    """The names in a text that has several: each line of `sources`, whose commas are their own; what stands between
    commas; tags between spaces too."""
    text = _ITEM.sub("", text)
    if field == "sources":
        return text.split("\n")
    parts = text.split() if field.startswith("tag") and not _COMMA.search(text) else _COMMA.split(text)
    return [part.strip(_QUOTES) for part in parts] if text.startswith("[") and text.endswith("]") else parts


def _names(field: str, value: JsonValue) -> Iterator[str]:
    yield from _flat([*split(field, value)] if isinstance(value, str) else value)


def _flat(value: JsonValue) -> Iterator[str]:
    """The names in whatever they are nested in. `a: b` in a list is a name with a colon, no mapping."""
    match value:
        case list():
            for item in value:
                yield from _flat(item)
        case dict():
            for key, item in value.items():
                if isinstance(item, list | dict):
                    yield line(key)
                    yield from _flat(item)
                else:
                    yield line(f"{key}: {line(item)}" if line(item) else key)
        case _:
            yield line(value)


def moment(value: JsonValue) -> datetime | None:
    """The moment that a value names; a day counts from its start in UTC."""
    text = line(value).strip("[]")
    if found := _DATE.fullmatch(text):
        year, month, day, time = found.groups()
        text = f"{year}-{month:0>2}-{day:0>2}{f'T{time}' if time else ''}"
    for pattern in (None, *_SPELLED_DATES):
        try:
            written = datetime.strptime(text, pattern) if pattern else datetime.fromisoformat(text)
            return written.astimezone(UTC) if written.tzinfo else written.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            continue
    return None


def created(fields: Mapping[str, JsonValue]) -> datetime | None:
    """When the page says that it was written."""
    return moment(value_of(fields, "created")) or moment(value_of(fields, "date"))


def metadata(fields: Mapping[str, JsonValue]) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    """All fields, those that others read in the form in which they read them, and what a person should mend.

    `effective_date` is a day (YYYY-MM-DD) or missing, `sources` a list of texts; what was typed instead, and a type
    that is none of ours, is kept under `original_…`.
    """
    kept = dict(fields)
    problems = []
    if value_of(fields, "type") not in (None, "", []) and page_type(fields) is None:
        kept[f"{ORIGINAL}type"] = value_of(fields, "type")
    typed = value_of(fields, "effective_date")
    if typed is not None:
        day = effective_date(typed)
        kept.pop("effective_date", None)
        if day is not None:
            kept["effective_date"] = day.isoformat()
        else:
            problems.append("expected a date (YYYY-MM-DD) as effective_date")
        if kept.get("effective_date") != typed:
            kept[f"{ORIGINAL}effective_date"] = typed
    typed = value_of(fields, "sources")
    if typed is not None:
        kept["sources"] = [source for source in _names("sources", typed) if source]
        if kept["sources"] != typed and not isinstance(typed, str):
            kept[f"{ORIGINAL}sources"] = typed
    return kept, tuple(problems)


def effective_date(value: JsonValue) -> date | None:
    """The day that a value names, in the zone that it is written in."""
    text = line(value).strip("[]")
    found = moment(text[:10]) if re.match(r"\d{4}-\d\d-\d\d[T\s]", text) else moment(text)
    return found.date() if found else None


def _unique(found: Iterable[str], longest: int, most: int, what: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    every: dict[str, str] = {}
    for name in found:
        if name:
            every.setdefault(name.casefold(), name)
    kept = [name for name in every.values() if len(name) <= longest]
    problems = []
    if len(kept) < len(every):
        problems.append(f"expected {what} of at most {longest} characters; {len(every) - len(kept)} left out")
    if len(kept) > most:
        problems.append(f"expected at most {most} {what}, got {len(kept)}; the first ones count")
    return tuple(kept[:most]), tuple(problems)

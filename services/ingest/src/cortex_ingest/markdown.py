"""A Markdown file as a page: fields, passages and links. Lenient: what is wrong is noted, the text is always kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from markdown_it.token import Token
from pydantic import JsonValue

from cortex_ingest import chunking, frontmatter, links, slugs, syntax
from cortex_ingest.chunking import Passage
from cortex_ingest.errors import UnreadablePage

TYPES: Final = ("company", "person", "concept", "meeting", "deal", "source", "note")
FALLBACK_TYPE: Final = "note"
ORIGINAL_TYPE: Final = "original_type"
"""Where the metadata keeps a type that is none of ours."""

MAX_TITLE: Final = 300
MAX_TAGS: Final = 100
MAX_ALIASES: Final = 100


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says. `slug` is none when the frontmatter gives it none; `passages` is never empty."""

    slug: str | None
    title: str
    type: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    metadata: Mapping[str, JsonValue]
    created: datetime | None
    body: str
    passages: tuple[Passage, ...]
    links: tuple[str, ...]
    problems: tuple[str, ...]


def read(path: str, content: bytes) -> Document:
    """The page in the file at `path` of its vault.

    Raises:
        UnreadablePage: it is not text.
    """
    text, problems = _decode(content)
    head = frontmatter.split(text)
    fields = dict(head.fields)
    tokens = syntax.parse(head.body)
    problems += head.problems
    kind, known = _type(fields.get("type"))
    if not known:
        fields[ORIGINAL_TYPE] = fields["type"]
    title = _line(fields.get("title")) or _first_heading(tokens) or _stem(path)
    passages = chunking.chunk(head.body, tokens) or (Passage((), title),)
    slug = _line(fields.get("slug"))
    return Document(
        slug=slugs.slugify(slug) if slug else None,
        title=title[:MAX_TITLE],
        type=kind,
        tags=_unique((*_names(fields.get("tags", fields.get("tag"))), *_inline_tags(tokens)))[:MAX_TAGS],
        aliases=_unique(_names(fields.get("aliases", fields.get("alias")), spaces=False))[:MAX_ALIASES],
        metadata=fields,
        created=_created(fields),
        body=head.body,
        passages=passages,
        links=links.targets(tokens, path),
        problems=problems,
    )


def _decode(content: bytes) -> tuple[str, tuple[str, ...]]:
    if b"\x00" in content:
        raise UnreadablePage("expected text in UTF-8, got binary data")
    try:
        text = content.decode("utf-8-sig")
        problems: tuple[str, ...] = ()
    except UnicodeDecodeError as error:
        text = content.decode("utf-8-sig", "replace")
        problems = (f"expected text in UTF-8, byte {error.start} is not; such bytes were replaced",)
    return text.replace("\r\n", "\n").replace("\r", "\n"), problems


def _type(value: JsonValue) -> tuple[str, bool]:
    """A type of ours, and whether the page has it or none."""
    if value is None or value == "":
        return FALLBACK_TYPE, True
    name = str(value).strip().lower()
    return (name, True) if name in TYPES else (FALLBACK_TYPE, False)


def _created(fields: Mapping[str, JsonValue]) -> datetime | None:
    """When the page says that it was written; a day counts from its start in UTC."""
    for name in ("created", "date"):
        try:
            written = datetime.fromisoformat(_line(fields.get(name)))
        except ValueError:
            continue
        return written.astimezone(UTC) if written.tzinfo else written.replace(tzinfo=UTC)
    return None


def _line(value: JsonValue) -> str:
    """A plain value as one line of text; empty for anything else."""
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def _names(value: JsonValue, *, spaces: bool = True) -> Iterator[str]:
    """Tags or aliases as people write them: a list, or a text with commas, or (tags only) with spaces and `#`."""
    if isinstance(value, list):
        for item in value:
            yield _line(item).removeprefix("#").strip()
    elif text := _line(value):
        for part in re.split(r"[,،]" if not spaces or re.search(r"[,،]", text) else r"\s", text):
            yield part.strip().removeprefix("#").strip()


def _inline_tags(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == syntax.TAG:
            yield token.content.strip("/")
        yield from _inline_tags(token.children or ())


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once whatever its case, as it was written first."""
    return tuple({name.casefold(): name for name in reversed([*names]) if name}.values())[::-1]


def _first_heading(tokens: Sequence[Token]) -> str:
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h1":
            return " ".join(syntax.plain(tokens[place + 1]).split())
    return ""


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].rsplit(".", 1)[0]

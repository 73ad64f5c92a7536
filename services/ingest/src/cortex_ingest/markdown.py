"""A Markdown file as a page: fields, passages and links. Lenient: what is wrong is noted, the text is always kept."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from markdown_it.token import Token
from pydantic import JsonValue

from cortex_contracts.rpc.pages import PageDraft, PageType
from cortex_ingest import chunking, frontmatter, links, page_fields, slugs, syntax
from cortex_ingest.chunking import Passage
from cortex_ingest.notation import TAG
from cortex_ingest.page_text import decode, storable, unix_lines

MAX_TITLE: Final = 300


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says. `slug` is none when the frontmatter gives it none; `passages` is never empty; `body` has the
    line ends and spaces of the file; `problems` are what a person should mend."""

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
    text, problems = decode(content)
    head = frontmatter.split(text)
    return document(path, head.fields, head.body, problems + head.problems)


def compose(slug: str, draft: PageDraft) -> Document:
    """The page that a draft says; tags and links of its body count too, the draft's tags first."""
    fields: dict[str, JsonValue] = {"type": draft.type.value, "title": draft.title, "tags": [*draft.tags]}
    said: dict[str, JsonValue] = {}
    if draft.effective_date is not None:
        said["effective_date"] = draft.effective_date.isoformat()
    if draft.sources:
        said["sources"] = [storable(source) for source in draft.sources]
    composed = document(f"{slug}.md", fields | said, storable(draft.body_markdown), ())
    return replace(composed, slug=slug, title=storable(draft.title), metadata=said)


def document(path: str, fields: Mapping[str, JsonValue], body: str, problems: tuple[str, ...]) -> Document:
    """The page of fields and a body, whose file is at `path`; `problems` are known already."""
    text = unix_lines(body)
    tokens = syntax.parse(text)
    title = (
        page_fields.line(page_fields.value_of(fields, "title"))
        or page_fields.line(_first_heading(tokens))
        or _stem(path)
    )
    slug = page_fields.line(page_fields.value_of(fields, "slug"))
    metadata, mistyped = page_fields.metadata(fields)
    tags, odd_tags = page_fields.tags(fields, inline_tags(tokens))
    aliases, odd_aliases = page_fields.aliases(fields)
    return Document(
        slug=slugs.given(slug),
        title=title[:MAX_TITLE],
        type=page_fields.page_type(fields) or PageType.NOTE.value,
        tags=tags,
        aliases=aliases,
        metadata=metadata,
        created=page_fields.created(fields),
        body=body,
        passages=chunking.chunk(text, tokens) or (Passage((), title),),
        links=tuple(dict.fromkeys((*links.targets(tokens, path), *links.in_fields(dict(fields), path)))),
        problems=(*problems, *mistyped, *odd_tags, *odd_aliases),
    )


def inline_tags(tokens: Iterable[Token]) -> Iterator[str]:
    """The tags in a text, as they are written there."""
    for token in tokens:
        if token.type == TAG:
            yield token.content
        yield from inline_tags(token.children or ())


def _first_heading(tokens: Sequence[Token]) -> str:
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h1" and not token.level:
            return syntax.plain(tokens[place + 1])
    return ""


def _stem(path: str) -> str:
    # Some systems write the names of files decomposed.
    name = unicodedata.normalize("NFC", storable(path.rsplit("/", 1)[-1].rsplit(".", 1)[0]))
    return " ".join(name.split()) or slugs.UNTITLED

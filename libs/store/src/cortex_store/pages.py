"""Pages: the documents of a vault with their chunks, written as one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from pydantic import JsonValue

from cortex_store import links, names, terms
from cortex_store.connection import Connection, affected
from cortex_store.embedding import Embedding, halfvec, require_recorded
from cortex_store.errors import SlugTaken
from cortex_store.ids import uuid7


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A passage of a page; without an `embedding` it is stale and found by its words only."""

    text: str
    heading_path: tuple[str, ...]
    embedding: Embedding | None


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page to write. `content_hash` is that of the file as it was read; `path` is none for a page without a file.

    `links` are targets as written, without heading or alias; a relative path is given from the root of the vault.
    """

    vault: str
    slug: str
    path: str | None
    title: str
    type: str
    body: str
    content_hash: bytes
    chunks: tuple[NewChunk, ...]
    links: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    frontmatter: Mapping[str, JsonValue] = field(default_factory=dict)
    commit: str | None = None
    created: datetime | None = None
    """None: kept, or now for a new page."""
    model: str | None = None
    """Which model the embeddings of its chunks come from; none: they are not checked."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is stored."""

    id: UUID
    vault: str
    slug: str
    path: str | None
    title: str
    type: str
    body: str
    content_hash: bytes
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    frontmatter: Mapping[str, JsonValue]
    commit: str | None
    created: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class PageKey:
    """What a sync compares: where a page comes from and what it was made of."""

    slug: str
    path: str | None
    content_hash: bytes


@dataclass(frozen=True, slots=True)
class PageWrite:
    """What writing a page did: `renamed_from` is the slug its file had before, `links_changed` counts the links of the
    whole vault that lead elsewhere now."""

    id: UUID
    created: bool
    renamed_from: str | None
    links_changed: int


COLUMNS: Final = (
    "p.id, p.vault, p.slug, p.path, p.title, p.type, p.body, p.content_hash, p.tags, p.aliases, p.frontmatter, "
    "p.commit, p.created, p.updated_at"
)
# Two writers of one vault would each miss the links and names that the other has not committed yet.
LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended(current_setting('cortex.org') || '/' || $1, 0))"
HOLDER: Final = "SELECT p.id, p.path FROM pages p WHERE p.vault = $1 AND p.slug = $2"
AT_PATH: Final = "SELECT p.slug FROM pages p WHERE p.vault = $1 AND p.path = $2"
UPSERT: Final = """
INSERT INTO pages AS p (
    id, vault, slug, path, title, type, body, content_hash, tags, aliases, frontmatter, commit, created
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::text::jsonb, $12, coalesce($13, now()))
ON CONFLICT (org, vault, slug) DO UPDATE SET
    path = coalesce(excluded.path, p.path),
    title = excluded.title,
    type = excluded.type,
    body = excluded.body,
    content_hash = excluded.content_hash,
    tags = excluded.tags,
    aliases = excluded.aliases,
    frontmatter = excluded.frontmatter,
    commit = coalesce(excluded.commit, p.commit),
    created = coalesce($13, p.created),
    updated_at = now()
RETURNING p.id, p.path
"""
DELETE_CHUNKS: Final = "DELETE FROM chunks WHERE page = $1"
INSERT_CHUNK: Final = """
INSERT INTO chunks (vault, page, ordinal, heading_path, text, search, embedding)
VALUES ($1, $2, $3, $4, $5, $6::text::tsvector, $7)
"""
DELETE: Final = "DELETE FROM pages WHERE id = $1"
GET: Final = f"SELECT {COLUMNS} FROM pages p WHERE p.vault = $1 AND p.slug = $2"  # noqa: S608 - constants
LIST: Final = "SELECT p.slug, p.path, p.content_hash FROM pages p WHERE p.vault = $1 ORDER BY p.slug"


async def upsert(connection: Connection, page: NewPage) -> PageWrite:
    """Write a page with its chunks, names and links, and resolve every link of the vault that this changes.

    A file that asked for another slug before is renamed: its old page goes. Apply the deletions of a sync first, or a
    file that moved still holds its slug under the old path.

    Raises:
        SlugTaken: another file of the vault has this slug; nothing was changed.
        ModelChanged: its embeddings come from another model than the database's.
    """
    await connection.execute(LOCK, page.vault)
    holder = await connection.fetchrow(HOLDER, page.vault, page.slug)
    if holder is not None and None not in (page.path, holder["path"]) and holder["path"] != page.path:
        raise SlugTaken(page.slug, str(holder["path"]), str(page.path))
    links_changed = 0
    renamed_from: str | None = None
    if page.path is not None:
        at_path: str | None = await connection.fetchval(AT_PATH, page.vault, page.path)
        if at_path is not None and at_path != page.slug:
            renamed_from = at_path
            links_changed += await _delete(connection, page.vault, at_path) or 0
    row = await connection.fetchrow(
        UPSERT,
        uuid7(),
        page.vault,
        page.slug,
        page.path,
        page.title,
        page.type,
        page.body,
        page.content_hash,
        list(page.tags),
        list(page.aliases),
        json.dumps(dict(page.frontmatter)),
        page.commit,
        page.created,
    )
    assert row is not None, "INSERT … RETURNING gives a row"
    page_id: UUID = row["id"]
    await _replace_chunks(connection, page, page_id)
    touched = await links.replace_names(
        connection, page.vault, page_id, names.names_of(page.slug, row["path"], page.title, page.aliases)
    )
    touched |= await links.replace_links(connection, page.vault, page_id, page.links)
    links_changed += await links.resolve(connection, page.vault, touched)
    return PageWrite(page_id, holder is None, renamed_from, links_changed)


async def delete(connection: Connection, vault: str, slug: str) -> bool:
    """Delete a page with its chunks and outgoing links; links to it wait for a page of that name again. False if there
    is no such page."""
    await connection.execute(LOCK, vault)
    return await _delete(connection, vault, slug) is not None


async def get(connection: Connection, vault: str, slug: str) -> Page | None:
    """A page of the bound org; none if there is no such page."""
    row = await connection.fetchrow(GET, vault, slug)
    if row is None:
        return None
    return Page(
        id=row["id"],
        vault=row["vault"],
        slug=row["slug"],
        path=row["path"],
        title=row["title"],
        type=row["type"],
        body=row["body"],
        content_hash=row["content_hash"],
        tags=tuple(row["tags"]),
        aliases=tuple(row["aliases"]),
        frontmatter=json.loads(row["frontmatter"]),
        commit=row["commit"],
        created=row["created"],
        updated_at=row["updated_at"],
    )


async def list_keys(connection: Connection, vault: str) -> tuple[PageKey, ...]:
    """Every page of a vault, by slug."""
    rows = await connection.fetch(LIST, vault)
    return tuple(PageKey(row["slug"], row["path"], row["content_hash"]) for row in rows)


async def _delete(connection: Connection, vault: str, slug: str) -> int | None:
    """Delete a page under the vault's lock; returns how many links lead elsewhere now, none if there is no page."""
    holder = await connection.fetchrow(HOLDER, vault, slug)
    if holder is None:
        return None
    touched = await links.names_of(connection, holder["id"])
    assert affected(await connection.execute(DELETE, holder["id"])) == 1, "the page was found under the lock"
    return await links.resolve(connection, vault, touched)


async def _replace_chunks(connection: Connection, page: NewPage, page_id: UUID) -> None:
    await connection.execute(DELETE_CHUNKS, page_id)
    if page.model is not None:
        await require_recorded(connection, page.model)
    await connection.executemany(
        INSERT_CHUNK,
        [
            (
                page.vault,
                page_id,
                ordinal,
                list(chunk.heading_path),
                chunk.text,
                # Title and headings are part of what a passage says; the words of a page's name must find it.
                terms.document("\n".join((page.title, *chunk.heading_path, chunk.text))),
                halfvec(chunk.embedding),
            )
            for ordinal, chunk in enumerate(page.chunks)
        ],
    )

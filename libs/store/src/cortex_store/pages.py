"""Pages: the documents of a vault with their chunks, written as one."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final
from uuid import UUID

from pydantic import JsonValue

from cortex_store import links, names, page_chunks
from cortex_store.connection import Connection, Row
from cortex_store.errors import SlugTaken, VaultForbidden
from cortex_store.ids import uuid7
from cortex_store.page_chunks import NewChunk as NewChunk
from cortex_store.slugs import slugify


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page to write. `content_hash` is that of the file as it was read; `path` is none for a page without a file.

    `links` are targets as written, without heading or alias; a relative path is given from the root of the vault.
    Written over a page that has a file, a page without one keeps what belongs to the file: its path, commit and
    content hash, and the frontmatter that is not in `REST_FIELDS`. So git wins again when the file changes.
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


REST_FIELDS: Final = ("effective_date", "sources")
"""Frontmatter that may be written without a file."""
DATE_FIELDS: Final = ("effective_date", "date")
"""Frontmatter that says which day a page is about, best first."""
MAX_LABEL: Final = 200

COLUMNS: Final = (
    "p.id, p.vault, p.slug, p.path, p.title, p.type, p.body, p.content_hash, p.tags, p.aliases, p.frontmatter, "
    "p.commit, p.created, p.updated_at"
)
# Two writers of one vault would each miss the links and names that the other has not committed yet.
LOCK: Final = """
SELECT bound_to_vault('writable', $1),
    pg_advisory_xact_lock(hashtextextended(current_setting('cortex.org') || '/' || $1, 0))
"""
# Who has the slug, and which page the file was until now.
HOLDERS: Final = """
SELECT p.id, p.slug, p.path, p.frontmatter, p.content_hash FROM pages p
WHERE p.vault = $1 AND (p.slug = $2 OR p.path = $3)
"""
UPSERT: Final = """
INSERT INTO pages AS p (
    id, vault, slug, path, title, type, body, content_hash, tags, aliases, frontmatter, commit, created, labels, dated
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::text::jsonb, $12, coalesce($13, now()), $14, $15)
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
    updated_at = now(),
    labels = excluded.labels,
    dated = excluded.dated
RETURNING p.id, p.path
"""
HOLDER: Final = "SELECT p.id FROM pages p WHERE p.vault = $1 AND p.slug = $2"
DELETE: Final = "DELETE FROM pages WHERE id = $1"
GET: Final = f"SELECT {COLUMNS} FROM pages p WHERE p.vault = $1 AND p.slug = $2"  # noqa: S608 - constants
FIND: Final = f"""
SELECT {COLUMNS} FROM pages p WHERE p.slug = ANY ($1) AND ($2::text IS NULL OR p.vault = $2)
ORDER BY p.vault <> $3, p.vault, p.slug <> $1[1] LIMIT 1
"""  # noqa: S608 - constants
LIST: Final = "SELECT p.slug, p.path, p.content_hash FROM pages p WHERE p.vault = $1 ORDER BY p.slug"


async def upsert(connection: Connection, page: NewPage) -> PageWrite:
    """Write a page with its chunks, names and links, and resolve every link of the vault that this changes.

    A file that asked for another slug before is renamed: its old page goes. Apply the deletions of a sync first, or a
    file that moved still holds its slug under the old path.

    Raises:
        VaultForbidden: the bound principal may not write the vault.
        SlugTaken: another file of the vault has this slug; nothing was changed.
        ModelChanged: its embeddings come from another model than the database's.
    """
    chunks = await page_chunks.prepare(page.title, page.chunks)
    await _lock(connection, page.vault)
    rows = await connection.fetch(HOLDERS, page.vault, page.slug, page.path)
    holder = next((row for row in rows if row["slug"] == page.slug), None)
    if holder is not None and None not in (page.path, holder["path"]) and holder["path"] != page.path:
        raise SlugTaken(page.slug, str(holder["path"]), str(page.path))
    former = next((row for row in rows if row["slug"] != page.slug), None)
    links_changed = await _delete(connection, page.vault, former["id"]) if former is not None else 0
    content_hash, frontmatter = page.content_hash, dict(page.frontmatter)
    if holder is not None and page.path is None and holder["path"] is not None:
        of_file = json.loads(holder["frontmatter"])
        frontmatter = {name: of_file[name] for name in of_file if name not in REST_FIELDS} | frontmatter
        content_hash = holder["content_hash"]
    row = await connection.fetchrow(
        UPSERT,
        uuid7(),
        page.vault,
        page.slug,
        page.path,
        page.title,
        page.type,
        page.body,
        content_hash,
        list(page.tags),
        list(page.aliases),
        json.dumps(frontmatter),
        page.commit,
        page.created,
        [label("type", page.type), *(label("tag", tag) for tag in page.tags)],
        dated(frontmatter),
    )
    assert row is not None, "INSERT … RETURNING gives a row"
    page_id: UUID = row["id"]
    await page_chunks.replace(connection, page_id, chunks, page.model)
    touched = await links.replace_names(
        connection, page.vault, page_id, names.names_of(page.slug, row["path"], page.title, page.aliases)
    )
    await links.replace_links(connection, page.vault, page_id, page.links)
    links_changed += await links.resolve(connection, page.vault, touched)
    return PageWrite(page_id, holder is None, None if former is None else former["slug"], links_changed)


async def delete(connection: Connection, vault: str, slug: str) -> bool:
    """Delete a page with its chunks and outgoing links; links to it wait for a page of that name again. False if there
    is no such page.

    Raises:
        VaultForbidden: there is one, and the bound principal may not write its vault.
    """
    if await connection.fetchval(HOLDER, vault, slug) is None:
        return False
    await _lock(connection, vault)
    holder = await connection.fetchval(HOLDER, vault, slug)
    if holder is None:  # deleted while this waited
        return False
    await _delete(connection, vault, holder)
    return True


async def may_write(connection: Connection, vault: str) -> bool:
    """May the bound principal write the vault?"""
    allowed: bool = await connection.fetchval("SELECT bound_to_vault('writable', $1)", vault)
    return allowed


async def get(connection: Connection, vault: str, slug: str) -> Page | None:
    """A page that the binding may read; none if there is no such page."""
    row = await connection.fetchrow(GET, vault, slug)
    return None if row is None else _from_row(row)


async def find(connection: Connection, slug: str, *, vault: str | None, default: str) -> Page | None:
    """The page of a slug in `vault`; without one in the vault `default`, else in the first other one by name. A text
    that is no slug is found as the slug that it would become."""
    row = await connection.fetchrow(FIND, [slug, slugify(slug)], vault, default)
    return None if row is None else _from_row(row)


async def list_keys(connection: Connection, vault: str) -> tuple[PageKey, ...]:
    """Every page of a vault, by slug."""
    rows = await connection.fetch(LIST, vault)
    return tuple(PageKey(row["slug"], row["path"], row["content_hash"]) for row in rows)


def label(kind: str, value: str) -> str:
    """What a search for pages of a type or with a tag looks for: case does not count. `kind`: "type" or "tag"."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", value).casefold()).strip()
    return f"{kind}:{folded[:MAX_LABEL]}"


def dated(frontmatter: Mapping[str, JsonValue], fields: Iterable[str] = DATE_FIELDS) -> date | None:
    """The day that the first usable one of `fields` says (ISO 8601, a time of day is left out); none: no field does."""
    for name in fields:
        value = frontmatter.get(name)
        if isinstance(value, str):
            try:
                return date.fromisoformat(value[:10])
            except ValueError:
                continue
    return None


async def _lock(connection: Connection, vault: str) -> None:
    if not await connection.fetchval(LOCK, vault):
        raise VaultForbidden(vault)


async def _delete(connection: Connection, vault: str, page: UUID) -> int:
    """Delete a page under the vault's lock; returns how many links lead elsewhere now."""
    touched = await links.names_of(connection, page)
    await connection.execute(DELETE, page)
    return await links.resolve(connection, vault, touched)


def _from_row(row: Row) -> Page:
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

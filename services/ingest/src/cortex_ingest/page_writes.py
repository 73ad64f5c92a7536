"""Pages that are written by hand: put, imported and deleted. Every change commits with its event.

The text is stored as it was written: a page is what somebody wrote on purpose, not what was overheard.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from cortex_contracts import subjects
from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.base import Principal, preview
from cortex_contracts.messages.events import PageEvent
from cortex_contracts.rpc.pages import FieldError, PageDraft, PageView
from cortex_contracts.subjects import PageOp
from cortex_ingest import markdown, page_drafts, page_import
from cortex_ingest.links import in_fields
from cortex_ingest.markdown import Document
from cortex_ingest.page_drafts import Placed
from cortex_ingest.write_access import require_vault
from cortex_runtime import outbox
from cortex_store import links, page_files, page_views, pages
from cortex_store.connection import Connection
from cortex_store.ids import uuid7
from cortex_store.pages import Page
from cortex_writing.ports import PassageEmbedder, Transactions

MAX_VIEW_BYTES: Final = 1_000_000
"""A page has to fit into a message of 1 MiB with its envelope; a longer one could be written but not be shown."""
KNOWN_VECTORS: Final = 2_000
"""More than a page that fits into a message has passages."""
SAID_BY_DRAFT: Final = (*pages.REST_FIELDS, "type", "original_type", "title", "tags", "tag")
"""Fields of a frontmatter that a draft has its own word for."""


@dataclass(frozen=True, slots=True)
class Written:
    """A page as it is stored now, and whether it was not there before."""

    page: PageView
    created: bool


class PageWrites:
    """Writes pages for a principal. `default_vault` is where a page goes that names none and is in none; `committed` is
    called after each commit that left an event."""

    def __init__(
        self, database: Transactions, embedder: PassageEmbedder, default_vault: str, committed: Callable[[], None]
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._default_vault = default_vault
        self._committed = committed

    async def put(self, principal: Principal, slug: str, draft: PageDraft, vault: str | None) -> Written:
        """Write what a draft says over the page of this slug, or as a new one. What a draft has no word for stays: the
        page's file, aliases and other frontmatter. The file wins again when it changes.

        Raises:
            VaultForbidden: the principal may not write the vault.
            Permanent: the page is too long for a message.
            Retryable: the embedder or the database is away, or has another model by now; nothing was written.
        """
        document = await asyncio.to_thread(markdown.compose, slug, draft)

        def over(before: Page) -> Document:
            kept = {name: value for name, value in before.frontmatter.items() if name not in SAID_BY_DRAFT}
            return replace(document, metadata=kept | dict(document.metadata), aliases=before.aliases)

        return await self._write(principal, slug, document, vault, over)

    async def import_(
        self, principal: Principal, slug: str, text: str, vault: str | None
    ) -> Written | tuple[FieldError, ...]:
        """Write the page that a Markdown file says, with its frontmatter; `slug` counts where that has none. Returns
        what is wrong with the fields if they are no good. A page that has a file of its vault keeps that, and what only
        that one says.

        Raises:
            VaultForbidden, Permanent, Retryable: as for `put`.
        """
        document = await asyncio.to_thread(page_import.read, slug, text)
        if isinstance(document, tuple):
            return document

        def over(before: Page) -> Document:
            of_file = before.aliases if before.path is not None else ()
            return replace(document, aliases=document.aliases or of_file)

        return await self._write(principal, document.slug or slug, document, vault, over)

    async def delete(self, principal: Principal, slug: str, vault: str | None) -> bool:
        """Delete a page; links to it wait for a page of that name again. False if there is no such page.

        Raises:
            VaultForbidden: the principal may not write its vault.
            Unavailable: the database is away.
        """
        async with self._database.transaction(principal) as connection:
            page = await self._find(connection, slug, vault)
            if page is None:
                return False
            deleted = await pages.delete(connection, page.vault, page.slug)
            if deleted:
                await _announce(connection, PageOp.DELETE, principal.org, page.vault, page.slug)
        self._committed()
        return deleted

    async def _find(self, connection: Connection, slug: str, vault: str | None) -> Page | None:
        return await pages.find(connection, slug, vault=vault, default=self._default_vault)

    async def _write(
        self,
        principal: Principal,
        slug: str,
        document: Document,
        vault: str | None,
        over: Callable[[Page], Document],
    ) -> Written:
        """Embed a document and write it; `over` says what it becomes on top of a page that is there, which changes none
        of its passages."""
        async with self._database.transaction(principal) as connection:
            before = await self._find(connection, slug, vault)
            place = before.vault if before else vault or self._default_vault
            await require_vault(connection, place)
            known = await page_files.vectors(connection, place, [slug], self._embedder.model, KNOWN_VECTORS)
        fingerprint = hashlib.sha256("\x00".join((slug, document.title, document.body)).encode()).digest()
        # What stays of a page that is there keeps its vectors.
        [page] = await page_drafts.embedded([Placed(document, place, slug, None, fingerprint)], self._embedder, known)
        async with self._database.transaction(principal) as connection:
            # Again: access may have been taken back meanwhile, and the page may have changed.
            await require_vault(connection, place)
            await connection.execute(pages.LOCK, place)
            before = await pages.get(connection, place, slug)
            if before is not None:
                document = over(before)
                of_file = before.frontmatter if before.path is not None else {}
                kept = in_fields({**of_file, **document.metadata}, before.path or "")
                page = replace(
                    page,
                    frontmatter=document.metadata,
                    aliases=document.aliases,
                    links=tuple(dict.fromkeys((*page.links, *kept))),
                )
            outcome = await pages.upsert(connection, page)
            view = await self._view(connection, place, slug)
            op = PageOp.CREATE if outcome.created else PageOp.UPDATE
            await _announce(connection, op, principal.org, place, slug, title=preview(view.title))
        self._committed()
        return Written(view, outcome.created)

    @staticmethod
    async def _view(connection: Connection, vault: str, slug: str) -> PageView:
        stored = await pages.get(connection, vault, slug)
        assert stored is not None, "it was written in this transaction"
        view = page_views.view(stored, await links.from_page(connection, stored.id))
        if (size := len(view.model_dump_json().encode())) > MAX_VIEW_BYTES:
            message = f"expected a page of at most {MAX_VIEW_BYTES} bytes with its links and fields, got {size}"
            raise Permanent(message, code=ErrorCode.TOO_LARGE)
        return view


async def _announce(
    connection: Connection, op: PageOp, org: str, vault: str, slug: str, *, title: str | None = None
) -> None:
    event = PageEvent(
        event_id=uuid7(), op=op, org=org, vault=vault, slug=slug, title=title, occurred_at=datetime.now(UTC)
    )
    await outbox.enqueue(connection, subjects.page_event(op, org, vault), str(event.event_id), event)

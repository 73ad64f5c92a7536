"""The pages of one vault in the hot tier: every change commits with its event."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final

from cortex_contracts import subjects
from cortex_contracts.messages.base import preview
from cortex_contracts.messages.events import PageEvent, SyncEvent
from cortex_contracts.subjects import PageOp
from cortex_ingest.errors import VaultBusy
from cortex_runtime import inbox, outbox
from cortex_store import page_files, pages, vaults
from cortex_store.connection import Connection
from cortex_store.embedding import Embedding
from cortex_store.errors import SlugTaken
from cortex_store.ids import uuid7
from cortex_store.pages import NewPage, PageKey
from cortex_store.vaults import PageFailure, SyncResult, Vault
from cortex_writing.ports import Transactions

INBOX: Final = "syncs"
AGAIN: Final = "again"
"""No vault is called so: names have no slash."""


class VaultPages:
    """Reads and writes one vault of one org; `committed` is called after each commit that left an event."""

    def __init__(self, database: Transactions, org: str, vault: str, committed: Callable[[], None]) -> None:
        self._database = database
        self._org = org
        self.vault = vault
        self._committed = committed

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Hold the right to sync the vault.

        Raises:
            VaultBusy: another replica has it.
        """
        async with self._database.transaction(self._org) as connection:
            if not await vaults.try_lock_sync(connection, self.vault):
                raise VaultBusy(f"the vault {self.vault} is being synced by another replica")
            yield

    @asynccontextmanager
    async def looking_again(self) -> AsyncIterator[None]:
        """Promise, while the block runs, to look at the branch once more after it."""
        async with self._database.transaction(self._org) as connection:
            # Somebody may be asking at this moment; without the promise they come back later.
            await vaults.try_lock_sync(connection, f"{self.vault}/{AGAIN}")
            yield

    async def will_look_again(self) -> bool:
        """Whether the sync that runs will look at the branch later than now, so that nobody else has to.

        Should it end before that, its own message brings the next one.
        """
        async with self._database.transaction(self._org) as connection:
            return not await vaults.try_lock_sync(connection, f"{self.vault}/{AGAIN}")

    async def state(self) -> Vault | None:
        """How the last sync ended; none before the first."""
        async with self._database.transaction(self._org) as connection:
            return await vaults.get(connection, self.vault)

    async def keys(self) -> tuple[PageKey, ...]:
        """Every stored page."""
        async with self._database.transaction(self._org) as connection:
            return await pages.list_keys(connection, self.vault)

    async def vectors(self, slugs: Collection[str], model: str, limit: int) -> Mapping[str, Embedding]:
        """The vectors of stored pages, by the text they stand for."""
        async with self._database.transaction(self._org) as connection:
            return await page_files.vectors(connection, self.vault, slugs, model, limit)

    async def write(self, page: NewPage) -> None:
        """Write one page with its chunks and links; another file that had its slug has no page then."""
        async with self._database.transaction(self._org) as connection:
            try:
                outcome = await pages.upsert(connection, page)
            except SlugTaken:
                assert page.path is not None, "only files take a slug from each other"
                await page_files.release(connection, self.vault, page.slug, page.path)
                outcome = await pages.upsert(connection, page)
            if outcome.renamed_from is not None:
                await self._enqueue(
                    connection, self._event(PageOp.DELETE, slug=outcome.renamed_from, commit=page.commit)
                )
            op = PageOp.CREATE if outcome.created else PageOp.UPDATE
            event = self._event(op, slug=page.slug, title=preview(page.title), commit=page.commit)
            await self._enqueue(connection, event)
        self._committed()

    async def delete(self, slug: str, path: str, commit: str) -> bool:
        """Delete the page of a file; false if the page is another file's by now."""
        async with self._database.transaction(self._org) as connection:
            deleted = await page_files.delete(connection, self.vault, slug, path)
            if deleted:
                await self._enqueue(connection, self._event(PageOp.DELETE, slug=slug, commit=commit))
        self._committed()
        return deleted

    async def progress(self, commit: str, done: int, total: int) -> None:
        """Record how far a sync is, and tell the bus."""
        event = SyncEvent(
            event_id=uuid7(),
            org=self._org,
            vault=self.vault,
            commit=commit,
            done=done,
            total=total,
            occurred_at=datetime.now(UTC),
        )
        async with self._database.transaction(self._org) as connection:
            await vaults.progress(connection, self.vault, commit, done, total)
            subject = subjects.sync_event(self._org, self.vault)
            await outbox.enqueue(connection, subject, str(event.event_id), event)
        self._committed()

    async def finish(
        self,
        message_id: str,
        result: SyncResult,
        *,
        commit: str | None,
        pages_changed: int,
        errors: tuple[PageFailure, ...],
        announce: bool,
    ) -> None:
        """Record how a sync ended and, with `announce`, tell the bus; a message that has been here changes nothing."""
        async with self._database.transaction(self._org) as connection:
            is_new = await inbox.claim(connection, INBOX, f"{self._org}/{self.vault}/{message_id}")
            if not is_new and not pages_changed and await self._told(connection, result, commit, errors):
                return
            await self._record(connection, result, commit, pages_changed, errors)
            if announce:
                event = self._event(PageOp.SYNC, commit=commit, pages_changed=pages_changed, errors=len(errors))
                await self._enqueue(connection, event)
        self._committed()

    async def _told(
        self, connection: Connection, result: SyncResult, commit: str | None, errors: tuple[PageFailure, ...]
    ) -> bool:
        """Whether this is what the vault's state says. It does not when a sync failed after the message was claimed."""
        state = await vaults.get(connection, self.vault)
        return (
            state is not None
            and state.progress is None
            and (state.last_result, state.errors) == (result, errors)
            and commit in (None, state.synced_commit)
        )

    async def fail(self, errors: tuple[PageFailure, ...]) -> None:
        """Record that the vault could not be read; its pages and its commit stay, and the message stays unclaimed."""
        async with self._database.transaction(self._org) as connection:
            await self._record(connection, SyncResult.FAILED, None, 0, errors)

    async def _record(
        self,
        connection: Connection,
        result: SyncResult,
        commit: str | None,
        pages_changed: int,
        errors: tuple[PageFailure, ...],
    ) -> None:
        await vaults.record_sync(
            connection, self.vault, result, synced_commit=commit, pages_changed=pages_changed, errors=errors
        )

    def _event(
        self,
        op: PageOp,
        *,
        slug: str | None = None,
        title: str | None = None,
        commit: str | None = None,
        pages_changed: int | None = None,
        errors: int | None = None,
    ) -> PageEvent:
        return PageEvent(
            event_id=uuid7(),
            op=op,
            org=self._org,
            vault=self.vault,
            slug=slug,
            title=title,
            commit=commit,
            pages_changed=pages_changed,
            errors=errors,
            occurred_at=datetime.now(UTC),
        )

    async def _enqueue(self, connection: Connection, event: PageEvent) -> None:
        subject = subjects.page_event(event.op, self._org, self.vault)
        await outbox.enqueue(connection, subject, str(event.event_id), event)

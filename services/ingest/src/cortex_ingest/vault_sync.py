"""Syncing a vault: its pages in the hot tier become what the head of its branch says.

What is to be done follows from two lists, the files at the head and the pages that are stored, and not from the
commits between two heads: so a force-push, a commit that is gone, a page that failed before and a crash in the middle
of an earlier sync are no special cases. Each page is applied in a transaction of its own; `synced_commit` moves at the
end.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, Protocol

from cortex_contracts.errors import CortexError, Retryable
from cortex_ingest import markdown, slugs
from cortex_ingest.errors import BranchMissing, RepositoryUnreachable
from cortex_ingest.git_repository import Blob
from cortex_ingest.markdown import Document
from cortex_ingest.ports import PassageEmbedder
from cortex_ingest.vault_pages import VaultPages
from cortex_providers.embedder import TextKind
from cortex_runtime import logs
from cortex_store import indexed_text
from cortex_store.errors import SlugTaken
from cortex_store.pages import NewChunk, NewPage, PageKey
from cortex_store.vaults import PageFailure, SyncResult

MAX_PAGE_BYTES: Final = 1024 * 1024
READING: Final = "1"
"""Which reading of Markdown the stored pages come from; a new one reads every page again."""
WHOLE_VAULT: Final = "."
"""The path of a failure that concerns no single page."""

log = logs.get(__name__)


class Repository(Protocol):
    """The branch that a vault follows."""

    async def fetch(self) -> str:
        """The commit at its head. Raises RepositoryUnreachable or BranchMissing."""
        ...

    async def files(self, commit: str) -> tuple[Blob, ...]:
        """Every file of a commit."""
        ...

    def contents(self, blobs: Iterable[Blob]) -> AsyncGenerator[tuple[Blob, bytes], None]:
        """The contents of files in order. Raises RepositoryUnreachable."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What separates the stored pages from a commit."""

    gone: tuple[PageKey, ...]
    changed: tuple[Blob, ...]
    unchanged: frozenset[str]
    slugs: Mapping[str, str]
    """The slug that the path gives, for every page."""


def plan(files: Iterable[Blob], stored: Iterable[PageKey]) -> Plan:
    """Compare the files of a commit with the stored pages; a page without a file is none of git's business."""
    wanted = {blob.path: blob for blob in files if slugs.is_page(blob.path)}
    names = slugs.default_slugs(wanted)
    by_path = {key.path: key for key in stored if key.path is not None}
    unchanged = frozenset(
        path
        for path, blob in wanted.items()
        if path in by_path and by_path[path].content_hash == fingerprint(blob.id, names[path])
    )
    return Plan(
        gone=tuple(key for path, key in sorted(by_path.items()) if path not in wanted),
        changed=tuple(blob for path, blob in sorted(wanted.items()) if path not in unchanged),
        unchanged=unchanged,
        slugs=names,
    )


def fingerprint(blob_id: str, default_slug: str) -> bytes:
    """What a page is made of: the content of its file, the slug its path gives it, and how Markdown is read."""
    return hashlib.sha256("\x00".join((READING, default_slug, blob_id)).encode()).digest()


@dataclass(slots=True)
class _Progress:
    changed: int = 0
    failures: list[PageFailure] = field(default_factory=list)
    """Pages that could not be applied."""
    notes: list[PageFailure] = field(default_factory=list)
    """Pages that were applied, with something to mend."""


class VaultSync:
    """Brings one vault up to date."""

    def __init__(self, repository: Repository, pages: VaultPages, embedder: PassageEmbedder) -> None:
        self._repository = repository
        self._pages = pages
        self._embedder = embedder

    async def run(self, message_id: str, *, quiet: bool = False) -> None:
        """Sync to the head of the branch. Idempotent; what a failed run has applied stays.

        Args:
            quiet: announce the sync only when something changed.

        Raises:
            RepositoryUnreachable: git cannot fetch; this is recorded too.
            VaultBusy: another replica is at it.
            Unavailable: the embedder or the database is away.
        """
        async with self._pages.exclusive():
            state = await self._pages.state()
            before = tuple(error for error in state.errors if error.path != WHOLE_VAULT) if state else ()
            try:
                head = await self._repository.fetch()
            except RepositoryUnreachable as error:
                await self._pages.fail((PageFailure(WHOLE_VAULT, error.message), *before))
                raise
            except BranchMissing as error:
                # Somebody deletes a branch, or names it wrongly: the pages stay, and the next sync looks again.
                failure = PageFailure(WHOLE_VAULT, error.message)
                await self._pages.finish(
                    message_id,
                    SyncResult.FAILED,
                    commit=None,
                    pages_changed=0,
                    errors=(failure, *before),
                    announce=not quiet,
                )
                return
            work = plan(await self._repository.files(head), await self._pages.keys())
            progress = await self._apply(work, head)
            kept = [error for error in before if error.path in work.unchanged]
            errors = tuple(sorted((*progress.failures, *progress.notes, *kept), key=lambda error: error.path))
            moved = state is None or state.synced_commit != head
            await self._pages.finish(
                message_id,
                SyncResult.PARTIAL if errors else SyncResult.OK,
                commit=head,
                pages_changed=progress.changed,
                errors=errors,
                announce=moved or progress.changed > 0 or not quiet,
            )
            log.info("vault synced", commit=head[:12], pages_changed=progress.changed, errors=len(errors))

    async def _apply(self, work: Plan, head: str) -> _Progress:
        progress = _Progress()
        # First, so that a file that moved finds its slug free.
        for key in work.gone:
            await self._pages.delete(key.slug, head)
            progress.changed += 1
        taken = await self._apply_files(work.changed, work.slugs, head, progress)
        if taken:
            # The file that had the slug may have given it up later in this very sync.
            taken = await self._apply_files([blob for blob, _ in taken], work.slugs, head, progress)
        progress.failures += [PageFailure(blob.path, error.message) for blob, error in taken]
        return progress

    async def _apply_files(
        self, blobs: Sequence[Blob], names: Mapping[str, str], head: str, progress: _Progress
    ) -> list[tuple[Blob, SlugTaken]]:
        """Apply files one by one; returns those whose slug another file has."""
        taken: list[tuple[Blob, SlugTaken]] = []
        for blob in blobs:
            if blob.size_bytes > MAX_PAGE_BYTES:
                message = f"expected at most {MAX_PAGE_BYTES} bytes, got {blob.size_bytes}"
                progress.failures.append(PageFailure(blob.path, message))
        small = [blob for blob in blobs if blob.size_bytes <= MAX_PAGE_BYTES]
        async with aclosing(self._repository.contents(small)) as contents:
            async for blob, content in contents:
                try:
                    # Parsing a long page takes its time; health and heartbeats go on meanwhile.
                    document = await asyncio.to_thread(markdown.read, blob.path, content)
                    await self._pages.write(await self._page(document, blob, names[blob.path], head))
                except Retryable:
                    raise
                except SlugTaken as error:
                    taken.append((blob, error))
                except CortexError as error:
                    progress.failures.append(PageFailure(blob.path, error.message))
                except Exception as error:  # edge: a bug that one page finds must not keep out the rest of the vault
                    log.error("page not applied", blob=blob.id, exc_info=error)
                    progress.failures.append(PageFailure(blob.path, f"unexpected {type(error).__name__}"))
                else:
                    progress.changed += 1
                    progress.notes += [PageFailure(blob.path, problem) for problem in document.problems]
        return taken

    async def _page(self, document: Document, blob: Blob, default_slug: str, head: str) -> NewPage:
        texts = [
            indexed_text.passage(document.title, passage.heading_path, passage.text) for passage in document.passages
        ]
        vectors = await self._embedder.embed(texts, TextKind.PASSAGE)
        chunks = tuple(
            NewChunk(passage.text, passage.heading_path, vector)
            for passage, vector in zip(document.passages, vectors, strict=True)
        )
        return NewPage(
            vault=self._pages.vault,
            slug=document.slug or default_slug,
            path=blob.path,
            title=document.title,
            type=document.type,
            body=document.body,
            content_hash=fingerprint(blob.id, default_slug),
            chunks=chunks,
            links=document.links,
            tags=document.tags,
            aliases=document.aliases,
            frontmatter=document.metadata,
            commit=head,
            created=document.created,
            model=self._embedder.model,
        )

"""Syncing a vault: its pages in the hot tier become what the head of its branch says.

What is to be done follows from two lists, the files at the head and the pages that are stored, and not from the
commits between two heads (ADR 0011): so a force-push, a commit that is gone, a page that failed before and a crash in
the middle of an earlier sync are no special cases. After a sync the pages are those that a first import of the head
would make.

Files are read and embedded a batch ahead of the one that is written; each page is written in a transaction of its own,
in the order of the paths. Pages whose files are gone go last: until then a file that was moved takes over its page, and
its vectors are not made again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping
from contextlib import aclosing, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from cortex_contracts.errors import CortexError, Retryable, Unavailable
from cortex_ingest import markdown, page_drafts
from cortex_ingest.errors import BranchMissing, UnreadablePage, VaultBusy
from cortex_ingest.git_repository import Blob
from cortex_ingest.page_drafts import Placed
from cortex_ingest.vault_pages import VaultPages
from cortex_ingest.vault_plan import MAX_PAGE_BYTES, Claims, Plan, fingerprint, plan
from cortex_runtime import logs
from cortex_store.embedding import Embedding
from cortex_store.errors import SlugTaken
from cortex_store.pages import NewPage, PageKey
from cortex_store.vaults import PageFailure, SyncResult, Vault
from cortex_writing.ports import PassageEmbedder

WHOLE_VAULT: Final = "."
"""The path of a failure that concerns no single page."""
PROGRESS_S: Final = 1.0
"""How often a sync that runs says how far it is."""
LOOKS: Final = 5
"""How often a sync looks at a branch that moves; a push that it does not see any more has a message of its own."""
KNOWN_VECTORS: Final = 10_000
"""Vectors of stored passages that are held at a time: 30 MB with their texts, at 384 dimensions."""

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


@dataclass(slots=True)
class _Run:
    """One sync to one head, as far as it is."""

    head: str
    work: Plan
    before: tuple[PageFailure, ...]
    """What was wrong with the vault's pages when it began."""
    claims: Claims
    changed: int = 0
    done: int = 0
    failures: list[PageFailure] = field(default_factory=list)
    """Files that have no page, or not the page that they should."""
    notes: list[PageFailure] = field(default_factory=list)
    """Pages that were applied, with something to mend."""
    homeless: list[PageKey] = field(default_factory=list)
    """Stored pages of files that are none any more."""
    reported_at: float = 0.0

    @property
    def total(self) -> int:
        return len(self.work.changed) + len(self.work.gone)

    def errors(self) -> tuple[PageFailure, ...]:
        """What is wrong with the vault now, by path: what was found, and what was known of the pages that stay."""
        found = [*self.work.refused, *self.failures, *self.notes]
        told = {error.path for error in found}
        kept = [error for error in self.before if error.path in self.work.unchanged and error.path not in told]
        return tuple(sorted((*found, *kept), key=lambda error: error.path))


class VaultSync:
    """Brings one vault up to date."""

    def __init__(self, repository: Repository, pages: VaultPages, embedder: PassageEmbedder) -> None:
        self._repository = repository
        self._pages = pages
        self._embedder = embedder

    async def run(self, message_id: str, *, quiet: bool = False) -> None:
        """Sync to the head of the branch. Idempotent; what a failed run has applied stays. Whoever finds a sync that
        has yet to look at the branch once more leaves it at that.

        Args:
            quiet: announce the sync only when something changed.

        Raises:
            RepositoryUnreachable: git cannot fetch; this is recorded too.
            VaultBusy: another replica is at it, and has had its last look at the branch.
            Unavailable: the embedder or the database is away; this is recorded too, if it can be.
            ModelMismatch: the embedder has another model than configured; this is recorded too.
        """
        try:
            async with self._pages.exclusive():
                await self._follow(message_id, quiet)
        except VaultBusy:
            if not await self._pages.will_look_again():
                raise
            log.info("sync left to the one that runs", vault=self._pages.vault)

    async def _follow(self, message_id: str, quiet: bool) -> None:
        """Sync to the head until it does not move any more, or has moved often enough to let other vaults in."""
        claim, synced = message_id, ""
        for looks_left in reversed(range(LOOKS)):
            state = await self._pages.state()
            before = tuple(error for error in state.errors if error.path != WHOLE_VAULT) if state else ()
            try:
                head = await self._repository.fetch()
                if head == synced:
                    return
                work = await asyncio.to_thread(plan, await self._repository.files(head), await self._pages.keys())
            except BranchMissing as error:
                # Somebody deletes a branch, or names it wrongly: the pages stay, and the next sync looks again.
                errors = (PageFailure(WHOLE_VAULT, error.message), *before)
                await self._pages.finish(
                    claim, SyncResult.FAILED, commit=None, pages_changed=0, errors=errors, announce=not quiet
                )
                return
            except Exception as error:  # edge: whatever ends a sync, nobody is told that all is well
                await self._fail(error, before)
                raise
            run = _Run(head, work, before, Claims(work))
            if state is not None and state.progress is not None:
                await self._read_again(run)
            if work.is_empty:
                await self._finish(claim, run, state, quiet)
                return
            async with self._pages.looking_again() if looks_left else nullcontext():
                try:
                    await self._apply(run)
                except Exception as error:  # edge: whatever ends a sync, nobody is told that it goes on
                    done = {error.path for error in run.errors()}
                    await self._fail(error, (*run.errors(), *(error for error in run.before if error.path not in done)))
                    raise
                await self._finish(claim, run, state, quiet)
            # A push that came meanwhile may have been left to this sync.
            claim, synced = f"{message_id}@{head}", head

    async def _finish(self, claim: str, run: _Run, state: Vault | None, quiet: bool) -> None:
        errors = run.errors()
        moved = state is None or state.synced_commit != run.head
        await self._pages.finish(
            claim,
            SyncResult.PARTIAL if errors else SyncResult.OK,
            commit=run.head,
            pages_changed=run.changed,
            errors=errors,
            announce=moved or run.changed > 0 or not quiet,
        )
        log.info("vault synced", commit=run.head[:12], pages_changed=run.changed, errors=len(errors))

    async def _fail(self, error: Exception, errors: tuple[PageFailure, ...]) -> None:
        reason = error.message if isinstance(error, CortexError) else f"unexpected {type(error).__name__}"
        with suppress(Unavailable):  # the database is what is away: the next delivery finds out by itself
            await self._pages.fail((PageFailure(WHOLE_VAULT, reason), *errors))

    async def _apply(self, run: _Run) -> None:
        await self._report(run)
        gone = await self._known(run, [key.slug for key in run.work.gone])
        embedding: asyncio.Task[list[NewPage]] | None = None
        placed: list[Placed] = []
        try:
            async with aclosing(self._batches(run)) as batches:
                async for batch in batches:
                    before, embedding = embedding, asyncio.create_task(self._embedded(run, batch, gone))
                    if before:
                        await self._write(run, placed, await before)
                    placed = batch
            if embedding:
                await self._write(run, placed, await embedding)
        finally:
            if embedding is not None:
                embedding.cancel()
                await asyncio.gather(embedding, return_exceptions=True)
        for key in run.homeless:
            await self._delete(run, key)
        for key in run.work.gone:
            await self._delete(run, key)
            run.done += 1
            await self._report(run)

    async def _delete(self, run: _Run, key: PageKey) -> None:
        assert key.path is not None, "only pages with a file are gone"
        run.changed += await self._pages.delete(key.slug, key.path, run.head)

    async def _batches(self, run: _Run) -> AsyncGenerator[list[Placed], None]:
        """The documents of changed files, with enough passages together to be embedded at once."""
        batch: list[Placed] = []
        passages = held = 0
        async with aclosing(self._repository.contents(run.work.changed)) as contents:
            async for blob, content in contents:
                placed = await self._placed(run, blob, content)
                if placed is None:
                    run.done += 1
                    await self._report(run)
                    continue
                batch.append(placed)
                passages += len(placed.document.passages)
                held += blob.size_bytes
                if passages >= page_drafts.SLICE or held >= MAX_PAGE_BYTES:
                    yield batch
                    batch, passages, held = [], 0, 0
        if batch:
            yield batch

    async def _placed(self, run: _Run, blob: Blob, content: bytes) -> Placed | None:
        """The document of a file under the slug that it gets; none if it gets no page, which is noted."""
        default_slug = run.work.slugs[blob.path]
        try:
            # Parsing a long page takes its time; health and heartbeats go on meanwhile.
            document = await asyncio.to_thread(markdown.read, blob.path, content)
        except UnreadablePage as error:
            self._homeless(run, blob.path, error.message)
            return None
        except Exception as error:  # edge: a bug that one page finds must not keep out the rest of the vault
            log.error("page not read", blob=blob.id, exc_info=error)
            run.failures.append(PageFailure(blob.path, f"unexpected {type(error).__name__}"))
            return None
        slug = document.slug or default_slug
        holder, loser = run.claims.ask(slug, blob.path)
        if holder != blob.path:
            self._homeless(run, blob.path, SlugTaken(slug, holder, blob.path).message)
            return None
        if loser is not None:
            run.failures.append(PageFailure(loser, SlugTaken(slug, blob.path, loser).message))
        return Placed(document, self._pages.vault, slug, blob.path, fingerprint(blob.id, default_slug), run.head)

    @staticmethod
    def _homeless(run: _Run, path: str, reason: str) -> None:
        run.failures.append(PageFailure(path, reason))
        if path in run.work.stored:
            run.homeless.append(PageKey(run.work.stored[path], path, b""))

    async def _embedded(self, run: _Run, batch: list[Placed], gone: Mapping[str, Embedding]) -> list[NewPage]:
        slugs = {one.slug for one in batch}
        slugs |= {run.work.stored[one.path] for one in batch if one.path is not None and one.path in run.work.stored}
        known = await self._known(run, slugs)
        return await page_drafts.embedded(batch, self._embedder, {**gone, **known})

    async def _known(self, run: _Run, slugs: Collection[str]) -> Mapping[str, Embedding]:
        """The vectors that stored pages have: what did not change in them is not embedded again."""
        if not run.work.stored:
            return {}
        known: dict[str, Embedding] = {}
        asked = sorted(slugs)
        for start in range(0, len(asked), page_drafts.SLICE):
            limit = KNOWN_VECTORS - len(known)
            known |= await self._pages.vectors(asked[start : start + page_drafts.SLICE], self._embedder.model, limit)
        return known

    async def _write(self, run: _Run, placed: list[Placed], pages: list[NewPage]) -> None:
        """Write pages one by one; one that cannot be written is noted and stays as it was."""
        for one, page in zip(placed, pages, strict=True):
            assert one.path is not None, "it comes from a file"
            try:
                await self._pages.write(page)
            except Retryable:
                raise
            except CortexError as error:
                run.failures.append(PageFailure(one.path, error.message))
            except Exception as error:  # edge: as for a page that cannot be read
                log.error("page not applied", path_slug=page.slug, exc_info=error)
                run.failures.append(PageFailure(one.path, f"unexpected {type(error).__name__}"))
            else:
                run.changed += 1
                run.notes += [PageFailure(one.path, problem) for problem in one.document.problems]
                unembedded = sum(chunk.embedding is None for chunk in page.chunks)
                if unembedded:
                    message = f"{unembedded} of {len(page.chunks)} passages cannot be embedded; words find them"
                    run.notes.append(PageFailure(one.path, message))
            run.done += 1
            await self._report(run)

    async def _read_again(self, run: _Run) -> None:
        """Find what was wrong with the pages that are there: a process that was killed took it along."""
        run.before = ()
        async with aclosing(self._repository.contents(run.work.unchanged.values())) as contents:
            async for blob, content in contents:
                with suppress(Exception):  # it was read before; this is about its notes only
                    document = await asyncio.to_thread(markdown.read, blob.path, content)
                    run.notes += [PageFailure(blob.path, problem) for problem in document.problems]

    async def _report(self, run: _Run) -> None:
        now = time.monotonic()
        if now - run.reported_at >= PROGRESS_S:
            run.reported_at = now
            await self._pages.progress(run.head, run.done, run.total)

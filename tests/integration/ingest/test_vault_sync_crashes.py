"""A sync that ends anywhere is continued by the next one; several at once are as good as one."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import signal
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from cortex_contracts.errors import Permanent, Unavailable
from cortex_contracts.messages.events import SyncEvent
from cortex_ingest import vault_sync
from cortex_ingest.errors import RepositoryUnreachable, VaultBusy
from cortex_ingest.vault_pages import VaultPages
from cortex_providers.embedder import ModelMismatch, TextKind
from cortex_store.database import Database
from cortex_store.pages import Page
from cortex_store.vaults import PageFailure, SyncResult, Vault
from cortex_testkit.eventually import eventually

PAGES = {f"{name}.md": f"---\nslug: {name}\n---\nabout {name} and [[{name}]]" for name in "abcd"}
MESSY = "---\ntitle: a: b: c\n---\nkept"
CHANGES = len(PAGES) + 1
"""Of the first sync of `PAGES`: each page, and the record of the sync."""


class Git(Protocol):
    folder: Path
    run: Callable[..., str]
    commit: Callable[[dict[str, Any]], str]


class SyncedVault(Protocol):
    database: Database
    runtime_url: str
    org: str
    mirror: Path
    git: Git
    embedder: Any
    pages: Callable[[], VaultPages]
    sync: Callable[..., Awaitable[Vault]]
    state: Callable[[], Awaitable[Vault]]
    slugs: Callable[[], Awaitable[list[str]]]
    page: Callable[[str], Awaitable[Page | None]]
    events: Callable[[], Awaitable[list[tuple[str, str | None]]]]
    progress_events: Callable[[], Awaitable[list[SyncEvent]]]
    interruption: BaseException | None
    changes_left: int


class Killed(BaseException):
    """Stands for the end of the process."""


async def interrupted(vault: SyncedVault, end: BaseException, changes: int, message_id: str) -> None:
    vault.interruption, vault.changes_left = end, changes
    with pytest.raises(type(end)):
        await vault.sync(message_id)
    vault.interruption = None


def another(vault: SyncedVault, make_git: Callable[[str], Git], number: int) -> SyncedVault:
    """An empty vault of another org on an empty repository."""
    mirror = vault.mirror.with_name(f"{number}.git")
    return dataclasses.replace(  # type: ignore[type-var]  # the fixture is a dataclass
        vault, org=f"org-{number}", git=make_git(f"origin-{number}"), mirror=mirror
    )


@pytest.mark.parametrize(
    "end", [Killed(), asyncio.CancelledError(), Unavailable("away")], ids=lambda end: type(end).__name__
)
async def test_a_sync_that_ends_at_any_change_is_continued_without_loss_or_repetition(
    vault: SyncedVault, make_git: Callable[[str], Git], end: BaseException
) -> None:
    for changes in range(CHANGES):
        one = another(vault, make_git, changes)
        head = one.git.commit({**PAGES, "b.md": MESSY.replace("---\n", "---\nslug: b\n", 1)})
        await interrupted(one, end, changes, "the same message")
        assert len(await one.slugs()) == min(changes, len(PAGES))
        state = await one.sync("the same message")
        assert (state.synced_commit, state.last_result, state.progress) == (head, SyncResult.PARTIAL, None)
        assert await one.slugs() == ["a", "b", "c", "d"]
        assert {error.path for error in state.errors} == {"b.md"}, "what was noted before the end is not forgotten"
        assert Counter(await one.events()) == Counter([*(("create", slug) for slug in "abcd"), ("sync", None)])


async def test_a_move_that_ends_at_any_change_is_continued(vault: SyncedVault, make_git: Callable[[str], Git]) -> None:
    for changes in range(5):
        one = another(vault, make_git, changes)
        one.git.commit(PAGES)
        await one.sync()
        before = [await one.page(slug) for slug in "cd"]
        # Two slugs change hands, and a folder moves.
        one.git.commit(
            {
                "a.md": PAGES["b.md"],
                "b.md": None,
                "z.md": PAGES["a.md"],
                "c.md": None,
                "d.md": None,
                "x/c.md": PAGES["c.md"],
                "x/d.md": PAGES["d.md"],
            }
        )
        await interrupted(one, Killed(), changes, "the same message")
        state = await one.sync("the same message")
        assert (state.last_result, await one.slugs()) == (SyncResult.OK, ["a", "b", "c", "d"])
        found = [await one.page(slug) for slug in "abcd"]
        assert [page and page.path for page in found] == ["z.md", "a.md", "x/c.md", "x/d.md"]
        assert [page and page.id for page in found[2:]] == [page and page.id for page in before], "the same pages"


SYNC_IN_A_PROCESS = """
import asyncio, sys
from pathlib import Path
import numpy as np
from cortex_ingest.git_repository import GitRepository
from cortex_ingest.vault_pages import VaultPages
from cortex_ingest.vault_sync import VaultSync
from cortex_store.database import Database

class Embedder:
    model = "fake"
    async def embed(self, texts, kind):
        return np.eye(1, 384, dtype=np.float32).repeat(len(texts), axis=0)

class Pages(VaultPages):
    async def write(self, page):
        await super().write(page)
        print(page.slug, flush=True)
        if page.slug == "b":
            await asyncio.Event().wait()

async def main(url, origin, mirror, org):
    database = Database(url)
    await database.open()
    pages = Pages(database, org, "notes", lambda: None)
    await VaultSync(GitRepository(origin, "main", Path(mirror)), pages, Embedder()).run("the same message")

asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_process_that_is_killed_loses_nothing(vault: SyncedVault) -> None:
    vault.git.commit({**PAGES, "a.md": MESSY})
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SYNC_IN_A_PROCESS),
        *(vault.runtime_url, str(vault.git.folder), str(vault.mirror), vault.org),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(90):
        assert [(await process.stdout.readline()).strip() for _ in "ab"] == [b"a", b"b"]
        progress = (await vault.state()).progress
        assert progress is not None, "a sync that runs is seen"
        assert (progress.done, progress.total) == (0, 4)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        # PostgreSQL has yet to notice.
        state = await eventually(lambda: vault.sync("the same message"), ignoring=(VaultBusy,))
    assert (state.last_result, state.progress) == (SyncResult.PARTIAL, None)
    assert {error.path for error in state.errors} == {"a.md"}
    assert await vault.slugs() == ["a", "b", "c", "d"]
    assert Counter(await vault.events()) == Counter([*(("create", slug) for slug in "abcd"), ("sync", None)])


async def test_an_embedder_that_goes_away_is_told_and_continued(vault: SyncedVault) -> None:
    # More passages than are embedded at once.
    long = "\n\n".join(f"# {number}\n\ntext {number}" for number in range(70))
    head = vault.git.commit({"a.md": long, "b.md": MESSY, "c.md": "c"})
    vault.embedder.fail_after = 70
    with pytest.raises(Unavailable):
        await vault.sync()
    state = await vault.state()
    assert (state.last_result, state.synced_commit, state.progress) == (SyncResult.FAILED, None, None)
    assert [error.path for error in state.errors] == ["."]
    assert await vault.slugs() == ["a"]
    vault.embedder.fail_after = None
    state = await vault.sync()
    assert (state.synced_commit, state.last_result) == (head, SyncResult.PARTIAL)
    assert {error.path for error in state.errors} == {"b.md"}
    assert len(vault.embedder.texts) == 72, "nothing is embedded twice"


async def test_a_passage_that_the_model_refuses_is_noted_and_the_rest_is_embedded(
    vault: SyncedVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepts = vault.embedder.embed

    async def embed(texts: list[str], kind: TextKind) -> Any:
        if any("refused" in text for text in texts):
            raise Permanent("expected some text, got none")
        return await accepts(texts, kind)

    monkeypatch.setattr(vault.embedder, "embed", embed)
    vault.git.commit({"a.md": "fine", "b.md": "# One\n\nfine\n\n# Two\n\nrefused", "c.md": "fine"})
    state = await vault.sync()
    assert await vault.slugs() == ["a", "b", "c"]
    assert [(error.path, "1 of 2" in error.message) for error in state.errors] == [("b.md", True)]
    assert len(vault.embedder.texts) == 3


async def test_another_model_ends_the_sync_and_no_page(vault: SyncedVault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.git.commit({"a.md": "one"})
    await vault.sync()
    vault.git.commit({"a.md": "two"})

    async def embed(texts: list[str], kind: TextKind) -> Any:
        raise ModelMismatch("the embedder has another model")

    monkeypatch.setattr(vault.embedder, "embed", embed)
    with pytest.raises(ModelMismatch):
        await vault.sync()
    state = await vault.state()
    assert (state.last_result, state.progress) == (SyncResult.FAILED, None)
    assert "another model" in state.errors[0].message
    page = await vault.page("a")
    assert page is not None
    assert page.body == "one"


async def test_a_bug_that_ends_the_sync_is_told_and_the_next_one_goes_on(
    vault: SyncedVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = vault.git.commit({f"{number}.md": f"# {number}\n\ntext" for number in range(200)})
    embed, calls = vault.embedder.embed, 0

    async def broken(texts: list[str], kind: TextKind) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise ValueError("a bug")
        return await embed(texts, kind)

    monkeypatch.setattr(vault.embedder, "embed", broken)
    with pytest.raises(ValueError, match="a bug"):
        await vault.sync()
    state = await vault.state()
    assert (state.last_result, state.progress, len(await vault.slugs())) == (SyncResult.FAILED, None, 64)
    assert [error.message for error in state.errors] == ["unexpected ValueError"]
    assert (await vault.sync()).synced_commit == head


@pytest.mark.parametrize("lost", ["blob", "tree", "commit"])
async def test_a_damaged_mirror_is_made_anew(vault: SyncedVault, lost: str) -> None:
    vault.git.commit({"folder/a.md": "one"})
    await vault.sync()
    head = vault.git.commit({"folder/a.md": "two"})
    await vault.sync()
    name = {"blob": "HEAD:folder/a.md", "tree": "HEAD:folder", "commit": "HEAD"}[lost]
    object_id = vault.git.run("rev-parse", name).strip()
    # As a power cut leaves it: the reference is there, the object is empty or gone.
    (vault.mirror / "objects" / object_id[:2] / object_id[2:]).unlink()
    vault.git.commit({"folder/a.md": "two", "b.md": "b"})
    for _ in range(2):
        with contextlib.suppress(RepositoryUnreachable):
            await vault.sync()
    state = await vault.sync()
    assert (state.last_result, await vault.slugs()) == (SyncResult.OK, ["a", "b"])
    assert state.synced_commit != head


async def test_a_failure_after_the_message_was_claimed_is_mended_by_its_redelivery(
    vault: SyncedVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = vault.git.commit({"a.md": "a"})
    await vault.sync("github:1:notes")
    await vault.pages().fail((PageFailure(".", "git could not fetch"),))
    assert (await vault.state()).last_result is SyncResult.FAILED
    state = await vault.sync("github:1:notes")
    assert (state.last_result, state.errors, state.synced_commit) == (SyncResult.OK, (), head)


async def test_what_did_not_change_in_a_page_is_not_embedded_again(vault: SyncedVault) -> None:
    vault.git.commit({"x/a.md": "# One\n\none\n\n# Two\n\ntwo", "x/b.md": "---\nslug: s\n---\nbee"})
    await vault.sync()
    vault.embedder.texts.clear()
    vault.git.commit({"x/a.md": "# One\n\none\n\n# Two\n\nanother"})
    await vault.sync()
    assert vault.embedder.texts == ["One › Two\nanother"]
    vault.git.run("mv", "x", "y")
    vault.git.commit({"y/b.md": "---\nslug: t\n---\nbee"})
    await vault.sync()
    assert await vault.slugs() == ["a", "t"]
    assert vault.embedder.texts == ["One › Two\nanother"], "a folder that moves is not embedded again"


async def test_a_sync_that_runs_tells_how_far_it_is(vault: SyncedVault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.git.commit({"a.md": "a", "gone.md": "gone"})
    await vault.sync()
    await vault.progress_events()
    head = vault.git.commit({"a.md": "b", "b.md": "b", "c.md": "---\nslug: b\n---\n", "gone.md": None})
    monkeypatch.setattr(vault_sync, "PROGRESS_S", 0.0)
    await vault.sync()
    events = await vault.progress_events()
    assert {event.commit for event in events} == {head}
    assert [(event.done, event.total) for event in events] == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    monkeypatch.setattr(vault_sync, "PROGRESS_S", 3600.0)
    vault.git.commit({"c.md": None, **{f"{number}.md": "new" for number in range(20)}})
    await vault.sync()
    assert [(event.done, event.total) for event in await vault.progress_events()] == [(0, 20)]
    await vault.sync()
    assert await vault.progress_events() == [], "nothing to do, nothing to tell"


async def test_two_thousand_files_in_one_commit_are_one_sync_that_embeds_in_batches(vault: SyncedVault) -> None:
    vault.git.commit({f"{number % 10}/{number}.md": f"page [[{number + 1}]]" for number in range(2_000)})
    calls = []
    embed = vault.embedder.embed

    async def counted(texts: list[str], kind: TextKind) -> Any:
        calls.append(len(texts))
        return await embed(texts, kind)

    vault.embedder.embed = counted
    state = await vault.sync()
    assert (state.last_result, state.pages_changed, len(await vault.slugs())) == (SyncResult.OK, 2_000, 2_000)
    assert calls == [64] * 31 + [16]


async def test_a_push_during_a_sync_is_seen_by_that_sync_and_left_to_it(vault: SyncedVault) -> None:
    other = dataclasses.replace(vault, mirror=vault.mirror.with_name("other.git"))  # type: ignore[type-var]
    vault.git.commit({"a.md": "one"})
    reached, go_on = asyncio.Event(), asyncio.Event()
    embed = vault.embedder.embed

    async def slowly(texts: list[str], kind: TextKind) -> Any:
        reached.set()
        await go_on.wait()
        return await embed(texts, kind)

    vault.embedder.embed = slowly
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        running = group.create_task(vault.sync("first"))
        await reached.wait()
        head = vault.git.commit({"a.md": "two"})
        for delivery in range(3):
            state = await other.sync(f"second {delivery}")
            assert (state.synced_commit, state.progress is None) == (None, False), "it is left to the one that runs"
        go_on.set()
        assert (await running).synced_commit == head
    page = await vault.page("a")
    assert page is not None
    assert page.body == "two"
    assert await vault.events() == [("create", "a"), ("sync", None), ("update", "a"), ("sync", None)]


async def test_a_branch_that_never_rests_lets_other_vaults_in(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "0"})
    embed = vault.embedder.embed
    pushes: list[str] = []

    async def during(texts: list[str], kind: TextKind) -> Any:
        pushes.append(vault.git.commit({"a.md": f"{len(pushes) + 1}"}))
        return await embed(texts, kind)

    vault.embedder.embed = during
    state = await vault.sync()
    assert len(pushes) == vault_sync.LOOKS
    assert state.synced_commit == pushes[-2], "the last push has a message of its own"


async def test_after_its_last_look_a_sync_takes_no_more_pushes_along(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "one"})
    await vault.sync()
    vault.git.commit({"a.md": "two"})
    async with vault.pages().exclusive():
        with pytest.raises(VaultBusy):
            await vault.sync()
        async with vault.pages().looking_again():
            await vault.sync()
        with pytest.raises(VaultBusy):
            await vault.sync()
    page = await vault.page("a")
    assert page is not None
    assert page.body == "one", "none of them did anything"


async def test_two_processes_that_get_every_push_in_any_order_end_at_the_head(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "first"})
    await vault.sync()
    second = Database(vault.runtime_url)
    await second.open()
    other = dataclasses.replace(  # type: ignore[type-var]
        vault, database=second, mirror=vault.mirror.with_name("other.git")
    )

    async def deliver(to: SyncedVault, message_id: str) -> None:
        while True:
            try:
                await to.sync(message_id)
                return
            except VaultBusy:  # the bus brings it again
                await asyncio.sleep(0.02)

    try:
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for number in range(5):
                head = vault.git.commit({"a.md": f"number {number}", f"{number}.md": "new", f"{number % 2}.md": "more"})
                for to in (vault, other):
                    group.create_task(deliver(to, f"push {number}"))
                await asyncio.sleep(0)
    finally:
        await second.close()
    assert (await vault.state()).synced_commit == head
    page = await vault.page("a")
    assert page is not None
    assert page.body == "number 4"
    assert await vault.slugs() == ["0", "1", "2", "3", "4", "a"]

"""Syncing vaults: real git repositories into a real database."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from cortex_contracts.errors import Unavailable
from cortex_ingest.errors import RepositoryUnreachable, VaultBusy
from cortex_ingest.vault_pages import VaultPages
from cortex_ingest.vault_plan import MAX_PAGE_BYTES
from cortex_store.pages import NewPage, Page
from cortex_store.vaults import SyncResult, Vault

EXAMPLE = Path(__file__).parents[3] / "examples" / "vault"


class Git(Protocol):
    folder: Path
    run: Callable[..., str]
    commit: Callable[[dict[str, Any]], str]


class SyncedVault(Protocol):
    git: Git
    embedder: Any
    branch: str
    mirror: Path
    pages: Callable[[], VaultPages]
    sync: Callable[..., Awaitable[Vault]]
    state: Callable[[], Awaitable[Vault]]
    slugs: Callable[[], Awaitable[list[str]]]
    page: Callable[[str], Awaitable[Page | None]]
    links: Callable[[str], Awaitable[dict[str, str | None]]]
    events: Callable[[], Awaitable[list[tuple[str, str | None]]]]
    interruption: BaseException | None
    changes_left: int


async def test_the_first_sync_imports_every_page(vault: SyncedVault) -> None:
    head = vault.git.commit(
        {
            "people/Heba.md": "---\ntitle: Heba Zaytoun\ntype: person\naliases: [هبة]\n---\nLeads [[nile]].\n",
            "projects/nile.md": "---\ntitle: Project Nile\n---\nLed by [[هبة]].\n",
            "photo.png": b"\x89PNG\x00",
            ".obsidian/workspace.md": "hidden",
        }
    )
    state = await vault.sync()
    assert (state.synced_commit, state.last_result, state.pages_changed, state.errors) == (head, SyncResult.OK, 2, ())
    assert await vault.slugs() == ["heba", "nile"]
    page = await vault.page("heba")
    assert page is not None
    assert (page.title, page.type, page.path, page.commit) == ("Heba Zaytoun", "person", "people/Heba.md", head)
    assert await vault.links("heba") == {"nile": "nile"}
    assert await vault.links("nile") == {"هبة": "heba"}
    assert await vault.events() == [("create", "heba"), ("create", "nile"), ("sync", None)]


async def test_only_what_changed_is_applied(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "one", "b.md": "two", "c.md": "three"})
    await vault.sync()
    await vault.events()
    vault.embedder.texts.clear()
    vault.git.commit({"a.md": "changed", "b.md": None, "d.md": "new"})
    state = await vault.sync()
    assert state.pages_changed == 3
    assert await vault.slugs() == ["a", "c", "d"]
    assert vault.embedder.texts == ["a\nchanged", "d\nnew"]
    assert await vault.events() == [("update", "a"), ("create", "d"), ("delete", "b"), ("sync", None)]


async def test_a_renamed_file_with_a_slug_of_its_own_stays_the_page_it_was(vault: SyncedVault) -> None:
    vault.git.commit({"old.md": "---\nslug: identity\n---\ntext", "linker.md": "[[identity]]"})
    await vault.sync()
    await vault.events()
    vault.git.run("mv", "old.md", "new name.md")
    vault.git.commit({})
    state = await vault.sync()
    assert (state.last_result, await vault.slugs()) == (SyncResult.OK, ["identity", "linker"])
    page = await vault.page("identity")
    assert page is not None
    assert page.path == "new name.md"
    assert await vault.links("linker") == {"identity": "identity"}
    assert await vault.events() == [("update", "identity"), ("sync", None)]


async def test_a_renamed_file_without_one_is_a_new_page(vault: SyncedVault) -> None:
    vault.git.commit({"old.md": "text"})
    await vault.sync()
    vault.git.run("mv", "old.md", "new.md")
    vault.git.commit({})
    await vault.sync()
    assert await vault.slugs() == ["new"]


async def test_a_second_file_of_a_name_gives_both_their_folders(vault: SyncedVault) -> None:
    vault.git.commit({"a/notes.md": "first"})
    await vault.sync()
    assert await vault.slugs() == ["notes"]
    vault.git.commit({"b/notes.md": "second"})
    state = await vault.sync()
    assert (state.errors, await vault.slugs()) == ((), ["a/notes", "b/notes"])
    vault.git.commit({"a/notes.md": None})
    await vault.sync()
    assert await vault.slugs() == ["notes"]


async def test_a_force_push_makes_the_vault_what_the_new_head_says(vault: SyncedVault) -> None:
    vault.git.commit({"kept.md": "kept", "base.md": "base"})
    await vault.sync()
    vault.git.commit({"lost.md": "lost", "base.md": "changed"})
    await vault.sync()
    vault.git.run("reset", "--hard", "--quiet", "HEAD~1")
    vault.git.run("reflog", "expire", "--expire=now", "--all")
    vault.git.run("gc", "--quiet", "--prune=now")
    head = vault.git.commit({"other.md": "other"})
    state = await vault.sync()
    assert (state.synced_commit, state.pages_changed) == (head, 3)
    assert await vault.slugs() == ["base", "kept", "other"]
    page = await vault.page("base")
    assert page is not None
    assert page.body == "base"


async def test_a_history_that_was_written_anew_is_no_special_case(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "a", "b.md": "b"})
    await vault.sync()
    vault.git.run("checkout", "--quiet", "--orphan", "fresh")
    vault.git.commit({"b.md": "anew"})
    vault.git.run("branch", "--force", "main", "fresh")
    assert (await vault.sync()).pages_changed == 1
    assert await vault.slugs() == ["a", "b"]


async def test_one_bad_page_never_stops_the_rest(vault: SyncedVault) -> None:
    vault.git.commit(
        {
            "a.md": "fine",
            "huge.md": "x" * (MAX_PAGE_BYTES + 1),
            "messy.md": "---\ntitle: a: b: c\n---\nkept",
            "z.md": "fine",
        }
    )
    state = await vault.sync()
    assert state.last_result is SyncResult.PARTIAL
    assert [error.path for error in state.errors] == ["huge.md", "messy.md"]
    assert await vault.slugs() == ["a", "messy", "z"]
    vault.git.commit({"huge.md": "mended"})
    state = await vault.sync()
    assert [error.path for error in state.errors] == ["messy.md"], "what is still to mend stays listed"
    vault.git.commit({"messy.md": "kept"})
    assert (await vault.sync()).last_result is SyncResult.OK


async def test_a_file_that_cannot_be_a_page_any_more_has_none_until_it_is_mended(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "good"})
    await vault.sync()
    vault.git.commit({"a.md": "x" * (MAX_PAGE_BYTES + 1)})
    state = await vault.sync()
    assert (state.last_result, await vault.slugs()) == (SyncResult.PARTIAL, [])
    vault.git.commit({"a.md": "good"})
    assert (await vault.sync()).last_result is SyncResult.OK
    assert await vault.slugs() == ["a"]


async def test_of_two_files_with_one_slug_the_second_is_an_error_until_the_first_gives_it_up(
    vault: SyncedVault,
) -> None:
    vault.git.commit({"a.md": "---\nslug: same\n---\nfirst", "b.md": "---\nslug: same\n---\nsecond"})
    state = await vault.sync()
    assert [error.path for error in state.errors] == ["b.md"]
    assert "a.md" in state.errors[0].message
    assert "b.md" in state.errors[0].message
    vault.git.commit({"a.md": "first"})
    state = await vault.sync()
    assert (state.errors, await vault.slugs()) == ((), ["a", "same"])
    page = await vault.page("same")
    assert page is not None
    assert page.path == "b.md"


async def test_files_that_pass_a_slug_on_are_applied_in_one_sync(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "---\nslug: x\n---\n", "b.md": "---\nslug: y\n---\n"})
    await vault.sync()
    vault.git.commit({"a.md": "---\nslug: y\n---\n", "b.md": "---\nslug: z\n---\n"})
    state = await vault.sync()
    assert (state.errors, await vault.slugs()) == ((), ["y", "z"])


async def test_names_in_any_script_are_kept(vault: SyncedVault) -> None:
    names = ["مفاهيم/انحراف الحرارة.md", "日本/東京.md", "a b\tc.md", 'quo"ted.md', "back\\slash.md", "-dash.md"]
    vault.git.commit(dict.fromkeys(names, "text"))
    state = await vault.sync()
    assert (state.errors, state.pages_changed) == ((), len(names))
    slugs = {"انحراف-الحرارة", "東京", "a-b-c", 'quo"ted', "back\\slash", "-dash"}
    assert set(await vault.slugs()) == slugs


async def test_what_a_crashed_sync_left_is_undone_when_git_takes_it_back(vault: SyncedVault) -> None:
    base = vault.git.commit({"a.md": "first", "z.md": "z"})
    await vault.sync()
    vault.git.commit({"a.md": "second", "b.md": "new", "z.md": "changed"})
    vault.interruption, vault.changes_left = Unavailable("the database is away"), 2
    with pytest.raises(Unavailable):
        await vault.sync()
    vault.interruption = None
    vault.git.run("reset", "--hard", "--quiet", base)
    await vault.sync()
    assert await vault.slugs() == ["a", "z"]
    page = await vault.page("a")
    assert page is not None
    assert page.body == "first"


async def test_a_redelivered_message_does_nothing_twice(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "a"})
    first = await vault.sync("github:1:notes")
    await vault.events()
    assert await vault.sync("github:1:notes") == first
    assert await vault.events() == []


async def test_a_quiet_sync_of_an_unchanged_vault_is_recorded_but_not_announced(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "a"})
    first = await vault.sync(quiet=True)
    assert await vault.events() == [("create", "a"), ("sync", None)]
    second = await vault.sync(quiet=True)
    assert first.last_sync is not None
    assert second.last_sync is not None
    assert second.last_sync > first.last_sync
    assert await vault.events() == []


async def test_a_page_without_a_file_is_none_of_gits_business(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "a"})
    await vault.pages().write(NewPage("notes", "rest", None, "Over REST", "note", "body", b"", ()))
    await vault.sync()
    vault.git.commit({"a.md": None})
    await vault.sync()
    assert await vault.slugs() == ["rest"]


async def test_an_unreachable_repository_is_recorded_and_tried_again(vault: SyncedVault) -> None:
    head = vault.git.commit({"a.md": "a"})
    await vault.sync()
    away = vault.git.folder.rename(vault.git.folder.with_name("away"))
    with pytest.raises(RepositoryUnreachable) as caught:
        await vault.sync()
    assert str(vault.git.folder) not in caught.value.message
    state = await vault.state()
    assert (state.synced_commit, state.last_result) == (head, SyncResult.FAILED)
    assert [error.path for error in state.errors] == ["."]
    assert await vault.slugs() == ["a"]
    away.rename(vault.git.folder)
    assert (await vault.sync()).errors == ()


async def test_a_deleted_branch_keeps_the_pages_and_says_so(vault: SyncedVault) -> None:
    head = vault.git.commit({"a.md": "a"})
    await vault.sync()
    vault.git.run("branch", "--move", "main", "other")
    state = await vault.sync()
    assert (state.synced_commit, state.last_result) == (head, SyncResult.FAILED)
    assert "main" in state.errors[0].message
    assert await vault.slugs() == ["a"]
    vault.git.run("branch", "--move", "other", "main")
    assert (await vault.sync()).last_result is SyncResult.OK


async def test_an_empty_repository_has_no_branch_yet(vault: SyncedVault) -> None:
    assert (await vault.sync()).last_result is SyncResult.FAILED


async def test_a_shallow_repository_is_synced(vault: SyncedVault) -> None:
    for text in ("one", "two", "three"):
        vault.git.commit({"a.md": text})
    full = vault.git.folder.rename(vault.git.folder.with_name("full"))
    vault.git.folder.mkdir()
    vault.git.run("clone", "--quiet", "--depth", "1", f"file://{full}", ".")
    assert (await vault.sync()).last_result is SyncResult.OK
    page = await vault.page("a")
    assert page is not None
    assert page.body == "three"


async def test_a_broken_mirror_is_made_anew(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "a"})
    await vault.sync()
    vault.git.commit({"a.md": "b"})
    (vault.mirror / "refs" / "cortex" / "head.lock").write_text("left behind by a git that was killed")
    assert (await vault.sync()).last_result is SyncResult.OK
    shutil.rmtree(vault.mirror / "objects")
    assert (await vault.sync()).last_result is SyncResult.OK


async def test_links_and_submodules_in_the_repository_are_not_followed(vault: SyncedVault, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("outside of the vault")
    (vault.git.folder / "link.md").symlink_to(secret)
    vault.git.commit({"a.md": "a"})
    await vault.sync()
    assert await vault.slugs() == ["a"]


async def test_two_syncs_of_one_vault_never_run_together(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "a"})
    async with vault.pages().exclusive():
        with pytest.raises(VaultBusy):
            await vault.sync()
    await vault.sync()
    outcomes = await asyncio.gather(*(vault.sync() for _ in range(3)), return_exceptions=True)
    assert all(isinstance(outcome, Vault | VaultBusy) for outcome in outcomes)
    assert any(isinstance(outcome, Vault) for outcome in outcomes)


async def test_the_example_vault_syncs_without_errors(vault: SyncedVault) -> None:
    shutil.copytree(EXAMPLE, vault.git.folder, dirs_exist_ok=True)
    vault.git.commit({})
    state = await vault.sync()
    assert (state.last_result, state.errors, state.pages_changed) == (SyncResult.OK, (), 36)
    unresolved = {
        target for slug in await vault.slugs() for target, page in (await vault.links(slug)).items() if page is None
    }
    assert unresolved == {"nile-phase-two", "mapalto-renewal"}

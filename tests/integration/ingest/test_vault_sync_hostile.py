"""Trees that nobody should make: nothing of them leaves the vault, and the other pages are synced."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from cortex_ingest.vault_plan import MAX_PAGE_BYTES
from cortex_store.pages import Page
from cortex_store.vaults import SyncResult, Vault


class Git(Protocol):
    folder: Path
    run: Callable[..., str]
    commit: Callable[[dict[str, Any]], str]


class SyncedVault(Protocol):
    git: Git
    branch: str
    mirror: Path
    sync: Callable[..., Awaitable[Vault]]
    slugs: Callable[[], Awaitable[list[str]]]
    page: Callable[[str], Awaitable[Page | None]]


def written(git: Git, kind: str, content: bytes) -> str:
    """The id of a new object, whatever git thinks of it."""
    done = subprocess.run(
        ["git", "hash-object", "-t", kind, "-w", "--literally", "--stdin"],
        cwd=git.folder,
        input=content,
        check=True,
        capture_output=True,
        timeout=30,
    )
    return done.stdout.decode().strip()


def tree(git: Git, *entries: tuple[str, bytes, str]) -> str:
    """The id of a tree of (mode, name, id of an object), in the order given."""
    return written(git, "tree", b"".join(f"{m} ".encode() + name + b"\0" + bytes.fromhex(i) for m, name, i in entries))


def head(git: Git, root: str) -> str:
    """Make a tree the head of the branch."""
    commit = git.run("commit-tree", root, "-m", "hostile")
    git.run("update-ref", "refs/heads/main", commit)
    return commit


async def test_paths_that_lead_out_of_the_vault_are_told_and_not_followed(vault: SyncedVault, tmp_path: Path) -> None:
    git = vault.git
    page = written(git, "blob", b"taken along")
    inner = tree(git, ("100644", b"x.md", page))
    root = tree(
        git,
        ("40000", b".", inner),
        ("40000", b"..", inner),
        ("100644", b"../../y.md", page),
        ("100644", b"/etc/z.md", page),
        ("40000", b".git", inner),
        ("100644", b"fine.md", page),
        ("40000", b"sub", tree(git, ("40000", b"..", tree(git, ("40000", b"..", inner))))),
    )
    commit = head(git, root)
    before = set(tmp_path.rglob("*.md"))
    state = await vault.sync()
    assert (state.synced_commit, state.last_result) == (commit, SyncResult.PARTIAL)
    assert await vault.slugs() == ["fine"]
    assert [error.path for error in state.errors] == [
        *("../../y.md", "../x.md", "./x.md", "/etc/z.md", "sub/../../x.md"),
    ]
    assert {error.message for error in state.errors} == {"expected a path inside of the vault"}
    assert set(tmp_path.rglob("*.md")) == before, "nothing is checked out"
    again = await vault.sync()
    assert (again.errors, again.pages_changed) == (state.errors, 0)


async def test_links_and_submodules_that_look_like_pages_are_told(vault: SyncedVault, tmp_path: Path) -> None:
    git = vault.git
    secret = tmp_path / "secret.md"
    secret.write_text("outside of the vault")
    link = written(git, "blob", os.fsencode(secret))
    root = tree(
        git,
        ("100755", b"a.md", written(git, "blob", b"a")),
        ("120000", b"b.md", link),
        ("160000", b"c.md", "1" * 40),
        ("160000", b"library", "1" * 40),
        ("120000", b"photo.png", link),
    )
    head(git, root)
    state = await vault.sync()
    assert await vault.slugs() == ["a"]
    assert [(error.path, error.message.split("; ")[0]) for error in state.errors] == [
        ("b.md", "expected a file, got a symbolic link"),
        ("c.md", "expected a file, got a submodule"),
    ]
    git.run("update-ref", "-d", "refs/heads/main")
    git.commit({"b.md": "a file now"})
    assert (await vault.sync()).errors == ()
    assert await vault.slugs() == ["b"]


async def test_paths_that_are_no_utf8_are_shown_and_never_take_the_place_of_others(vault: SyncedVault) -> None:
    git = vault.git
    first, second, third = (written(git, "blob", text) for text in (b"latin", b"written so", b"surrogate"))
    root = tree(
        git,
        ("100644", b"th\\xe9.md", second),
        ("100644", b"th\xe9.md", first),
        ("100644", b"na\xefve.md", first),
        ("100644", b"\xed\xa0\x80.md", third),
    )
    head(git, root)
    state = await vault.sync()
    assert await vault.slugs() == ["\\xed\\xa0\\x80", "na\\xefve", "th\\xe9"]
    page = await vault.page("th\\xe9")
    assert page is not None
    assert (page.body, page.path) == ("written so", "th\\xe9.md")
    assert [(error.path, error.message) for error in state.errors] == [
        ("th\\xe9.md", "two paths of the vault look alike")
    ]


async def test_a_path_that_no_index_takes_is_told(vault: SyncedVault) -> None:
    git = vault.git
    page = written(git, "blob", b"deep")
    folder = tree(git, ("100644", b"x.md", page))
    for _ in range(20):
        folder = tree(git, ("40000", b"f" * 200, folder))
    head(git, tree(git, ("100644", b"a.md", page), ("100644", b"n" * 1500 + b".md", page), ("40000", b"z", folder)))
    state = await vault.sync()
    assert ([error.message for error in state.errors], len(await vault.slugs())) == (
        ["expected a path of at most 2000 bytes, got 4026"],
        2,
    )


async def test_a_file_of_five_megabytes_is_a_page_and_a_larger_one_an_error(vault: SyncedVault) -> None:
    # Few passages: to index thousands takes its time and is tested elsewhere.
    text = f"begin{chr(10) * (MAX_PAGE_BYTES - 8)}end"
    vault.git.commit({"a.md": "a", "large.md": text, "too-large.md": f"{text}x"})
    state = await vault.sync()
    assert await vault.slugs() == ["a", "large"]
    page = await vault.page("large")
    assert page is not None
    assert page.body == text
    assert [error.path for error in state.errors] == ["too-large.md"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a.md": "1"}, {"a.md": None, "a.md/b.md": "2"}),
        ({"a.md/b.md": "1"}, {"a.md/b.md": None, "a.md": "2"}),
        ({"a.md": "1", "b.md": "2"}, {"a.md": "2", "b.md": "1"}),
        ({"A.md": "1"}, {"A.md": None, "a.md": "1"}),
        ({"a.md": "1"}, {"a.md": None, "a.MD": "1"}),
        ({"a.md": "1"}, {"a.md": None, "a.txt": "1"}),
        ({"a.md": "1", "x.md": "x"}, {"a.md": None, ".a/a.md": "1"}),
    ],
)
async def test_what_files_can_become_is_what_their_pages_become(
    vault: SyncedVault, first: dict[str, str], second: dict[str, str | None]
) -> None:
    vault.git.commit(first)
    await vault.sync()
    for name in [name for name, content in second.items() if content is None]:
        vault.git.run("rm", "-q", name)
    vault.git.commit({name: content for name, content in second.items() if content is not None})
    state = await vault.sync()
    assert (state.last_result, state.errors) == (SyncResult.OK, ())
    files = [name for name in vault.git.run("ls-files").splitlines() if not name.startswith(".")]
    pages = [page for slug in await vault.slugs() if (page := await vault.page(slug))]
    expected = {name: (vault.git.folder / name).read_text() for name in files if name.lower().endswith(".md")}
    assert {page.path: page.body for page in pages} == expected


async def test_branches_tags_and_merges_count_by_the_head_of_the_branch_only(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "1"})
    vault.git.run("checkout", "-q", "-b", "side")
    vault.git.commit({"side.md": "side"})
    vault.git.run("tag", "main")
    vault.git.run("tag", "v1")
    await vault.sync()
    assert await vault.slugs() == ["a"], "neither another branch nor a tag of the same name"
    vault.git.run("checkout", "-q", "refs/heads/main")
    vault.git.run("checkout", "-q", "-B", "work")
    vault.git.commit({"b.md": "2"})
    vault.git.run("merge", "-q", "--no-edit", "refs/heads/side")
    vault.git.run("update-ref", "refs/heads/main", "HEAD")
    await vault.sync()
    assert await vault.slugs() == ["a", "b", "side"]
    vault.git.run("update-ref", "-d", "refs/heads/main")
    assert (await vault.sync()).last_result is SyncResult.FAILED
    vault.git.run("checkout", "-q", "--orphan", "fresh")
    vault.git.run("rm", "-q", "-r", "--cached", ".")
    vault.git.run("clean", "-q", "-f", "-d")
    vault.git.commit({"new.md": "3"})
    vault.git.run("update-ref", "refs/heads/main", "HEAD")
    state = await vault.sync()
    assert (state.last_result, await vault.slugs()) == (SyncResult.OK, ["new"])


async def test_another_branch_in_the_settings_is_read_into_the_same_mirror(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "1"})
    await vault.sync()
    vault.git.run("branch", "-m", "main", "other")
    vault.git.run("branch", "-m", "other", "main/deep")
    vault.git.commit({"b.md": "2"})
    vault.branch = "main/deep"
    assert (await vault.sync()).last_result is SyncResult.OK
    assert await vault.slugs() == ["a", "b"]


async def test_a_head_without_files_has_no_pages(vault: SyncedVault) -> None:
    vault.git.commit({"a.md": "1"})
    await vault.sync()
    vault.git.commit({"a.md": None})
    state = await vault.sync()
    assert (state.last_result, await vault.slugs()) == (SyncResult.OK, [])

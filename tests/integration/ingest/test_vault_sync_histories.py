"""Whatever is pushed in whatever order: after a sync the pages are those that a first import of the head would make."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cortex_ingest import markdown, slugs
from cortex_ingest.vault_pages import VaultPages
from cortex_store.database import Database
from cortex_store.names import names_of
from cortex_store.pages import NewPage, Page
from cortex_store.vaults import SyncResult, Vault

Tree = dict[str, bytes]


class Git(Protocol):
    folder: Path
    run: Callable[..., str]


class SyncedVault(Protocol):
    database: Database
    org: str
    git: Git
    embedder: Any
    pages: Callable[[], VaultPages]
    sync: Callable[..., Awaitable[Vault]]
    page: Callable[[str], Awaitable[Page | None]]
    interruption: BaseException | None
    changes_left: int


class Killed(BaseException):
    """Stands for the end of the process."""


def push(git: Git, tree: Tree, parent: str | None, branch: str = "main") -> str:
    """Make `tree` the head of a branch, as a child of `parent` or without any; returns the commit."""
    lines = [f"commit refs/heads/{branch}\nmark :1\ncommitter T <t@example.org> 1700000000 +0000\ndata 0\n".encode()]
    lines.append(f"from {parent}\n".encode() if parent else b"")
    lines.append(b"deleteall\n")
    for path, content in tree.items():
        quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        lines += [b"M 100644 inline " + quoted.encode() + b"\n", f"data {len(content)}\n".encode(), content, b"\n"]
    lines.append(b"get-mark :1\n")
    done = subprocess.run(
        ["git", "fast-import", "--quiet", "--force"],
        cwd=git.folder,
        input=b"".join(lines),
        check=True,
        capture_output=True,
        timeout=60,
    )
    return done.stdout.decode().strip()


Expected = tuple[dict[str, tuple[str, str, str]], list[str]]


def first_import(tree: Tree) -> Expected:
    """Path, title and body of every page of a tree by slug, and the paths that get none."""
    files = {path: content for path, content in tree.items() if slugs.is_page(path)}
    defaults = slugs.default_slugs(files)
    found: dict[str, tuple[str, str, str]] = {}
    refused = []
    for path in sorted(files):
        document = markdown.read(path, files[path])
        slug = document.slug or defaults[path]
        if slug in found:
            refused.append(path)
        else:
            found[slug] = (path, document.title, document.body)
    return found, refused


async def stored_files(vault: SyncedVault) -> dict[str, tuple[str, str, str]]:
    async with vault.database.transaction(vault.org) as connection:
        rows = await connection.fetch("SELECT slug, path, title, body FROM pages WHERE path IS NOT NULL")
    return {row["slug"]: (row["path"], row["title"], row["body"]) for row in rows}


async def written_without_files(vault: SyncedVault) -> set[str]:
    async with vault.database.transaction(vault.org) as connection:
        return {row["slug"] for row in await connection.fetch("SELECT slug FROM pages WHERE path IS NULL")}


async def check(vault: SyncedVault, tree: Tree) -> None:
    """The chunks, names and links of the pages of files are what their files say."""
    async with vault.database.transaction(vault.org) as connection:
        pages = {
            row["id"]: row for row in await connection.fetch("SELECT id, slug, path, title, aliases, body FROM pages")
        }
        chunks = await connection.fetch("SELECT page, heading_path, text FROM chunks ORDER BY page, ordinal")
        names = await connection.fetch("SELECT page, name, kind FROM page_names")
        links = await connection.fetch("SELECT from_page, target, name, to_page FROM links")
    assert {row["page"] for row in (*chunks, *names)} | {row["from_page"] for row in links} <= pages.keys()
    meant: dict[str, tuple[int, str]] = {}
    for row in names:
        claim = (row["kind"], pages[row["page"]]["slug"])
        meant[row["name"]] = min(claim, meant.get(row["name"], claim))
    for link in links:
        leads_to = None if link["to_page"] is None else pages[link["to_page"]]["slug"]
        assert leads_to == meant.get(link["name"], (0, None))[1]
    for page in pages.values():
        if page["path"] is None:
            continue
        document = markdown.read(page["path"], tree[page["path"]])
        own = [(tuple(row["heading_path"]), row["text"]) for row in chunks if row["page"] == page["id"]]
        assert own == [(passage.heading_path, passage.text) for passage in document.passages]
        assert {(row["name"], row["kind"]) for row in names if row["page"] == page["id"]} == set(
            names_of(page["slug"], page["path"], document.title, document.aliases)
        )
        assert {row["target"] for row in links if row["from_page"] == page["id"]} <= set(document.links)


async def sync_and_compare(vault: SyncedVault, tree: Tree) -> None:
    by_hand = await written_without_files(vault)
    state = await vault.sync()
    expected, refused = first_import(tree)
    assert await stored_files(vault) == expected
    assert [error.path for error in state.errors] == refused
    assert state.last_result is (SyncResult.PARTIAL if refused else SyncResult.OK)
    assert state.progress is None
    assert await written_without_files(vault) == by_hand - expected.keys(), (
        "what REST wrote stays unless a file says it"
    )
    await check(vault, tree)


PATHS = ("a.md", "A.md", "b.md", "x/a.md", "x/b.MD", "a.md/b.md", "x y.markdown", "x", ".h/a.md")
CONTENTS = (
    b"",
    b"one [[b]]\n",
    b"two\r\n\r\n# Two\n\n[[s]] and [[x/a]]\n\n## Below\n\nmore\n",
    b"---\nslug: s\n---\nthree [[a]]\n",
    b"---\nslug: s\ntitle: Tee\naliases: [a]\n---\nfour\n",
    b"---\nslug: s\n---\n",
    b"---\nslug: a\n---\n# One\n\nfive [[Tee]]\n",
    b"---\nslug: b\n---\nsix\n",
)
EDITS = st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from((None, *CONTENTS))), min_size=1, max_size=6)


@dataclasses.dataclass(frozen=True)
class Push:
    """A tree made of an earlier one, on top of the commit of that one or without a parent, and what happens then."""

    back: int
    orphan: bool
    edits: list[tuple[str, bytes | None]]
    moves: list[tuple[str, str]]
    then: str
    changes: int


PUSHES = st.builds(
    Push,
    st.sampled_from((0, 0, 0, 1, 2, 3)),
    st.booleans(),
    EDITS,
    st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from(PATHS)), max_size=2),
    st.sampled_from(("sync", "sync", "sync", "lost", "killed", "killed", "put", "delete")),
    st.integers(0, 4),
)
numbers = itertools.count()


def edited(tree: Tree, pushed: Push) -> Tree:
    """`tree` with moves and edits; a file takes the place of a folder of its name, and the other way round."""
    new = dict(tree)

    def put(path: str, content: bytes) -> None:
        for other in list(new):
            if other.startswith(f"{path}/") or path.startswith(f"{other}/"):
                del new[other]
        new[path] = content

    for source, target in pushed.moves:
        if source in new and source != target:
            content = new.pop(source)
            if target in new:
                new[source] = new.pop(target)
            put(target, content)
    for path, edit in pushed.edits:
        if edit is None:
            new.pop(path, None)
        else:
            put(path, edit)
    return new


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    # A failing history is short enough to be read as it was found; to shrink it would take minutes.
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(
    first=st.dictionaries(st.sampled_from(PATHS), st.sampled_from(CONTENTS)),
    pushes=st.lists(PUSHES, min_size=3, max_size=7),
)
async def test_after_any_history_the_pages_are_those_of_a_first_import_of_the_head(
    vault: SyncedVault, make_git: Callable[[str], Git], tmp_path: Path, first: Tree, pushes: list[Push]
) -> None:
    number = next(numbers)
    vault = dataclasses.replace(
        vault,  # type: ignore[type-var]  # the fixture is a dataclass
        org=f"org-{number}",
        git=make_git(f"origin-{number}"),
        mirror=tmp_path / f"mirror-{number}.git",
    )
    tree = edited({}, Push(0, True, list(first.items()), [], "sync", 0))
    history: list[tuple[str | None, Tree]] = [(push(vault.git, tree, None), tree)]
    await sync_and_compare(vault, tree)
    for pushed in pushes:
        parent, tree = history[-1 - min(pushed.back, len(history) - 1)]
        tree = edited(tree, pushed)
        history.append((push(vault.git, tree, None if pushed.orphan else parent), tree))
        if pushed.then == "sync":
            await sync_and_compare(vault, tree)
        elif pushed.then == "killed":
            vault.interruption, vault.changes_left = Killed(), pushed.changes
            with contextlib.suppress(Killed):
                await vault.sync()
            vault.interruption = None
        elif pushed.then == "put" and await vault.page("s") is None:
            await vault.pages().write(NewPage(vault.pages().vault, "s", None, "S", "note", "by hand", b"", ()))
        elif pushed.then == "delete":
            async with vault.database.transaction(vault.org) as connection:
                await connection.execute("DELETE FROM pages WHERE slug = 'a' AND path IS NOT NULL")
    await sync_and_compare(vault, history[-1][1])
    assert (await vault.sync()).pages_changed == 0

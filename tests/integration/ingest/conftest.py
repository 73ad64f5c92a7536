"""Real git repositories, a real database, and an embedder that a test can break."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import numpy as np
import pytest

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.events import PageEvent, SyncEvent
from cortex_ingest.git_repository import GitRepository
from cortex_ingest.vault_pages import VaultPages
from cortex_ingest.vault_sync import VaultSync
from cortex_providers.embedder import TextKind, Vectors
from cortex_store import links, pages, vaults
from cortex_store.database import Database
from cortex_store.pages import NewPage, Page
from cortex_store.vaults import Vault
from cortex_testkit.postgres_server import PostgresDatabase

DIMENSION = 384
NAME = "notes"


@dataclass(frozen=True)
class Git:
    """A repository that people push to."""

    folder: Path

    def run(self, *arguments: str) -> str:
        """Run git in it."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{role}_{part}": "t@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")},
        }
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, check=True, capture_output=True, timeout=30
        )
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, str | bytes | None]) -> str:
        """Write (or with none remove) files and commit; returns the commit."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                path.unlink()
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.run("add", "--all")
        self.run("commit", "--quiet", "--allow-empty", "--message", "change")
        return self.run("rev-parse", "HEAD")


@dataclass
class FakeEmbedder:
    """Vectors from hashes; `fail_after` texts it is away until mended."""

    model = "fake"
    fail_after: int | None = None
    texts: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        assert kind is TextKind.PASSAGE
        if self.fail_after is not None and len(self.texts) >= self.fail_after:
            raise Unavailable("the embedder does not answer")
        self.texts += texts
        return np.stack([self._vector(text) for text in texts])

    @staticmethod
    def _vector(text: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        vector = np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
        normalised: Vectors = vector / np.linalg.norm(vector)
        return normalised


class WatchedPages(VaultPages):
    """The pages of a vault; `before_change` is called before each change of them, and may raise."""

    before_change: Callable[[], None]

    async def write(self, page: NewPage) -> None:
        self.before_change()
        await super().write(page)

    async def delete(self, slug: str, path: str, commit: str) -> bool:
        self.before_change()
        return await super().delete(slug, path, commit)

    async def finish(self, *arguments: Any, **options: Any) -> None:
        self.before_change()
        await super().finish(*arguments, **options)


@dataclass
class SyncedVault:
    """A vault with everything that a sync of it touches."""

    database: Database
    runtime_url: str
    mirror: Path
    git: Git
    embedder: FakeEmbedder
    branch: str = "main"
    org: str = "local"
    deliveries: int = 0
    interruption: BaseException | None = None
    changes_left: int = 0
    """So many changes of pages are made before the `interruption`."""

    def repository(self) -> GitRepository:
        return GitRepository(str(self.git.folder), self.branch, self.mirror)

    def pages(self) -> VaultPages:
        pages = WatchedPages(self.database, self.org, NAME, lambda: None)
        pages.before_change = self._change
        return pages

    def _change(self) -> None:
        if self.interruption is not None and self.changes_left == 0:
            raise self.interruption
        self.changes_left -= 1

    async def sync(self, message_id: str | None = None, *, quiet: bool = False) -> Vault:
        """Run a sync and return the state that it left."""
        self.deliveries += 1
        sync = VaultSync(self.repository(), self.pages(), self.embedder)
        await sync.run(message_id or f"message-{self.deliveries}", quiet=quiet)
        return await self.state()

    async def state(self) -> Vault:
        async with self.database.transaction(self.org) as connection:
            state = await vaults.get(connection, NAME)
        assert state is not None
        return state

    async def slugs(self) -> list[str]:
        async with self.database.transaction(self.org) as connection:
            return [key.slug for key in await pages.list_keys(connection, NAME)]

    async def page(self, slug: str) -> Page | None:
        async with self.database.transaction(self.org) as connection:
            return await pages.get(connection, NAME, slug)

    async def links(self, slug: str) -> dict[str, str | None]:
        page = await self.page(slug)
        assert page is not None
        async with self.database.transaction(self.org) as connection:
            return {link.target: link.slug for link in await links.from_page(connection, page.id)}

    async def events(self) -> list[tuple[str, str | None]]:
        """Operation and slug of every event about a page so far, in order; all events are taken out."""
        found = []
        for subject, body in await self._take_events():
            if subject.startswith("cortex.v1.evt.page."):
                event = PageEvent.model_validate_json(body)
                assert subject == f"cortex.v1.evt.page.{event.op}.{self.org}.{NAME}"
                found.append((event.op.value, event.slug))
        return found

    async def progress_events(self) -> list[SyncEvent]:
        """Every event about a sync that runs so far, in order; all events are taken out."""
        of_syncs = f"cortex.v1.evt.sync.{self.org}.{NAME}"
        return [
            SyncEvent.model_validate_json(body) for subject, body in await self._take_events() if subject == of_syncs
        ]

    async def _take_events(self) -> list[tuple[str, bytes]]:
        connection = await asyncpg.connect(self.runtime_url)
        try:
            rows = await connection.fetch("DELETE FROM outbox RETURNING id, subject, body")
        finally:
            await connection.close()
        return [(row["subject"], row["body"]) for row in sorted(rows, key=lambda row: int(row["id"]))]


@pytest.fixture
def make_git(tmp_path: Path) -> Callable[[str], Git]:
    """Makes an empty repository whose branch is `main`."""

    def make(name: str) -> Git:
        git = Git(tmp_path / name)
        git.folder.mkdir()
        git.run("init", "--quiet", "--initial-branch", "main")
        return git

    return make


@pytest.fixture
async def vault(
    postgres: PostgresDatabase, make_git: Callable[[str], Git], tmp_path: Path
) -> AsyncIterator[SyncedVault]:
    """An empty vault on an empty repository."""
    database = Database(postgres.runtime_url)
    await database.open()
    yield SyncedVault(
        database, postgres.runtime_url, tmp_path / "mirrors" / "notes.git", make_git("origin"), FakeEmbedder()
    )
    await database.close()

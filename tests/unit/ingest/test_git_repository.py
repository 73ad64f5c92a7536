"""What git is never given and never says."""

from __future__ import annotations

import functools
import subprocess
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cortex_contracts.errors import Permanent
from cortex_ingest import git_repository
from cortex_ingest.errors import RepositoryUnreachable
from cortex_ingest.git_repository import GitRepository


@pytest.mark.parametrize(
    "branch", ["--upload-pack=touch", "-b", "a..b", "a b", "a:b", "a^", "@", "a.lock", "/a", "a/", "x\n", ""]
)
def test_no_branch_is_taken_for_an_option_or_a_range(branch: str, tmp_path: Path) -> None:
    with pytest.raises(Permanent):
        GitRepository("https://example.org/a.git", branch, tmp_path)


@pytest.mark.parametrize("repository", ["--upload-pack=touch x", "-", "ext::sh -c touch", "a\x00b", ""])
def test_no_repository_is_taken_for_an_option_or_a_command(repository: str, tmp_path: Path) -> None:
    with pytest.raises(Permanent):
        GitRepository(repository, "main", tmp_path)


@pytest.mark.parametrize("branch", ["main", "feature/x-1", "مسودة", "v1.2"])
def test_ordinary_branches_are_accepted(branch: str, tmp_path: Path) -> None:
    GitRepository("git@example.org:a.git", branch, tmp_path)


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A mirror without any commit."""
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "mirror.git")], check=True)
    return tmp_path / "mirror.git"


async def test_a_mirror_that_is_slow_is_kept_and_one_that_is_damaged_is_not(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = GitRepository(str(tmp_path / "origin"), "main", mirror)
    with monkeypatch.context() as patched:
        patched.setattr(git_repository, "READ_TIMEOUT_S", 0)
        with pytest.raises(RepositoryUnreachable, match="no answer"):
            await repository.files("HEAD")
    assert mirror.exists()
    with pytest.raises(RepositoryUnreachable, match="cannot be read"):
        await repository.files("HEAD")
    assert not mirror.exists()


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A repository with three commits."""
    folder = tmp_path / "origin.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch", "main", str(folder)], check=True)
    history = "".join(
        f"commit refs/heads/main\ncommitter A <a@example.org> {number} +0000\ndata 0\n"
        f"M 100644 inline a.md\ndata 1\n{number}\n"
        for number in range(3)
    )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=history.encode(), check=True)
    return folder


@pytest.fixture
def plain_files(origin: Path) -> Iterator[str]:
    """Address of a web server that knows nothing of git and serves the files of `origin`."""
    subprocess.run(["git", "update-server-info"], cwd=origin, check=True)

    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(origin)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def commits(mirror: Path) -> int:
    counted = subprocess.run(
        ["git", "rev-list", "--count", git_repository.HEAD], cwd=mirror, check=True, capture_output=True
    )
    return int(counted.stdout)


async def test_the_history_of_a_repository_is_not_fetched(origin: Path, tmp_path: Path) -> None:
    repository = GitRepository(str(origin), "main", tmp_path / "new.git")
    head = await repository.fetch()
    assert commits(tmp_path / "new.git") == 1
    [blob] = await repository.files(head)
    assert [content async for _, content in repository.contents([blob])] == [b"2"]


async def test_a_server_of_plain_files_is_read_with_its_history(plain_files: str, tmp_path: Path) -> None:
    repository = GitRepository(plain_files, "main", tmp_path / "new.git")
    assert [blob.path for blob in await repository.files(await repository.fetch())] == ["a.md"]
    assert commits(tmp_path / "new.git") == 3

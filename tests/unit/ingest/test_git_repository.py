"""What git is never given and never says."""

from __future__ import annotations

import subprocess
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

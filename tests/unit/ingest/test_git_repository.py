"""What git is never given and never says."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_contracts.errors import Permanent
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

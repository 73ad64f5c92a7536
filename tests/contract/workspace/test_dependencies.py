"""Members import what they declare, and the lock files hold hashes and no addresses (ADR 0006)."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MEMBERS = sorted(
    path.parent
    for pattern in (
        "libs/*/pyproject.toml",
        "services/*/pyproject.toml",
        "integrations/*/pyproject.toml",
        "infra/pyproject.toml",
    )
    for path in ROOT.glob(pattern)
)
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(member: Path) -> set[str]:
    project = tomllib.loads((member / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [
        *project["dependencies"],
        *(n for extra in project.get("optional-dependencies", {}).values() for n in extra),
    ]
    return {canonical(re.split(r"[\[<>=!~; ]", need)[0]) for need in needs} | {canonical(project["name"])}


def imported(member: Path) -> set[str]:
    """The top-level modules that a member's code imports, without the standard library's."""
    found = set()
    for file in (member / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names


@cache
def installed() -> Mapping[str, Sequence[str]]:
    return packages_distributions()


def provided_by(module: str) -> set[str]:
    """The distributions that bring a module; an editable install is not among the package records."""
    if module.startswith("cortex_"):
        return {canonical(module)}
    return {canonical(name) for name in installed().get(module, [])}


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
def test_a_member_declares_every_distribution_it_imports(member: Path):
    missing = {module for module in imported(member) if not provided_by(module) & declared(member)}
    assert missing == set()


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
def test_every_member_is_installed_from_this_checkout_and_asks_for_the_same_python(member: Path):
    project = tomllib.loads((member / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    assert (member / "src" / project["name"].replace("-", "_") / "py.typed").is_file()


@pytest.mark.parametrize("file", REQUIREMENTS, ids=lambda file: file.name)
def test_a_lock_file_has_a_hash_for_every_version_and_no_address(file: Path):
    text = file.read_text(encoding="utf-8")
    assert "://" not in text
    pinned = re.findall(r"^[A-Za-z0-9_.\[\]-]+==\S+.*?(?=^\S|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    assert pinned
    assert [pin.splitlines()[0] for pin in pinned if "--hash=sha256:" not in pin] == []

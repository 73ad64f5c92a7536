"""The state folder: private, local, one run at a time."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from cortex_infra.access import grant_search, read_acl
from cortex_infra.credentials import Credentials
from cortex_infra.errors import HomeError, HomeInUse, NetworkFileSystem
from cortex_infra.home import Home, private_folder, refuse_network_file_system, write_private


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.prepare()
    return home


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_and_its_parts_belong_to_their_owner_only(home: Home) -> None:
    assert {mode(folder) for folder in (home.path, home.data, home.run, home.logs)} == {0o700}


def test_an_open_folder_is_closed(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o755)
    Home(tmp_path / "home").prepare()
    assert mode(tmp_path / "home") == 0o700


def test_the_folder_comes_from_the_environment() -> None:
    assert Home.from_environment({"CORTEX_HOME": "/srv/cortex"}).path == Path("/srv/cortex")
    assert Home.from_environment({}).path == Path.home() / ".cortex"


def test_the_token_is_made_once_and_is_private(home: Home) -> None:
    token = home.token()
    assert token == home.token()
    assert len(token) >= 32
    assert mode(home.token_file) == 0o600


def test_a_second_run_is_refused_with_the_first_ones_process_id(home: Home) -> None:
    with home.locked(), pytest.raises(HomeInUse, match=str(os.getpid())) as caught, home.locked():
        pass
    assert caught.value.pid == os.getpid()
    with home.locked():
        pass


@pytest.mark.parametrize("kind", ["cifs", "nfs4", "smb3", "9p", "fuse.sshfs", "nfs"])
def test_a_network_file_system_is_refused_by_the_name_of_its_mount(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = [SimpleNamespace(mountpoint="/", fstype="ext4"), SimpleNamespace(mountpoint=str(tmp_path), fstype=kind)]
    monkeypatch.setattr(psutil, "disk_partitions", lambda **_: mounts)
    with pytest.raises(NetworkFileSystem, match=rf"the {kind} mount {tmp_path}"):
        refuse_network_file_system(tmp_path / "not" / "there" / "yet")


def test_the_nearest_mount_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local = tmp_path / "local"
    mounts = [
        SimpleNamespace(mountpoint=str(tmp_path), fstype="nfs"),
        SimpleNamespace(mountpoint=str(local), fstype="ext4"),
    ]
    monkeypatch.setattr(psutil, "disk_partitions", lambda **_: mounts)
    refuse_network_file_system(local / "home")


def test_sockets_get_a_short_path_however_long_the_folders_is(tmp_path: Path) -> None:
    short = Home(Path("/srv/cortex"))
    assert short.sockets() == short.run
    long = Home(tmp_path / ("x" * 100))
    found = long.sockets()
    assert len(str(found)) < 60
    assert mode(found) == 0o700
    assert found != Home(tmp_path / ("y" * 100)).sockets()
    found.rmdir()
    Home(tmp_path / ("y" * 100)).sockets().rmdir()


def test_credentials_survive_and_are_private(home: Home) -> None:
    first = Credentials(home.credentials_file)
    secret = first.get("nats")
    assert secret != first.get("cache")
    first.save()
    assert mode(home.credentials_file) == 0o600
    assert Credentials(home.credentials_file).get("nats") == secret


def test_a_broken_credentials_file_is_not_replaced_by_new_secrets(home: Home) -> None:
    write_private(home.credentials_file, "not json")
    with pytest.raises(HomeError, match=r"credentials\.json"):
        Credentials(home.credentials_file)


def test_making_a_folder_private_again_does_not_shut_out_whom_an_access_entry_lets_in(tmp_path: Path) -> None:
    folder = private_folder(tmp_path / "home")
    grant_search(folder / "data", "nobody")
    before = read_acl(folder)
    private_folder(folder)
    assert read_acl(folder) == before
    folder.chmod(folder.stat().st_mode | 0o007)
    private_folder(folder)
    assert not folder.stat().st_mode & 0o007
    assert read_acl(folder) == before

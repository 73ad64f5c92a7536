"""The state folder `CORTEX_HOME`: its layout, its token, and the lock that keeps two runs apart."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import secrets
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

import psutil

from cortex_infra.errors import HomeError, HomeInUse, NetworkFileSystem

_NETWORK_FILE_SYSTEMS: Final = frozenset(
    {"cifs", "smb", "smb2", "smb3", "smbfs", "nfs", "nfs4", "9p", "afs", "ceph", "sshfs", "fuse.sshfs", "fuse.rclone"}
)
_START_POLL_S: Final = 0.2
_SOCKET_PATH_LIMIT: Final = 90
"""The kernel takes 107 bytes; supervisord binds a temporary name that is up to 12 characters longer."""


class Home:
    """Paths of one state folder. `prepare` makes it; nothing else here writes unless it says so."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Home:
        """The folder that `CORTEX_HOME` names, `~/.cortex` without it."""
        return cls(Path(environment.get("CORTEX_HOME") or "~/.cortex"))

    @property
    def instance(self) -> str:
        """What tells this installation from others on the machine."""
        return hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]

    @property
    def token_file(self) -> Path:
        """The static bearer, readable by its owner only."""
        return self.path / "token"

    @property
    def data(self) -> Path:
        """One folder per server, the only part worth a backup besides `token` and `credentials.json`."""
        return self.path / "data"

    @property
    def run(self) -> Path:
        """Generated configuration and everything else that a start writes again."""
        return self.path / "run"

    @property
    def logs(self) -> Path:
        """One rotated log per process."""
        return self.path / "logs"

    @property
    def credentials_file(self) -> Path:
        """The generated passwords of the embedded servers."""
        return self.path / "credentials.json"

    @property
    def ports_file(self) -> Path:
        """The ports of the last start, by name."""
        return self.path / "ports.json"

    @property
    def lock_file(self) -> Path:
        """Locked, and holding a process id, while this folder is in use."""
        return self.path / "lock"

    def prepare(self) -> None:
        """Create what is missing, private to its owner, and refuse a network file system.

        Raises:
            NetworkFileSystem: the message names the mount.
            HomeError: the folder cannot be made private.
        """
        refuse_network_file_system(self.path)
        for folder in (self.path, self.data, self.run, self.logs):
            private_folder(folder)

    def token(self) -> str:
        """The bearer of this installation, made at the first call."""
        try:
            return self.token_file.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            pass
        write_private(self.token_file, f"{secrets.token_urlsafe(32)}\n", once=True)
        return self.token_file.read_text(encoding="ascii").strip()

    def sockets(self) -> Path:
        """A private folder whose path is short enough for a socket: `run`, or one below the temporary folder.

        Raises:
            HomeError: somebody else owns the temporary one.
        """
        if len(os.fsencode(self.run / "seaweedfs-filer.sock")) <= _SOCKET_PATH_LIMIT:
            return self.run
        return private_folder(Path(tempfile.gettempdir()) / f"cortex-{os.geteuid()}-{self.instance}")

    @contextmanager
    def locked(self) -> Iterator[int]:
        """Hold the folder for this process; yields the descriptor, which a child may inherit to go on holding it.

        Raises:
            HomeInUse: another process holds it; the message names its id.
        """
        descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = self.holder()
                raise HomeInUse(
                    f"Cortex already runs in {self.path} (process {holder or 'unknown'}): "
                    "`cortex status` shows it, `cortex stop` ends it",
                    holder,
                ) from None
            record_holder(descriptor, os.getpid())
            yield descriptor
        finally:
            os.close(descriptor)

    def holder(self) -> int | None:
        """The process that last took the lock, if it left its id."""
        try:
            return int(self.lock_file.read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return None


@asynccontextmanager
async def starting() -> AsyncIterator[None]:
    """Wait until no other installation of this user is choosing its ports and starting on them."""
    file = private_folder(Path(tempfile.gettempdir()) / f"cortex-{os.geteuid()}") / "start.lock"
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                # The kernel wakes nobody that may be cancelled; a start takes seconds.
                await asyncio.sleep(_START_POLL_S)
        yield
    finally:
        os.close(descriptor)


def record_holder(descriptor: int, pid: int) -> None:
    """Write the process id that a refused second start shows."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(pid).encode("ascii"), 0)


def private_folder(folder: Path) -> Path:
    """Make `folder` if it is missing and take every right on it from others.

    Raises:
        HomeError: it is no folder of ours.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        if os.geteuid() not in (found.st_uid, folder.stat().st_uid) or found.st_uid != folder.stat().st_uid:
            raise HomeError(f"expected {folder} to belong to user {os.geteuid()}, it belongs to {found.st_uid}")
        mode = stat.S_IMODE(found.st_mode)
        # With an access control list the group's bits are its mask: clearing them would shut out whom an entry lets in,
        # such as a PostgreSQL that runs.
        private = mode & (0o770 if _has_access_list(folder) else 0o700) | 0o700
        if private != mode:
            folder.chmod(private)
    except OSError as error:
        raise HomeError(f"expected a folder of ours at {folder}: {error.strerror}") from error
    return folder


def _has_access_list(folder: Path) -> bool:
    return hasattr(os, "listxattr") and "system.posix_acl_access" in os.listxattr(folder)


def write_private(file: Path, text: str, *, once: bool = False) -> None:
    """Write `text` to `file` (mode 0600) so that a reader sees all of it or none.

    With `once` an existing file wins; of two writers at the same time one wins.
    """
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if once:
            try:
                os.link(temporary, file)
            except FileExistsError:
                return
        else:
            temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def refuse_network_file_system(path: Path) -> None:
    """Raise NetworkFileSystem if `path` (or, while it is missing, its nearest parent) lies on a network mount.

    Databases lock up or lose data there.
    """
    existing = path.resolve()
    mounts = {Path(mount.mountpoint): mount.fstype for mount in psutil.disk_partitions(all=True)}
    for folder in (existing, *existing.parents):
        kind = mounts.get(folder)
        if kind is None:
            continue
        if kind.lower() in _NETWORK_FILE_SYSTEMS or kind.lower().startswith("nfs"):
            raise NetworkFileSystem(
                f"expected CORTEX_HOME on a local file system, but {path} lies on the {kind} mount {folder}, "
                "where databases lock up: set CORTEX_HOME to a local folder"
            )
        return

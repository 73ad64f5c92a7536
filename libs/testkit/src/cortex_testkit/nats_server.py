"""A NATS server with the permissions of the contracts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import nats
from nats.js.errors import NotFoundError
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_fixed

from cortex_contracts.permissions import PROVISIONER, USERS, inbox_prefix, publisher_user
from cortex_contracts.streams import STREAMS
from cortex_infra import ports
from cortex_infra.errors import ProvisionError
from cortex_infra.natsconf import NatsSettings, render
from cortex_infra.provision import provision
from cortex_infra.servers import nats as embedded_nats
from cortex_testkit import provider

ORGS: Final = ("local", "stranger")
IMAGE: Final = "nats:2.12"


@dataclass(frozen=True, slots=True)
class NatsServer:
    """Where the server is, with the password of every user."""

    host: str
    port: int
    passwords: Mapping[str, str]

    def url(self, user: str) -> str:
        """The address with the credentials of one user of `cortex_contracts.permissions`."""
        return f"nats://{user}:{self.passwords[user]}@{self.host}:{self.port}"

    async def reset(self) -> None:
        """Empty it: every stream is made anew."""
        client = await nats.connect(self.url(PROVISIONER), inbox_prefix=inbox_prefix(PROVISIONER))
        try:
            for stream in STREAMS:
                try:
                    await client.jetstream().delete_stream(stream.name)
                except NotFoundError:
                    continue
        finally:
            await client.close()
        # The server answers before the files of a deleted stream are gone, and then refuses to make it anew.
        async for attempt in AsyncRetrying(
            retry=retry_if_exception_type(ProvisionError), stop=stop_after_delay(10), wait=wait_fixed(0.1), reraise=True
        ):
            with attempt:
                await provision(self.url(PROVISIONER))


def open_nats(stack: ExitStack) -> NatsServer:
    """A server of this process's own. `CORTEX_TEST_NATS_URL` is `nats://:<password of every user>@host:port`."""
    return provider.find("nats", _external, _embedded, _container, stack)


def _passwords(one: str) -> Mapping[str, str]:
    return dict.fromkeys((*USERS, *(publisher_user(org) for org in ORGS)), one)


def _external(address: str) -> NatsServer:
    parts = urlsplit(address)
    return NatsServer(parts.hostname or ports.LOOPBACK, parts.port or 4222, _passwords(parts.password or ""))


def _embedded(stack: ExitStack) -> NatsServer:
    directory = stack.enter_context(provider.folder())
    server = NatsServer(ports.LOOPBACK, ports.choose(), _passwords("test"))
    process = embedded_nats.prepare(
        directory / "nats",
        port=server.port,
        passwords=server.passwords,
        publishers=ORGS,
    )
    provider.run(process, directory, stack)
    return server


def _container(stack: ExitStack) -> NatsServer:
    from testcontainers.core.container import DockerContainer

    directory = stack.enter_context(provider.folder())
    directory.chmod(0o755)
    passwords = _passwords("test")
    settings = NatsSettings("0.0.0.0", 4222, Path("/tmp/jetstream"), passwords, ORGS, None)
    configuration = directory / "nats.conf"
    configuration.write_text(render(settings), encoding="utf-8")
    configuration.chmod(0o644)
    container = (
        DockerContainer(IMAGE)
        .with_command("-c /etc/cortex/nats.conf")
        .with_volume_mapping(str(directory), "/etc/cortex", "ro")
        .with_exposed_ports(4222)
    )
    stack.enter_context(container)
    server = NatsServer(container.get_container_host_ip(), int(container.get_exposed_port(4222)), passwords)
    asyncio.run(provider.answers(lambda: embedded_nats.ask(server.url(PROVISIONER))))
    return server

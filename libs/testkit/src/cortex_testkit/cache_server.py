"""A Redis-protocol server."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

import redis.asyncio

from cortex_infra import ports
from cortex_infra.servers import cache as embedded_cache
from cortex_testkit import provider

IMAGE: Final = "redis:8"
PASSWORD: Final = "test"


@dataclass(frozen=True, slots=True)
class CacheServer:
    """Where the server is, with its password."""

    url: str

    async def reset(self) -> None:
        """Empty it."""
        async with redis.asyncio.Redis.from_url(self.url) as client:
            await client.flushdb()


def open_cache(stack: ExitStack) -> CacheServer:
    """A server of this process's own."""
    return provider.find("cache", CacheServer, _embedded, _container, stack)


def _embedded(stack: ExitStack) -> CacheServer:
    directory = stack.enter_context(provider.folder())
    port = ports.choose()
    process = embedded_cache.prepare(directory / "cache", port=port, password=PASSWORD)
    provider.run(process, directory, stack)
    return CacheServer(f"redis://:{PASSWORD}@{ports.LOOPBACK}:{port}/0")


def _container(stack: ExitStack) -> CacheServer:
    from testcontainers.core.container import DockerContainer

    container = DockerContainer(IMAGE).with_command(f"redis-server --requirepass {PASSWORD}").with_exposed_ports(6379)
    stack.enter_context(container)
    server = CacheServer(
        f"redis://:{PASSWORD}@{container.get_container_host_ip()}:{container.get_exposed_port(6379)}/0"
    )

    async def ping() -> None:
        async with redis.asyncio.Redis.from_url(server.url) as client:
            await client.ping()

    asyncio.run(provider.answers(ping))
    return server

"""Servers and services of a bench's own: the product's embedded servers and its real service processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg

from cortex_infra import ports
from cortex_infra.bootstrap import MIGRATION_ROLE, RUNTIME_ROLE, RolePasswords, bootstrap
from cortex_infra.migrate import migrate
from cortex_infra.servers import postgres as embedded_postgres
from cortex_infra.servers.process import ServerProcess
from cortex_infra.servers.running import RunningServer
from cortex_providers.embedder import EmbedderConfig
from cortex_runtime.bus import Bus
from cortex_testkit import provider
from cortex_testkit.cache_server import CacheServer, open_cache
from cortex_testkit.embedder_server import open_embedder_server
from cortex_testkit.nats_server import NatsServer, open_nats
from cortex_testkit.postgres_server import PASSWORD
from cortex_testkit.process import service_process

REPORTED = (
    "shared_buffers",
    "work_mem",
    "effective_cache_size",
    "max_parallel_workers_per_gather",
    "random_page_cost",
    "max_wal_size",
    "wal_compression",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
)


@dataclass(frozen=True)
class Postgres:
    """A running cluster with the product's roles."""

    port: int

    def url(self, role: str, database: str) -> str:
        """The address as one role."""
        return embedded_postgres.url(role, PASSWORD, self.port, database)

    def superuser(self, database: str) -> str:
        """The address as the superuser."""
        return self.url(embedded_postgres.SUPERUSER, database)

    async def prepare(self, database: str) -> None:
        """Make a migrated database; it may be there already."""
        await bootstrap(self.superuser("postgres"), RolePasswords(PASSWORD, PASSWORD, PASSWORD), database)
        await migrate(self.url(MIGRATION_ROLE, database))

    async def settings(self, database: str) -> dict[str, str]:
        """The settings that the figures depend on."""
        connection = await asyncpg.connect(self.superuser(database))
        try:
            rows = await connection.fetch(
                "SELECT name, current_setting(name) AS value FROM unnest($1::text[]) name", REPORTED
            )
            return {row["name"]: row["value"] for row in rows}
        finally:
            await connection.close()


def open_cluster(
    stack: ExitStack, directory: Path, *, durable: bool = True, settings: Sequence[str] = ()
) -> tuple[Postgres, RunningServer]:
    """Run the embedded PostgreSQL in `directory`, made at the first call. `settings`: `name=value` over its own."""
    port = ports.choose()
    process = embedded_postgres.prepare(directory, port=port, password=PASSWORD, durable=durable)
    more = [part for setting in settings for part in ("-c", setting)]
    process = replace(process, command=(*process.command, *more))
    return Postgres(port), provider.run(process, directory.parent, stack)


def read_through(directory: Path) -> None:
    """Read every file of a cluster once, so that the operating system has it in memory as far as it fits."""
    for file in sorted((directory / "base").rglob("*")):
        if file.is_file():
            with file.open("rb", buffering=0) as stream:
                while stream.read(1 << 22):
                    pass


@dataclass(frozen=True)
class Deployment:
    """Everything that the services need."""

    postgres: Postgres
    database: str
    nats: NatsServer
    cache: CacheServer
    embedder: EmbedderConfig
    folder: Path

    @property
    def runtime_url(self) -> str:
        """The database as the services see it."""
        return self.postgres.url(RUNTIME_ROLE, self.database)

    def process(self, name: str, more: Mapping[str, str]) -> ServerProcess:
        """A service with the settings of this deployment."""
        return service_process(
            name,
            CORTEX_NATS_URL=self.nats.url(name),
            CORTEX_DATABASE_URL=self.runtime_url,
            CORTEX_CACHE_URL=self.cache.url,
            CORTEX_EMBEDDINGS_URL=self.embedder.url,
            CORTEX_EMBEDDINGS_MODEL=self.embedder.model,
            CORTEX_EMBEDDINGS_API_KEY=self.embedder.api_key,
            CORTEX_LOG_LEVEL="WARNING",
            **more,
        )

    @asynccontextmanager
    async def running(self, name: str, **more: str) -> AsyncIterator[RunningServer]:
        """A service that is ready, with more settings; it ends with the block."""
        with RunningServer(self.process(name, more), self.folder / "services") as server:
            await server.wait_ready()
            try:
                yield server
            finally:
                await asyncio.to_thread(server.stop)

    @asynccontextmanager
    async def caller(self) -> AsyncIterator[Bus]:
        """A connection that may call every service, as the gateway's."""
        bus = Bus(self.nats.url("gateway"), "gateway", "0.1.0")
        await bus.open()
        try:
            yield bus
        finally:
            await bus.close()


def open_deployment(stack: ExitStack, postgres: Postgres, database: str) -> Deployment:
    """Start NATS, the cache and the embedder beside a cluster. They end with `stack`."""
    nats = open_nats(stack)
    asyncio.run(nats.reset())
    folder = stack.enter_context(provider.folder())
    return Deployment(postgres, database, nats, open_cache(stack), open_embedder_server(stack), folder)

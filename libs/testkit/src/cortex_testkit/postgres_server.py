"""A PostgreSQL server with the product's roles, and a fresh migrated database for every test."""

from __future__ import annotations

import asyncio
import itertools
import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import asyncpg

from cortex_infra import ports
from cortex_infra.bootstrap import MIGRATION_ROLE, RUNTIME_ROLE, SLEEP_ROLE, RolePasswords, bootstrap, with_database
from cortex_infra.migrate import migrate
from cortex_infra.servers import postgres as embedded_postgres
from cortex_testkit import provider

IMAGE: Final = "pgvector/pgvector:pg18"
PASSWORD: Final = "test"


@dataclass(frozen=True, slots=True)
class PostgresDatabase:
    """One migrated database, as each role sees it."""

    name: str
    host: str
    port: int

    @property
    def runtime_url(self) -> str:
        """As the services log in."""
        return self._url(RUNTIME_ROLE)

    @property
    def sleep_url(self) -> str:
        """As the sleep service logs in."""
        return self._url(SLEEP_ROLE)

    @property
    def migration_url(self) -> str:
        """As the owner of the schema logs in."""
        return self._url(MIGRATION_ROLE)

    def _url(self, role: str) -> str:
        return f"postgresql://{role}:{PASSWORD}@{self.host}:{self.port}/{self.name}"


@dataclass(slots=True)
class PostgresServer:
    """A server that hands out databases."""

    superuser_url: str
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _template: str | None = None

    async def fresh(self) -> PostgresDatabase:
        """A database of its own: a copy of one that was migrated once."""
        if self._template is None:
            self._template = f"template_{os.getpid()}"
            roles = RolePasswords(PASSWORD, PASSWORD, PASSWORD)
            await bootstrap(self.superuser_url, roles, self._template)
            parts = urlsplit(self.superuser_url)
            await migrate(f"postgresql://{MIGRATION_ROLE}:{PASSWORD}@{parts.hostname}:{parts.port}/{self._template}")
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        # Its files are copied, not logged page by page: three times as fast where nothing needs to survive a crash.
        await self._execute(
            f'CREATE DATABASE "{name}" TEMPLATE "{self._template}" OWNER {MIGRATION_ROLE} STRATEGY FILE_COPY'
        )
        parts = urlsplit(self.superuser_url)
        return PostgresDatabase(name, parts.hostname or ports.LOOPBACK, parts.port or 5432)

    async def drop(self, database: PostgresDatabase) -> None:
        """Remove a database that `fresh` made."""
        await self._execute(f'DROP DATABASE IF EXISTS "{database.name}" WITH (FORCE)')

    async def _execute(self, statement: str) -> None:
        connection = await asyncpg.connect(with_database(self.superuser_url, "postgres"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


def open_postgres(stack: ExitStack) -> PostgresServer:
    """A server of this process's own. `CORTEX_TEST_POSTGRES_URL` is that of a superuser."""
    return provider.find("postgres", PostgresServer, _embedded, _container, stack)


def _embedded(stack: ExitStack) -> PostgresServer:
    directory = stack.enter_context(provider.folder())
    port = ports.choose()
    process = embedded_postgres.prepare(directory / "postgres", port=port, password=PASSWORD, durable=False)
    provider.run(process, directory, stack)
    return PostgresServer(embedded_postgres.url(embedded_postgres.SUPERUSER, PASSWORD, port, "postgres"))


def _container(stack: ExitStack) -> PostgresServer:
    from testcontainers.core.container import DockerContainer

    container = DockerContainer(IMAGE).with_env("POSTGRES_PASSWORD", PASSWORD).with_exposed_ports(5432)
    stack.enter_context(container)
    host, port = container.get_container_host_ip(), int(container.get_exposed_port(5432))
    server = PostgresServer(f"postgresql://postgres:{PASSWORD}@{host}:{port}/postgres")
    asyncio.run(provider.answers(lambda: embedded_postgres.ask(server.superuser_url)))
    return server

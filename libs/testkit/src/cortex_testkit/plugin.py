"""Fixtures of the test suite. Servers live as long as their xdist worker; what is in them lives as long as one test."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import pytest
import structlog

from cortex_providers.embedder import EmbedderConfig
from cortex_runtime.logs import where_it_failed
from cortex_testkit.cache_server import CacheServer, open_cache
from cortex_testkit.embedder_server import open_embedder_server
from cortex_testkit.nats_server import NatsServer, open_nats
from cortex_testkit.object_servers import ObjectServer, open_moto, open_seaweed
from cortex_testkit.postgres_server import PostgresDatabase, PostgresServer, open_postgres

# structlog's own renderer draws every local variable of a traceback, which takes seconds, and with them time limits.
structlog.configure(
    processors=[structlog.processors.add_log_level, where_it_failed, structlog.processors.KeyValueRenderer()]
)


def pytest_collection_finish() -> None:
    """What was collected stays to the end: half a million objects that every full collection would look at again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def nats_server() -> Iterator[NatsServer]:
    """A NATS server for this worker; use `nats` in tests."""
    with ExitStack() as stack:
        yield open_nats(stack)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server for this worker; use `postgres` in tests."""
    with ExitStack() as stack:
        yield open_postgres(stack)


@pytest.fixture(scope="session")
def cache_server() -> Iterator[CacheServer]:
    """A Redis-protocol server for this worker; use `cache` in tests."""
    with ExitStack() as stack:
        yield open_cache(stack)


@pytest.fixture(scope="session")
def object_server() -> Iterator[ObjectServer]:
    """The embedded S3 server for this worker; tests take buckets of their own."""
    with ExitStack() as stack:
        yield open_seaweed(stack)


@pytest.fixture(scope="session")
def other_object_server() -> Iterator[ObjectServer]:
    """An S3 server of another maker for this worker."""
    with ExitStack() as stack:
        yield open_moto(stack)


@pytest.fixture(scope="session")
def embedder() -> Iterator[EmbedderConfig]:
    """The bundled model; it has no state, so tests share it."""
    with ExitStack() as stack:
        yield open_embedder_server(stack)


@pytest.fixture
async def nats(nats_server: NatsServer) -> NatsServer:
    """NATS with empty, provisioned streams."""
    await nats_server.reset()
    return nats_server


@pytest.fixture
async def postgres(postgres_server: PostgresServer) -> AsyncIterator[PostgresDatabase]:
    """A migrated database of the test's own."""
    database = await postgres_server.fresh()
    yield database
    await postgres_server.drop(database)


@pytest.fixture
async def cache(cache_server: CacheServer) -> CacheServer:
    """An empty cache."""
    await cache_server.reset()
    return cache_server

"""Cold stores in a folder, on the embedded S3 and on another S3, each empty, with a database of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import pytest

from cortex_providers.cold_store import ColdStoreConfig
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_store.database import Database
from cortex_testkit.object_servers import ACCESS_KEY, SECRET_KEY
from cortex_testkit.postgres_server import PostgresDatabase

Open = Callable[[ColdStoreConfig], Awaitable[IcebergColdStore]]
S3 = Callable[[str], ColdStoreConfig]


@pytest.fixture
async def sleep_database(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    """The test's database as the sleep service opens it."""
    database = Database(postgres.sleep_url, application_name="cortex-sleep")
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def s3(postgres: PostgresDatabase) -> S3:
    """A bucket of one's own at an S3 server."""

    def at(url: str) -> ColdStoreConfig:
        return ColdStoreConfig(
            warehouse=f"s3://cold-{uuid4()}/warm/er",
            database=postgres.sleep_url,
            endpoint=url,
            access_key=ACCESS_KEY,
            secret_key=SECRET_KEY,
            timeout_s=2.0,
        )

    return at


@pytest.fixture
def folder(postgres: PostgresDatabase, tmp_path: Path) -> ColdStoreConfig:
    return ColdStoreConfig(warehouse=str(tmp_path / "cold store"), database=postgres.sleep_url)


@pytest.fixture(params=["folder", "seaweedfs", "moto"])
def config(request: pytest.FixtureRequest, s3: S3) -> ColdStoreConfig:
    """A place without anything in it."""
    if request.param == "folder":
        config: ColdStoreConfig = request.getfixturevalue("folder")
        return config
    server = request.getfixturevalue("object_server" if request.param == "seaweedfs" else "other_object_server")
    return s3(server.url)


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    """Opens stores that are closed at the end."""
    stores: list[IcebergColdStore] = []

    async def make(config: ColdStoreConfig) -> IcebergColdStore:
        store = IcebergColdStore(config)
        stores.append(store)
        await store.open()
        return store

    yield make
    for store in stores:
        await store.close()


@pytest.fixture
async def store(config: ColdStoreConfig, opened: Open) -> IcebergColdStore:
    return await opened(config)

"""The cold tier is plain Iceberg: DuckDB reads the same rows, from a folder and from S3."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import duckdb
import duckdb_extension_avro
import duckdb_extension_httpfs
import duckdb_extension_iceberg
import pytest

from cortex_providers.cold_memory import checksum, month_of
from cortex_providers.cold_store import Batch, ColdStoreConfig, Upkeep
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_store.database import Database
from cortex_testkit.cold_memories import cold_memory
from cortex_testkit.object_servers import ACCESS_KEY, SECRET_KEY

ROWS = [cold_memory(number) for number in range(800)]


@pytest.fixture
def reader() -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB with the extensions of the wheels: it downloads nothing."""
    options = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    with duckdb.connect(config=options) as connection:
        # Iceberg's metadata is in Avro, so that goes first.
        for package in (duckdb_extension_avro, duckdb_extension_httpfs, duckdb_extension_iceberg):
            assert package.__file__ is not None
            [extension] = Path(package.__file__).parent.rglob("*.duckdb_extension")
            connection.load_extension(str(extension))
        yield connection


def sign_in(reader: duckdb.DuckDBPyConnection, config: ColdStoreConfig) -> None:
    if config.endpoint:
        reader.execute(
            f"CREATE SECRET (TYPE s3, KEY_ID '{ACCESS_KEY}', SECRET '{SECRET_KEY}', REGION 'us-east-1', "
            f"ENDPOINT '{urlsplit(config.endpoint).netloc}', URL_STYLE 'path', USE_SSL false)"
        )


async def current(database: Database) -> str:
    """What the docs tell to ask the catalog."""
    async with database.unscoped() as connection:
        found: str = await connection.fetchval(
            "SELECT metadata_location FROM cold_catalog.iceberg_tables "
            "WHERE (table_namespace, table_name) = ('cortex', 'memories')"
        )
    return found


async def test_duckdb_reads_the_same(
    store: IcebergColdStore, config: ColdStoreConfig, sleep_database: Database, reader: duckdb.DuckDBPyConnection
) -> None:
    for first in range(0, 800, 200):
        await store.append(Batch(uuid4(), "local", "work"), ROWS[first : first + 200], recorded=False)
    gone = Batch(uuid4(), "local", "other")
    await store.append(gone, [cold_memory(900, namespace="other"), cold_memory(901, namespace="other")], recorded=False)
    await store.remove(gone, [cold_memory(900).id])
    await store.maintain(Upkeep(), datetime.now(UTC) + timedelta(days=4))
    sign_in(reader, config)
    memories = f"iceberg_scan('{await current(sleep_database)}')"

    def ask(query: str) -> list[tuple[object, ...]]:
        return reader.execute(query.replace("memories", memories)).fetchall()

    assert ask("SELECT namespace, count(*) FROM memories GROUP BY 1 ORDER BY 1") == [("other", 1), ("work", 800)]
    months = sorted({month_of(row) for row in ROWS})
    assert ask("SELECT month, count(*) FROM memories WHERE namespace = 'work' GROUP BY 1 ORDER BY 1") == [
        (month, sum(month_of(row) == month for row in ROWS)) for month in months
    ]
    found = ask("SELECT id, content, checksum FROM memories WHERE namespace = 'work'")
    assert {(row[0], row[1], bytes(row[2])) for row in found} == {(row.id, row.content, checksum(row)) for row in ROWS}  # type: ignore[arg-type]
    assert ask("SELECT count(*) FROM memories WHERE namespace = 'work' AND invalid_at IS NULL") == [
        (sum(row.invalid_at is None for row in ROWS),)
    ]
    assert ask("SELECT sum(len(terms)), sum(len(occurrences)) FROM memories WHERE namespace = 'work'") == [
        (sum(len(row.terms) // 4 for row in ROWS), sum(len(row.occurrences) for row in ROWS))
    ]
    assert ask("SELECT DISTINCT e.name FROM (SELECT unnest(entities) AS e FROM memories)") == [("Ωmega",)]
    assert ask("SELECT count(*) FROM memories WHERE content LIKE '%المضخة 17 %'") == [(1,)]


Open = Callable[[ColdStoreConfig], Awaitable[IcebergColdStore]]


async def test_another_catalog_can_be_used(folder: ColdStoreConfig, opened: Open, tmp_path: Path) -> None:
    config = replace(folder, catalog=f"sqlite:///{tmp_path}/catalog.db")
    batch = Batch(uuid4(), "local", "work")
    await (await opened(config)).append(batch, ROWS[:10], recorded=False)
    assert len(await (await opened(config)).checksums(batch)) == 10
    assert (await (await opened(folder)).status("local")).rows == 0

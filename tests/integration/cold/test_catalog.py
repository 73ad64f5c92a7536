"""Who may do what with the catalog of the cold tier."""

from __future__ import annotations

import asyncpg
import pytest

from cortex_testkit.postgres_server import PostgresDatabase

TABLES = ("iceberg_tables", "iceberg_namespace_properties")


async def test_nobody_but_sleep_reaches_the_catalog(postgres: PostgresDatabase) -> None:
    connection = await asyncpg.connect(postgres.runtime_url)
    try:
        for table in TABLES:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch(f"SELECT * FROM cold_catalog.{table}")
    finally:
        await connection.close()


async def test_sleep_makes_nothing_there(postgres: PostgresDatabase) -> None:
    connection = await asyncpg.connect(postgres.sleep_url)
    try:
        for table in TABLES:
            assert await connection.fetch(f"SELECT * FROM cold_catalog.{table}") == []
        for statement in (
            "CREATE TABLE cold_catalog.more (id integer)",
            "ALTER TABLE cold_catalog.iceberg_tables ADD COLUMN more text",
            "DROP TABLE cold_catalog.iceberg_tables",
            "TRUNCATE cold_catalog.iceberg_tables",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)
    finally:
        await connection.close()

"""What may be applied to which database."""

from __future__ import annotations

import pytest

from cortex_infra.errors import MigrationError
from cortex_infra.migrate import (
    Applied,
    ChangedMigration,
    ForeignDatabase,
    Migration,
    NewerDatabase,
    PartlyMigrated,
    load,
    parse,
    pending,
)

MIGRATIONS = tuple(Migration(version, f"step{version}", f"SELECT {version}") for version in (1, 2, 3))


def ledger(*versions: int) -> list[Applied]:
    known = {migration.version: migration for migration in MIGRATIONS}
    return [
        Applied(version, f"step{version}", known[version].sha256 if version in known else "f" * 64)
        for version in versions
    ]


def test_an_empty_database_gets_everything() -> None:
    assert pending(MIGRATIONS, None, []) == list(MIGRATIONS)


def test_the_rest_is_applied_in_order() -> None:
    assert pending(MIGRATIONS, ledger(2, 1), ["public.schema_migrations"]) == [MIGRATIONS[2]]


def test_a_current_database_gets_nothing() -> None:
    assert pending(MIGRATIONS, ledger(1, 2, 3), []) == []


def test_a_foreign_database_is_refused() -> None:
    with pytest.raises(ForeignDatabase, match=r"public\.orders"):
        pending(MIGRATIONS, None, ["public.orders"])


def test_a_newer_database_is_refused() -> None:
    with pytest.raises(NewerDatabase, match="at migration 4, this version of Cortex knows 3"):
        pending(MIGRATIONS, ledger(1, 2, 3, 4), [])


def test_a_gap_is_refused() -> None:
    with pytest.raises(PartlyMigrated, match="at migration 3, but 2 was never applied"):
        pending(MIGRATIONS, ledger(1, 3), [])


def test_a_changed_file_is_refused() -> None:
    changed = (MIGRATIONS[0], Migration(2, "step2", "SELECT 'something else'"), MIGRATIONS[2])
    with pytest.raises(ChangedMigration, match=r"0002_step2\.sql"):
        pending(changed, ledger(1, 2), [])


def test_the_files_of_this_version_are_numbered_without_a_gap() -> None:
    versions = [migration.version for migration in load()]
    assert versions == list(range(1, len(versions) + 1))
    assert versions


@pytest.mark.parametrize("names", [["1_a.sql"], ["0001_A.sql"], ["0002_a.sql"], ["0001_a.sql", "0003_b.sql"]])
def test_a_misnamed_or_missing_file_is_an_error(names: list[str]) -> None:
    with pytest.raises(MigrationError):
        parse(dict.fromkeys(names, "SELECT 1"))

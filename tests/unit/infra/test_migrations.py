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

RELEASED = {
    1: "f504a2dba0eb4ed912d48810baf8999dedcd8fbba95eeed85b80e29fc7e934a9",
    2: "a94e6fc43c8adf52b7d6d9b9d2270115caf1fece8f7e1dd145e49f8aab048822",
    3: "96cbe8bd8eb814eb0cd23f84f19eda07da5a1898f1fe100142f0f5c459ca9c48",
    4: "c4052250969f3f243ecb1b5ca1853f293b157f9cdcd1c0990676b7bcbb58c413",
    5: "f2da43e973859b834980891cf3990dbb4badebea54f53f28ec2f9b8ee5728949",
    6: "7215adf356f65406102ac3789453d925cb783600046814034e9715d7f39e3ee9",
    7: "de991f1c9f3abec92a7b5dec63bb999097e9996f9993f4cdd322940e9286b0fc",
    8: "9d3cdd23cfe22acf7991def09003b8a388677c519cf9e95f7d1b9474ecb58437",
    9: "aeac231ac00ed25b3e712470f8bbf177d615383241d55a4d1537525b2e5318c2",
    10: "67f06c3761f6c13becf55bffb6c14a811f4a42a34fc2c917adc67cdd504ee208",
    11: "a3230693e31e9570aade5690f19a094fcfa4e9ffb05d01e93d7f68ff8f36a160",
    12: "19548f2103786e13da29d72d173e4d5ded3dde38529dfe9b67aa4bafa3ecda5b",
    13: "dc337d2c76815b004653120e3a7945d17480383226fc8b976ea18d1e6d5ca19a",
    14: "e0d862461403ed6657a85679c85e7b710541480c64af6220f3fc309febdba211",
    15: "32a2e4c49ba07ceff992ae499238acdfb700dea268402044d71be15610e2414c",
    16: "0ca50033710df09efbbda9f77ca80eeaff72626f01d0d2c463f3b43bc4adf7cb",
    17: "a1300c9a46e918b5fde514fa2a894cddfe483b1afc22eb04f2caa79018363607",
    18: "2d5b6b9858b2e3e8fa75626e7c9de83233ab31354d8ceda32e8880a3e5b1d605",
    19: "794b2f4a1be805d4eacfbed185a7746a3a8f0430872914f191d5160e21650f57",
}
"""SHA-256 of what databases have applied: a change goes into a file of its own."""
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


def test_a_released_file_never_changes() -> None:
    assert {migration.version: migration.sha256 for migration in load()} == RELEASED


@pytest.mark.parametrize("names", [["1_a.sql"], ["0001_A.sql"], ["0002_a.sql"], ["0001_a.sql", "0003_b.sql"]])
def test_a_misnamed_or_missing_file_is_an_error(names: list[str]) -> None:
    with pytest.raises(MigrationError):
        parse(dict.fromkeys(names, "SELECT 1"))

"""Where the cold tier is by its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_runtime.settings import SettingsError, read
from cortex_runtime.settings_cold_store import ColdStoreSettings


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path))
    return tmp_path


def test_without_a_server_it_is_a_folder_of_the_installation(home: Path) -> None:
    assert read(ColdStoreSettings).warehouse == str(home / "cold")


def test_a_server_or_a_bucket_makes_it_s3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLD_STORE_ENDPOINT", "http://127.0.0.1:9000")
    assert read(ColdStoreSettings).warehouse == "s3://cortex"
    monkeypatch.setenv("CORTEX_COLD_STORE_BUCKET", "memories")
    assert read(ColdStoreSettings).warehouse == "s3://memories"
    monkeypatch.setenv("CORTEX_COLD_STORE_WAREHOUSE", "s3://memories/cold/tier")
    assert read(ColdStoreSettings).warehouse == "s3://memories/cold/tier"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("CORTEX_COLD_STORE_WAREHOUSE", "some/folder", "expected s3://bucket/prefix or an absolute folder"),
        ("CORTEX_COLD_STORE_WAREHOUSE", "gs://bucket", "expected s3://bucket/prefix or an absolute folder"),
        ("CORTEX_COLD_STORE_ENDPOINT", "127.0.0.1:9000", "expected a URL"),
        ("CORTEX_COLD_STORE_TIMEOUT_S", "0", "greater than or equal to 1"),
        ("CORTEX_COLD_STORE_ORPHAN_DAYS", "-1", "greater than or equal to 0"),
    ],
)
def test_a_wrong_value_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=f"{name}.*{sentence}"):
        read(ColdStoreSettings)


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_COLD_STORE_SECRET_KEY", "very-secret")
    monkeypatch.setenv("CORTEX_COLD_STORE_CATALOG", "https://id:very-secret@catalog.example")
    assert "very-secret" not in repr(read(ColdStoreSettings))

"""Settings are complete or refused, by name and never by value."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from cortex_runtime.settings import CommonSettings, DatabaseSettings, ServiceSettings, SettingsError, load, read
from cortex_runtime.settings_models import (
    EmbeddingsSettings,
    EngineSettings,
    LanguageModelPurpose,
    LanguageModelSettings,
    RerankerSettings,
)
from cortex_runtime.settings_part import setting
from cortex_runtime.settings_vaults import VaultsSettings


class ExampleSettings(ServiceSettings, DatabaseSettings, EmbeddingsSettings, VaultsSettings):
    service: ClassVar[str] = "recall"

    recall_host: str = setting("RECALL_HOST", default="127.0.0.1")
    recall_port: int = setting("RECALL_PORT", default=9894)


COMPLETE = {
    "CORTEX_NATS_URL": "nats://recall:hunter2@127.0.0.1:4222",
    "CORTEX_DATABASE_URL": "postgresql://cortex_runtime:hunter2@127.0.0.1/cortex",
    "CORTEX_EMBEDDINGS_URL": "http://127.0.0.1:1",
    "CORTEX_EMBEDDINGS_MODEL": "small",
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path))
    for name, value in COMPLETE.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_complete_settings_are_read_with_their_defaults(environment: pytest.MonkeyPatch):
    settings = read(ExampleSettings)
    assert (settings.host, settings.port, settings.org) == ("127.0.0.1", 9894, "local")
    assert settings.nats_url.get_secret_value() == COMPLETE["CORTEX_NATS_URL"]


def test_settings_cannot_be_changed_after_they_were_read(environment: pytest.MonkeyPatch):
    with pytest.raises(ValueError, match="frozen"):
        read(ExampleSettings).org = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("alias", "field"),
    [("CABRAIN_DATABASE_URL", "CORTEX_DATABASE_URL"), ("TEI_EMBEDDINGS_MODEL", "CORTEX_EMBEDDINGS_MODEL")],
)
def test_the_names_of_the_source_documents_are_accepted(environment: pytest.MonkeyPatch, alias: str, field: str):
    environment.delenv(field)
    environment.setenv(alias, COMPLETE[field])
    assert read(ExampleSettings).embeddings_model == "small"


@pytest.mark.parametrize(
    ("given", "driver"),
    [
        ({}, "none"),
        ({"TEI_RERANKER_URL": "http://tei"}, "tei"),
        ({"CORTEX_RERANKER_URL": "http://tei"}, "tei"),
        ({"CORTEX_RERANKER_URL": "http://tei", "CORTEX_RERANKER_DRIVER": "none"}, "none"),
        ({"CORTEX_RERANKER_URL": "http://tei", "CORTEX_RERANKER_DRIVER": "mine"}, "mine"),
        ({"CORTEX_RERANKER_MODEL": "m"}, "none"),
    ],
)
def test_an_address_of_a_reranker_means_tei_unless_a_driver_is_named(
    environment: pytest.MonkeyPatch, given: dict[str, str], driver: str
):
    for name, value in given.items():
        environment.setenv(name, value)
    assert read(RerankerSettings).chosen_reranker == driver
    assert read(ExampleSettings)


def test_a_missing_setting_is_named(environment: pytest.MonkeyPatch):
    environment.delenv("CORTEX_NATS_URL")
    with pytest.raises(SettingsError, match="CORTEX_NATS_URL: field required"):
        read(ExampleSettings)


def test_an_unknown_setting_is_named_with_the_one_that_was_meant(environment: pytest.MonkeyPatch):
    environment.setenv("CORTEX_NATS_URI", "x")
    with pytest.raises(SettingsError, match=r"CORTEX_NATS_URI is not a setting; did you mean CORTEX_NATS_URL\?"):
        read(ExampleSettings)


def test_an_unknown_setting_of_the_own_service_is_refused_and_one_of_another_is_not_ours(
    environment: pytest.MonkeyPatch,
):
    environment.setenv("CORTEX_GATEWAY_ANYTHING", "x")
    assert read(ExampleSettings)
    environment.setenv("CORTEX_RECALL_PROT", "1")
    with pytest.raises(SettingsError, match=r"CORTEX_RECALL_PROT is not a setting; did you mean CORTEX_RECALL_PORT\?"):
        read(ExampleSettings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CORTEX_RECALL_PORT", "hunter2"),
        ("CORTEX_ORG", "Hunter 2"),
        ("CORTEX_VAULTS", "hunter2"),
        ("CORTEX_VAULTS", '[{"name": "Hunter 2"}]'),
        ("CORTEX_LOG_LEVEL", "hunter2"),
    ],
)
def test_an_invalid_setting_is_named_and_its_value_is_not_shown(environment: pytest.MonkeyPatch, name: str, value: str):
    environment.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        read(ExampleSettings)
    assert name in str(caught.value)
    assert "unter" not in str(caught.value)


def test_a_file_gives_what_the_environment_does_not(environment: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "cortex.yaml").write_text("org: acme\nrecall_port: 1234\nvaults:\n  - {name: v, repository: /r}\n")
    environment.setenv("CORTEX_RECALL_PORT", "4321")
    settings = read(ExampleSettings)
    assert (settings.org, settings.port, settings.vaults[0].name) == ("acme", 4321, "v")


def test_the_file_may_hold_what_other_services_read(environment: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "cortex.yaml").write_text(
        "gateway_port: 9999\nwebhook_secrets: s\nsleep_database_url: postgresql://x\n"
    )
    assert read(ExampleSettings).port == 9894


def test_a_part_of_the_settings_can_be_checked_alone(environment: pytest.MonkeyPatch):
    environment.delenv("CORTEX_NATS_URL")
    environment.setenv("CORTEX_LOG_LEVEL", "debug")
    assert read(CommonSettings).log_level == "DEBUG"
    environment.setenv("CORTEX_ORG", "My Org")
    with pytest.raises(SettingsError, match="CORTEX_ORG"):
        read(CommonSettings)


def test_an_unknown_key_in_the_file_is_named(environment: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "cortex.yaml").write_text("orgg: acme\n")
    with pytest.raises(SettingsError, match="CORTEX_ORGG"):
        read(ExampleSettings)


def test_a_service_with_wrong_settings_ends_with_a_sentence(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    environment.delenv("CORTEX_NATS_URL")
    with pytest.raises(SystemExit) as caught:
        load(ExampleSettings)
    assert caught.value.code == 2
    assert capsys.readouterr().err == "cortex recall: CORTEX_NATS_URL: field required\n"


def test_a_language_model_is_asked_for_nothing_that_was_not_allowed(environment: pytest.MonkeyPatch):
    environment.setenv("EXTRACTION_LLM_PROVIDER", "ollama")
    environment.setenv("EXTRACTION_LLM_URL", "http://ollama:11434")
    environment.setenv("EXTRACTION_LLM_MODEL", "qwen3")
    environment.setenv("EXTRACTION_LLM_API_KEY", "hunter2")
    settings = read(LanguageModelSettings)
    assert (settings.extraction_llm_url, settings.extraction_llm_model) == ("http://ollama:11434", "qwen3")
    assert "hunter2" not in repr(settings)
    assert {settings.chosen(purpose) for purpose in LanguageModelPurpose} == {"builtin"}
    environment.setenv("CORTEX_LLM_PURPOSES", "summarise, ")
    settings = read(LanguageModelSettings)
    assert settings.chosen(LanguageModelPurpose.SUMMARISE) == "ollama"
    assert settings.chosen(LanguageModelPurpose.CLASSIFY) == "builtin"


def test_purposes_may_be_a_list_of_the_file(environment: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "cortex.yaml").write_text("llm_purposes: [classify, summarise]\n", encoding="utf-8")
    assert read(LanguageModelSettings).llm_purposes == set(LanguageModelPurpose)


def test_an_unknown_purpose_is_named_by_its_variable(environment: pytest.MonkeyPatch):
    environment.setenv("CORTEX_LLM_PURPOSES", "classify,everything")
    with pytest.raises(SettingsError, match="CORTEX_LLM_PURPOSES"):
        read(LanguageModelSettings)


def test_an_address_of_cognee_turns_nothing_on(environment: pytest.MonkeyPatch):
    environment.setenv("COGNEE_API_URL", "http://cognee:8000")
    environment.setenv("COGNEE_API_TOKEN", "hunter2")
    settings = read(EngineSettings)
    assert (settings.engine_driver, settings.cognee_api_url) == ("builtin", "http://cognee:8000")
    assert "hunter2" not in repr(settings)


def test_a_file_that_is_no_yaml_is_refused_without_showing_a_line(
    environment: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "cortex.yaml").write_text("org: acme\nhttp_token: hunter2: x\n")
    with pytest.raises(SettingsError, match=r"cortex\.yaml cannot be read: ScannerError in line 2") as refused:
        read(ExampleSettings)
    assert "hunter2" not in str(refused.value)
    with pytest.raises(SystemExit):
        load(ExampleSettings)
    assert "hunter2" not in capsys.readouterr().err

"""Settings of synthesis: off by default, no paid call without its flag, and wrong ones stop the start."""

from __future__ import annotations

from typing import Any

import pytest

from cortex_contracts.errors import Permanent
from cortex_gateway import synthesis_app
from cortex_gateway.config import GatewaySettings
from cortex_gateway.usage import Usage
from cortex_runtime.service import Service
from cortex_runtime.settings import SettingsError, read

KEY = "sk-ant-secret"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("CORTEX_NATS_URL", "nats://gateway:secret@127.0.0.1:4222")


def configured(monkeypatch: pytest.MonkeyPatch, **settings: str) -> Any:
    for name, value in settings.items():
        monkeypatch.setenv(f"CORTEX_SYNTHESIS_{name}", value)
    given = read(GatewaySettings)
    service = Service(given)
    return synthesis_app.synthesis(service, given, Usage(service.bus), 0.2)


def test_without_settings_there_is_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read(GatewaySettings)
    assert (settings.synthesis_ollama_url, settings.synthesis_ollama_model) == ("", "qwen3:8b")
    assert (settings.synthesis_claude, settings.synthesis_claude_url) == (False, "https://api.anthropic.com")
    assert not configured(monkeypatch).configured


async def test_an_address_of_ollama_and_the_flag_of_claude_each_switch_one_on(monkeypatch: pytest.MonkeyPatch) -> None:
    local = configured(monkeypatch, OLLAMA_URL="http://127.0.0.1:11434", LIMIT_S="7")
    assert [model.value for model in local._backends] == ["ollama"]
    assert local.limit_s == 7
    off = configured(monkeypatch, CLAUDE_API_KEY=KEY, CLAUDE_MODEL="m")
    assert [model.value for model in off._backends] == ["ollama"]
    both = configured(monkeypatch, CLAUDE="true")
    assert [model.value for model in both._backends] == ["ollama", "claude"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LIMIT_S", "0"),
        ("LIMIT_S", "inf"),
        ("MAX_TOKENS", "1"),
        ("MAX_TOKENS", "1000000"),
        ("DAILY_TOKENS", "-1"),
        ("PRICE_PER_MTOK_INPUT", "nan"),
        ("PRICE_PER_MTOK_OUTPUT", "-1"),
        ("CLAUDE", "perhaps"),
        ("CLAUDE_API_KEY", "two\nlines"),
        ("OLAMA_URL", "http://127.0.0.1:1"),
    ],
)
def test_a_wrong_value_names_its_variable_and_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"CORTEX_SYNTHESIS_{name}", value)
    with pytest.raises(SettingsError, match=f"CORTEX_SYNTHESIS_{name}") as refused:
        read(GatewaySettings)
    assert "lines" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({}, "CORTEX_SYNTHESIS_CLAUDE_MODEL and CORTEX_SYNTHESIS_CLAUDE_API_KEY"),
        ({"CLAUDE_MODEL": "m"}, "CORTEX_SYNTHESIS_CLAUDE_API_KEY"),
        ({"CLAUDE_API_KEY": KEY}, "CORTEX_SYNTHESIS_CLAUDE_MODEL"),
    ],
)
def test_the_flag_needs_a_model_and_a_key(monkeypatch: pytest.MonkeyPatch, given: dict[str, str], missing: str) -> None:
    with pytest.raises(SettingsError, match=f"CORTEX_SYNTHESIS_CLAUDE: true needs {missing}") as refused:
        configured(monkeypatch, CLAUDE="true", **given)
    assert KEY not in str(refused.value)


@pytest.mark.parametrize("url", ["localhost", "ftp://h", "http://user:pass@h", "http://h?x=1"])
def test_an_address_that_cannot_be_one_stops_the_start(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    with pytest.raises(Permanent, match="CORTEX_SYNTHESIS_OLLAMA_URL") as refused:
        configured(monkeypatch, OLLAMA_URL=url)
    assert "pass" not in refused.value.message

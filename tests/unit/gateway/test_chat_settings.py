"""Settings of chats: wrong ones stop the start with the variable's name."""

from __future__ import annotations

import pytest

from cortex_contracts.errors import Permanent
from cortex_gateway.chat_upstream import Upstream
from cortex_gateway.config import GatewaySettings
from cortex_runtime.settings import CommonSettings, SettingsError, read


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("CORTEX_NATS_URL", "nats://gateway:secret@127.0.0.1:4222")


def test_the_defaults_are_those_of_the_contract() -> None:
    settings = read(GatewaySettings)
    assert (settings.chat_min_score, settings.chat_query_limit_s) == (0.4, 2.0)
    assert (settings.chat_upstream_url, settings.chat_models, settings.chat_daily_tokens) == ("", (), 0)


def test_models_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_CHAT_MODELS", " acme/big , acme/small,")
    assert read(GatewaySettings).chat_models == ("acme/big", "acme/small")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CORTEX_CHAT_TIMEOUT_S", "0"),
        ("CORTEX_CHAT_QUERY_LIMIT_S", "nan"),
        ("CORTEX_CHAT_MIN_SCORE", "1.1"),
        ("CORTEX_CHAT_DAILY_TOKENS", "-1"),
        ("CORTEX_CHAT_DAILY_TOKENS", "many"),
        ("CORTEX_CHAT_PRICE_PER_MTOK_INPUT", "-0.1"),
        ("CORTEX_CHAT_PRICE_PER_MTOK_OUTPUT", "inf"),
        ("CORTEX_CHAT_UPSTREAM_API_KEY", "two\nlines"),
        ("CORTEX_CHAT_UPSTREAM_API_KEY", "ключ"),
    ],
)
def test_a_wrong_value_names_its_variable_and_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name) as refused:
        read(GatewaySettings)
    assert "lines" not in str(refused.value)


def test_a_misspelt_setting_is_refused_by_every_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_CHAT_UPSTREM_URL", "http://127.0.0.1:9")
    for settings in (GatewaySettings, CommonSettings):
        with pytest.raises(SettingsError, match="did you mean CORTEX_CHAT_UPSTREAM_URL"):
            read(settings)


@pytest.mark.parametrize(
    ("url", "model", "named"),
    [
        ("http://127.0.0.1:9", "", "CORTEX_CHAT_UPSTREAM_MODEL"),
        ("127.0.0.1:9", "m", "CORTEX_CHAT_UPSTREAM_URL"),
        ("ftp://h/v1", "m", "CORTEX_CHAT_UPSTREAM_URL"),
        ("http://user:pass@h/v1", "m", "CORTEX_CHAT_UPSTREAM_URL"),
        ("http://h/v1?x=1", "m", "CORTEX_CHAT_UPSTREAM_URL"),
    ],
)
def test_an_upstream_that_cannot_be_one_names_its_setting(url: str, model: str, named: str) -> None:
    with pytest.raises(Permanent, match=named) as refused:
        Upstream(url, model, "", 1.0)
    assert "user:pass" not in refused.value.message

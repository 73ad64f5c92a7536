from __future__ import annotations

import pytest

from cortex_contracts.rpc.engine import SourceClass
from cortex_gateway.config import GatewaySettings
from cortex_runtime.settings import SettingsError, read


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("CORTEX_NATS_URL", "nats://gateway:secret@127.0.0.1:4222")


def test_defaults_are_those_of_the_gateway_contract() -> None:
    settings = read(GatewaySettings)
    assert (settings.host, settings.port, settings.gateway_sse_port) == ("127.0.0.1", 9890, 9891)
    assert settings.engine_keys == ("memory", "pages")
    assert settings.gateway_engine_limit_s == 4.0
    assert settings.gateway_half_life_days == 30.0


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "gateway.example", ""])
@pytest.mark.parametrize("token", [None, "", "  "])
def test_a_bind_beyond_loopback_without_a_token_is_refused(
    monkeypatch: pytest.MonkeyPatch, host: str, token: str | None
) -> None:
    monkeypatch.setenv("CORTEX_GATEWAY_HOST", host)
    if token is not None:
        monkeypatch.setenv("CORTEX_HTTP_TOKEN", token)
    with pytest.raises(SettingsError, match=r"CORTEX_GATEWAY_HOST: .*beyond loopback"):
        read(GatewaySettings)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.3.2.1"])
def test_a_loopback_bind_starts_without_a_token(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("CORTEX_GATEWAY_HOST", host)
    assert read(GatewaySettings).host == host


def test_a_bind_beyond_loopback_starts_with_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_GATEWAY_HOST", "0.0.0.0")
    monkeypatch.setenv("CORTEX_HTTP_TOKEN", "a-token")
    assert read(GatewaySettings).host == "0.0.0.0"


@pytest.mark.parametrize(
    ("name", "value"),
    [("CORTEX_JWT_SECRET", "x" * 32), ("CORTEX_JWT_JWKS_URL", "https://issuer.example/keys")],
)
def test_a_bind_beyond_loopback_starts_with_signed_tokens(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv("CORTEX_GATEWAY_HOST", "0.0.0.0")
    monkeypatch.setenv(name, value)
    assert read(GatewaySettings).host == "0.0.0.0"


def test_a_secret_that_is_too_short_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_JWT_SECRET", "x" * 31)
    with pytest.raises(SettingsError, match="CORTEX_JWT_SECRET: expected at least 32 bytes") as refused:
        read(GatewaySettings)
    assert "xxx" not in str(refused.value)


def test_some_weights_can_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_GATEWAY_AUTHORITY", '{"agent-memory": 0.7}')
    authority = read(GatewaySettings).authority
    assert (authority[SourceClass.AGENT_MEMORY], authority[SourceClass.LIVE_INFRA]) == (0.7, 1.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CORTEX_GATEWAY_ENGINES", "[]"),
        ("CORTEX_GATEWAY_ENGINES", '["No Key"]'),
        ("CORTEX_GATEWAY_ENGINE_LIMIT_S", "0"),
        ("CORTEX_GATEWAY_HALF_LIFE_DAYS", "-1"),
        ("CORTEX_GATEWAY_HALF_LIFE_DAYS", "inf"),
        ("CORTEX_GATEWAY_AUTHORITY", '{"agent-memory": 2}'),
        ("CORTEX_GATEWAY_FLOOR", "1.5"),
        ("CORTEX_GATEWAY_HITS_AT_ONCE", "0"),
        ("CORTEX_JWT_LEEWAY_S", "-1"),
        ("CORTEX_JWT_LEEWAY_S", "301"),
        ("CORTEX_JWT_ORG_CLAIM", "sub"),
        ("CORTEX_JWT_ORG_CLAIM", " "),
        ("CORTEX_RATE_REQUESTS", "-1"),
        ("CORTEX_RATE_CHAT", "many"),
        ("CORTEX_RATE_FAILURES", "-1"),
    ],
)
def test_a_wrong_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name):
        read(GatewaySettings)

"""Settings of the webhook service."""

from __future__ import annotations

import pytest

from cortex_runtime.settings import SettingsError, read
from cortex_webhook.config import WebhookSettings


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("CORTEX_NATS_URL", "nats://webhook:x@127.0.0.1:4222")
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path_factory.mktemp("home")))


def test_two_secrets_are_used_at_once_and_neither_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_WEBHOOK_SECRETS", "old-secret, new-secret")
    settings = read(WebhookSettings)
    assert settings.secrets == (b"old-secret", b"new-secret")
    assert "secret," not in repr(settings)
    assert settings.port == 9892


@pytest.mark.parametrize("value", ["", " , "])
def test_without_a_secret_it_does_not_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CORTEX_WEBHOOK_SECRETS", value)
    with pytest.raises(SettingsError, match="CORTEX_WEBHOOK_SECRETS"):
        read(WebhookSettings)


def test_a_missing_secret_is_named() -> None:
    with pytest.raises(SettingsError, match="CORTEX_WEBHOOK_SECRETS"):
        read(WebhookSettings)

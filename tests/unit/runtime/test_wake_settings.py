"""Settings of the outgoing webhook."""

from __future__ import annotations

import base64

import pytest

from cortex_runtime.settings import SettingsError, read
from cortex_runtime.settings_wake import WakeSettings

SECRETS = "CORTEX_WAKE_WEBHOOK_SECRETS"
KEY = bytes(range(32))


def test_without_settings_there_is_no_receiver(monkeypatch: pytest.MonkeyPatch):
    for name in ("CORTEX_WAKE_WEBHOOK_URL", SECRETS):
        monkeypatch.delenv(name, raising=False)
    found = read(WakeSettings)
    assert (found.wake_webhook_url.get_secret_value(), found.wake_webhook_keys) == ("", ())


def test_secrets_are_base64_behind_their_prefix_or_any_text_and_their_order_stays(monkeypatch: pytest.MonkeyPatch):
    coded = f"whsec_{base64.b64encode(KEY).decode()}"
    monkeypatch.setenv(SECRETS, f" {coded} , a text of twenty-four byte,")
    found = read(WakeSettings)
    assert found.wake_webhook_keys == (KEY, b"a text of twenty-four byte")
    assert coded not in repr(found)


@pytest.mark.parametrize("wrong", ["short", "whsec_c2hvcnQ=", f"{'x' * 24},short", "whsec_no base64 at all, really!"])
def test_a_secret_that_is_none_is_refused_without_showing_it(monkeypatch: pytest.MonkeyPatch, wrong: str):
    monkeypatch.setenv(SECRETS, wrong)
    with pytest.raises(SettingsError, match=SECRETS) as refused:
        read(WakeSettings)
    assert wrong.split(",")[-1].strip() not in str(refused.value)
